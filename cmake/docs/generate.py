"""The generated pages: commands, clauses, annotations, the tool's help and the demonstration's results.

Each is read from the one place where it is written: the `.rst` blocks of cmake/PipeLink*.cmake, `pipelink explain`, the
`///` comments of the authoring headers, `pipelink --help`, the examples of tests/diag, which tests run, and what
compositions/expert_mixture recorded.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "diag"))
import examples

KINDS = {"contract": "Packing: one contract, or a contract against its object",
         "linking": "Linking: contracts against each other, placement, gate",
         "input": "Input and output", "toolchain": "Toolchain", "usage": "Command line"}
OPTION_TYPES = {"Amount": "number or expression", "Range": "{least, most}", "Integers": "{number, …}",
                "Amounts": "{number or expression, …}", "const char*": "text",
                "int": "number", "long long": "number", "double": "number", "bool": "true or false", "Side": "side"}


class Fault(Exception):
    """Something that should be documented is not, or cannot be read."""


def heading(text, line="="):
    return f"{text}\n{line * len(text)}\n\n"


def page_of(title, body):
    return ".. This page is generated.\n\n" + heading(title) + body.strip("\n") + "\n"


def toctree(entries):
    return ".. toctree::\n   :maxdepth: 1\n\n" + "".join(f"   {entry}\n" for entry in entries) + "\n"


def indented(text, margin="   "):
    return "".join(margin + line + "\n" if line else "\n" for line in text.rstrip("\n").split("\n"))


def code(language, text):
    return f".. code-block:: {language}\n\n{indented(text)}\n"


# ---- CMake commands


def module_blocks(root):
    """{module: text of its .rst block}."""
    blocks = {}
    for path in sorted([*(root / "cmake").glob("PipeLink*.cmake"), root / "cmake" / "PipeLinkConfig.cmake.in"]):
        block = re.search(r"^#\[(=*)\[\.rst:\n(.*?)^#\]\1\]", path.read_text(), re.MULTILINE | re.DOTALL)
        if block and "\nInternal: " not in block[2]:  # those are for readers of the modules
            blocks[path.name] = block[2]
    return blocks


def command_blocks(root):
    """{page: (title, body)}: one for each command, and one for each module that documents none."""
    pages = {}
    for module, block in module_blocks(root).items():
        title, rest = re.fullmatch(r"([^\n]+)\n-+\n(.*)", block, re.DOTALL).groups()
        parts = re.split(r"^\.\. command:: (\w+)\n", rest, flags=re.MULTILINE)
        preface = parts[0].strip()
        for name, body in zip(parts[1::2], parts[2::2]):
            pages[name] = (name, preface + "\n\n" + re.sub(r"^  ", "", body, flags=re.MULTILINE))
        if len(parts) == 1:
            pages[module.split(".")[0]] = (title, rest)
    return pages


def write_commands(root, folder):
    pages = command_blocks(root)
    folder.mkdir()
    for name, (title, body) in pages.items():
        (folder / f"{name}.rst").write_text(page_of(title, re.sub(r"^::$", ".. code-block:: cmake", body, flags=re.MULTILINE)))
    body = "``find_package(PipeLink)`` gives these commands. Each page is the text at the top of the command's module.\n\n"
    (folder / "index.rst").write_text(page_of("CMake commands", body + toctree(sorted(pages, key=str.lower))))


# ---- clauses


def clauses(tool):
    text = subprocess.run([tool, "explain", "--list", "--format", "json"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(text)["clauses"]


def prose(text):
    """Plain text as reStructuredText: `words` in backticks are literals."""
    text = re.sub(r"([\\*|])", r"\\\1", text)
    text = re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", text)
    return re.sub(r"(?<![`\w])(\w+)_(?!\w|`)", r"\1\\_", text)


def shown_example(example):
    """What is refused, the message, and how it is made right."""
    body = ""
    for name, text in example.files(False).items():
        language = {".cu": "cuda", ".cc": "c++"}.get(Path(name).suffix, "none")
        if name == "composition":
            body += "The composition has\n\n" + code("json", text)
        elif name == "run":
            body += "These commands are run:\n\n" + code("sh", text)
        else:
            body += f"``{name}``:\n\n" + code(language, text)
    if example.stage != "run":
        body += f"``{example.command(example.components(False)[0])}`` says\n\n"
    else:
        body += "They say\n\n"
    body += code("none", example.golden.read_text())
    for name, difference in example.differences():
        what = {"composition": "the composition", "run": "the commands"}.get(name, f"``{name}``")
        body += f"Made right, in {what}:\n\n" + code("diff", difference)
    return body


def write_clauses(root, tool, folder):
    folder.mkdir()
    found, shown = clauses(tool), examples.read_all("examples")
    for clause in found:
        body = f"**Rule.** {prose(clause['rule'])}\n\n**Reason.** {prose(clause['reason'])}\n\n**Help.** {prose(clause['help'])}\n\n"
        body += f"Exit status {1 if clause['kind'] in ('contract', 'linking') else 2}.\n\n"
        if clause["id"] in examples.UNPROVOKED:
            reason, test = examples.UNPROVOKED[clause["id"]]
            body += f"No input provokes it. {reason} ``{test}`` shows that it would be found.\n\n"
        elif clause["id"] in shown:
            body += heading("Example", "-") + shown_example(shown[clause["id"]])
        else:
            raise Fault(f"{clause['id']} has no example in tests/diag/examples")
        (folder / f"{clause['id']}.rst").write_text(page_of(f"{clause['id']}: {prose(clause['title'])}", body))
    body = "Every message names the clause that it is about. ``pipelink explain`` prints the same text.\n\n"
    for kind, title in KINDS.items():
        body += heading(title, "-") + toctree([c["id"] for c in found if c["kind"] == kind])
    (folder / "index.rst").write_text(page_of("Clauses", body))


def write_patterns(path):
    """Faults that are known from other projects, each refused: from tests/diag/patterns."""
    shown = examples.read_all("patterns").values()
    body = ("Faults from public kernels and from trying to put two of them into one block. A linker that goes by symbols takes all but a "
            "few of them. PipeLink refuses each before it links: ``pipelink pack`` what one component's objects show, ``pipelink check`` "
            "what two contracts show, ``pipelink audit`` what only the optimized code of a component shows. Every one here is run by a "
            "test.\n\n.. list-table::\n   :header-rows: 1\n   :widths: 45 35 20\n\n   * - Fault\n     - Linking by symbols\n     - Clause\n")
    for example in shown:
        links = ", ".join(f":doc:`{clause} <clauses/{clause}>`" for clause in example.clauses)
        body += f"   * - {prose(example.keys['pattern'])}\n     - {prose(example.keys['linking'])}\n     - {links}\n"
    body += "\n"
    for example in shown:
        body += heading(example.name.replace("-", " ").capitalize(), "-") + prose(example.keys["pattern"]) + "\n\n"
        body += shown_example(example)
    path.write_text(page_of("Faults that are refused", body))


# ---- annotations


def definitions(text):
    """The macros of a header: {name: (parameters, body)}."""
    joined = text.replace("\\\n", " ")
    found = re.findall(r"^#define (PIPELINK_\w+)\(([^)]*)\)[ \t]*(.*)$", joined, re.MULTILINE)
    return {name: (parameters, body) for name, parameters, body in found}


def option_structs(text):
    """{struct: [(name, type, default, meaning)]} of the *Options structs of records.h."""
    found = {}
    for name, body in re.findall(r"^struct (\w+Options) \{\n(.*?)(?:^  constexpr void write|^\};)", text, re.MULTILINE | re.DOTALL):
        rows = []
        for line in body.strip().split("\n"):
            field = re.fullmatch(r"\s*([\w ]+?\*?) (\w+)(?: = (.*?))?;\s*///< (.*)", line)
            if not field:
                raise Fault(f"records.h: `{line.strip()}` of {name} has no comment that says what it means")
            rows.append((field[2], OPTION_TYPES[field[1]], (field[3] or "").replace("Side::", "pipelink::"), field[4]))
        found[name] = rows
    return found


def expanded(name, macros):
    """A macro's body with those of the macros that it is made of, once each."""
    seen, waiting, text = set(), [name], ""
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        text += macros[name][1] + " "
        waiting += sorted(set(re.findall(r"PIPELINK_\w+", macros[name][1])) & set(macros))
    return text


