"""Every clause: an example of what it refuses, the whole message, and the example made right, from the real command line.

PIPELINK_UPDATE_GOLDENS=1 writes the messages anew.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "e2e"), str(HERE), str(HERE.parents[1] / "cmake" / "docs")]
import generate
from examples import UNPROVOKED, read_all
from support import Failure, check, composition, equal, fresh, main, run

PRELUDE = """set -e
pipelink() { "$PIPELINK" ${FORMAT:+--format "$FORMAT"} "$@"; }
compile() { # SOURCE [ARCH [CODE]]
  "$NVCC" -std=c++20 -I "$SDK" -rdc=true -fatbin --compress-mode=none -Xcicc -O0 \\
    "--generate-code=arch=compute_${2:-90a},code=${3:-[compute_${2:-90a},lto_${2:-90a}]}" -o "${1%.cu}.fatbin" "$1"
}
repack() { "$PYTHON" -B "$REPACK" "$@"; }
"""


class Bench:
    """Runs examples, each of the two in a folder of its own. A component of one text is compiled and packed once."""

    def __init__(self, tools):
        self.tools, self.made, self.lock = tools, {}, threading.Lock()
        self.environment = {"PIPELINK": str(tools.pipelink), "NVCC": str(tools.nvcc), "SDK": str(tools.include), "PYTHON": sys.executable,
                            "REPACK": str(HERE / "repack.py"), "DATA": str(HERE.parent / "data")}

    def folder(self, example, fixed):
        return self.tools.work / example.name / ("fixed" if fixed else "failing")

    def package(self, name, text, arch, *options):
        """The folder where it was made, and how packing ended."""
        with self.lock:
            made = self.made.setdefault((name, text, arch), [threading.Lock(), None, len(self.made)])
        folder, suffix = self.tools.work / "packages" / str(made[2]), arch.removeprefix("sm_")
        with made[0]:
            if made[1] is None:
                (fresh(folder) / f"{name}.cu").write_text(text)
                self.tools.compile(f"{name}.cu", f"{name}.fatbin", cwd=folder,
                                   mode=["-rdc=true", "-fatbin", "--compress-mode=none", *self.tools.twin,
                                         f"--generate-code=arch=compute_{suffix},code=[compute_{suffix},lto_{suffix}]"])
            if made[1] is None or options:
                done = self.tools.tool(*options, "pack", "--name", name, "--version", "1.0", "--arch", arch, "-o", f"{name}.{arch}.plk",
                                       f"{name}.fatbin", cwd=folder)
                if options:
                    return folder, done
                made[1] = done
        return folder, made[1]

    def run(self, example, fixed, format_name="", toolkit=None):
        """How the command ended that refuses the one and takes the other. `toolkit`: the folder of the vendor's libraries."""
        vendor = {"PIPELINK_TOOLKIT_LIBRARY_DIR": str(toolkit)} if toolkit else {}
        folder, files, options = fresh(self.folder(example, fixed)), example.files(fixed), ["--format", format_name] if format_name else []
        for name, text in files.items():
            (folder / name).write_text(text)
        components, done = example.components(fixed), None
        if "compile " not in files.get("run", ""):
            for name in components:
                made, done = self.package(name, files[f"{name}.cu"], example.arch, *(options if example.stage == "pack" else []))
                if done.status != 0:
                    return done
                shutil.copy(made / f"{name}.{example.arch}.plk", folder)
        if components and "fused.json" not in files:
            keys = {"arch": example.arch, **example.composition_keys(fixed)}
            composed = {**composition("fused", [f"{name}.{example.arch}.plk" for name in components]), **keys}
            (folder / "fused.json").write_text(json.dumps(composed, indent=1) + "\n")
        if example.stage == "pack":
            return done
        if example.stage == "run":
            return run(["bash", "-c", PRELUDE + files["run"]], cwd=folder, env={**self.environment, **vendor, "FORMAT": format_name})
        if example.stage == "audit":
            return self.tools.tool(*options, "audit", "fused.json", cwd=folder)
        if example.stage == "check" and not fixed:
            return self.tools.tool(*options, "check", "fused.json", cwd=folder, env=vendor)
        return self.tools.tool(*options, "link", "fused.json", "-o", "out", "--quiet", cwd=folder, env=vendor)


