"""Damaged, missing and meaningless inputs: one clear error with the file and the reason, and nothing written."""
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys

import fused
from support import (ARCH, check, component_text, equal, fresh, listing, main, members, not_under_sanitizers, one_error, run,
                     write_composition)

KEEP = {"fused.sm_90a.map.json": b"of an earlier link\n", "notes.txt": b"somebody's\n"}


class Bench:
    """A composition that links, in a folder of its own, and an output folder that must stay as it is."""

    def __init__(self, tools, name):
        self.tools, self.folder = tools, fresh(tools.work / name)
        self.packages = {}
        for component, package in fused.packages(tools).items():
            self.packages[component] = self.folder / package.name
            shutil.copy(package, self.packages[component])
        self.file = self.folder / "composition.json"
        self.write()
        self.out = fresh(self.folder / "out")
        for file, data in KEEP.items():
            (self.out / file).write_bytes(data)

    def write(self, **changes):
        uses = [(p.name, i) if i else p.name for p, i in
                ((u if isinstance(u, tuple) else (u, None)) for u in fused.uses(self.packages))]
        write_composition(self.file, fused.NAME, uses, **{**fused.KEYS, **changes})

    def fails(self, what, *fragments, clause=None, command="link", limit=30):
        arguments = ["link", self.file, "-o", self.out, "--quiet"] if command == "link" else ["check", self.file]
        done = self.tools.tool(*arguments, timeout=limit)
        line = one_error(done, what, *fragments)
        check(clause is None or f"error[{clause}]" in line, f"{what}: expected {clause}: {done}")
        equal(listing(self.out), KEEP, f"{what}: the output folder")
        return done


def rebuilt(package, change):
    """The package with its members changed, its manifest true again, and written as the packager writes."""
    content = members(package)
    change(content)
    manifest = json.loads(content["manifest.json"])
    manifest.update(content.pop("manifest", {}))
    manifest["members"] = [{"name": n, "size": len(content[n]), "sha256": hashlib.sha256(content[n]).hexdigest()}
                           for n in content if n != "manifest.json"]
    content["manifest.json"] = (json.dumps(manifest, indent=2) + "\n").encode()
    original, out = package.read_bytes()[:512], b""
    for name, data in content.items():
        header = bytearray(original)
        header[:100] = name.encode().ljust(100, b"\0")
        header[124:136] = f"{len(data):011o} ".encode()
        header[148:156] = b" " * 8
        header[148:156] = f"{sum(header):06o}\0 ".encode()
        out += bytes(header) + data + b"\0" * (-len(data) % 512)
    return out + b"\0" * 1024


