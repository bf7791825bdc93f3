#!/usr/bin/env python3
"""On a GPU, in the folder that the target routes_gpu_bundle made: runs the matrix, then a part of it under compute-sanitizer.

  record.py --commit COMMIT --out ROUTES.json

The last line is "N passed, M failed", or "SKIPPED: why" with exit status 77.
"""
import argparse
import datetime
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SANITIZER_SECONDS = 100
SAMPLES = {"one role": "f32_accumulator_to_", "between roles": "roles_f32_accumulator_to_"}
NOT_KNOWN = "not run: racecheck reports the same of a right kernel by hand, barrier.arrive is unknown to it"
FEW_TILES = "70"  # of each pair under the sanitizers: some for each warpgroup of few blocks


def run(command, seconds=None):
    try:
        done = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False, timeout=seconds)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(errors="replace")


def sanitize(tool, sanitizer, *command):
    """"clean", "failed" or "not run", and what it said."""
    if not sanitizer:
        return "not run", "compute-sanitizer is not here"
    code, text = run([sanitizer, "--tool", tool, "--error-exitcode", "9", *command], SANITIZER_SECONDS)
    if code == 0 and re.search(r"ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards", text):
        return "clean", text
    if code is None or "Device not supported" in text or "Unable to" in text:
        return "not run", text
    return "failed", text


def sanitized(sanitizer):
    """The verdicts of the tools: on one producer with every consumer, and with others in a role of their own."""
    verdicts = {}
    for tool in ("memcheck", "racecheck", "synccheck"):
        for what, sample in SAMPLES.items():
            verdict, said = sanitize(tool, sanitizer, HERE / "routes_runner", HERE / "matrix", sample, FEW_TILES)
            if tool == "racecheck" and what == "between roles" and verdict == "failed":
                # Is it the kernel, or does the tool not know such barriers? The same by hand is right beyond doubt.
                by_hand, _ = sanitize(tool, sanitizer, HERE / "arrive_by_hand_runner")
                print(f"racecheck, by hand: {by_hand}")
                if by_hand == "failed":
                    verdict = NOT_KNOWN
            verdicts.setdefault(tool, {})[what] = verdict
            print(f"{tool}, {what}: {verdict}")
            if verdict == "failed":
                print(said[-3000:])
    return verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commit", required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    code, text = run([HERE / "routes_runner", HERE / "matrix"], 300)
    print(text, end="")
    if code == 77:
        sys.exit(77)
    counts = re.search(r"^(\d+) passed, (\d+) failed: every element of (\d+) tiles", text, re.MULTILINE)
    failures = dict(re.findall(r"^(\w+_to_\w+): (.*)$", text, re.MULTILINE))
    linked = json.loads((HERE / "routes.json").read_text())
    sanitizer = shutil.which("compute-sanitizer") or next(
        (p for p in ["/usr/local/cuda/bin/compute-sanitizer"] if Path(p).exists()), None)
    sanitizers = sanitized(sanitizer)
    device, driver, clock = ["unknown"] * 3
    code, text = run(["nvidia-smi", "--query-gpu=name,driver_version,clocks.sm", "--format=csv,noheader,nounits"], 30)
    if code == 0:
        device, driver, clock = [part.strip() for part in text.splitlines()[0].split(",")]
    record = {"device": device, "driver": driver, "clock_mhz": clock, "commit": options.commit,
              "date": datetime.date.today().isoformat(), "tiles": int(counts[3]) if counts else 0,
              "passed": int(counts[1]) if counts else 0, "failed": int(counts[2]) if counts else len(linked),
              "sanitizers": sanitizers, "sanitized": f"f32_accumulator with every consumer, and to another role, {FEW_TILES} tiles",
              "pairs": [{"from": row["from"], "to": row["to"], "route": row["route"],
                         **{key: row[key] for key in ("method", "cost") if key in row},
                         **({"fault": failures[row["name"]]} if row.get("name") in failures else {})} for row in linked]}
    benchmark = HERE / "staging_benchmark"
    if benchmark.exists():
        code, text = run([benchmark], 120)
        print(text, end="")
        lines = [line for line in text.splitlines() if line.startswith("{")]
        record["staging"] = [json.loads(line) for line in lines]
    temporary = options.out.with_suffix(".new")
    temporary.write_text(json.dumps(record, indent=1) + "\n")
    temporary.rename(options.out)
    bad = record["failed"] + sum(verdict == "failed" for of in sanitizers.values() for verdict in of.values())
    print(f"{record['passed']} passed, {bad} failed")
    sys.exit(1 if bad or not record["passed"] else 0)


if __name__ == "__main__":
    main()