def normal(text):
    """Without what differs between machines and runs."""
    for pattern, name in ((r"_INTERNAL_[0-9a-f]{8}_(\d+_\w+?_cu)_[0-9a-f]{8}", r"_INTERNAL_HASH_\1_HASH"),  # of a path
                          (r'sha256 "[0-9a-f]{64}"', 'sha256 "DIGEST"'), (r"has the body [0-9a-f]{12}", "has the body DIGEST"),
                          (r"nvJitLink is of 13\.\d+", "nvJitLink is of VERSION"), (r"`static:[^`]*`", "`static:NAME`")):
        text = re.sub(pattern, name, text)
    return text


def found_in(text):
    """[(severity, clause)] of messages as text."""
    return re.findall(r"^(error|warning|note)\[([A-Z-]+)\]", text, re.M)


def last_json(text):
    """The last of several JSON texts: a script's commands write one each."""
    decoder, value, at = json.JSONDecoder(), None, 0
    while at < len(text.rstrip()):
        value, at = decoder.raw_decode(text, at)
        at += len(text[at:]) - len(text[at:].lstrip())
    return value


def faults_of(bench, example, update, toolkit):
    """What is wrong with an example: clauses, exit status and text of what is refused; its SARIF; the one made right."""
    faults = []
    done = bench.run(example, fixed=False, toolkit=toolkit)
    text = normal(done.err)
    found = found_in(text)
    if sorted({c for _, c in found}) != sorted(example.clauses):
        return [f"provokes {sorted({c for _, c in found})} and not {example.clauses}\n{done}"]
    expected = max([0] + [1 if c[0] in "PL" else 2 for s, c in found if s == "error"])
    if done.status != expected:
        faults.append(f"status {done.status}, expected {expected}\n{text}")
    if update:
        example.golden.write_text(text)
    elif not example.golden.exists() or example.golden.read_text() != text:
        faults.append(f"differs from its golden (PIPELINK_UPDATE_GOLDENS=1 writes it anew)\n"
                      f"---- expected\n{example.golden.read_text() if example.golden.exists() else ''}---- found\n{text}")
    if example.has_fixed:
        driver = last_json(bench.run(example, fixed=False, format_name="sarif").err)["runs"][0]["tool"]["driver"]
        rules = {rule["id"]: [rule[k]["text"] for k in ("shortDescription", "fullDescription", "help")] for rule in driver["rules"]}
        if sorted(rules) != sorted(example.clauses) or not all(text for texts in rules.values() for text in texts):
            faults.append(f"SARIF lists {rules}")
        done = bench.run(example, fixed=True)
        if done.status != 0 or any(severity != "note" for severity, _ in found_in(done.err)):
            faults.append(f"the one made right: {done}")
    return faults


def judge(tools, examples, toolkit_of=lambda example: None):
    """Runs them, two at a time. Their golden files are theirs alone."""
    bench, update = Bench(tools), os.environ.get("PIPELINK_UPDATE_GOLDENS", "") not in ("", "0")
    folder = next(iter(examples.values())).golden.parent
    folder.mkdir(parents=True, exist_ok=True)

    def one(example):
        try:
            return [f"{example.name}: {fault}" for fault in faults_of(bench, example, update, toolkit_of(example))]
        except (Failure, ValueError) as failure:
            return [f"{example.name}: {failure}"]

    with ThreadPoolExecutor(2) as pool:
        wrong = [fault for faults in pool.map(one, examples.values()) for fault in faults]
    for file in folder.glob("*.txt"):
        if update and file.stem not in examples:
            file.unlink()
    check(not wrong, f"{len(wrong)} faults in {len(examples)} examples\n" + "\n".join(wrong))
    equal(sorted(p.stem for p in folder.glob("*.txt")), sorted(examples), "golden files")
    print(f"   {len(examples)} examples, {len({c for e in examples.values() for c in e.clauses})} clauses")
    return bench


def goldens(tools):
    """Every example of a clause: refused by that clause alone, and taken when made right."""
    examples = read_all("examples")
    equal([name for name, example in examples.items() if not example.has_fixed], [], "examples that do not say how they are made right")
    judge(tools, examples)


