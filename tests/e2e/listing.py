"""What a command reads and writes is listed before it is run, and the list is enough: for the launchers of templates/launchers, and
for a root folder that holds nothing else."""
import json
import os
import shutil
import sys
from pathlib import Path

from support import ARCH, HERE, Skip, check, equal, fresh, listing, main, not_under_sanitizers, one_error, run, write_composition

LAUNCHERS = HERE.parents[1] / "templates" / "launchers"
SOURCES = {
    "square": "PIPELINK_EXPORT(apply, float, pipelink::Self self, float x) { return x * x; }\n",
    "cube": "PIPELINK_EXPORT(apply, float, pipelink::Self self, float x) { return x * x * x; }\n",
    "keep": "PIPELINK_IMPORT(apply, float, pipelink::Self self, float x);\nPIPELINK_BUFFER(kept, .bytes = 512);\n"
            "PIPELINK_ROLE(run, .warps = 4, .registers = {24, 64})(pipelink::Self self) {\n"
            "  kept.data<volatile float>(self)[run.thread(self)] = apply(self, 1.0f);\n}\n",
}


def project(tools, name, other="square"):
    """A folder with packages/, and compositions/k.json that names them."""
    folder = fresh(tools.work / name)
    (folder / "packages").mkdir()
    for component in ("keep", other):
        package = tools.package(component, source=SOURCES[component])
        shutil.copy(package, folder / "packages")
    write_composition(folder / "compositions" / "k.json", "k", [f"../packages/{c}.{ARCH}.plk" for c in ("keep", other)])
    return folder


def listed(tools, folder, *arguments):
    done = tools.must(*arguments, "--list-files", cwd=folder)
    equal(done.out, tools.must(*arguments, "--list-files", cwd=folder).out, "the list, twice")
    files = json.loads(done.out)
    equal(list(files), ["inputs", "outputs", "toolchain"], "the list's keys")
    for key, names in files.items():
        equal(names, sorted(set(names)), f"the order of {key}")
    for path in files["toolchain"]:
        check(os.path.isabs(path) and os.path.isfile(path), f"{path} of the toolchain is no file")
    check(str(tools.pipelink.resolve()) in files["toolchain"], "the tool is not part of its toolchain")
    return files


def vendors(files):
    return sorted(Path(p).name.split(".")[0] for p in files["toolchain"] if "nvrtc" in p or "nvJitLink" in p)


LINK = ("link", "compositions/k.json", "-o", "out", "--timings", "out/times.json", "--quiet")
INPUTS = ["compositions/../packages/keep.sm_90a.plk", "compositions/../packages/square.sm_90a.plk", "compositions/k.json"]
OUTPUTS = [f"out/k.{ARCH}.{suffix}" for suffix in ("cubin", "glue.cu", "launch", "map.json", "summary.txt")]


def lists(tools):
    folder = project(tools, "lists")
    before = listing(folder)
    files = listed(tools, folder, *LINK)
    equal(files["inputs"], INPUTS, "inputs of a link")
    equal(files["outputs"], OUTPUTS + ["out/times.json"], "outputs of a link")
    equal(vendors(files), ["libnvJitLink", "libnvrtc", "libnvrtc-builtins"], "the vendor's libraries of a link")
    equal(listing(folder), before, "the folder after listing")
    files = listed(tools, folder, "check", "compositions/k.json")
    equal((files["inputs"], files["outputs"], vendors(files)), (INPUTS, [], []), "files of a check")
    files = listed(tools, folder, "link", folder / "compositions" / "k.json", "-o", folder / "out")
    equal(files["inputs"], [str(folder / path) for path in INPUTS], "inputs that were given with absolute paths")

    tools.must(*LINK, cwd=folder)
    equal(sorted(str(p.relative_to(folder)) for p in (folder / "out").iterdir()), OUTPUTS + ["out/times.json"], "what a link wrote")
    launch = f"out/k.{ARCH}.launch"
    files = listed(tools, folder, "host", launch, "-o", "host")
    equal((files["inputs"], files["outputs"]), ([launch], ["host/k.host.cc", "host/pipelink/k.h"]), "files of host")
    tools.must("host", launch, "-o", "host", cwd=folder)
    equal([n for n, data in listing(folder / "host").items() if data is not None], ["k.host.cc", "pipelink/k.h"], "what host wrote")
    files = listed(tools, folder, "pack", "--name", "a", "--version", "1", "--arch", ARCH, "--host-library", "h.a", "-o", "a.plk",
                   "two.fatbin", "one.fatbin")
    equal((files["inputs"], files["outputs"]), (["h.a", "one.fatbin", "two.fatbin"], ["a.plk"]), "files of a pack")

    shutil.rmtree(folder / "packages")  # a build system asks before they are made
    equal(listed(tools, folder, *LINK)["inputs"], INPUTS, "inputs that are not there yet")
    (folder / "compositions" / "k.json").write_text("{")
    one_error(tools.tool(*LINK, "--list-files", cwd=folder), "the list of no composition", "k.json")
    os.makedirs(os.fsencode(folder) + b"/\xff")
    one_error(tools.tool("pack", "--name", "a", "--version", "1", "--arch", ARCH, "-o", "a.plk", "a\udcff", "--list-files", cwd=folder),
              "a name that is no UTF-8", "not UTF-8")


