"""The adaptor for ThunderKittens: allocators, barriers and semaphores from handles. On a stand-in of a few names, or on the user's headers
below THUNDERKITTENS_ROOT."""
import os
import sys
from pathlib import Path

from support import HERE, Failure, check, equal, fresh, main

FOLDER = HERE / "thunderkittens"


def headers():
    """The options that name the headers; and whether they are the real ones."""
    root = os.environ.get("THUNDERKITTENS_ROOT")
    if root:
        return ["-I", Path(root) / "include", "-DKITTENS_HOPPER", "--expt-relaxed-constexpr"], True
    return ["-I", FOLDER], False


def package_of(tools, source):
    folder = fresh(tools.work / f"reversed.{len(list(tools.work.glob('reversed.*')))}")
    options, real = headers()
    print("on the headers below THUNDERKITTENS_ROOT" if real else "on a stand-in; not run against the real headers")
    (folder / "reversed.cu").write_text(source)
    tools.compile(folder / "reversed.cu", folder / "reversed.fatbin", *options)
    done = tools.pack("reversed", [folder / "reversed.fatbin"], folder / "reversed.plk")
    return folder / "reversed.plk", done


def handles(tools):
    """Memory, barriers and mbarriers are the linked kernel's, and the code names no number: packed, audited, linked and gated."""
    package, done = package_of(tools, (FOLDER / "reversed.cu").read_text())
    equal((done.status, "warning" in done.err), (0, False), f"pack: {done}")
    audit = tools.must("audit", package)
    check("warning" not in audit.out + audit.err and "4 of 4 are used" in audit.out, f"audit: {audit}")
    linked = tools.linked("kittens", [package])
    equal(linked.claim("shared", "reversed.tiles")["bytes"], 1024 + 1024, "two pieces, each aligned to 1024")
    barriers = {row["claim"]: row["id"] for row in linked.placement["named_barriers"] if row["claim"].startswith("reversed.")}
    equal(len(set(barriers.values())), 2, f"numbers of barriers: {barriers}")
    equal(linked.gate()["barriers"], ("3", "3"), "barriers of the kernel: numbers that are no constants would claim all sixteen")


def numbers(tools):
    """kittens' own functions take barriers by number, and get constants; they use the aligned form, which audit names."""
    source = (FOLDER / "reversed.cu").read_text()
    source = source.replace("both.sync(self);", "kittens::warpgroup::sync(pipelink::tk::id(both, self));")
    source = source.replace("again.sync(self);", "kittens::warpgroup::arrive_and_wait(pipelink::tk::barrier(again, self));")
    package, done = package_of(tools, source)
    equal(done.status, 0, f"pack: {done}")
    equal(tools.linked("numbers", [package]).gate()["barriers"], ("3", "3"), "barriers of the kernel")
    audit = tools.tool("audit", package)
    check(audit.status == 1 and audit.err.count("error[") == 1 and "P-BARRIER" in audit.err and "aligned form" in audit.err, f"audit: {audit}")


def two_instances(tools):
    """The same package twice: each instance has memory and barriers of its own."""
    package, _ = package_of(tools, (FOLDER / "reversed.cu").read_text())
    linked = tools.linked("litter", [(package, "a"), (package, "b")])
    places = {linked.claim("shared", f"{name}.tiles")["offset"] for name in "ab"}
    equal(len(places), 2, "places of the tiles")
    equal(linked.gate()["barriers"], ("5", "5"), "barriers of the kernel")


def misused(tools):
    """Registers that the code sets itself, and a buffer with less alignment than the allocator's, are refused."""
    source = (FOLDER / "reversed.cu").read_text()
    sets = '  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");\n  const int thread ='
    _, done = package_of(tools, source.replace("  const int thread =", sets, 1))
    check(done.status == 1 and "error[P-SETMAXNREG]" in done.err, f"setmaxnreg: {done}")
    options, _ = headers()
    folder = fresh(tools.work / "unaligned")
    (folder / "reversed.cu").write_text(source.replace(".align = 1024", ".align = 128"))
    try:
        tools.compile(folder / "reversed.cu", folder / "reversed.fatbin", *options)
    except Failure as failure:
        check("as much as the allocator aligns to" in str(failure), f"the compiler does not say what is wrong: {failure}")
    else:
        raise Failure("a buffer with less alignment than the allocator's compiles")


if __name__ == "__main__":
    sys.exit(main({f.__name__: f for f in (handles, numbers, two_instances, misused)}, __doc__))
