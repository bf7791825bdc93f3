"""What the pages name exists, and what exists is named: commands' keywords, the tool's options, clauses, annotations.

`reference.py --root SOURCE --tool PIPELINK`. The code is asked (argument parsers, `--help`, macros), the written and generated
pages are read, and both are compared in both directions.
"""
import argparse
import re
import sys
import tempfile
from pathlib import Path

from pages import COMMANDS, commands_of, read_page


def keywords_of_function(module, name):
    """What cmake_parse_arguments of a function accepts."""
    body = re.search(rf"^function\({name}\b.*?^endfunction", module, re.MULTILINE | re.DOTALL)[0]
    lists = dict(re.findall(r"^\s*set\((\w+) ([A-Z_ ]+)\)$", body, re.MULTILINE))
    call = re.search(r"cmake_parse_arguments\(PARSE_ARGV \d+ arg (.*?)\)\n", body, re.DOTALL)[1]
    words = set()
    for text in re.findall(r'"([^"]*)"', call):
        variable = re.fullmatch(r"\$\{(\w+)\}", text)
        words |= set((lists[variable[1]] if variable else text).replace(";", " ").split())
    return words


def keywords_shown(body, name):
    """The upper-case words of the command's form, without its comments."""
    body = re.sub(r"[ ]*#.*", "", body) + "\n\n"
    form = re.search(rf"{name}\(.*?\)\n\n", body, re.DOTALL)[0]
    return set(re.findall(r"(?<![<\w])[A-Z][A-Z_]+(?![\w>])", form))


def check_commands(generate, root):
    faults = []
    public = set()
    # Words within a keyword's values, which the modules look for themselves.
    inner = {word for path in (root / "cmake").glob("*.cmake") for word in re.findall(r'as STREQUAL "([A-Z]+)"', path.read_text())}
    for path in sorted((root / "cmake").glob("PipeLink*.cmake")):
        module = path.read_text()
        for name in re.findall(r"^function\((pipelink_\w+)", module, re.MULTILINE):
            public.add(name)
            pages = generate.command_blocks(root)
            if name not in pages:
                faults.append(f"{path.name}: no page for {name}")
                continue
            accepted = keywords_of_function(module, name)
            shown = keywords_shown(pages[name][1], name)
            faults += [f"{name}: the keyword {word} is not in its form" for word in sorted(accepted - shown)]
            faults += [f"{name}: its form shows {word}, which it does not take" for word in sorted(shown - accepted - inner)]
    faults += [f"a page for {name}, which is no command" for name in generate.command_blocks(root)
               if name.startswith("pipelink_") and name not in public]
    return faults, len(public)


def check_link_options(generate, root):
    """LINK_OPTIONS: what the composition's parser compares with, and what its page lists."""
    module = (root / "cmake" / "PipeLinkComposition.cmake").read_text()
    taken = set(re.findall(r'option (?:STREQUAL "|MATCHES "\^)(\w+)', module))
    page = generate.command_blocks(root)["pipelink_add_composition"][1]
    sentence = re.search(r"``LINK_OPTIONS`` are (.*?)\.\n", page, re.DOTALL)[1]
    shown = set(re.findall(r"``(\w+)", sentence))
    return [f"LINK_OPTIONS: {word} is {'not listed' if word in taken else 'listed but not taken'}" for word in sorted(taken ^ shown)]


def help_options(generate, tool, *command):
    text = generate.tool_help(tool, *command).split("Options:\n")[1].split("\n\n")[0]
    return {option for line in re.findall(r"^  (-[^ ]+)", text, re.MULTILINE) for option in line.split(",")}


def shown_runs(pages):
    """[(where, subcommand, options)] of every `pipelink …` that a block runs."""
    runs = []
    for page in pages:
        for block in page.blocks:
            for command, _ in commands_of(block) if block.language in COMMANDS else []:
                for part in re.findall(r"(?:^|[;&|]\s*)pipelink ([^;&|>]*)", command):
                    words = part.split()
                    subcommand = next((w for w in words if not w.startswith("-")), "")
                    runs.append((block.where, subcommand, [w.split("=")[0] for w in words if re.match(r"--?[a-z]", w)]))
    return runs