def handle_functions(body):
    """What the handle of an annotation can do, as it is declared."""
    if "struct pipelink_handle_" not in body:
        return []
    found = re.findall(r"(template <[^>]+>\s+)?static __device__ __forceinline__ ([\w:]+(?:<\w+>)?\*?) (\w+)\(([^)]*)\)", body)
    return ["{}{} {}({})".format(*(" ".join(part.split()) + (" " if part is template and part else "")
                                   for part in (template, result, name, parameters))).replace("::pipelink::", "pipelink::")
            for template, result, name, parameters in found]


def documented(text):
    """[(section, comment lines, the line that follows)] of a header's `///` comments."""
    found, section, comment = [], "", []
    for line in text.split("\n"):
        divider = re.match(r"^// ---- (.+?) -+$", line)
        if divider:
            section = divider[1]
        elif line.startswith("///"):
            comment.append(line[3:].removeprefix(" "))
        else:
            if comment:
                found.append((section, comment, line))
            comment = []
    return found


def split_form(comment):
    """The form, to the line that ends in `;` or `}`, and the prose after it."""
    for position, line in enumerate(comment):
        if line.endswith((";", "}")):
            return "\n".join(comment[:position + 1]), " ".join(comment[position + 1:])
    raise Fault(f"component.h: no line of the comment `{comment[0]} …` ends in `;` or `}}`, so it shows no form")