def patterns(tools):
    """Faults that are known from other projects are refused before anything is linked: the vendor's libraries would end the process."""
    examples, deadly = read_all("patterns"), fresh(tools.work / "deadly")
    (deadly / "lib.cc").write_text("__attribute__((constructor)) static void used() { __builtin_trap(); }\n")
    tools.compile("lib.cc", "libnvJitLink.so.13", mode=["-shared", "-Xcompiler=-fPIC", "-cudart=none"], cwd=deadly)
    shutil.copy(deadly / "libnvJitLink.so.13", deadly / "libnvrtc.so.13")
    for name, example in examples.items():
        check({"pattern", "linking", "clause"} <= set(example.keys), f"{name} says not all of pattern, linking and clause")
        check(example.stage in ("pack", "check", "audit", "run"), f"{name} is refused by {example.stage}")
    # `audit` optimizes one package with the vendor's linker; that is no link.
    bench = judge(tools, examples, lambda example: None if example.stage == "audit" else deadly)
    done = bench.run(read_all("examples")["L-BIND"], fixed=True, toolkit=deadly)
    equal((done.status, found_in(done.err)), (2, [("error", "T-CHILD")]), f"a link with those libraries: {done}")


def catalog(tools):
    """Every clause of the catalog is emitted by source code, has an example or a reason for none, a page, and an explanation."""
    listed = [line.split()[0] for line in tools.must("explain", "--list").out.splitlines() if line.strip()]
    equal(listed, sorted(set(listed)), "order of the list")
    root = HERE.parents[1]
    sources = [p for top in ("packager", "linker") for p in sorted((root / top).rglob("*.cc"))]
    text = "\n".join(p.read_text() for p in sources)
    emitted = set(re.findall(r'"([ITUPL]-[A-Z][A-Z-]*[A-Z])"', text))
    equal(sorted(set(listed) - emitted), [], "clauses that no source emits")
    equal(sorted(emitted - set(listed)), [], "clauses that the catalog lacks")
    examples = read_all("examples")
    equal(sorted(set(listed) - set(examples) - set(UNPROVOKED)), [], "clauses without tests/diag/examples/CLAUSE.txt")
    equal(sorted({c for name, e in examples.items() for c in [*e.clauses, name.split(".")[0]]} - set(listed)), [], "examples of no clause")
    equal(sorted(set(UNPROVOKED) & set(examples)), [], "clauses with an example and a reason for none")
    for clause, (_, test) in UNPROVOKED.items():
        check(f'"{clause}"' in (root / test).read_text(), f"{test} does not speak of {clause}")
    with tempfile.TemporaryDirectory() as folder:
        generate.write_clauses(root, tools.pipelink, Path(folder) / "clauses")
        pages = {path.stem: re.sub(r"^   ", "", path.read_text(), flags=re.M) for path in (Path(folder) / "clauses").glob("*-*.rst")}
    equal(sorted(pages), listed, "pages")
    for clause in listed:
        out = tools.must("explain", clause).out
        for word in ("  rule    ", "  reason  ", "  help    "):
            lines = [line for line in out.splitlines() if line.startswith(word)]
            check(lines and len(lines[0]) > len(word) + 8, f"explain {clause} has no {word.strip()}")
        check(out.startswith(f"{clause}: "), f"explain {clause} begins with {out[:40]!r}")
        title = out.splitlines()[0].split(": ", 1)[1]
        check(not title.endswith(".") and title[0] == title[0].lower() or title.startswith("CUDA"), f"the title of {clause}: {title}")
        if clause in UNPROVOKED:
            shown = UNPROVOKED[clause]
        else:
            shown = [examples[clause].golden.read_text(), *(d for _, d in examples[clause].differences()),
                     *(t for name, t in examples[clause].files(False).items() if name != "composition")]
        for part in shown:
            check(part.rstrip("\n") in pages[clause], f"the page of {clause} does not show\n{part}\n---- but\n{pages[clause]}")


