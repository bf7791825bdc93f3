"""What the tests here share: the tool and the compiler as commands, packages of small components, and a runner of cases.

A test script is run as `SCRIPT --pipelink TOOL --nvcc NVCC --include SDK --work FOLDER [CASE…]`. It ends with 0, with 1
after a failure, or with 77 if all that it could do was skipped.
"""
import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMPONENTS = HERE / "components"
ARCH = "sm_90a"
ALL_CLAUSES = ("I-", "T-", "U-", "P-", "L-")


class Failure(Exception):
    pass


class Skip(Exception):
    """What is needed is not here: the reason."""


def check(condition, message):
    if not condition:
        raise Failure(message)


def equal(found, expected, what):
    check(found == expected, f"{what}\n    found    {found!r}\n    expected {expected!r}")


class Done:
    """How a command ended."""

    def __init__(self, command, status, out, err, seconds):
        self.command, self.status, self.out, self.err, self.seconds = command, status, out, err, seconds

    def __str__(self):
        return f"{' '.join(self.command)}\n  ended with {self.status} after {self.seconds:.1f} s\n{self.out}{self.err}"


def run(command, timeout=60, cwd=None, env=None):
    """Never raises: a command that runs too long has status 'timeout'."""
    command = [str(c) for c in command]
    merged = dict(os.environ, NO_COLOR="1", **(env or {}))
    start = time.monotonic()
    with subprocess.Popen(command, cwd=cwd, env=merged, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as process:
        try:
            out, err = process.communicate(timeout=timeout)
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            status = "timeout"
    return Done(command, status, out.decode(errors="replace"), err.decode(errors="replace"), time.monotonic() - start)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def listing(folder):
    """Everything below a folder, with its bytes."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in sorted(folder.rglob("*"))}


class Linked:
    """What one link wrote, read back."""

    def __init__(self, folder, name, arch=ARCH):
        stem = folder / f"{name}.{arch}"
        self.folder, self.name = folder, name
        self.cubin, self.launch = Path(f"{stem}.cubin").read_bytes(), Path(f"{stem}.launch").read_bytes()
        self.glue, self.map_bytes = Path(f"{stem}.glue.cu").read_bytes(), Path(f"{stem}.map.json").read_bytes()
        self.summary = Path(f"{stem}.summary.txt").read_text()
        self.map = json.loads(self.map_bytes)

    @property
    def text(self):
        return self.glue.decode()

    @property
    def placement(self):
        return self.map["placement"]

    def claim(self, kind, name):
        """The row of a claim: kind is shared, rings, named_barriers or roles."""
        rows = [row for row in self.placement[kind] if row["claim"] == name]
        check(len(rows) == 1, f"the map has {len(rows)} rows for {kind} {name}")
        return rows[0]

    def gate(self):
        return {row["what"]: (row["planned"], row["found"]) for row in self.map["gate"]}


class Tools:
    """The commands, and packages made once for each script."""

    def __init__(self, options):
        self.pipelink, self.nvcc, self.include, self.work = options.pipelink.resolve(), options.nvcc, options.include.resolve(), options.work
        self.packages, self.arch = {}, ARCH
        self.twin = ("-Xcicc", "-O0")  # as pipelink_add_component has it

    def tool(self, *arguments, timeout=60, cwd=None, env=None):
        return run([self.pipelink, *arguments], timeout, cwd, env)

    def must(self, *arguments, **more):
        done = self.tool(*arguments, **more)
        check(done.status == 0, f"expected success: {done}")
        return done

    def compile(self, source, output, *options, mode=None, cwd=None, timeout=120):
        """A component's object, unless `mode` says what else nvcc should make."""
        mode = mode or ["-rdc=true", "-fatbin", "--compress-mode=none", *self.twin,
                        "--generate-code=arch=compute_{0},code=[compute_{0},lto_{0}]".format(self.arch.removeprefix("sm_"))]
        done = run([self.nvcc, "-std=c++20", "-I", self.include, "-I", COMPONENTS, *mode, *options, "-o", output, source],
                   timeout, cwd)
        check(done.status == 0, f"nvcc failed: {done}")
        return done

    def pack(self, name, objects, output, *options):
        return self.tool("pack", "--name", name, "--version", "1.0", "--arch", self.arch, *options, "-o", output, *objects)

    def package(self, name, *options, source=None, variant=""):
        """Compiles and packs a component of components/ or the text `source`; returns the .plk."""
        key = (name, options, source, self.arch, self.twin)
        if key in self.packages:
            return self.packages[key]
        folder = fresh(self.work / "packages" / (name + variant + (f".{len(self.packages)}" if options or source else "")))
        file = COMPONENTS / f"{name}.cu"
        if source is not None:
            file = folder / f"{name}.cu"
            file.write_text(component_text(name, source))
        self.compile(file, folder / f"{name}.fatbin", *options)
        host = []
        if source is None and "PIPELINK_HOST(" in file.read_text():
            library = folder / f"{name}.host.a"
            library.write_bytes(b"!<arch>\n")  # the packager records name and digest only
            host = ["--host-library", library]
        package = folder / f"{name}.{self.arch}.plk"
        done = self.pack(name, [folder / f"{name}.fatbin"], package, *host)
        check(done.status == 0, f"packing {name} failed: {done}")
        self.packages[key] = package
        return package

    def refused_package(self, name, source, clause):
        """The text of the diagnostics of a pack that must fail with `clause`."""
        folder = fresh(self.work / f"unpacked.{name}.{len(list(self.work.glob('unpacked.*')))}")
        (folder / f"{name}.cu").write_text(component_text(name, source))
        self.compile(folder / f"{name}.cu", folder / f"{name}.fatbin")
        done = self.pack(name, [folder / f"{name}.fatbin"], folder / f"{name}.plk")
        check(f"error[{clause}]" in done.err, f"expected {clause}: {done}")
        equal(done.status, 1 if clause[0] in "PL" else 2, f"exit status of {done}")
        check(not (folder / f"{name}.plk").exists(), "a package was written")
        return done.err

    def link(self, file, output, *options, **more):
        return self.tool("link", file, "-o", output, "--quiet", *options, **more)

    def linked(self, name, components, output=None, **keys):
        """Writes a composition and links it. `components`: packages, or (package, instance name)."""
        folder = fresh(output or self.work / f"link.{name}.{len(list(self.work.glob('link.*')))}")
        file = write_composition(folder / "in" / "composition.json", name, components, **{"arch": self.arch, **keys})
        done = self.link(file, folder / "out")
        check(done.status == 0, f"linking {name} failed: {done}")
        check("warning[" not in done.err, f"a warning about what is right: {done}")
        return Linked(folder / "out", name, self.arch)

    def refused(self, name, components, clause, **keys):
        """The text of the diagnostics of a link that must fail with `clause`."""
        folder = fresh(self.work / f"refused.{name}.{len(list(self.work.glob('refused.*')))}")
        file = write_composition(folder / "composition.json", name, components, **{"arch": self.arch, **keys})
        out = fresh(folder / "out")
        done = self.link(file, out)
        check(f"error[{clause}]" in done.err, f"expected {clause}: {done}")
        equal(done.status, 1 if clause[0] in "PL" else 2, f"exit status of {done}")
        equal(listing(out), {}, "what a failed link wrote")
        return done.err


def not_under_sanitizers(tools, why):
    """Skips a case that a build with the address sanitizer cannot do."""
    if b"__asan_init" in Path(tools.pipelink).read_bytes():
        raise Skip(f"the address sanitizer {why}")


def component_text(name, body):
    """A component's source; `body` goes into its namespace, but for its includes."""
    lines = body.strip().splitlines()
    includes = [line for line in lines if line.startswith("#include")]
    rest = [line for line in lines if not line.startswith("#include")]
    return "\n".join([f"#define PIPELINK_COMPONENT {name}", "#include <pipelink/component.h>", *includes,
                      f"namespace {name} {{", *rest, "}", ""])


def composition(name, components, **keys):
    entries = []
    for entry in components:
        package, instance = entry if isinstance(entry, tuple) else (entry, None)
        entries.append({"package": str(package), **({"as": instance} if instance else {})})
    return {"schema": 1, "name": name, "arch": ARCH, "components": entries, **keys}


def write_composition(path, name, components, **keys):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(composition(name, components, **keys), indent=1) + "\n")
    return path


