"""Are the recorded results of today's kernels?

usage: check_results.py RESULTS.json NAME=FILE.cubin...
Exit status 77 (a skip) names the kernels that are others now, so that nobody takes the results for this build's; 1 if a
case failed.
"""
import hashlib
import json
import sys
from pathlib import Path


def main():
    results, *cubins = sys.argv[1:]
    record = json.loads(Path(results).read_text())
    failed = [case["name"] for case in record["cases"] if not case["passed"]]
    if failed:
        sys.exit(f"failed on the GPU: {', '.join(failed)}")
    today = {name: hashlib.sha256(Path(file).read_bytes()).hexdigest() for name, file in (c.split("=", 1) for c in cubins)}
    then = record.get("cubins", {})
    other = sorted(name for name in today if then.get(name) != today[name])
    if other:
        print(f"SKIPPED: the results are of other code: {', '.join(other)}")
        sys.exit(77)
    print(f"{len(record['cases'])} cases, all of today's code")


main()