def formats(tools):
    """The same error as JSON and as SARIF."""
    bench, example = Bench(tools), read_all("examples")["L-REQUIRE"]
    bench.run(example, fixed=False)
    bench.run(example, fixed=True)
    file = bench.folder(example, fixed=False) / "fused.json"
    text = tools.tool("check", file).err
    done = tools.tool("--format", "json", "check", file)
    equal(done.status, 1, "status")
    found = json.loads(done.err)["diagnostics"]
    equal(len(found), 1, "diagnostics")
    one = found[0]
    equal(sorted(one), ["clause", "facts", "help", "reason", "severity", "title"], "keys of a diagnostic")
    equal((one["severity"], one["clause"]), ("error", "L-REQUIRE"), "severity and clause")
    for part in (one["title"], one["reason"], one["help"], *(f["text"] for f in one["facts"])):
        check(part and part in text, f"the text lacks {part!r}")
    facts = {f["owner"]: f for f in one["facts"]}
    equal(sorted(facts), ["owner", "reader"], "owners")
    equal([sorted(f) for f in one["facts"]], [["file", "line", "owner", "text"]] * 2, "keys of a fact")
    equal((facts["reader"]["file"], facts["reader"]["line"]), ("reader.cu", 5), "place of the requirement")

    done = tools.tool("check", file, "--format", "sarif")
    equal(done.status, 1, "status")
    sarif = json.loads(done.err)
    equal((sarif["version"], len(sarif["runs"])), ("2.1.0", 1), "version and runs")
    check(sarif["$schema"].startswith("https://"), "schema")
    one = sarif["runs"][0]
    driver, results = one["tool"]["driver"], one["results"]
    equal((driver["name"], [r["id"] for r in driver["rules"]]), ("pipelink", ["L-REQUIRE"]), "tool and rules")
    for rule in driver["rules"]:
        check(rule["shortDescription"]["text"] and rule["fullDescription"]["text"] and rule["help"]["text"], "texts of the rule")
    equal([(r["ruleId"], r["ruleIndex"], r["level"]) for r in results], [("L-REQUIRE", 0, "error")], "results")
    places = results[0]["locations"] + results[0]["relatedLocations"]
    for place in places:
        physical = place["physicalLocation"]
        check(re.fullmatch(r"(owner|reader)\.cu", physical["artifactLocation"]["uri"]) and physical["region"]["startLine"] > 0, f"{physical}")
    equal(len(places), 2, "locations")
    for format_name, empty in (("json", {"diagnostics": []}), ("sarif", None)):
        done = tools.tool("--format", format_name, "check", bench.folder(example, fixed=True) / "fused.json")
        equal(done.status, 0, "status of what is right")
        value = json.loads(done.err)
        check(value == empty if empty else value["runs"][0]["results"] == [], f"{format_name} of no diagnostics: {value}")


def terminal(tools):
    """Colours on a terminal and nowhere else; twenty messages of a clause as text, all of them for programs."""
    folder, bench, example = fresh(tools.work / "terminal"), Bench(tools), read_all("examples")["L-SET"]
    bench.run(example, fixed=False)
    file, command = bench.folder(example, fixed=False) / "fused.json", [str(tools.pipelink), "check"]
    plain = tools.tool("check", file).err

    def on_terminal(**environment):
        main_end, end = os.openpty()
        kept = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        subprocess.run([*command, file], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=end, env={**kept, **environment}, check=False)
        os.close(end)
        text = b""
        try:
            while part := os.read(main_end, 65536):
                text += part
        except OSError:  # the other end is closed
            pass
        os.close(main_end)
        return text.decode().replace("\r\n", "\n")

    coloured = on_terminal()
    check("\x1b[1;31merror[L-SET]\x1b[0m" in coloured, f"no colours on a terminal: {coloured!r}")
    equal(re.sub(r"\x1b\[[0-9;]*m", "", coloured), plain, "the text without its colours")
    equal(on_terminal(NO_COLOR="1"), plain, "the text with NO_COLOR")
    with open(folder / "errors.txt", "w") as errors:
        subprocess.run([*command, file], stderr=errors, env={k: v for k, v in os.environ.items() if k != "NO_COLOR"}, check=False)
    equal((folder / "errors.txt").read_text(), plain, "the text in a file")

    composed = json.loads(file.read_text())
    many = file.with_name("many.json")
    many.write_text(json.dumps({**composed, "set": {f"owner.no{n:02}": n for n in range(45)}, "bind": [["owner.a", "owner.b"]]}))
    text = tools.tool("check", many).err
    found = found_in(text)
    equal((found.count(("error", "L-SET")), found.count(("error", "L-BIND"))), (20, 2), "messages as text")
    check(text.endswith("\nand 25 more of error[L-SET]; --format json shows all\n"), f"the rest is not told: {text}")
    equal(len(json.loads(tools.tool("--format", "json", "check", many).err)["diagnostics"]), 47, "messages for programs")


if __name__ == "__main__":
    sys.exit(main({f.__name__: f for f in (goldens, patterns, catalog, formats, terminal)}, __doc__))