def members(package):
    """A package's members by name."""
    with tarfile.open(package) as archive:
        return {m.name: archive.extractfile(m).read() for m in archive.getmembers()}


def find_tool(name):
    """A program on the path, beside this Python or among its packages; Skip if there is none."""
    found = shutil.which(name)
    places = [Path(sys.prefix), HERE.parents[1] / ".pipelink" / "venv"]
    for place in places:
        found = found or next((str(p) for p in place.glob(f"lib/python3*/site-packages/nvidia/cu13/bin/{name}")), None)
    if not found:
        raise Skip(f"there is no {name}")
    return found


def one_error(done, what, *fragments):
    """A command that failed as it should: one clear error, status 1 or 2, no death and no silence."""
    check(done.status in (1, 2), f"{what}: {done}")
    lines = [line for line in done.err.splitlines() if line.startswith("error")]
    check(len(lines) == 1, f"{what}: {len(lines)} errors and not one: {done}")
    check(lines[0].startswith("error[") and lines[0][6:8] in ALL_CLAUSES, f"{what}: the error names no clause: {done}")
    equal(done.status, 1 if lines[0][6] in "PL" else 2, f"{what}: status of {lines[0]}")
    for fragment in fragments:
        check(fragment in done.err, f"{what}: the message lacks '{fragment}': {done}")
    return lines[0]


def main(cases, doc):
    """Runs the named cases, or all in the order of their definition."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--pipelink", required=True, type=Path)
    parser.add_argument("--nvcc", required=True, type=Path)
    parser.add_argument("--include", required=True, type=Path, help="the authoring SDK's include folder")
    parser.add_argument("--work", required=True, type=Path, help="a folder for the test's files")
    parser.add_argument("cases", nargs="*", metavar="case", help=", ".join(cases))
    options = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    options.work = options.work.resolve()
    fresh(options.work)
    tools = Tools(options)
    failed = passed = skipped = 0
    for name in options.cases or cases:
        start = time.monotonic()
        try:
            cases[name](tools)
            print(f"ok: {name} ({time.monotonic() - start:.1f} s)", flush=True)
            passed += 1
        except Skip as reason:
            print(f"SKIPPED: {name}: {reason}", flush=True)
            skipped += 1
        except Failure as failure:
            print(f"FAILED: {name}: {failure}", flush=True)
            failed += 1
    if failed:
        return 1
    return 77 if skipped and not passed else 0
