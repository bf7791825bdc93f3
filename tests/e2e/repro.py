"""`pipelink repro`: one archive from which a link says and makes the same elsewhere."""
import os
import shutil
import sys
import tarfile
from pathlib import Path

import fused
from listing import SOURCES
from support import ARCH, check, equal, fresh, listing, main, one_error, run, write_composition


def unpacked(archive, folder):
    with tarfile.open(archive, "r:") as tar:
        members = tar.getmembers()
        tar.extractall(fresh(folder), filter="data") if hasattr(tarfile, "data_filter") else tar.extractall(fresh(folder))
    names = [m.name for m in members]
    top = names[0].split("/")[0]
    equal(names[0], f"{top}/README", "the first member")
    equal(names[2:], sorted(names[2:]), "the packages' order")
    for member in members:
        equal((member.mtime, member.uid, member.gid, member.uname, member.gname, member.mode, member.isreg()),
              (0, 0, 0, "", "", 0o644, True), f"metadata of {member.name}")
    return folder / top


def command_of(readme):
    """The README's second line, as a shell takes it."""
    lines = readme.read_text().splitlines()
    equal(len(lines), 2, "lines of the README")
    check(lines[0].startswith("Made by pipelink "), f"the README begins with {lines[0]}")
    return lines[1].strip()


def again(tools, folder):
    """The unpacked copy, linked by its README's command."""
    shell = tools.work / "bin"
    shell.mkdir(exist_ok=True)
    if not (shell / "pipelink").exists():
        (shell / "pipelink").symlink_to(tools.pipelink.resolve())
    return run(["sh", "-c", command_of(folder / "README")], cwd=folder, env={"PATH": f"{shell}:{os.environ['PATH']}"})


def succeeding(tools):
    """Packages from several folders, two instances, absolute and relative paths."""
    packages = fused.packages(tools)
    folder = fresh(tools.work / "succeeding")
    moved = folder / "a b" / packages["taps"].name
    moved.parent.mkdir()
    shutil.copy(packages["taps"], moved)
    packages = {**packages, "taps": Path("a b") / moved.name}
    write_composition(folder / "fused 1.json", fused.NAME, fused.uses(packages), **fused.KEYS)
    done = tools.must("repro", "fused 1.json", cwd=folder)
    archive = folder / f"fused.{ARCH}.repro.tar"
    equal(done.out, archive.name + "\n", "what repro prints")
    direct = tools.must("link", "fused 1.json", "-o", "out", cwd=folder)
    data = archive.read_bytes()
    check(str(tools.work).encode() not in data, "the archive holds a path of this machine")
    tools.must("repro", folder / "fused 1.json", "-o", folder / "second.tar", cwd=tools.work)
    equal((folder / "second.tar").read_bytes() == data, True, "the same archive from another folder")

    copy = unpacked(archive, tools.work / "another place")
    equal(sorted(p.name for p in copy.iterdir()), ["README", "composition", "packages"], "the archive's folder")
    linked = again(tools, copy)
    equal((linked.status, linked.out, linked.err), (0, direct.out, direct.err), f"the copy's link: {linked}")
    equal(listing(copy / "out"), listing(folder / "out"), "what the copy's link made")
    tools.must("repro", copy / "composition" / "fused 1.json", "-o", folder / "third.tar")
    equal((folder / "third.tar").read_bytes() == data, True, "the archive of the copy")


def failing(tools):
    """What is refused, or damaged, is refused in the same words."""
    folder = fresh(tools.work / "failing")
    keep, square = (tools.package(n, source=SOURCES[n]) for n in ("keep", "square"))
    damaged = folder / "z" / square.name
    damaged.parent.mkdir()
    data = bytearray(square.read_bytes())
    data[-1500] ^= 1
    damaged.write_bytes(data)
    short = folder / "y" / keep.name
    short.parent.mkdir()
    short.write_bytes(keep.read_bytes()[:700])
    for name, uses in {"unbound": [keep], "twice": [keep, square, (damaged, "more")], "damaged": [keep, damaged],
                       "two_damaged": [damaged, short], "named": [(keep, "a"), (keep, "a"), square]}.items():
        file = write_composition(folder / f"{name}.json", name, uses)
        direct = tools.tool("link", file, "-o", folder / "out")
        check(direct.status in (1, 2) and "error[" in direct.err, f"{name} should fail: {direct}")
        tools.must("repro", file, "-o", folder / f"{name}.tar")
        copy = unpacked(folder / f"{name}.tar", tools.work / "copies" / name)
        linked = again(tools, copy)
        places = [(str(p), f"../packages/{n:03}/{p.name}") for n, p in
                  enumerate(sorted({u[0] if isinstance(u, tuple) else u for u in uses}, key=str))]
        expected = direct.err
        for there, here in places:  # a message names a file that cannot be read by its path
            expected = expected.replace(there, f"composition/{here}")
        equal((linked.status, linked.err), (direct.status, expected), f"the copy of {name}")


def refused(tools):
    folder = fresh(tools.work / "refused")
    keep, square = (tools.package(n, source=SOURCES[n]) for n in ("keep", "square"))
    out = folder / "out.tar"

    def fails(what, file, *fragments):
        before = listing(folder)
        one_error(tools.tool("repro", file, "-o", out), what, *fragments)
        equal(listing(folder), before, f"{what}: the folder")

    file = write_composition(folder / "k.json", "k", [keep, folder / "none.plk"])
    fails("a missing package", file, "none.plk", "No such file")
    fails("a missing composition", folder / "none.json", "none.json")
    file.write_text("{")
    fails("no composition", file, "k.json")
    longest = folder / f"{'n' * 96}.plk"
    shutil.copy(square, longest)
    write_composition(file, "k", [keep, longest])
    tools.must("repro", file, "-o", folder / "longest.tar")
    shutil.move(longest, folder / f"{'n' * 97}.plk")
    write_composition(file, "k", [keep, folder / f"{'n' * 97}.plk"])
    fails("a name that is too long", file, "101 bytes")
    shutil.copy(square, folder / 'a"b.plk')
    write_composition(file, "k", [keep, folder / 'a"b.plk'])
    fails("a name with a quote", file, "quote")
    shutil.copy(square, folder / "größe'1.plk")
    write_composition(folder / "maß's.json", "k", [keep, folder / "größe'1.plk"])
    tools.must("repro", folder / "maß's.json", "-o", folder / "odd.tar")
    linked = again(tools, unpacked(folder / "odd.tar", tools.work / "odd"))
    equal(linked.status, 0, f"a copy with other letters: {linked}")
    write_composition(file, "k", [keep, square])
    (folder / "folder").mkdir()
    out = folder / "folder"
    fails("a folder in the archive's place", file, "folder")


if __name__ == "__main__":
    sys.exit(main({f.__name__: f for f in (succeeding, failing, refused)}, __doc__))
