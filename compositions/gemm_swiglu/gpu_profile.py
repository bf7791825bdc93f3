#!/usr/bin/env python3
"""Profiles gemm_swiglu, its hand-fused peer and cuBLAS's GEMM alone with Nsight Compute; writes what it counted as JSON.

Each kernel runs once before it is profiled. Needs `ncu`, and what the target gpu_bundle puts into its own folder. Clocks are read,
never set.
"""

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile

import gpu_records

HERE = os.path.dirname(os.path.abspath(__file__))
# name in the file: (metric, factor)
METRICS = {
    "ms": ("gpu__time_duration.sum", 1e-6),
    "clock_mhz": ("sm__cycles_elapsed.avg.per_second", 1e-6),
    "tensor_cores_busy_percent": ("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 1),
    "dram_read_gb": ("dram__bytes_read.sum", 1e-9),
    "dram_written_gb": ("dram__bytes_write.sum", 1e-9),
    "l2_hit_percent": ("lts__t_sector_hit_rate.pct", 1),
    "l2_to_sm_busy_percent": ("lts__lts2xbar_cycles_active.avg.pct_of_peak_sustained_elapsed", 1),
}


def run_each(m):
    """Once each, then once each with the profiler on. Prints the names in order."""
    import torch

    import benchmark
    import pipelink

    torch.zeros(1, device="cuda")  # the context that the kernels are loaded into
    chosen = benchmark.choices().get(m, {"composition": "gemm_swiglu", "set": {}})
    name = chosen["composition"]
    base = os.path.join(os.path.dirname(HERE), name, f"{name}.sm_90a")
    linked = pipelink.load(os.path.join(HERE, "libgemm_swiglu.so"), files=(base + ".cubin", base + ".launch"))
    a = torch.randn(m, benchmark.HIDDEN, device="cuda", dtype=torch.bfloat16)
    w = torch.randn(2 * benchmark.INTERMEDIATE, benchmark.HIDDEN, device="cuda", dtype=torch.bfloat16) * benchmark.HIDDEN**-0.5
    out = torch.empty(m, benchmark.INTERMEDIATE, device="cuda", dtype=torch.bfloat16)
    h = torch.empty(m, 2 * benchmark.INTERMEDIATE, device="cuda", dtype=torch.bfloat16)
    runs = {
        "linked": benchmark.open_gemm_swiglu(linked, a, w, out).launch,
        benchmark.HAND: benchmark.hand_fused_kernel(chosen["set"]).open(a, w, out),
        benchmark.GEMM: lambda: torch.mm(a, w.t(), out=h),
    }
    for run in runs.values():
        run()
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStart()
    for run in runs.values():
        run()
        torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStop()
    print(json.dumps({"names": list(runs), "composition": name, "text_sha256": gpu_records.text_sha256(base + ".cubin")}))


def counted(path, names):
    """Of ncu's raw page in CSV: for each name, in the order of the launches, its values."""
    with open(path, encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if line.startswith('"')))
    header, launches = rows[0], rows[2:]  # the second row has the units
    if len(launches) != len(names):
        raise ValueError(f"{path} has {len(launches)} launches for {', '.join(names)}")
    found = {}
    for name, row in zip(names, launches):
        value = {key: float(row[header.index(metric)].replace(",", "")) * factor for key, (metric, factor) in METRICS.items()}
        found[name] = {"kernel": row[header.index("Kernel Name")], **{key: round(v, 3) for key, v in value.items()}}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--m", type=int, default=16384)
    gpu_records.add_options(parser, HERE)
    parser.add_argument("--run-each", action="store_true", help="run the kernels, to be profiled")
    options = parser.parse_args()
    if options.run_each:
        run_each(options.m)
        return 0
    ncu = shutil.which("ncu") or "/usr/local/cuda/bin/ncu"
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log.csv")
        command = [ncu, "--clock-control", "none", "--profile-from-start", "off", "--page", "raw", "--csv", "--print-units", "base",
                   "--log-file", log, "--metrics", ",".join(metric for metric, _ in METRICS.values()),
                   sys.executable, os.path.abspath(__file__), "--run-each", "--m", str(options.m)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = [line for line in done.stdout.splitlines() if line.startswith('{"names"')]
        if done.returncode != 0 or not lines:
            sys.exit(f"gpu_profile: {done.stdout}{done.stderr}{open(log).read() if os.path.exists(log) else ''}")
        said = json.loads(lines[0])
        kernels = counted(log, said.pop("names"))
    import benchmark

    record = {"config": f"m={options.m} n={2 * benchmark.INTERMEDIATE} k={benchmark.HIDDEN} bf16", "kernels": kernels, **said,
              **gpu_records.origin(options)}
    gpu_records.write(os.path.join(options.out, "nvidia-h200.profile.json"), record)
    print(json.dumps(kernels, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
