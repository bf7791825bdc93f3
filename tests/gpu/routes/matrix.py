#!/usr/bin/env python3
"""Every producer's layout of a tile with every consumer's: linked here, run on a GPU.

  matrix.py build --pipelink TOOL --nvcc NVCC --sdk FOLDER[;FOLDER…] [--pairs all|some|further] [--jobs N] -o FOLDER
      Compiles a component for each layout (give.cu, take.cu), packs it, and links every producer with every consumer.
      FOLDER/matrix has kernels, launch descriptions, tables of who holds what, and `pairs`, the list that the runner reads;
      FOLDER/routes.json says how each pair is routed, or why it is refused.
  matrix.py check --pipelink TOOL --nvcc NVCC --sdk FOLDER[;FOLDER…] -o FOLDER RESULTS.json
      Whether recorded runs went well, and are of today's routes: links a few pairs and compares. Exit status 77, a skip: they are not.

Layouts are evaluated here too, by code of its own: the tables that the runner compares with are not PipeLink's.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ARCH = "sm_90a"
TILE = 64 * 64
TYPES = {"f32": ("float", 4), "u16": ("unsigned short", 2), "u8": ("unsigned char", 1), "f64": ("double", 8)}

# (thread, value) → row-major index; 128 threads × 32 values.
REGISTERS = {
    "accumulator": "((4,8,4),(2,2,8)):((2,64,1024),(1,512,8))",
    "accumulator_reversed": "((4,8,4),(8,2,2)):((2,64,1024),(8,512,1))",
    "accumulator_lanes": "((8,4,4),(2,2,8)):((64,2,1024),(1,512,8))",
    "mma_two_by_two": "((4,8,2,2),(2,2,2,4)):((2,64,2048,32),(1,512,1024,8))",
    "mma_columns": "((4,8,4),(2,2,4,2)):((2,64,16),(1,512,1024,8))",
    "blocked": "(128,32):(32,1)",
    "striped": "(128,32):(1,128)",
    "striped_by_four": "(128,(4,8)):(4,(1,512))",
    "column_blocked": "((2,64),32):((2048,1),64)",
    "column_striped": "((64,2),32):((64,1),2)",
    "lane_columns": "((32,4),(16,2)):((1,1024),(64,32))",
    "swizzled": "Sw<3,2,4> o (128,(4,8)):(4,(1,512))",
}
# (row, column) → offset in elements; in the last, rows of 128 bytes swizzled as the bulk copy unit does it.
SHARED = {
    "rows": {"layout": "(64,64):(64,1)"},
    "columns": {"layout": "(64,64):(1,64)"},
    "rows_async": {"layout": "(64,64):(64,1)", "proxy": "async"},
    "swizzled_async": {"layout": {1: "Sw<2,4,3> o (64,64):(64,1)", 2: "Sw<3,3,3> o (64,64):(64,1)",
                                  4: "Sw<3,2,3> o (64,(32,2)):(32,(1,2048))", 8: "Sw<3,1,3> o (64,(16,4)):(16,(1,1024))"},
                       "proxy": "async"},
}


# Each element in two threads.
BROADCAST = "((64,2),64):((1,0),64)"
# A thread's own values, named by the parity of two bits of its number.
PARITY = {"even": "Sw<1,0,5> o (128,32):(32,1)", "odd": "Sw<1,0,6> o (128,32):(32,1)"}
# (element, producer, consumer): between two roles, each of two warpgroups with a tile of their own.
ROLES = [("f32", "accumulator", "column_blocked"), ("f32", "accumulator", "blocked"), ("f32", "striped", "lane_columns"),
         ("f32", "swizzled", "mma_two_by_two"), ("u16", "accumulator", "column_blocked"), ("u16", "blocked", "accumulator"),
         ("u16", "mma_columns", "striped"), ("u8", "accumulator", "blocked"), ("f64", "striped", "column_blocked")]
# (element, producer, consumers): of one call, in this order.
SEVERAL = [("f32", "accumulator", ["accumulator", "blocked", "column_blocked"]), ("u16", "accumulator", ["column_blocked", "shared_swizzled_async"]),
           ("f32", "blocked", ["broadcast", "striped", "shared_rows"])]


def numbers(text):
    """A nested tuple of numbers, from CuTe's notation."""
    return eval(re.sub(r"\)", ",)", text) if "(" in text else f"({text},)", {"__builtins__": {}})  # only digits, commas, brackets