def empty_and_truncated(tools):
    bench = Bench(tools, "truncated")
    package = bench.packages["taps"]
    whole = package.read_bytes()
    for size in sorted({0, 1, 511, 512, 513, 1024, len(whole) - 1, len(whole) - 512, *range(0, len(whole), len(whole) // 40)}):
        package.write_bytes(whole[:size])
        bench.fails(f"{size} of {len(whole)} bytes", package.name, "reason")
    package.write_bytes(whole + b"\0" * 512)
    bench.fails("a longer package", package.name)
    package.write_bytes(whole * 2)
    bench.fails("a package twice over", package.name)


def flipped_bits(tools):
    """Hundreds of single-bit damages, in each part of the archive."""
    bench = Bench(tools, "flipped")
    package = bench.packages["taps"]
    whole = package.read_bytes()
    parts, at = [], 0
    for name, data in members(package).items():
        parts += [(f"header of {name}", at, 512), (name, at + 512, len(data))]
        at += 512 + (len(data) + 511) // 512 * 512
    parts.append(("end", at, len(whole) - at))
    equal([p[0] for p in parts][1::2], ["manifest.json", "contract.json", "code.0.ltoir"], "parts of the package")
    chance, count = random.Random(2), 0
    for name, start, size in parts:
        for place in sorted(chance.sample(range(start, start + size), min(size, 60))):
            bit = chance.randrange(8)
            damaged = bytearray(whole)
            damaged[place] ^= 1 << bit
            package.write_bytes(damaged)
            bench.fails(f"bit {bit} of byte {place}, in {name}", package.name)
            count += 1
    check(count >= 300, f"only {count} damages were tried")
    print(f"   {count} single-bit damages refused")


def true_manifest(tools):
    """Damage under digests that agree: what the content itself gives away, or what kills the vendor's linker."""
    bench = Bench(tools, "content")
    package = bench.packages["taps"]
    whole = package.read_bytes()

    def of(change):
        package.write_bytes(rebuilt(tools.package("taps"), change))

    of(lambda content: None)
    check(package.read_bytes() == whole, "this test does not write packages as the packager does")
    of(lambda c: c.update(manifest={"format": 2}))
    bench.fails("another format version", package.name, "package format 2", clause="I-FORMAT")
    of(lambda c: c.update(manifest={"format": "1"}))
    bench.fails("a format version that is no number", package.name, clause="I-PACKAGE")
    of(lambda c: c.update(manifest={"arch": "sm_100a"}))
    bench.fails("manifest and contract that differ", package.name)
    of(lambda c: c.update(manifest={"extra": 1}))
    bench.fails("an unknown key in the manifest", package.name)
    of(lambda c: c.update({"contract.json": c["contract.json"].replace(b'"schema": 1', b'"schema": 7')}))
    bench.fails("another contract schema", package.name, clause="I-FORMAT")
    of(lambda c: c.update({"contract.json": b"{"}))
    bench.fails("a contract that is no JSON", package.name, clause="I-JSON")
    of(lambda c: c.update({"contract.json": b"[" * 100000}))
    bench.fails("a contract nested 100000 deep", package.name, clause="I-JSON")
    of(lambda c: c.update({"code.1.ltoir": c.pop("code.0.ltoir")}))
    bench.fails("a member of another name", package.name, clause="I-PACKAGE")
    of(lambda c: c.update({"code.0.ltoir": b""}))
    bench.fails("empty link-time code")
    of(lambda c: c.update({"code.0.ltoir": b"\0" * 4096}))
    bench.fails("zeros for link-time code")
    code = members(tools.package("taps"))["code.0.ltoir"]
    of(lambda c: c.update({"code.0.ltoir": code[: len(code) // 2]}))
    bench.fails("half of the link-time code")
    chance, refused = random.Random(3), 0
    for _ in range(12):  # many are accepted by the vendor's linker: then the link must be whole, else say why not
        damaged = bytearray(code)
        damaged[chance.randrange(len(code))] ^= 1 << chance.randrange(8)
        of(lambda c: c.update({"code.0.ltoir": bytes(damaged)}))
        done = tools.link(bench.file, bench.out, timeout=60)
        if done.status == 0:
            for file in bench.out.iterdir():
                if file.name.startswith(fused.NAME):
                    file.unlink()
            (bench.out / "fused.sm_90a.map.json").write_bytes(KEEP["fused.sm_90a.map.json"])
            continue
        refused += 1
        if done.status == "timeout":  # the vendor's linker stalls on some: the linker's own limit is ten minutes
            print("   one damage makes the vendor's linker stall")
            continue
        check(done.status in (1, 2) and "error[" in done.err, f"damaged link-time code: {done}")
        equal(listing(bench.out), KEEP, f"damaged link-time code: {done}")
    print(f"   {refused} of 12 damages under a true digest refused")


def huge(tools):
    bench = Bench(tools, "huge")
    for name, file in (("package", bench.packages["taps"]), ("composition", bench.file)):
        whole = file.read_bytes()
        with open(file, "r+b") as out:
            out.truncate(2 << 30)
        done = bench.fails(f"a {name} of 2 GiB", file.name, "2147483648", clause="I-FILE")
        check(done.seconds < 5, f"a {name} of 2 GiB took {done.seconds:.1f} s")
        file.write_bytes(whole)
    bench.file.write_text('{"a":' * 200000)
    bench.fails("a composition nested 200000 deep", "composition.json")


def not_a_file(tools):
    bench = Bench(tools, "kinds")
    package = bench.packages["taps"]
    whole = package.read_bytes()
    package.unlink()
    bench.fails("a missing package", package.name, "No such file", clause="I-FILE")
    package.mkdir()
    bench.fails("a directory for a package", package.name, "not a regular file", clause="I-FILE")
    package.rmdir()
    os.mkfifo(package)
    bench.fails("a pipe for a package", package.name, "not a regular file", clause="I-FILE", limit=10)
    package.unlink()
    package.symlink_to(package.name)
    bench.fails("a link to itself", package.name, clause="I-FILE")
    package.unlink()
    package.write_bytes(whole)
    file = bench.file
    for name, path in (("a directory", bench.folder), ("nothing", bench.folder / "none.json"), ("a device", "/dev/zero")):
        bench.file = path
        bench.fails(f"{name} for a composition", str(path), clause="I-FILE", limit=10)
    bench.file = file
    for arguments in (["inspect", bench.folder], ["diff", package, bench.folder], ["place", bench.folder],
                      ["host", bench.folder, "-o", bench.out], ["inspect", "/dev/null"], ["inspect", bench.folder / "x.json"],
                      ["pack", "--name", "a", "--version", "1", "--arch", ARCH, "-o", bench.out / "a.plk", bench.folder],
                      ["pack", "--name", "taps", "--version", "1", "--arch", ARCH, "-o", bench.out / "a.plk", package]):
        done = tools.tool(*arguments, timeout=10)
        one_error(done, f"`pipelink {arguments[0]}` of what it cannot read", "reason")
        equal(listing(bench.out), KEEP, f"`pipelink {arguments[0]}`: the output folder")


def compositions(tools):
    """What a composition file may not say."""
    bench = Bench(tools, "compositions")
    good = json.loads(bench.file.read_text())

    def change(edit):
        value = json.loads(json.dumps(good))
        edit(value)
        bench.file.write_text(json.dumps(value))

    def text(old, new):
        bench.file.write_text(json.dumps(good).replace(old, new))

    for what, broken in (("an empty file", ""), ("no JSON", "composition"), ("JSON cut short", json.dumps(good)[:-3]),
                         ("JSON with a comment", "// x\n" + json.dumps(good)), ("two values", json.dumps(good) * 2),
                         ("bytes that are no UTF-8", json.dumps(good).replace("fused", "fus\udced"))):
        bench.file.write_bytes(broken.encode("utf-8", "surrogateescape"))
        bench.fails(what, "composition.json", clause="I-JSON")
    text('"name": "fused"', '"name": "fused", "name": "again"')
    bench.fails("a key given twice", "composition.json", "name")
    for key in ("domains", "views", "counters"):
        change(lambda c, k=key: c.update({k: {}}))
        bench.fails(f"the reserved key {key}", "reserved", key, clause="I-COMPOSITION")
    change(lambda c: c.update(stes={}))
    bench.fails("an unknown key", "stes", "composition.json", clause="I-COMPOSITION")
    change(lambda c: c["options"].update(gaurd=True))
    bench.fails("an unknown option", "gaurd", clause="I-COMPOSITION")
    change(lambda c: c.update(schema=2))
    bench.fails("another schema", "schema 2", clause="I-FORMAT")
    for key in ("schema", "name", "arch", "components"):
        change(lambda c, k=key: c.pop(k))
        bench.fails(f"no {key}", key, clause="I-COMPOSITION")
    for what, edit in (("an array for a composition", None), ("no components", lambda c: c.update(components=[])),
                       ("a number for a name", lambda c: c.update(name=3)), ("a name with a slash", lambda c: c.update(name="a/b")),
                       ("a name of no letters", lambda c: c.update(name="")), ("an architecture of no form", lambda c: c.update(arch="hopper")),
                       ("a package that is no text", lambda c: c["components"].append({"package": 1})),
                       ("an empty path", lambda c: c["components"].append({"package": ""})),
                       ("a bind of three", lambda c: c["bind"].append(["a.b", "c.d", "e.f"])),
                       ("a cluster of 32", lambda c: c["launch"].update(cluster=[4, 4, 2])),
                       ("a negative limit", lambda c: c["options"].update(limit=-1)),
                       ("a nested set", lambda c: c["set"].update({"left.width": [1]}))):
        change(edit) if edit else bench.file.write_text("[]")
        bench.fails(what, "composition.json", clause="I-COMPOSITION")
    change(lambda c: c["components"].append({"package": c["components"][0]["package"], "as": "taps"}))
    bench.fails("a name given twice", "taps", clause="L-NAME")
    change(lambda c: c["components"].append({"package": "drain.sm_90a.plk"}))
    bench.fails("a component named twice without `as`", "drain", clause="L-NAME")
    change(lambda c: c.update(arch="sm_100a"))
    bench.fails("another architecture", "sm_100a", clause="L-ARCH")
    change(lambda c: c.update(arch="sm_99a"))
    bench.fails("an unknown architecture", "sm_99a", clause="L-ARCH")
    circle = [tools.package(f"circle_{a}", source=f"""
PIPELINK_USE_FACT(fact_{b}, int);
PIPELINK_DETAIL_RECORD(fact, fact_{a}, w.field("direction", "export"); w.field("type", "integer"); w.field("cpp_type", "int");
                       w.field("settable", 0LL); w.field("value", "fact_{b} + 1");)
PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) {{}}
""") for a, b in (("a", "b"), ("b", "a"))]
    write_composition(bench.file, fused.NAME, circle)
    bench.fails("facts that depend on each other", "circle_a.fact_a -> circle_b.fact_b -> circle_a.fact_a", clause="L-FACT-CYCLE")


def outputs(tools):
    """An output that cannot be written leaves none of the others."""
    bench = Bench(tools, "outputs")
    good = bench.out
    (bench.folder / "file").write_text("x")
    for what, out in (("a file for an output folder", bench.folder / "file"), ("a folder below a file", bench.folder / "file" / "out"),
                      ("a folder that nobody can make", "/proc/pipelink/out")):
        bench.out = out
        done = tools.link(bench.file, out)
        one_error(done, what, str(out), "reason")
    equal((bench.folder / "file").read_text(), "x", "the file that stood in the way")
    bench.out = good
    for suffix in ("cubin", "map.json", "launch", "glue.cu", "summary.txt"):
        inside = good / f"fused.{ARCH}.{suffix}"
        shutil.rmtree(good)
        good.mkdir()
        inside.mkdir()
        (inside / "kept").write_text("x")
        before = listing(good)
        one_error(tools.link(bench.file, good), f"a folder in the place of {inside.name}", inside.name)
        equal(listing(good), before, f"a folder in the place of {inside.name}: the output folder")
    fresh(good)
    done = tools.tool("link", bench.file, "-o", good, "--quiet", env={}, timeout=60)
    equal(done.status, 0, f"the composition links: {done}")
    sizes = sorted(p.stat().st_size for p in good.iterdir())
    for limit in (sizes[0] - 1, sizes[-1] - 1):  # a disk that is full before the first file, and in the last one
        fresh(good)
        done = limited(tools, limit, bench.file, good)
        one_error(done, f"no room for files above {limit} bytes", str(good))
        equal(listing(good), {}, f"no room for files above {limit} bytes: the output folder")
    if os.geteuid() == 0:
        print("   as root every folder can be written: no folder without permission is tried")
        return
    good.chmod(0o555)
    done = tools.link(bench.file, good)
    good.chmod(0o755)
    one_error(done, "a folder without permission", str(good), "Permission denied")
    equal(listing(good), {}, "a folder without permission")


def not_replaced(tools):
    """A pipe is written to, a link's target is replaced and not the link, an empty name is no folder."""
    bench = Bench(tools, "not_replaced")
    package = bench.folder / "in.plk"
    folder = fresh(bench.folder / "objects")
    (folder / "one.cu").write_text(component_text("one", "PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) {}"))
    tools.compile(folder / "one.cu", folder / "one.fatbin")
    pipe, link, target = folder / "pipe", folder / "link.plk", folder / "target.plk"
    os.mkfifo(pipe)
    target.write_text("old")
    link.symlink_to(target)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
    equal(tools.pack("one", [folder / "one.fatbin"], pipe).status, 0, "packing into a pipe")
    whole = reader.communicate(timeout=20)[0]
    check(pipe.is_fifo() and whole.startswith(b"manifest.json"), "the pipe was replaced")
    equal(tools.pack("one", [folder / "one.fatbin"], link).status, 0, "packing through a link")
    check(link.is_symlink() and target.read_bytes() == whole, "the link was replaced")
    whole, out = fresh(bench.folder / "whole"), fresh(bench.folder / "linked")
    equal(tools.link(bench.file, whole).status, 0, "the link")
    names = [f"{fused.NAME}.{ARCH}.{end}" for end in ("cubin", "map.json", "launch")]
    for name in names[:2]:
        (folder / name).write_text("old")
        (out / name).symlink_to(folder / name)
    os.mkfifo(out / names[2])
    done = tools.link(bench.file, out)
    check(done.status == 2 and f"{names[2]}'\n  = reason: it is no regular file" in done.err, f"a link into a pipe: {done}")
    check([(folder / name).read_text() for name in names[:2]] == ["old"] * 2, "a part of the link's files was written")
    (out / names[2]).unlink()
    (out / names[2]).symlink_to(names[2])
    done = tools.link(bench.file, out)
    check(done.status == 2 and f"cannot write '{out / names[2]}'" in done.err, f"a link into a link to itself: {done}")
    (out / names[2]).unlink()
    equal(tools.link(bench.file, out).status, 0, "the link, through links")
    check(all((out / name).is_symlink() for name in names[:2]), "a link was replaced")
    equal(listing(out), listing(whole), "what a link through links makes")
    done = tools.link(bench.file, "")
    equal(done.status, 2, f"an empty folder name: {done}")
    check("name is empty" in done.err, f"an empty folder name: {done}")
    full = run(["sh", "-c", f"'{tools.pipelink}' inspect '{target}' --json > /dev/full"])
    equal(full.status, 2, f"a standard output that takes nothing: {full}")


def not_overwritten(tools):
    """No output replaces an input of the command, or another of its outputs."""
    bench = Bench(tools, "not_overwritten")
    whole = fresh(bench.folder / "whole")
    equal(tools.link(bench.file, whole).status, 0, "the link")
    package = next(iter(bench.packages.values()))
    linked, launch = whole / f"{fused.NAME}.{ARCH}.map.json", whole / f"{fused.NAME}.{ARCH}.launch"
    (bench.folder / "one.cu").write_text(component_text("one", "PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) {}"))
    code = bench.folder / "one.fatbin"
    tools.compile(bench.folder / "one.cu", code)
    (bench.folder / "link.json").symlink_to(bench.file)
    renamed = bench.folder / linked.name  # a composition called as the map of its link
    shutil.copy(bench.file, renamed)
    header = fresh(bench.folder / "pipelink") / f"{fused.NAME}.h"
    shutil.copy(launch, header)
    kept = listing(bench.folder)
    for words in (["pack", "--name", "one", "--version", "1", "--arch", ARCH, "-o", code, code],
                  ["link", bench.file, "-o", bench.folder, "--timings", bench.folder / "link.json"],
                  ["link", bench.file, "-o", bench.out, "--timings", bench.out / f"{fused.NAME}.{ARCH}.cubin"],
                  ["link", renamed, "-o", bench.folder], ["inspect", linked, "--html", linked],
                  ["repro", bench.file, "-o", bench.file], ["repro", bench.file, "-o", package],
                  ["host", header, "-o", bench.folder]):
        done = tools.tool(*words)
        check(done.status == 2 and "error[U-USAGE]: the output '" in done.err and done.out == "", f"{done}")
        equal(listing(bench.folder), kept, f"the files after {' '.join(map(str, words))}")


def closed_streams(tools):
    """What a caller has closed is not needed, and no file takes its number: a link is the same; what cannot be printed is an error."""
    bench = Bench(tools, "closed_streams")
    whole = fresh(bench.folder / "whole")
    equal(tools.link(bench.file, whole).status, 0, "the link")
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        folder = fresh(bench.folder / "closed")
        done = run(["sh", "-c", f"'{tools.pipelink}' link '{bench.file}' -o '{folder}' --quiet {closed}"])
        equal((done.status, done.err), (0, ""), f"a link with {closed}")
        equal(listing(folder), listing(whole), f"what a link with {closed} makes")
    for words in ("--help", "--version", "check --help", f"check '{bench.file}'", "explain --list"):
        for redirection, why in ((">&-", "Bad file descriptor"), ("> /dev/full", "No space left on device")):
            done = run(["sh", "-c", f"'{tools.pipelink}' {words} {redirection}"])
            check(done.status == 2 and "error[I-WRITE]" in done.err and why in done.err, f"{words} {redirection}: {done}")


def hostile_contracts(tools):
    """What a package says goes into generated code, and its size into memory: both have bounds."""
    source = "PIPELINK_USE_FACT_OR(size, int, 4);\nPIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) { if (size(self) > 8) __trap(); }"
    good = tools.package("hostile", source=source)
    phases = [{"name": f"p{i}", "file": "x", "line": 1, "after": [f"p{i + 1}"] if i < 99999 else [], "after_previous": []}
              for i in range(100000)]

    def edit(content, change):
        contract = json.loads(content["contract.json"])
        change(contract)
        content["contract.json"] = json.dumps(contract).encode()

    def fact(contract, text):
        contract["facts"][0]["cpp_type"] = text

    for what, change, clause in (
            ("a chain of phases", lambda c: c.update(phases=phases), "P-VALUE"),
            ("code in a fact's type", lambda c: fact(c, 'int z;\n#include "/etc/hostname"\nint'), "P-VALUE"),
            ("a fact of type void", lambda c: fact(c, "void"), "P-VALUE")):
        package = fresh(tools.work / "hostile") / "hostile.plk"
        package.write_bytes(rebuilt(good, lambda content: edit(content, change)))
        done = tools.tool("inspect", package, timeout=30)  # a second; with sanitizers ten
        equal(done.status, 1, f"{what}: {done}")
        check(f"error[{clause}]" in done.err, f"{what}: {done}")


def limited(tools, limit, file, out):
    """A link that cannot write files larger than `limit`: what a full disk does."""
    program = ("import os, resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_DFL); "
               f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit})); os.execv(sys.argv[1], sys.argv[1:])")
    return run([sys.executable, "-c", program, tools.pipelink, "link", file, "-o", out, "--quiet"])


def usage(tools):
    """A command line that means nothing."""
    for arguments in ([], ["lnik"], ["link"], ["place", "x.pl", "--limit", "-1"], ["link", "a.json", "b.json"], ["--format", "xml", "doctor"], ["explain", "L-NOTHING"],
                      ["pack", "a.fatbin"], ["check", "--nonsense", "a.json"], ["explain", "L-REGS", "--list"]):
        done = tools.tool(*arguments, timeout=10)
        equal((done.status, done.out), (2, ""), f"status of {done}")
        check(done.err.startswith("error[U-USAGE]: "), f"no word about {arguments}: {done}")
        check("\n  = help: " in done.err, f"no way out of {arguments}: {done}")
        if "--format" in arguments:
            continue
        for form in (["--format", "json"], ["--format=json"]):
            done = tools.tool(*arguments, *form, timeout=10)
            found = json.loads(done.err)["diagnostics"]
            equal((done.status, [d["clause"] for d in found]), (2, ["U-USAGE"]), f"as JSON: {done}")
        done = tools.tool("--format", "sarif", *arguments, timeout=10)
        equal(json.loads(done.err)["runs"][0]["results"][0]["ruleId"], "U-USAGE", f"as SARIF: {done}")


def too_little_memory(tools):
    """A limit that the vendor's libraries do not fit is told from a library that is not there."""
    not_under_sanitizers(tools, "takes all of the address space for itself")
    bench = Bench(tools, "too_little_memory")
    for kib in (600_000, 640_000, 680_000):  # the heap that is taken first leaves less than a library
        done = run(["sh", "-c", f"ulimit -v {kib} && exec '{tools.pipelink}' link '{bench.file}' -o '{bench.folder / 'more'}'"])
        equal(done.status, 2, f"{kib} KiB of address space: {done}")
        check("error[T-CHILD]" in done.err and "`pipelink link --memory`" in done.err, f"{kib} KiB of address space: {done}")
        check(not (bench.folder / "more").exists(), "something was written")


if __name__ == "__main__":
    sys.exit(main({f.__name__: f for f in (empty_and_truncated, flipped_bits, true_manifest, huge, not_a_file, compositions, outputs,
                                           not_replaced, not_overwritten, closed_streams,
                                           hostile_contracts, usage, too_little_memory)}, __doc__))
