#!/usr/bin/env python3
"""What happens when one owner changes a number: linked by symbol, and by PipeLink.

  demonstrate.py build  --pipelink TOOL --nvcc NVCC --sdk FOLDER --composition COMPOSITION.json -o FOLDER
      Changes one line of one owner at a time, compiles that owner alone, and links: its object with the other owners' by the
      vendor's linker (by_symbol.cu has the rest), its package with theirs by PipeLink. FOLDER/linked.json says how it went,
      FOLDER/changes.tar holds it with the kernels.
  demonstrate.py record --linked FOLDER/linked.json -o RESULTS.json
      On a machine without a GPU: says how the links went. Runs that the file has of the same kernels are kept.
  demonstrate.py run    [--commit C] [--sanitizers FILE.json] -o RESULTS.json
      On a GPU, beside changes.tar and the runner: runs every kernel in a process of its own, under a watchdog.
  demonstrate.py check  --linked FOLDER/linked.json RESULTS.json
      Whether results are of today's code and verdicts. Exit status 77, a skip: they are of other code, or nothing was run.
"""
import argparse
import datetime
import hashlib
import io
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAME, ARCH = "expert_mixture", "sm_90a"
OWNERS = ("combine", "dispatch", "down", "gate_up")
START_SECONDS, HANG_SECONDS = 60, 5  # to start up, and for a launch: it takes well under a millisecond
NOT_RUN = "not run"
WAYS = ("pipelink", "by_symbol")

# One line of one owner each. `verdict`: what PipeLink says, a clause or "linked".
CHANGES = [
    {"name": "tile rows", "owner": "dispatch", "verdict": "linked",
     "what": "gathers 128 rows to a tile",
     "old": "PIPELINK_FACT(tile_rows, int, 64);",
     "new": "PIPELINK_FACT(tile_rows, int, 128);"},
    {"name": "arrivals", "owner": "gate_up", "verdict": "L-RING",
     "what": "arrives once for each warp and no longer for each thread",
     "old": "constexpr unsigned kArrivals = 128;",
     "new": "constexpr unsigned kArrivals = 4;"},
    {"name": "chunk of k", "owner": "down", "verdict": "L-RING",
     "what": "takes its operand in chunks of half the columns",
     "old": "PIPELINK_FACT(chunk, int, 32);",
     "new": "PIPELINK_FACT(chunk, int, 16);"},
    {"name": "padding", "owner": "gate_up", "verdict": "linked",
     "what": "pads the rows of its weights against bank conflicts, so its buffer grows",
     "old": "constexpr unsigned kPitch = 32;",
     "new": "constexpr unsigned kPitch = 33;"},
    {"name": "warps", "owner": "combine", "verdict": "linked",
     "what": "uses eight warps",
     "old": "constexpr unsigned kWarps = 4;",
     "new": "constexpr unsigned kWarps = 8;"},
    {"name": "barrier", "owner": "combine", "verdict": "P-BARRIER",
     "what": "meets at the barrier of the kernel that it was before",
     "old": "  all.sync(self);",
     "new": "  __syncthreads();"},
]


def run_tool(command):
    return subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          env=dict(os.environ, NO_COLOR="1"))


def must(command):
    done = run_tool(command)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done


def write_whole(path, data):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.write_bytes(data)
    new.replace(path)


def as_json(value):
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


# ---- build