def launched(tools, launcher, folder, *options):
    """The command as a launcher gets it from a build: with absolute paths."""
    return run([sys.executable, LAUNCHERS / f"{launcher}_launcher.py", *options, tools.pipelink, "link",
                folder / "compositions" / "k.json", "-o", folder / "out"], cwd=folder / "compositions")


def elsewhere(tools):
    """In a folder with the listed inputs alone; without one of them it fails."""
    folder = project(tools, "elsewhere")
    direct = tools.must("link", "compositions/k.json", "-o", "out", cwd=folder)
    expected = listing(folder / "out")
    shutil.rmtree(folder / "out")
    done = launched(tools, "remote", folder, "--root", folder)
    equal((done.status, done.out), (0, direct.out), f"what the launcher printed: {done}")
    equal(listing(folder / "out"), expected, "what the launcher brought back")
    times = {p.name: p.stat().st_mtime_ns for p in (folder / "out").iterdir()}
    equal(launched(tools, "remote", folder, "--root", folder).status, 0, "again")
    equal({p.name: p.stat().st_mtime_ns for p in (folder / "out").iterdir()}, times, "times of what did not change")
    for path in INPUTS[:2]:
        package = folder / path
        kept = package.read_bytes()
        package.unlink()
        one_error(launched(tools, "remote", folder, "--root", folder), f"without {path}", package.name, "No such file")
        package.write_bytes(kept)
    done = launched(tools, "remote", folder, "--root", folder / "compositions")
    check(done.status == 2 and "is not below" in done.err, f"an input outside the root: {done}")
    equal(listing(folder / "out"), expected, "outputs after what failed")


def alone(tools):
    """A root folder of the listed files and nothing else: no other file of the machine is read."""
    not_under_sanitizers(tools, "reads /proc, which is not there")
    folder = project(tools, "alone")
    tools.must("link", "compositions/k.json", "-o", "out", cwd=folder)
    changes_root = next((words for words in (["chroot"], ["unshare", "--map-root-user", "chroot"])
                         if shutil.which(words[0]) and run([*words, "/", "true"]).status == 0), None)
    if changes_root is None:
        raise Skip("this user cannot change the root folder")
    files = listed(tools, folder, "link", "compositions/k.json", "-o", "made")
    root = fresh(tools.work / "root")
    try:
        for path in files["toolchain"]:
            target = root / os.path.realpath(path).lstrip("/")
            named = root / path.lstrip("/")
            for place in {target, named}:
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, place)
        for path in files["inputs"]:
            place = root / os.path.normpath(path)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / path, place)
        done = run([*changes_root, root, tools.pipelink.resolve(), "link", "compositions/k.json", "-o", "made"])
        equal(done.status, 0, f"a link in a root of its own: {done}")
        equal(listing(root / "made"), listing(folder / "out"), "what was linked there")
    finally:
        shutil.rmtree(root)  # hundreds of megabytes


def cached(tools):
    cache = tools.work / "cache"

    def link(folder, expected, pipelink=tools.pipelink):
        tools_there, tools.pipelink = tools.pipelink, pipelink
        before = statistics()
        done = launched(tools, "caching", folder, "--cache", cache, "--root", folder)
        tools.pipelink = tools_there
        found = tuple(now - then for now, then in zip(statistics(), before))
        equal(found, expected, f"(hits, misses) of {done}")
        return done

    def statistics():
        done = run([sys.executable, LAUNCHERS / "caching_launcher.py", "--cache", cache, "--statistics"])
        return tuple(int(part.split()[1]) for part in done.out.split(","))

    shutil.rmtree(cache, ignore_errors=True)
    first = project(tools, "first checkout")
    made = link(first, (0, 1))
    equal(made.status, 0, f"{made}")
    times = {p.name: p.stat().st_mtime_ns for p in (first / "out").iterdir()}
    link(first, (1, 0))
    equal({p.name: p.stat().st_mtime_ns for p in (first / "out").iterdir()}, times, "times of what did not change")
    second = project(tools, "second checkout")
    again = link(second, (1, 0))
    equal((again.status, again.out, again.err), (made.status, made.out, made.err), "what a hit says")
    equal(listing(second / "out"), listing(first / "out"), "what a hit brings")

    package = second / "packages" / f"square.{ARCH}.plk"
    kept = package.read_bytes()
    shutil.copy(tools.package("square", source=SOURCES["cube"]), package)
    link(second, (0, 1))
    check(listing(second / "out") != listing(first / "out"), "another package gave the same link")
    package.write_bytes(kept)
    link(second, (1, 0))
    equal(listing(second / "out"), listing(first / "out"), "what a hit brings after another link")
    file = second / "compositions" / "k.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "options": {"guard": True}}))
    link(second, (0, 1))
    tool = tools.work / "pipelink"
    tool.write_bytes(tools.pipelink.read_bytes() + b"\0")
    tool.chmod(0o755)
    link(first, (0, 1), tool)

    file.write_text(file.read_text().replace(f"square.{ARCH}.plk", f"keep.{ARCH}.plk"))
    refused = [link(second, (0, 1)) for _ in range(2)]  # a failure is not kept
    for done in refused:
        check(done.status == 1 and "error[L-" in done.err, f"a link that must fail: {done}")
    package.unlink()
    write_composition(file, "k", [f"../packages/{c}.{ARCH}.plk" for c in ("keep", "square")])
    one_error(link(second, (0, 0)), "a package that is not there", "No such file")


if __name__ == "__main__":
    sys.exit(main({f.__name__: f for f in (lists, elsewhere, alone, cached)}, __doc__))
