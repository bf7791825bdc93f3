"""Checks what cannot be run here: each architecture's image multiplies on its own tensor cores, in registers, with the one
consumer.

usage: check_images.py FOLDER...     the folders NAME/sm_ARCH of links, each with NAME.sm_ARCH.cubin and .map.json
The packages of one component and architecture must be the same in all of them. Exit status 77: no disassembler.
"""
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

# What must be in the code of an architecture's producer.
PRODUCTS = {
    "wgmma_gemm": [r"HGMMA\.64x256x16\.F32\.BF16"],
    "cute_gemm": [r"HGMMA\.64x128x16\.F32\.BF16"],
    "mma_gemm": [r"HMMA\.16816\.F32\.BF16", r"LDSM\.16\.M88\.4"],
    "tcgen05_gemm": [r"UTCHMMA", r"UTCBAR", r"LDTM\.16dp256bit\.x16", r"UTCATOMSWS\.FIND_AND_SET"],
}


def disassembler():
    places = Path(__file__).resolve().parents[1].glob(".pipelink/venv/lib/python3*/site-packages/nvidia/cu13/bin/nvdisasm")
    found = shutil.which("nvdisasm") or next((str(p) for p in places), None)
    if not found:
        print("SKIPPED: there is no nvdisasm")
        sys.exit(77)
    return found


def check(condition, message):
    if not condition:
        sys.exit(message)


def main():
    tool, packages, images = disassembler(), {}, 0
    for folder in map(Path, sys.argv[1:]):
        map_file = next(folder.glob("*.map.json"))
        link_map = json.loads(map_file.read_text())
        what = f"{link_map['name']} for {link_map['arch']}"
        for package in link_map["inputs"]:
            key = package["component"], link_map["arch"]
            check(packages.setdefault(key, package["sha256"]) == package["sha256"],
                  f"{what} has another package of {key[0]} than the links before it")
        check(link_map["cubin"]["stack_bytes"] == 0, f"{what} has a stack")
        routes = {(r["to"], r["route"]) for r in link_map["routes"]}
        check(routes <= {("swiglu.acc", "registers"), ("swiglu.acc", "registers, renamed")} and routes, f"{what}: the accumulators go by {routes}")

        cubin = map_file.with_name(map_file.name.replace(".map.json", ".cubin"))
        code = subprocess.run([tool, "-c", cubin], check=True, capture_output=True, text=True).stdout
        local = re.findall(r"\b(?:LDL|STL)\b.*", code)
        check(not local, f"{what} uses local memory: {local[:3]}")
        producers = [i["component"] for i in link_map["instances"] if i["component"] in PRODUCTS]
        check(len(producers) == 1, f"{what} has the producers {producers}")
        for pattern in PRODUCTS[producers[0]]:
            check(re.search(pattern, code), f"{what}: there is no {pattern} in the code")
        images += 1
        print(f"ok: {what}: {producers[0]}, {link_map['cubin']['text_bytes']} bytes of code")
    check(images > 0, "no folder was given")


main()
