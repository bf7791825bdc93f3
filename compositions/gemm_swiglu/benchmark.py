#!/usr/bin/env python3
"""Times gemm_swiglu against its control and against PyTorch, in one process, alternated; writes records as JSON.

Reads from its own folder what the target gpu_bundle puts there. Clocks are read, never set.
"""

import argparse
import hashlib
import json
import os
import random
import statistics
import struct
import subprocess
import sys

import torch

import pipelink
from gemm_swiglu import open_gemm_swiglu

HERE = os.path.dirname(os.path.abspath(__file__))
HIDDEN, INTERMEDIATE = 5120, 25600  # Qwen3-32B
INPUT_SETS = 3  # rotated: none is in the L2 cache when its turn comes
OWN = ("linked", "control", "control_again")
SANITIZERS = ("memcheck", "racecheck", "synccheck")


def text_sha256(path):
    """SHA-256 of the kernel's text section."""
    data = open(path, "rb").read()
    section_offset, = struct.unpack_from("<Q", data, 0x28)
    entry_size, count, names_index = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, section_offset + i * entry_size) for i in range(count)]
    names = headers[names_index][4]
    for name, _, _, _, offset, size in headers:
        begin = names + name
        if data[begin : data.index(b"\0", begin)].startswith(b".text."):
            return hashlib.sha256(data[offset : offset + size]).hexdigest()
    sys.exit(f"benchmark: {path} has no text section")


def query(field):
    out = subprocess.run(["nvidia-smi", "--id=0", f"--query-gpu={field}", "--format=csv,noheader,nounits"],
                         capture_output=True, text=True, check=False)
    return out.stdout.strip() if out.returncode == 0 else "unknown"


def swiglu(h):
    gate, up = h[:, :INTERMEDIATE], h[:, INTERMEDIATE:]
    return torch.nn.functional.silu(gate) * up


def reference(a, w):
    """float32 accumulation and float32 SwiGLU, in slices of the rows."""
    parts = []
    for rows in a.split(1024):
        parts.append(swiglu(torch.mm(rows, w.t(), out_dtype=torch.float32)))
    return torch.cat(parts)


def alternate(candidates, rounds):
    """Times of each candidate in ms, [round] → mean of two runs, and the clock in MHz.

    In its turn a candidate runs three times, of which the first is not timed. The turns of a round are in random order, but
    those of the linked kernel and of its control are neighbours: their ratio is taken within a round, where the clock is one.
    """
    together = [name for name in candidates if name in OWN]
    others = [name for name in candidates if name not in OWN]
    for run in candidates.values():
        for i in range(INPUT_SETS):
            run(i)
    times = {name: [] for name in candidates}
    clocks = []
    step = 0
    for _ in range(rounds):
        random.shuffle(together)
        random.shuffle(others)
        cut = random.randint(0, len(others))
        events = {}
        for name in others[:cut] + together + others[cut:]:
            events[name] = []
            for timed in (False, True, True):
                begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                begin.record()
                candidates[name](step % INPUT_SETS)
                end.record()
                step += 1
                if timed:
                    events[name].append((begin, end))
        if len(clocks) < 5:  # while the device is busy
            clocks.append(query("clocks.sm"))
        torch.cuda.synchronize()
        for name, pairs in events.items():
            times[name].append(statistics.fmean(begin.elapsed_time(end) for begin, end in pairs))
    clocks = [int(c) for c in clocks if c.isdigit()]
    return times, int(statistics.median(clocks)) if clocks else 0