class Builder:
    """Links the owners both ways, with one of them changed or none."""

    def __init__(self, options):
        sys.path.insert(0, str(HERE.parents[1] / "tests" / "e2e"))
        import cubin
        from vendor import NvJitLink
        self.read_cubin, self.vendor = cubin.Kernel, NvJitLink(options.nvcc)
        self.options, self.files = options, {}
        self.work = options.output / "work"
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        described = json.loads(options.composition.read_text())
        packages = [(options.composition.parent / c["package"]).resolve() for c in described["components"]]
        self.packages = {package.name.split(".")[0]: package for package in packages}
        self.glue = self.work / "by_symbol.ltoir"
        must([options.nvcc, "-std=c++20", "-dc", "-dlto", "-ltoir", f"-arch={ARCH}", "-I", options.sdk, "-o", self.glue,
              HERE / "by_symbol.cu"])

    def text_digest(self, cubin):
        return hashlib.sha256(self.read_cubin(cubin, NAME).text).hexdigest()

    def changed_package(self, change, folder):
        """(package or None, how packing ended)"""
        owner = change["owner"]
        text = (HERE / f"{owner}.cu").read_text()
        if text.count(change["old"]) != 1:
            sys.exit(f"{owner}.cu does not have `{change['old'].strip()}` once")
        source, object_file, package = folder / f"{owner}.cu", folder / f"{owner}.fatbin", folder / f"{owner}.{ARCH}.plk"
        source.write_text(text.replace(change["old"], change["new"]))
        must([self.options.nvcc, "-std=c++20", "-rdc=true", "-fatbin", "--compress-mode=none", "-Xcicc", "-O0",
              "--generate-code=arch=compute_90a,code=[compute_90a,lto_90a]", "-I", self.options.sdk, "-I", HERE,
              "-o", object_file, source])
        done = run_tool([self.options.pipelink, "pack", "--name", owner, "--version", "2.0.0", "--arch", ARCH, "-o", package,
                         object_file])
        return package if done.returncode == 0 else None, done

    def code_of(self, owner, package, folder):
        """An owner's link-time code: its package's, or of one that cannot be packed, compiled alone."""
        if package:
            with tarfile.open(package) as archive:
                return archive.extractfile("code.0.ltoir").read()
        code = folder / f"{owner}.ltoir"
        must([self.options.nvcc, "-std=c++20", "-dc", "-dlto", "-ltoir", f"-arch={ARCH}", "-I", self.options.sdk, "-I", HERE,
              "-o", code, folder / f"{owner}.cu"])
        return code.read_bytes()

    def link_by_symbol(self, name, codes):
        cubin, log = self.vendor.link([codes[owner] for owner in OWNERS] + [self.glue.read_bytes()], NAME)
        if not cubin or log.strip():
            sys.exit(f"{name}: the vendor's linker says {log or 'nothing, and links nothing'}")
        self.files[f"{name}.by_symbol.cubin"] = cubin
        return {"linker": "SUCCESS", "text_sha256": self.text_digest(cubin)}

    def link_with_pipelink(self, name, packages, folder):
        composition = folder / "composition.json"
        composition.write_bytes(as_json({
            "schema": 1, "name": NAME, "arch": ARCH,
            "components": [{"package": os.path.relpath(packages[owner], folder)} for owner in OWNERS]}))
        done = run_tool([self.options.pipelink, "check", composition])
        if done.returncode != 0:
            return refusal("pipelink check", done)
        must([self.options.pipelink, "link", composition, "-o", folder, "--quiet"])
        base = folder / f"{NAME}.{ARCH}"
        self.files[f"{name}.pipelink.cubin"] = base.with_name(base.name + ".cubin").read_bytes()
        self.files[f"{name}.pipelink.launch"] = base.with_name(base.name + ".launch").read_bytes()
        link_map = json.loads(base.with_name(base.name + ".map.json").read_text())
        return {"verdict": "linked", "text_sha256": self.text_digest(self.files[f"{name}.pipelink.cubin"]),
                "packages": {package["component"]: package["sha256"] for package in link_map["inputs"]}}

    def case(self, change):
        name = change["name"].replace(" ", "_") if change else "unchanged"
        folder = self.work / name
        folder.mkdir()
        packages, described = dict(self.packages), {"name": name}
        codes = {owner: self.code_of(owner, package, folder) for owner, package in packages.items()}
        packed = None
        if change:
            owner = change["owner"]
            packages[owner], packed = self.changed_package(change, folder)
            codes[owner] = self.code_of(owner, packages[owner], folder)
            before = (HERE / f"{owner}.cu").read_text().split(change["old"])[0]
            described.update(owner=owner, what=change["what"], line=before.count("\n") + 1, old=change["old"].strip(),
                             new=change["new"].strip())
        described["by_symbol"] = self.link_by_symbol(name, codes)
        described["pipelink"] = (refusal("pipelink pack", packed) if packed and packed.returncode != 0
                                 else self.link_with_pipelink(name, packages, folder))
        wanted = change["verdict"] if change else "linked"
        if described["pipelink"]["verdict"] != wanted:
            sys.exit(f"{name}: PipeLink says {described['pipelink']}, expected is {wanted}")
        return described


