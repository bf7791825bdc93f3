"""The same inputs give the same bytes, in any order of the composition and from any folder."""
import copy
import json
import os
import shutil
import sys

import cubin
import fused
from support import ARCH, COMPONENTS, Linked, check, equal, fresh, main, write_composition

KEYS = {**fused.KEYS, "set": {"left.width": 4, "right.width": 1}}


def outputs(linked):
    return {"cubin": linked.cubin, "map": linked.map_bytes, "glue": linked.glue, "launch": linked.launch, "summary": linked.summary}


def same(found, expected, what, names=("cubin", "map", "glue", "launch", "summary")):
    for name in names:
        check(outputs(found)[name] == outputs(expected)[name], f"{what}: another {name}")


def relinked(tools):
    """Twice in place; then in another order and from another folder; and not writing what has not changed."""
    packages = fused.packages(tools)
    folder = fresh(tools.work / "first")
    file = write_composition(folder / "composition.json", fused.NAME, fused.uses(packages), **KEYS)
    tools.must("link", file, "-o", folder / "out")
    first = Linked(folder / "out", fused.NAME)
    times = {p.name: p.stat().st_mtime_ns for p in (folder / "out").iterdir()}
    tools.must("link", file, "-o", folder / "out")
    same(Linked(folder / "out", fused.NAME), first, "linked again")
    equal({p.name: p.stat().st_mtime_ns for p in (folder / "out").iterdir()}, times, "times of outputs that did not change")

    other = fresh(tools.work / "a folder of another depth" / "x" / "y")
    moved = {}
    for component, package in packages.items():
        moved[component] = other / f"copy of {package.name}" / package.name
        moved[component].parent.mkdir()
        shutil.copy(package, moved[component])
    reversed_keys = copy.deepcopy(KEYS)
    reversed_keys["bind"] = [pair[::-1] for pair in KEYS["bind"][::-1]]
    reversed_keys["set"] = dict(reversed(KEYS["set"].items()))
    uses = [(os.path.relpath(p, other), i) if i else os.path.relpath(p, other) for p, i in
            ((u if isinstance(u, tuple) else (u, None)) for u in fused.uses(moved)[::-1])]
    file = write_composition(other / "renamed.json", fused.NAME, uses, **reversed_keys)
    file.write_text(json.dumps(json.loads(file.read_text()), separators=(",", ":"), sort_keys=True))
    tools.must("link", "renamed.json", "-o", "out", cwd=other, env={"TZ": "Pacific/Auckland", "LC_ALL": "C", "TMPDIR": str(other)})
    same(Linked(other / "out", fused.NAME), first, "in another order, from another folder")


def recompiled(tools):
    """Sources, SDK and objects at other absolute paths: only the digests of the inputs differ."""
    results, counters = [], []
    for name in ("here", "elsewhere/much/deeper"):
        folder = fresh(tools.work / name)
        shutil.copytree(COMPONENTS, folder / "components")
        shutil.copytree(tools.include, folder / "sdk")
        include, tools.include = tools.include, folder / "sdk"
        packages = {}
        for component in (*fused.COMPONENTS, "state"):
            tools.compile(folder / "components" / f"{component}.cu", folder / f"{component}.fatbin")
            packages[component] = folder / f"{component}.{ARCH}.plk"
            host = []
            if component == "relay":
                (folder / "host.a").write_bytes(b"!<arch>\n")
                host = ["--host-library", folder / "host.a"]
            done = tools.pack(component, [folder / f"{component}.fatbin"], packages[component], *host)
            equal(done.status, 0, f"status of {done}")
        tools.include = include
        results.append(tools.linked(fused.NAME, fused.uses(packages), output=folder / "link", **KEYS))
        counters.append(tools.linked("counter", [packages["state"]], output=folder / "counter"))
    here, elsewhere = results
    # nvcc puts a hash of the source's path into the name of a static variable, and nothing turns that off: where such a
    # variable is left in the kernel, the code is the same and the cubin's symbol table is not.
    texts = {cubin.Kernel(linked.cubin, "counter").text for linked in counters}
    equal(len(texts), 1, "different codes of a component with a static variable")
    same(*counters, "a static variable, recompiled elsewhere", ("glue", "launch"))
    same(elsewhere, here, "recompiled elsewhere", ("cubin", "glue", "launch", "summary"))
    maps = [copy.deepcopy(l.map) for l in results]
    for one in maps:
        for row in one["inputs"]:
            check(len(row.pop("sha256")) == 64, "an input's digest")
    equal(maps[0], maps[1], "maps but for the inputs' digests")
    for linked in results:
        for name, data in outputs(linked).items():
            data = data if isinstance(data, bytes) else data.encode()
            for path in (str(tools.work), "much/deeper"):
                check(path.encode() not in data, f"the {name} holds the path {path}")


def packed_again(tools):
    """A package has no time and no path in it."""
    object_file = tools.package("taps").parent / "taps.fatbin"
    folder = fresh(tools.work / "packed")
    for name in ("a.plk", "b.plk"):
        equal(tools.pack("taps", [object_file], folder / name).status, 0, "status of packing")
    check((folder / "a.plk").read_bytes() == (folder / "b.plk").read_bytes(), "packing twice gave different bytes")
    check(str(tools.work).encode() not in (folder / "a.plk").read_bytes(), "the package holds a path of this machine")


if __name__ == "__main__":
    sys.exit(main({f.__name__: f for f in (relinked, recompiled, packed_again)}, __doc__))
