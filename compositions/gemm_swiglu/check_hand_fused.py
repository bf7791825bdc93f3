"""Holds hand_fused.cubin to what is said of it, and recorded results to today's code.

usage: check_hand_fused.py HAND_FUSED.cubin TUNED.json
       check_hand_fused.py HAND_FUSED.cubin TUNED.json RESULTS.json
There must be a kernel for each entry of the tuned table, as wide as the linked one and with its registers set by role; the source
has nothing of PipeLink. With a results file each record's `hand_fused` must be that kernel, right, of today's text, and not more
than 3% quicker than the linked one: exit status 77 (a skip) names the stale ones.
"""
import hashlib
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tests" / "e2e")]
import hand_fused
from cubin import Kernel, functions  # the reader that shares nothing with the linker

MOST_BEHIND = 1.03  # linked over hand-fused
TOLERANCE = 2e-3


def name_of(settings):
    return "hand_fused_" + "_".join(str(settings.get(fact, default)) for fact, default in
                                    (("wgmma_gemm.tile_m", 128), ("wgmma_gemm.tile_n", 256), ("tma_loader.group_m", 16)))


def check_image(image, tuned):
    found = sorted(functions(image).values())
    said = sorted("hand_fused_" + "_".join(map(str, shape)) for shape in hand_fused.KERNELS)
    needed = sorted({name_of(entry["set"]) for entry in tuned})
    if not found == said == needed:
        sys.exit(f"the cubin has {found}, hand_fused.py {said}, tuned.json needs {needed}")
    for name in found:
        kernel = Kernel(image, name)
        facts = kernel.threads, kernel.registers, kernel.sets_registers, kernel.frame
        if facts != (384, 168, True, 0):
            sys.exit(f"{name}: threads, registers, whether they are set by role, frame are {facts}")
    source = (HERE / "hand_fused.cu").read_text()
    if "#include <pipelink" in source or "PIPELINK_" in source or "pl__" in source:
        sys.exit("hand_fused.cu uses PipeLink")
    print(f"{len(found)} kernels")


def check_results(image, tuned, records):
    chosen = {entry["composition"]: name_of(entry["set"]) for entry in tuned}
    stale, wrong = [], []
    for r in records:
        if "hand_fused" not in r:  # measured before there was one
            stale.append(r["config"])
            continue
        name = r["hand_fused"]
        if chosen[r["composition"]] != name or not r["peers_rel_err"]["hand_fused"] <= TOLERANCE or r["peers"]["hand_fused"] <= 0:
            wrong.append(f"{r['config']}: {name}")
        elif r["linked_over_hand_fused"] > MOST_BEHIND:
            wrong.append(f"{r['config']}: the linked kernel takes {r['linked_over_hand_fused']} of {name}'s time")
        if hashlib.sha256(Kernel(image, name).text).hexdigest() != r["hand_fused_text_sha256"]:
            stale.append(r["config"])
    if wrong or not records:
        sys.exit("; ".join(wrong) or "there are no records")
    if stale:
        print(f"SKIPPED: {len(stale)} of {len(records)} records are of none or of other code: {'; '.join(stale)}")
        sys.exit(77)
    print(f"all {len(records)} records are of today's code")


def main():
    image, tuned = Path(sys.argv[1]).read_bytes(), json.loads(Path(sys.argv[2]).read_text())
    if len(sys.argv) == 3:
        check_image(image, tuned)
    else:
        check_results(image, tuned, json.loads(Path(sys.argv[3]).read_text()))


main()