def refusal(command, done):
    if done.returncode != 1:
        sys.exit(f"{command} ended with {done.returncode}\n{done.stderr}")
    clauses = sorted(set(re.findall(r"^error\[([\w-]+)\]", done.stderr, re.MULTILINE)))
    # File names alone: the changed copy lies elsewhere than the sources beside it.
    message = re.sub(r"[\w./-]+/(\w+\.cu:\d+)", r"\1", done.stderr.rstrip("\n"))
    return {"verdict": ", ".join(clauses), "command": command, "message": message}


def only_the_owner_is_new(cases):
    """A kernel that is linked again has the packages of the unchanged one, but for the owner's."""
    packages = cases[0]["pipelink"].pop("packages")
    for case in cases[1:]:
        new = {owner for owner, digest in case["pipelink"].pop("packages", {}).items() if packages[owner] != digest}
        if case["pipelink"]["verdict"] == "linked" and new != {case["owner"]}:
            sys.exit(f"{case['name']}: the packages of {sorted(new)} are new")


def build(options):
    builder = Builder(options)
    cases = [builder.case(change) for change in [None, *CHANGES]]
    only_the_owner_is_new(cases)
    version = re.search(r"release ([\d.]+)", must([options.nvcc, "--version"]).stdout)
    linked = as_json({"toolkit": version[1], "cases": cases})
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, data in sorted({**builder.files, "linked.json": linked}.items()):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    write_whole(options.output / "changes.tar", packed.getvalue())
    write_whole(options.output / "linked.json", linked)
    print(f"{len(cases)} links by symbol, {sum('text_sha256' in c['pipelink'] for c in cases)} by PipeLink; the others it refuses")


# ---- run


def watch(command):
    """(the lines of JSON that it printed, whether it had to be stopped)"""
    lines, records, limit = queue.Queue(), [], START_SECONDS
    with subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        def read():
            for line in process.stdout:
                lines.put(line)
            lines.put(None)

        threading.Thread(target=read, daemon=True).start()
        while True:
            try:
                line = lines.get(timeout=limit)
            except queue.Empty:
                process.kill()
                return records, True
            if line is None:
                return records, False
            records.append(json.loads(line))
            limit = HANG_SECONDS if "launching" in records[-1] else START_SECONDS


def outcome(records, stopped):
    last = records[-1] if records else {}
    if stopped:
        return f"hang: no end within {HANG_SECONDS} s" if "launching" in last else "no start"
    if "error" in last:
        return "error: " + last["error"]
    if "case" not in last:
        return "ended without a result"
    faults = [f"{last[kind]:,} of {last['elements']:,} elements {kind}" for kind in ("unwritten", "wrong") if last[kind]]
    faults += ["wrote past the end"] if last["outside"] else []
    if faults:
        return ", ".join(faults)
    return "right" if sum("case" in r for r in records) == 3 else "ended early"


def query(field):
    try:
        done = run_tool(["nvidia-smi", "--id=0", f"--query-gpu={field}", "--format=csv,noheader"])
    except FileNotFoundError:
        return "unknown"
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def run_kernel(folder, kernel, repeat):
    command = [HERE / f"{NAME}_runner", "--image", folder / f"{kernel}.cubin"]
    if (folder / f"{kernel}.launch").exists():
        command += ["--launch", folder / f"{kernel}.launch"]
    runs = []
    for _ in range(repeat):
        records, stopped = watch(command)
        found = outcome(records, stopped)
        print(f"{kernel}: {found}   {[r for r in records if 'launching' not in r]}", flush=True)
        runs.append(found)
    return runs


