"""Compiler caches, launchers and editors, as projects use them."""
import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

from support import HERE, Project, Skip, check, fresh, main, must_run, run

LAUNCHERS = HERE.parents[1] / "templates" / "launchers"
MADE = (".plk", ".cubin", ".map.json", ".glue.cu", ".launch", ".summary.txt")


def need(tool):
    found = shutil.which(tool)
    if not found:
        raise Skip(f"there is no {tool}")
    return found


def made(project):
    """What packs and links made, with its bytes."""
    found = {p.name: p.read_bytes() for p in (project.build_dir / "pipelink").rglob("*") if p.name.endswith(MADE)}
    check(len(found) == 3 + 5, f"three packages and a link made {sorted(found)}")
    return found


def launcher(name, *options):
    return ";".join([sys.executable, str(LAUNCHERS / f"{name}_launcher.py"), *map(str, options)])


def ccache_counts():
    counts = dict(line.split("\t") for line in must_run(["ccache", "--print-stats"]).splitlines())
    return int(counts["direct_cache_hit"]), int(counts["preprocessed_cache_hit"]), int(counts["cache_miss"])


def caches(options):
    """A second checkout compiles, packs and links nothing: ccache and the caching launcher bring it all."""
    need("ccache")
    work = fresh(options.work)
    os.environ.update(CCACHE_DIR=str(work / "ccache"), CCACHE_NOHASHDIR="1", CCACHE_CONFIGPATH=str(work / "none"))
    found, compiler = {}, "-DCMAKE_CUDA_COMPILER_LAUNCHER=ccache"
    for name, compiled, linked in (("first, checkout", (0, 0, 3), "hits 0, misses 4"), ("second checkout", (3, 0, 0), "hits 4, misses 4")):
        project = Project(options, work / name, "project")
        os.environ["CCACHE_BASEDIR"] = str(work / name)
        must_run(["ccache", "--zero-stats"])
        project.configure(compiler, "-DPIPELINK_LAUNCHER=" + launcher("caching", "--cache", work / "links", "--root", work / name))
        must_run(["ccache", "--zero-stats"])  # without CMake's trial compiles
        project.build("demo.cubin")
        counts = ccache_counts()
        check(counts == compiled, f"ccache in the {name}: (direct hits, preprocessed hits, misses) are {counts}, not {compiled}")
        text = must_run([*launcher("caching", "--cache", work / "links", "--statistics").split(";")])
        check(text.strip() == linked, f"the caching launcher in the {name}: {text.strip()}, not {linked}")
        found[name] = made(project)
        again = project.build("demo.cubin")
        check(again == [], f"the next build in the {name} ran {again}")
        print(f"ok: {name}: {counts}, {text.strip()}", flush=True)
    check(found["first, checkout"] == found["second checkout"], "the two checkouts differ")

    package = project.build_dir / "pipelink" / "scale.sm_90a.plk"
    contract = must_run([options.pipelink / "linker/cli/pipelink", "inspect", package])
    check("scale/scale.cu:" in contract, f"the cache, which rewrites paths, changed the recorded names of files:\n{contract}")

    # In an empty folder with the listed inputs, as on another machine.
    shutil.rmtree(project.build_dir / "pipelink")
    project.configure(compiler, "-DPIPELINK_LAUNCHER=" + launcher("remote", "--root", work / name))
    project.build("demo.cubin")
    check(made(project) == found[name], "the remote launcher made other files")


def editors(options):
    """compile_commands.json has an entry for each source and architecture, which makes the object; clangd, with the .clangd that is
    installed, finds neither error nor warning in a project's components and in those of the tree."""
    project = Project(options, options.work, "several", "Unix Makefiles")  # the tree's own build is Ninja's
    project.configure("-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DCMAKE_CUDA_COMPILER_LAUNCHER=", "-DCMAKE_CXX_COMPILER_LAUNCHER=")
    entries = json.loads((project.build_dir / "compile_commands.json").read_text())
    sources = sorted(Path(e["file"]).name for e in entries if "-fatbin" in e["command"])
    check(sources == ["narrow.cu", "scale.cu", "scale.cu", "wide.cu"], f"components in compile_commands.json: {sources}")
    entry = next(e for e in entries if e["file"].endswith("wide.cu"))
    words = shlex.split(entry["command"])
    output = Path(entry["directory"], words[words.index("-o") + 1])
    output.parent.mkdir(parents=True, exist_ok=True)
    must_run(["sh", "-c", entry["command"]], cwd=entry["directory"])
    by_hand = output.read_bytes()
    output.unlink()
    project.build("wide.package")
    check(output.read_bytes() == by_hand, "the command makes another object than the build")
    print(f"ok: {len(sources)} entries in compile_commands.json")

    need("clangd")
    shutil.copy(options.pipelink / "cmake/install/clangd.yaml", project.source / ".clangd")
    looked = 0
    for folder, database in ((project.source, project.build_dir), (HERE.parents[1] / "components", options.pipelink)):
        commands = database / "compile_commands.json"
        if not commands.exists():
            print(f"   {folder} is not looked at: its build wrote no compile_commands.json")
            continue
        known = {e["file"] for e in json.loads(commands.read_text())}
        for source in sorted(known & set(map(str, folder.rglob("*.cu")))):
            if "#include <pipelink/cute.h>" in Path(source).read_text():
                print(f"   {source} is not looked at: Clang 14 does not compile CUTLASS's headers as CUDA")
                continue
            status, text = run(["clangd", f"--check={source}", f"--compile-commands-dir={database}", "--enable-config",
                                "--check-lines=1-1"], cwd=folder)
            faults = re.findall(r"^E\[[\d:.]+\] (\[.*)", text, re.MULTILINE)
            check(not faults and status == 0, f"clangd on {source}:\n" + "\n".join(faults) + "\n" + text)
            looked += 1
    check(looked >= 3, f"only {looked} components were looked at")
    print(f"ok: clangd is quiet on {looked} components")


if __name__ == "__main__":
    sys.exit(main({"caches": caches, "editors": editors}))