def option_table(rows):
    text = ".. list-table::\n   :header-rows: 1\n   :widths: 20 20 20 40\n\n"
    for row in [("Option", "Value", "Default", "Meaning"), *rows]:
        cells = row if row[0] == "Option" else (f"``.{row[0]}``", row[1], f"``{row[2]}``" if row[2] else "", prose(row[3]))
        text += "".join(f"   {'*' if i == 0 else ' '} - {cell}".rstrip() + "\n" for i, cell in enumerate(cells))
    return text + "\n"


def annotations(root):
    """[(section, name, form, prose, option rows, handle functions)]; every public macro has a comment."""
    headers = root / "packager" / "sdk" / "include" / "pipelink"
    text = (headers / "component.h").read_text()
    macros, structs = definitions(text), option_structs((headers / "records.h").read_text())
    found = []
    for section, comment, line in documented(text):
        name = re.match(r"#define (PIPELINK_(?!DETAIL)\w+)\(", line)
        if not name:
            continue
        form, meaning = split_form(comment)
        if not form.startswith(name[1] + "("):
            raise Fault(f"component.h: the comment above {name[1]} begins with `{form}`")
        body = expanded(name[1], macros)
        used = [s for s in structs if s + "{" in body or s + " options" in body]
        found.append((section, name[1], form, meaning, structs[used[0]] if used else [], handle_functions(body)))
    undocumented = {m for m in macros if not m.startswith("PIPELINK_DETAIL")} - {a[1] for a in found}
    if undocumented:
        raise Fault(f"component.h: {', '.join(sorted(undocumented))} have no comment")
    return found


def device_operations(root):
    """[(declaration, meaning)] of what device.h offers."""
    text, found, scope = (root / "packager" / "sdk" / "include" / "pipelink" / "device.h").read_text(), [], []
    pattern = re.compile(r"^namespace (\w+) \{|^\}  // namespace|((?:^///[^\n]*\n)+)(__device__ [^{]+?|struct \w+) \{", re.MULTILINE)
    for match in pattern.finditer(text):
        if match[1]:
            scope.append(match[1])
        elif match[2]:
            comment = " ".join(line[3:].strip() for line in match[2].strip().split("\n"))
            declaration = " ".join(match[3].replace("__device__ ", "").replace("__forceinline__ ", "").split())
            qualified = re.sub(r"(\w+)(\(|$)", lambda m: "::".join([*scope, m[1]]) + m[2], declaration, count=1)
            found.append((qualified, comment))
        else:
            scope.pop()
    return found