def run(options):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        with tarfile.open(HERE / "changes.tar") as archive:
            archive.extractall(folder)
        linked = json.loads((folder / "linked.json").read_text())
        for case in linked["cases"]:
            for way in WAYS:
                if "text_sha256" in case[way]:
                    case[way]["runs"] = run_kernel(folder, f"{case['name']}.{way}", options.repeat)
    write_whole(options.output, as_json({
        "device": query("name"), "driver": query("driver_version"),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"), "commit": options.commit,
        "sanitizers": json.loads(options.sanitizers.read_text()) if options.sanitizers else {}, **linked}))
    faults = contradictions(linked["cases"])
    print("\n".join(faults) or f"as expected: {len(linked['cases'])} cases")
    sys.exit(1 if faults else 0)


def contradictions(cases):
    """What a run must show, or the demonstration shows nothing."""
    faults = []
    for case in cases:
        for way in WAYS:
            right = way == "pipelink" or case["name"] == "unchanged"
            wanted = "right" if right else r"hang: .*|.* elements (unwritten|wrong)\b.*|error: a kernel failed.*"
            for found in case[way].get("runs", []):
                if found != NOT_RUN and not re.fullmatch(wanted, found):
                    faults.append(f"{case['name']}, {way}: {found}")
    return faults


# ---- results


def record(options):
    before = json.loads(options.output.read_text()) if options.output.exists() else {"device": None, "cases": []}
    ran = {case[way]["text_sha256"]: case[way]["runs"] for case in before.pop("cases") for way in WAYS if "runs" in case[way]}
    linked = json.loads(options.linked.read_text())
    for case in linked["cases"]:
        for way in WAYS:
            if "text_sha256" in case[way]:
                case[way]["runs"] = ran.get(case[way]["text_sha256"], [NOT_RUN])
    write_whole(options.output, as_json({**before, **linked}))


def check(options):
    today, results = (json.loads(path.read_text()) for path in (options.linked, options.results))

    def told(cases):
        return [{**case, **{way: {k: v for k, v in case[way].items() if k not in ("runs", "text_sha256")}
                            for way in WAYS}} for case in cases]

    if told(today["cases"]) != told(results["cases"]):
        differing = [a["name"] for a, b in zip(told(today["cases"]), told(results["cases"])) if a != b]
        sys.exit(f"the results say something else of {', '.join(differing) or 'other changes'}; today's is {options.linked}")
    faults = contradictions(results["cases"])
    if faults:
        sys.exit("\n".join(faults))
    stale = [f"{a['name']} {way}" for a, b in zip(today["cases"], results["cases"]) for way in WAYS
             if a[way].get("text_sha256") != b[way].get("text_sha256")]
    missing = [f"{case['name']} {way}" for case in results["cases"] for way in WAYS if NOT_RUN in case[way].get("runs", [])]
    if stale or missing:
        print(f"SKIPPED: of other code are {', '.join(stale) or 'none'}; not run are {', '.join(missing) or 'none'}")
        sys.exit(77)
    print(f"all {len(results['cases'])} cases are of today's code")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)

    def command(function, **arguments):
        added = commands.add_parser(function.__name__)
        added.set_defaults(function=function)
        for name, settings in arguments.items():
            flags = ["-o", "--output"] if name == "output" else [name if name == "results" else f"--{name}"]
            added.add_argument(*flags, **settings)

    path = {"type": Path, "required": True}
    command(build, pipelink=path, nvcc=path, sdk=path, composition=path, output=path)
    command(record, linked=path, output=path)
    command(run, commit={"default": "unknown"}, repeat={"type": int, "default": 2},
            sanitizers={"type": Path}, output=path)
    command(check, linked=path, results={"type": Path})
    options = parser.parse_args()
    options.function(options)


if __name__ == "__main__":
    main()
