"""Compares a linked kernel's code with its control's, and recorded results with today's code.

usage: check_text.py NAME LINKED.cubin CONTROL.cubin control
       check_text.py NAME LINKED.cubin CONTROL.cubin RESULTS.json
With `control` the text sections must be equal. With a results file each record of this composition (`composition`; if it says
none, all are) must be of today's text: exit status 77 (a skip) names the stale ones, so that nobody takes them for this build's.
"""
import hashlib
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "e2e"))
from cubin import Kernel  # the reader that shares nothing with the linker


def main():
    name, linked, control, what = sys.argv[1:]
    linked, control = (Kernel(pathlib.Path(path).read_bytes(), name).text for path in (linked, control))
    if what == "control":
        if linked != control:
            first = next((i for i, (a, b) in enumerate(zip(linked, control)) if a != b), min(len(linked), len(control)))
            sys.exit(f"linked {len(linked)} bytes, control {len(control)}: they differ from byte {first}")
        print(f"linked and control: the same {len(linked)} bytes")
        return
    today = hashlib.sha256(linked).hexdigest(), hashlib.sha256(control).hexdigest()
    records = [r for r in json.load(open(what, encoding="utf-8")) if r.get("composition", name) == name]
    if not records:
        sys.exit(f"{what} has no record of {name}")
    stale = [r["config"] for r in records if (r["text_sha256"], r["control_text_sha256"]) != today]
    if stale:
        print(f"SKIPPED: {len(stale)} of {len(records)} records are of other code: {'; '.join(stale)}")
        sys.exit(77)
    print(f"all {len(records)} records are of today's code")


main()
