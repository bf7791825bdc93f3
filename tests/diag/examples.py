"""Reads the examples of clauses and of faults: what is refused, and the same made right.

An example is a text file. Its first lines are `key: value`; a value goes on in lines that begin with two blanks:

    stage    what refuses it: pack, check (unless said otherwise), audit or link
    arch     sm_90a unless said otherwise
    clause   what is found, if that is not the file's own name up to its first point

`=== NAME` begins a file. Each line of a file has a mark before it: `-` is in what is refused, `+` in what is right, a blank
in both. There are

    NAME.cu       a component: the body of its namespace, or a whole source if it includes <pipelink/…> itself
    composition   the keys of fused.json beside schema, name, arch and components, as JSON
    run           a shell script in place of the stage's command; one that compiles gets no packages
    other names   files as they are
"""
import difflib
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
from support import ARCH, component_text

# Clauses that nothing outside PipeLink can provoke: why, and the unit test that does.
UNPROVOKED = {
    "I-CUBIN": ("The toolkit would have to write a damaged cubin.", "tests/unit/codegen/cubin_test.cc"),
    "L-VERIFY": ("The solver would have to be wrong.", "tests/unit/place/verify_test.cc"),
    "T-TEMPLATE": ("A template of PipeLink would have to be wrong.", "tests/unit/runtime/template_test.cc"),
}
COMMANDS = {"pack": "pipelink pack --name {0} --version 1.0 --arch {1} -o {0}.{1}.plk {0}.fatbin", "check": "pipelink check fused.json",
            "audit": "pipelink audit fused.json", "link": "pipelink link fused.json -o out --quiet"}


@dataclass
class Example:
    name: str
    keys: dict
    marked: dict  # {file: [(mark, line)]}
    golden: Path  # the message

    @property
    def clauses(self):
        return self.keys.get("clause", self.name.split(".")[0]).split(", ")

    @property
    def stage(self):
        return "run" if "run" in self.marked else self.keys.get("stage", "check")

    @property
    def arch(self):
        return self.keys.get("arch", ARCH)

    @property
    def has_fixed(self):
        return any(mark != " " for lines in self.marked.values() for mark, _ in lines)

    def files(self, fixed):
        """{name: text} of one of the two; a file without a line is not there."""
        found = {}
        for name, lines in self.marked.items():
            text = "".join(line + "\n" for mark, line in lines if mark in (" ", "+" if fixed else "-"))
            if text:
                whole = not name.endswith(".cu") or "#include <pipelink/" in text
                found[name] = text if whole else component_text(name.removesuffix(".cu"), text)
        return found

    def components(self, fixed):
        return [name.removesuffix(".cu") for name, text in self.files(fixed).items()
                if name.endswith(".cu") and "#define PIPELINK_COMPONENT" in text]

    def composition_keys(self, fixed):
        return json.loads(self.files(fixed).get("composition", "{}"))

    def differences(self):
        """[(name, unified diff)] of the files that differ."""
        before, after, found = self.files(False), self.files(True), []
        for name in self.marked:
            lines = list(difflib.unified_diff(before.get(name, "").splitlines(), after.get(name, "").splitlines(), lineterm="", n=2))
            if lines:
                found.append((name, "".join(line + "\n" for line in lines[2:] if not line.startswith("@@"))))
        return found

    def command(self, component):
        """What refuses it, as one types it."""
        return COMMANDS[self.stage].format(component, self.arch)


def read(path):
    keys, marked, file, key = {}, {}, None, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        begins = re.fullmatch(r"=== (\S+)", line)
        entry = re.fullmatch(r"(\w+): (.+)", line)
        if begins:
            file = marked.setdefault(begins[1], [])
        elif file is not None and line[:1] in ("", " ", "-", "+"):
            file.append((line[:1] or " ", line[1:]))
        elif file is None and entry:
            key = entry[1]
            keys[key] = entry[2]
        elif file is None and key and line.startswith("  "):
            keys[key] += " " + line.strip()
        else:
            raise ValueError(f"{path.name}:{number}: {line!r} is neither a key, nor the name of a file, nor a marked line")
    golden = HERE / "golden" / ("" if path.parent.name == "examples" else path.parent.name) / path.name
    return Example(path.stem, keys, marked, golden)


def read_all(folder):
    """{name: example} of every file of a folder of this one."""
    return {path.stem: read(path) for path in sorted((HERE / folder).glob("*.txt"))}
