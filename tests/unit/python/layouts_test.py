"""What pipelink.py says of c_api.h is so: `layouts_test.py CC INCLUDE`. Structs by a program that CC compiles, functions by
the header's text."""
import ctypes
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pipelink

STRUCTS = {"pipelink_field": pipelink._Field, "pipelink_arguments_layout": pipelink._Layout,
           "pipelink_argument": pipelink._Argument, "pipelink_provider": pipelink._Provider}
SCALARS = {"void": None, "int": ctypes.c_int, "size_t": ctypes.c_size_t, "uint32_t": ctypes.c_uint32,
           "uint64_t": ctypes.c_uint64}


def struct_lines(compiler, include):
    """(what the compiler says, what the wrapper says), a line for each struct and each member."""
    source = ["#include <stdio.h>", "#include <pipelink/c_api.h>", "int main(void) {"]
    expected = []
    for name, struct in STRUCTS.items():
        source.append(f'  printf("{name} %zu\\n", sizeof({name}));')
        expected.append(f"{name} {ctypes.sizeof(struct)}")
        for member, _ in struct._fields_:
            source.append(f'  printf("{name}.{member} %zu %zu\\n", offsetof({name}, {member}), '
                          f'sizeof((({name}*)0)->{member}));')
            expected.append(f"{name}.{member} {getattr(struct, member).offset} {getattr(struct, member).size}")
    with tempfile.TemporaryDirectory() as folder:
        file, program = Path(folder, "layouts.c"), Path(folder, "layouts")
        file.write_text("\n".join([*source, "  return 0;", "}", ""]))
        subprocess.run([compiler, "-std=c11", "-Wall", "-Werror", "-I", include, "-o", program, file], check=True)
        found = subprocess.run([program], check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()
    return found, expected


def kind(c_type):
    """What ctypes must have for a parameter or a result: a scalar's type, "text" or "pointer"."""
    words = re.sub(r"\w+$", "", c_type.strip()) if re.search(r"[*\s]\w+$", c_type.strip()) else c_type
    if "*" in c_type:
        return "text" if words.replace("const", "").replace(" ", "") == "char*" else "pointer"
    return SCALARS[words.strip()]


def is_kind(ctype, wanted):
    if wanted == "text":
        return ctype is ctypes.c_char_p
    if wanted == "pointer":
        return ctype is ctypes.c_void_p or (isinstance(ctype, type) and issubclass(ctype, ctypes._Pointer))
    return ctype is wanted


def function_faults(include):
    text = re.sub(r"/\*.*?\*/", "", Path(include, "pipelink/c_api.h").read_text(), flags=re.S)
    declared = {}
    for result, name, parameters in re.findall(r"^([\w\s]+?\*?)\s*(pipelink_\w+)\(([^)]*)\);", text, flags=re.M):
        parameters = [] if parameters.strip() == "void" else parameters.split(",")
        declared[name] = (kind(result.strip() + " x"), [kind(p) for p in parameters])
    faults = [f"{name} is not in the header" for name in pipelink._FUNCTIONS if name not in declared]
    for name, (result, parameters) in pipelink._FUNCTIONS.items():
        c_result, c_parameters = declared.get(name, (result, parameters))
        if name in declared and (not is_kind(result, c_result) or len(parameters) != len(c_parameters)
                                 or not all(map(is_kind, parameters, c_parameters))):
            faults.append(f"{name} is declared otherwise: {c_result} {c_parameters}")
    return faults, len(declared)


def main():
    compiler, include = sys.argv[1:]
    found, expected = struct_lines(compiler, include)
    faults, functions = function_faults(include)
    faults += [f"{f}, but the wrapper has {e}" for f, e in zip(found, expected) if f != e]
    print("\n".join(faults) or f"{len(found)} lines of layouts and {len(pipelink._FUNCTIONS)} of {functions} functions agree")
    return 1 if faults or len(found) != len(expected) or functions < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