def write_annotations(root, path):
    body = ("What a component's source can state. Options are designated initialisers, in the order of the table. The functions of a "
            "handle are called on the annotation's name: ``stage.data(self)``. An expression is text over facts, such as "
            "``\"tile_m * tile_k * 2\"``; :doc:`authoring` says which operators there are.\n\n")
    section = ""
    for where, name, form, meaning, options, functions in annotations(root):
        if where != section:
            section = where
            body += heading(where[0].upper() + where[1:], "-")
        body += heading(name, "~") + code("cuda", form.replace("…", "...")) + prose(meaning) + "\n\n"
        if options:
            body += option_table(options)
        if functions:
            body += "Handle:\n\n" + code("cuda", "\n".join(functions))
    body += heading("Device operations", "-")
    for declaration, meaning in device_operations(root):
        body += code("cuda", declaration) + prose(meaning) + "\n\n"
    path.write_text(page_of("Annotations", body))


# ---- the tool


def tool_help(tool, *command):
    return subprocess.run([tool, *command, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout


def subcommands(tool):
    listed = tool_help(tool).split("Subcommands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  (\w+)", listed, re.MULTILINE)


def write_help(tool, folder):
    """One include for each subcommand, and one for the tool."""
    folder.mkdir()
    for name in ["pipelink", *subcommands(tool)]:
        text = tool_help(tool, *([] if name == "pipelink" else [name]))
        (folder / f"{name}.inc").write_text(code("none", text))


# ---- the demonstration


def first_of(runs):
    """All are in the results; a test holds each to be right, or, of a changed owner linked by symbol, not."""
    return runs[0].replace(":", ",", 1)


def write_demonstration(root, folder):
    """The results of compositions/expert_mixture: a table, and each change with what was said to it."""
    results = json.loads((root / "compositions" / "expert_mixture" / "results" / "nvidia-h200.json").read_text())
    unchanged, *changed = results["cases"]
    text = "Nothing of this was run on a GPU yet.\n\n"
    if results["device"]:
        text = (f"Run on an {results['device']} (driver {results['driver']}, CUDA {results['toolkit']}) on {results['date']}, at commit "
                f"``{results['commit']}``. Each kernel was run {len(unchanged['pipelink']['runs'])} times; shown is the first.\n\n")
    rows = [["One owner's change", "Vendor's linker", "Linked by symbol, run", "PipeLink"],
            ["none", unchanged["by_symbol"]["linker"], first_of(unchanged["by_symbol"]["runs"]),
             "linked; run: " + first_of(unchanged["pipelink"]["runs"])]]
    for case in changed:
        refused = case["pipelink"].get("message")
        rows.append([f"``{case['owner']}`` {case['what']}", case["by_symbol"]["linker"], first_of(case["by_symbol"]["runs"]),
                     f":doc:`{case['pipelink']['verdict']} <clauses/{case['pipelink']['verdict']}>`" if refused else
                     f"linked with the others' packages as they were; run: {first_of(case['pipelink']['runs'])}"])
    text += ".. list-table::\n   :header-rows: 1\n   :widths: 32 14 27 27\n\n"
    text += "".join(f"   {'*' if i == 0 else ' '} - {cell}\n" for row in rows for i, cell in enumerate(row)) + "\n"
    for case in changed:
        text += heading(f"{case['owner']}: {case['name'].replace('_', ' ')}", "-")
        text += f"``{case['owner']}`` {case['what']} (``{case['owner']}.cu``, line {case['line']}):\n\n"
        text += code("diff", f"- {case['old']}\n+ {case['new']}")
        text += f"By symbol: {case['by_symbol']['linker']}; run: {first_of(case['by_symbol']['runs'])}.\n\n"
        if "message" in case["pipelink"]:
            text += f"``{case['pipelink']['command']}`` refuses it:\n\n" + code("none", case["pipelink"]["message"])
        else:
            text += (f"PipeLink links the new package of ``{case['owner']}`` with the others' packages as they were; "
                     f"run: {first_of(case['pipelink']['runs'])}.\n\n")
    folder.mkdir()
    (folder / "results.inc").write_text(text)


def write_guard(root, file):
    """The faults that tests/gpu/guard plants, and what named them: the first line of the report."""
    results = json.loads((root / "tests" / "gpu" / "guard" / "results" / "nvidia-h200.json").read_text())
    text = (f"On an {results['device']} (driver {results['driver']}, CUDA {results['toolkit']}, {results['date']}, commit ``{results['commit']}``) "
            f"{results['passed']} of {results['passed'] + results['failed']} cases ended as they should, with a limit of 500 ms:\n\n")
    text += ".. list-table::\n   :header-rows: 1\n   :widths: 35 55 10\n\n   * - Planted\n     - Named\n     - Seconds\n"
    for case in results["cases"]:
        real = case["name"].startswith("gemm_swiglu")
        planted = f"``{case['name']}``, no fault" if real else case["planted"].split(":")[0]
        named = "nothing; all right" if real or not case["named"] else case["named"].split("\n")[0]
        text += f"   * - {planted}\n     - {named}\n     - {case['seconds']}\n"
    file.write_text(text)


def write_gemm(root, file):
    """The results of compositions/gemm_swiglu: what each peer takes of the linked kernel's time; and its profile."""
    folder = root / "compositions" / "gemm_swiglu" / "results"
    records = json.loads((folder / "nvidia-h200.json").read_text())
    peers = {"hand_fused": "hand-fused", "cublas_gemm_only": "cuBLAS's GEMM alone", "cublas_compiled_swiglu": "cuBLAS, compiled SwiGLU",
             "cublas_liger_two_gemms": "cuBLAS, Liger, two GEMMs", "cublas_liger_halves": "cuBLAS, Liger, one GEMM",
             "quack_gemm_act": "QuACK"}
    missing = {name for r in records for name in r["speedup"]} - set(peers)
    if missing:
        raise ValueError(f"no title for {', '.join(sorted(missing))}")
    rows = [["Rows", "Linked, ms", *peers.values()]]
    for r in records:
        rows.append([r["config"].split()[0].removeprefix("m="), f"{r['linked_ms']:.4g}",
                     *(f"{r['speedup'][name]:.3f}" if name in r["speedup"] else "not run" for name in peers)])
    commits = sorted({r["commit"] for r in records})
    text = (f"What a peer takes of the linked kernel's time, for {records[0]['config'].split(' ', 1)[1]}, on an {records[0]['device']} (driver "
            f"{records[0]['driver']}, CUDA {records[0]['toolkit']}, commit {' and '.join(f'``{c}``' for c in commits)}). More than 1: the "
            "linked kernel is quicker.\n\n.. list-table::\n   :header-rows: 1\n\n")
    text += "".join(f"   {'*' if i == 0 else ' '} - {cell}\n" for row in rows for i, cell in enumerate(row)) + "\n"
    profile = json.loads((folder / "nvidia-h200.profile.json").read_text())
    linked, gemm = profile["kernels"]["linked"], profile["kernels"]["cublas_gemm_only"]
    capped = [r for r in records if r.get("power_capped")]
    compiled = records[-1]["peers"]["cublas_compiled_swiglu"] / records[-1]["peers"]["cublas_gemm_only"]
    text += (f"With {profile['config'].split()[0][2:]} rows the tensor cores are busy {linked['tensor_cores_busy_percent']:.1f}% of the "
             f"time, as those of cuBLAS's GEMM are ({gemm['tensor_cores_busy_percent']:.1f}%), and the device reads "
             f"{linked['dram_read_gb']:.1f} GB from memory, that GEMM {gemm['dram_read_gb']:.1f} (profile of commit ``{profile['commit']}``). ")
    if capped:
        text += (f"From {capped[0]['config'].split()[0][2:]} rows on the device is at its power limit: the clock is {capped[-1]['clock_mhz']} "
                 f"MHz, of {max(r['clock_mhz'] for r in records)} at most. A pass over memory that follows a GEMM then costs less than its "
                 f"time alone, as the clock recovers in it: cuBLAS with the compiled SwiGLU takes {compiled:.3f} of its GEMM's time with "
                 f"{records[-1]['config'].split()[0][2:]} rows, and a kernel that takes the GEMM's time gains no more than that.\n")
    file.write_text(text)


def write_all(root, tool, folder):
    write_commands(root, folder / "commands")
    write_clauses(root, tool, folder / "clauses")
    write_patterns(folder / "patterns.rst")
    write_annotations(root, folder / "annotations.rst")
    write_help(tool, folder / "help")
    write_demonstration(root, folder / "demonstration")
    write_guard(root, folder / "guarded.inc")
    write_gemm(root, folder / "gemm_swiglu.inc")