def flat(tree):
    return [leaf for part in tree for leaf in (flat(part) if isinstance(part, tuple) else [part])]


class Layout:
    """Two modes, each of nested extents, the leftmost fastest."""

    def __init__(self, text):
        swizzle = re.fullmatch(r"(?:Sw<(\d+),(\d+),(\d+)> o )?([\d(),]+):([\d(),]+)", text)
        self.swizzle = [int(x) for x in swizzle.groups()[:3]] if swizzle[1] else None
        modes = [numbers(swizzle[4]), numbers(swizzle[5])]
        self.modes = [list(zip(flat(s if isinstance(s, tuple) else (s,)), flat(d if isinstance(d, tuple) else (d,)), strict=True))
                      for s, d in zip(*modes, strict=True)]

    def __call__(self, *coordinate):
        index = 0
        for place, mode in zip(coordinate, self.modes, strict=True):
            for extent, stride in mode:
                index += place % extent * stride
                place //= extent
        if self.swizzle:
            bits, base, shift = self.swizzle
            index ^= (index >> (base + shift) & ((1 << bits) - 1)) << base
        return index


def run(command):
    return subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          env=dict(os.environ, NO_COLOR="1"))


def must(command):
    done = run(command)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done


class Matrix:
    def __init__(self, options):
        self.options, self.folder = options, options.output / "matrix"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.work = options.output / "work"
        shutil.rmtree(self.work, ignore_errors=True)
        for folder in (self.folder, self.work):
            folder.mkdir(parents=True)

    def package(self, name, source, element, definitions):
        cpp, _ = TYPES[element]
        definitions = {"PIPELINK_COMPONENT": name, "VALUE": cpp, "ELEMENT": f'"{element}"', **definitions}
        compiled = self.work / f"{name}.fatbin"
        must([self.options.nvcc, "-std=c++20", "-O3", "-dc", "-fatbin", "--compress-mode=none", "-Xcicc", "-O0",
              f"--generate-code=arch=compute_{ARCH[3:]},code=[compute_{ARCH[3:]},lto_{ARCH[3:]}]",
              f"-frandom-seed={name}", *[f"-I{folder}" for folder in [HERE, *self.options.sdk.split(";")]],
              *[f"-D{key}={value}" for key, value in definitions.items()], HERE / source, "-o", compiled])
        package = self.work / f"{name}.{ARCH}.plk"
        must([self.options.pipelink, "pack", "--name", name, "--version", "1.0.0", "--arch", ARCH, "--source-root", HERE,
              "-o", package, compiled])
        return package

    def layout(self, name, size):
        """Of a consumer, and how it takes the tile."""
        if name.startswith("shared_"):
            how = SHARED[name.removeprefix("shared_")]
            return (how["layout"] if isinstance(how["layout"], str) else how["layout"][size]), {"SHARED": "", "PROXY": f'"{how.get("proxy", "")}"'}
        if name == "broadcast":
            return BROADCAST, {"VALUES": 64, "REPLICAS": 2}
        return {**REGISTERS, **PARITY}[name], {"VALUES": 32}

    def table(self, name, layout):
        numbered = [layout(a, b) for a in range(len_of(layout, 0)) for b in range(len_of(layout, 1))]
        text = struct.pack(f"<{len(numbered)}i", *numbered)
        (self.folder / f"{name}.table").write_bytes(text)

    def link(self, pair):
        to = pair["to"] if len(pair["takes"]) == 1 else f"{len(pair['takes'])}"
        name = re.sub(r"[^a-z0-9]+", "_", f"{pair['from']}_to_{to}")
        composition = self.work / f"{name}.composition.json"
        bind = [[f"{pair['give']}.take", f"{take}.take"] for _, take in pair["takes"]] if len(pair["takes"]) > 1 else []
        composition.write_text(json.dumps({
            "schema": 1, "name": name, "arch": ARCH, "bind": bind, "set": {}, "options": {"guard": False},
            "components": [{"package": f"{component}.{ARCH}.plk"} for component in [pair["give"], *(take for _, take in pair["takes"])]]}))
        out = self.work / name
        done = run([self.options.pipelink, "link", composition, "-o", out, "--quiet"])
        if done.returncode != 0:
            return {**pair, "route": "refused", "reason": done.stderr.strip()}
        base = out / f"{name}.{ARCH}"
        link_map = json.loads(Path(f"{base}.map.json").read_text())
        for end in ("cubin", "launch"):
            shutil.copy(f"{base}.{end}", self.folder / f"{name}.{end}")
        if len(pair["takes"]) > 1:
            found = {row["to"].partition(".")[0]: row for row in link_map["routes"]}
            return {**pair, "name": name, "route": ", ".join(found[take]["route"] for _, take in pair["takes"])}
        return {**pair, "name": name, "route": link_map["routes"][0]["route"],
                **{key: link_map["routes"][0][key] for key in ("method", "cost") if key in link_map["routes"][0]}}

    def further(self, pool, jobs):
        """Pairs beside the matrix: between roles, with several consumers, and one that needs a parity. No component is used twice."""
        wanted = [("roles", element, give, [take]) for element, give, take in ROLES] + \
                 [("several", element, give, takes) for element, give, takes in SEVERAL] + [("parity", "f32", "even", ["odd"])]
        pairs = []
        for n, (kind, element, give, takes) in enumerate(wanted):
            size, roles = TYPES[element][1], {"ROLES": "", "WARPS": 8} if kind == "roles" else {}
            giver = f"give_{kind}{n}_{element}_{give}"
            text, how = self.layout(give, size)
            jobs.append(pool.submit(self.package, giver, "give.cu", element, {"LAYOUT": f'"{text}"', **how, "WARPS": 8, **roles}))
            self.table(giver, Layout(text))
            slots = [8192 if take == "broadcast" else TILE for take in takes]
            listed = []
            for k, take in enumerate(takes):
                taker = f"take_{kind}{n}_{k}_{element}_{take}"
                text, how = self.layout(take, size)
                jobs.append(pool.submit(self.package, taker, "take.cu", element,
                                        {"LAYOUT": f'"{text}"', **how, **roles, "SLOT": sum(slots), "OFFSET": sum(slots[:k])}))
                self.table(taker, Layout(text))
                listed.append(("role" if roles else "shared" if "SHARED" in how else "call", taker))
            pairs.append({"element": element, "bytes": size, "from": f"{kind} {element}.{give}",
                          "to": ", ".join(f"{element}.{take}" for take in takes), "give": giver, "takes": listed})
        return pairs

    def chosen(self, element, give, take):
        """Whether a pair is linked, by the numbers of its layouts."""
        if self.options.pairs == "further":
            return False
        if self.options.pairs == "all":
            return element == "f32" or (give * 5 + take) % 16 in (3, 9)
        return (give * 5 + take) % 16 == 3 and (self.options.pairs == "some" or element == "f32" and give % 3 == 1)

    def build(self):
        pairs, jobs = [], []
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for element, (_, size) in TYPES.items():
                givers = {name: f"give_{element}_{name}" for name in REGISTERS}
                takers = {name: f"take_{element}_{name}" for name in [*REGISTERS, *(f"shared_{s}" for s in SHARED)]}
                for g, give in enumerate(givers):
                    for t, take in enumerate(takers):
                        if self.chosen(element, g, t):
                            pairs.append({"element": element, "bytes": size, "from": f"{element}.{give}", "to": f"{element}.{take}",
                                          "give": givers[give],
                                          "takes": [("shared" if take.startswith("shared_") else "call", takers[take])]})
                wanted = {p["give"] for p in pairs} | {p["takes"][0][1] for p in pairs}
                for name, text in REGISTERS.items():
                    both = {"LAYOUT": f'"{text}"', "VALUES": 32}
                    if givers[name] in wanted:
                        jobs.append(pool.submit(self.package, givers[name], "give.cu", element, {**both, "WARPS": 8}))
                    if takers[name] in wanted:
                        jobs.append(pool.submit(self.package, takers[name], "take.cu", element, both))
                    self.table(givers[name], Layout(text))
                    self.table(takers[name], Layout(text))
                for name in SHARED:
                    text, how = self.layout(f"shared_{name}", size)
                    take = takers[f"shared_{name}"]
                    if take in wanted:
                        jobs.append(pool.submit(self.package, take, "take.cu", element, {"LAYOUT": f'"{text}"', **how}))
                    self.table(take, Layout(text))
            if self.options.pairs in ("all", "further"):
                pairs += self.further(pool, jobs)
            for job in jobs:
                job.result()
            rows = list(pool.map(self.link, pairs))
        linked = [row for row in rows if "name" in row]
        (self.folder / "pairs").write_text("".join(
            " ".join([row["name"], row["give"], str(row["bytes"]), *(word for take in row["takes"] for word in take)]) + "\n" for row in linked))
        Path(self.options.output / "routes.json").write_text(json.dumps(rows, indent=1) + "\n")
        kinds = {}
        for row in rows:
            kinds[row["route"]] = kinds.get(row["route"], 0) + 1
        print(f"{len(rows)} pairs: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
        for row in rows:
            if row["route"] == "refused":
                print(f"{row['from']} to {row['to']}: {row['reason']}")
        return rows

    def check(self):
        results = json.loads(self.options.results.read_text())
        recorded = {(row["from"], row["to"]): row for row in results["pairs"]}
        verdicts = [verdict for of in results["sanitizers"].values() for verdict in of.values()]
        if results["failed"] or results["passed"] != len(recorded) or "failed" in verdicts:
            sys.exit(f"the record has {results['passed']} of {len(recorded)} passed, {results['failed']} failed, {results['sanitizers']}")
        slow = [row["tile"] for row in results["staging"] if not row["equal"] or row["linked_over_by_hand"] > 1.05]
        if slow:
            sys.exit(f"the record has stagings that are wrong, or over 1.05 of those by hand: {slow}")
        for row in self.build():
            was = recorded.get((row["from"], row["to"]), {})
            for key in ("route", "method", "cost"):
                if row.get(key) != was.get(key):
                    print(f"SKIPPED: {row['from']} to {row['to']} has another {key} than on {results['date']}: {was.get(key)}, now {row.get(key)}")
                    sys.exit(77)


def len_of(layout, mode):
    size = 1
    for extent, _ in layout.modes[mode]:
        size *= extent
    return size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    build = commands.add_parser("build")
    build.add_argument("--pairs", choices=["all", "some", "further"], default="some")
    build.set_defaults(run=lambda options: Matrix(options).build())
    check = commands.add_parser("check")
    check.add_argument("results", type=Path, metavar="RESULTS.json")
    check.set_defaults(run=lambda options: Matrix(options).check(), pairs="few")
    for command in (build, check):
        command.add_argument("--pipelink", type=Path, required=True)
        command.add_argument("--nvcc", type=Path, required=True)
        command.add_argument("--sdk", required=True)
        command.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
        command.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