def measure(m, weights, linked, control, compiled, seconds):
    a = [torch.randn(m, HIDDEN, device="cuda", dtype=torch.bfloat16) for _ in range(INPUT_SETS)]
    out = [torch.empty(m, INTERMEDIATE, device="cuda", dtype=torch.bfloat16) for _ in range(INPUT_SETS)]
    h = torch.empty(m, 2 * INTERMEDIATE, device="cuda", dtype=torch.bfloat16)

    outputs = {}
    for name, kernel in (("linked", linked), ("control", control)):
        result = torch.full_like(out[0], float("nan"))
        open_gemm_swiglu(kernel, a[0], weights[0], result).launch()
        torch.cuda.synchronize()
        outputs[name] = result
    exact = reference(a[0], weights[0])
    error = ((outputs["linked"].float() - exact).norm() / exact.norm()).item()
    equal = torch.equal(outputs["linked"].view(torch.int16), outputs["control"].view(torch.int16))
    del exact, outputs

    def gemm(i):
        torch.mm(a[i], weights[i].t(), out=h)

    def gemm_and_swiglu(i):
        gemm(i)
        compiled(h)

    def launcher(kernel):
        sessions = [open_gemm_swiglu(kernel, a[i], weights[i], out[i]) for i in range(INPUT_SETS)]
        return lambda i: sessions[i].launch()

    candidates = {
        "linked": launcher(linked),
        "control": launcher(control),
        "control_again": launcher(control),
        "cublas_gemm_only": gemm,
        "cublas_compiled_swiglu": gemm_and_swiglu,
    }
    estimate = max(0.15e-3, 0.8e-6 * m)  # seconds per run, roughly
    rounds = max(10, int(seconds / (estimate * 3 * len(candidates))))
    times, clock = alternate(candidates, rounds)
    ms = {name: statistics.median(t) for name, t in times.items()}
    peers = {name: t for name, t in ms.items() if name not in OWN}

    def over_control(name):
        return statistics.median(x / y for x, y in zip(times[name], times["control"]))

    return {
        "config": f"m={m} n={2 * INTERMEDIATE} k={HIDDEN} bf16",
        "clock_mhz": clock,
        "linked_ms": round(ms["linked"], 5),
        "control_ms": round(ms["control"], 5),
        "linked_over_control": round(over_control("linked"), 5),
        "control_over_control": round(over_control("control_again"), 5),
        "peers": {name: round(t, 5) for name, t in peers.items()},
        "speedup": {name: round(t / ms["linked"], 4) for name, t in peers.items()},
        "rel_err": error,
        "bitwise_equal_to_control": equal,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--m", default="64,512,1024,2048,4096,8192", help="comma-separated")
    parser.add_argument("--seconds", type=float, default=6.0, help="of timed work per size, roughly")
    parser.add_argument("--out", default=os.environ.get("OUT", HERE), help="folder of nvidia-h200.json")
    parser.add_argument("--sanitizers", help="JSON file: what each sanitizer said")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--toolkit", default="13.0")
    options = parser.parse_args()

    base = os.path.join(HERE, "gemm_swiglu.sm_90a")
    torch.manual_seed(int.from_bytes(os.urandom(4), "little"))
    torch.zeros(1, device="cuda")  # the context that the kernels are loaded into
    library = os.path.join(HERE, "libgemm_swiglu.so")
    linked = pipelink.load(library, files=(base + ".cubin", base + ".launch"))
    control = pipelink.load(library, files=(base + ".control.cubin", base + ".launch"))
    compiled = torch.compile(swiglu, dynamic=False)
    sanitizers = dict.fromkeys(SANITIZERS, "not run")
    if options.sanitizers:
        sanitizers.update(json.load(open(options.sanitizers)))

    common = {
        "device": torch.cuda.get_device_name(),
        "driver": query("driver_version"),
        "toolkit": options.toolkit,
        "commit": options.commit,
        "text_sha256": text_sha256(base + ".cubin"),
        "control_text_sha256": text_sha256(base + ".control.cubin"),
        "sanitizers": sanitizers,
    }
    weights = [torch.randn(2 * INTERMEDIATE, HIDDEN, device="cuda", dtype=torch.bfloat16) * HIDDEN**-0.5 for _ in range(INPUT_SETS)]
    records = []
    print(f"{'m':>6} {'linked':>9} {'control':>9} {'l/c':>7} {'c/c':>7} {'gemm':>9} {'compiled':>9} {'x gemm':>7} {'x comp.':>7} "
          f"{'MHz':>5} {'rel. err':>9} bitwise")
    for m in (int(x) for x in options.m.split(",")):
        r = measure(m, weights, linked, control, compiled, options.seconds)
        records.append({**r, **common})
        print(f"{m:6d} {r['linked_ms']:9.4f} {r['control_ms']:9.4f} {r['linked_over_control']:7.4f} {r['control_over_control']:7.4f} "
              f"{r['peers']['cublas_gemm_only']:9.4f} {r['peers']['cublas_compiled_swiglu']:9.4f} "
              f"{r['speedup']['cublas_gemm_only']:7.4f} {r['speedup']['cublas_compiled_swiglu']:7.4f} {r['clock_mhz']:5d} "
              f"{r['rel_err']:9.2e} {'equal' if r['bitwise_equal_to_control'] else 'DIFFERENT'}", flush=True)
        with open(os.path.join(options.out, "nvidia-h200.json"), "w") as file:
            json.dump(records, file, indent=2)
            file.write("\n")
    return 0 if all(r["bitwise_equal_to_control"] and r["rel_err"] <= 2e-3 for r in records) else 1


if __name__ == "__main__":
    sys.exit(main())
