"""Compares recorded results with today's code.

usage: check_results.py RESULTS.json MAP.json...
Each record must be of today's text of the composition that its `config` begins with. Exit status 77 (a skip) names the stale
ones, so that nobody takes them for this build's.
"""
import hashlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "e2e"))
from cubin import Kernel  # the reader that shares nothing with the linker


def main():
    records, today = json.loads(Path(sys.argv[1]).read_text()), {}
    for path in map(Path, sys.argv[2:]):
        name = json.loads(path.read_text())["name"]
        image = path.with_name(path.name.replace(".map.json", ".cubin")).read_bytes()
        today[name] = hashlib.sha256(Kernel(image, name).text).hexdigest()
    unknown = [r["config"] for r in records if r["config"].split()[0] not in today]
    if unknown or not records:
        sys.exit(f"there is no composition for: {'; '.join(unknown)}" if unknown else "there are no records")
    stale = [r["config"] for r in records if r["text_sha256"] != today[r["config"].split()[0]]]
    if stale:
        print(f"SKIPPED: {len(stale)} of {len(records)} records are of other code: {'; '.join(stale)}")
        sys.exit(77)
    print(f"all {len(records)} records are of today's code")


main()
