"""Whether the links of the twins took the routes that their layouts ask for, and no register went to memory.

usage: twin.py LINK…     a link's outputs, without their ending
"""
import json
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support import find_tool

ROUTES = {"runs": "shuffle", "columns": "staging"}


def main():
    for stem in sys.argv[1:]:
        link_map = json.loads(Path(f"{stem}.map.json").read_text())
        twin = re.search(r"gemm_twin_(\w+)\.", stem)[1]
        routes = [(row["from"].partition(".")[0], row["route"]) for row in link_map["routes"]]
        producer = {"sm_90a": "wgmma_gemm", "sm_100a": "tcgen05_gemm", "sm_120a": "mma_gemm"}[stem.rpartition(".")[2]]
        if routes != [(producer, ROUTES[twin])]:
            sys.exit(f"{stem}: {routes}, expected {ROUTES[twin]} from {producer}")
        code = subprocess.run([find_tool("nvdisasm"), f"{stem}.cubin"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout
        found = {name: len(re.findall(rf"^\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?{name}\b", code, re.MULTILINE)) for name in ("LDL", "STL", "SHFL")}
        if found["LDL"] + found["STL"] != 0:
            sys.exit(f"{stem}: {found}: registers go to local memory")
        print(f"{Path(stem).name}: {routes[0][1]}, {', '.join(link_map['routes'][0]['cost'])}")


if __name__ == "__main__":
    main()