def check_tool(generate, tool, pages):
    faults = []
    known = {name: help_options(generate, tool, name) for name in generate.subcommands(tool)}
    common = help_options(generate, tool)
    text = next(page.text for page in pages if page.name == "command_line.rst")
    sections = dict(re.findall(r"^pipelink (\w+)\n-+\n(.*?)(?=^pipelink \w+\n-|\Z)", text, re.MULTILINE | re.DOTALL))
    runs = shown_runs(pages)
    for name, options in known.items():
        if name not in sections:
            faults.append(f"command_line.rst: no section `pipelink {name}`")
            continue
        said = set(re.findall(r"``(--?[a-z][\w-]*)", sections[name]))
        faults += [f"command_line.rst: nothing on {o} of `pipelink {name}`" for o in sorted(options - said - {"-h", "--help", "-o"})]
        faults += [f"command_line.rst: `pipelink {name}` has no option {o}" for o in sorted(said - options - common)]
        if name not in {run[1] for run in runs}:
            faults.append(f"no block runs `pipelink {name}`")
    faults += [f"command_line.rst: a section for `pipelink {name}`, which does not exist" for name in sorted(set(sections) - set(known))]
    before = text.split("\npipelink ")[0]
    faults += [f"command_line.rst: nothing on {o}" for o in sorted(common - {"-h"}) if f"``{o}" not in before]
    for where, subcommand, options in runs:
        taken = known.get(subcommand, set()) | common
        faults += [f"{where}: `pipelink {subcommand}` has no option {o}" for o in options if o not in taken]
    return faults, len(known)


def check_names(generate, root, tool, pages):
    """Clauses, annotations, variables and files that a page names."""
    ids = {clause["id"] for clause in generate.clauses(tool)}
    code = "".join(path.read_text() for folder in ("cmake", "packager", "linker", "ci", "tests")
                   for path in sorted((root / folder).rglob("*")) if path.is_file() and "docs" not in path.parts
                   and path.suffix in (".cmake", ".in", ".h", ".hpp", ".cc", ".txt", ".def", ""))
    names = set(re.findall(r"\bPIPELINK_\w+", code)) | set(re.findall(r"\bpipelink_\w+", code))
    faults = []
    for page in pages:
        own = "".join(block.text for block in page.blocks)
        for clause in sorted(set(re.findall(r"\b[PLITU]-[A-Z][A-Z-]+[A-Z]\b", page.text)) - ids - {"L-NOTHING"}):
            faults.append(f"{page.name}: there is no clause {clause}")
        for name in sorted(set(re.findall(r"\b(?:PIPELINK|pipelink)_[A-Za-z]\w+", page.text)) - names):
            if name not in own and not re.fullmatch(r"pipelink_\w+_load", name):  # a composition's C function
                faults.append(f"{page.name}: {name} does not exist")
        for name in sorted(set(re.findall(r"`((?:cmake|linker|packager|templates|components|compositions|tests|ci)/[\w./-]*)`",
                                          page.text))):
            if not (root / name).exists():
                faults.append(f"{page.name}: there is no {name}")
    macros = {a[1] for a in generate.annotations(root)}
    taught = "".join(page.text for page in pages)
    faults += [f"no page shows {macro}" for macro in sorted(macros) if macro not in taught]
    return faults, len(ids)


def check_generated(generate, root, tool):
    """Every command and clause has its page, every annotation its heading, every subcommand its help."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        generate.write_all(root, tool, folder)
        made = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        annotations = (folder / "annotations.rst").read_text()
    wanted = {f"clauses/{clause['id']}.rst" for clause in generate.clauses(tool)} | {"clauses/index.rst", "commands/index.rst",
                                                                                             "demonstration/results.inc"}
    wanted |= {f"help/{name}.inc" for name in ["pipelink", *generate.subcommands(tool)]}
    defined = set(re.findall(r"^#define (PIPELINK_(?!DETAIL)\w+)\(", (root / "packager/sdk/include/pipelink/component.h").read_text(),
                             re.MULTILINE))
    faults = [f"{name} was not generated" for name in sorted(wanted - made)]
    return faults + [f"annotations.rst: no heading {name}" for name in sorted(defined) if f"\n{name}\n~" not in annotations]


def compare(generate, root, tool):
    pages = [read_page(path) for path in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "cmake/docs").glob("*.rst"))]]
    faults, commands = check_commands(generate, root)
    faults += check_link_options(generate, root)
    more, subcommands = check_tool(generate, tool, pages)
    faults += more
    more, clauses = check_names(generate, root, tool, pages)
    faults += more + check_generated(generate, root, tool)
    print("\n".join(["FAILED:", *faults] if faults else [f"{commands} commands, {subcommands} subcommands, {clauses} clauses"]))
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True, type=Path)
    parser.add_argument("--tool", required=True, type=Path)
    options = parser.parse_args()
    root = options.root.resolve()
    sys.path.insert(0, str(root / "cmake" / "docs"))
    import generate
    try:
        return compare(generate, root, options.tool)
    except generate.Fault as fault:
        print(f"FAILED: {fault}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
