"""A composition and its contracts as one JSON text, which fuzz_composition starts from: make_seed.py PIPELINK COMPOSITION.json."""
import json
import subprocess
import sys
from pathlib import Path


def main():
    tool, file = sys.argv[1], Path(sys.argv[2])
    composition = json.loads(file.read_text())
    contracts = []
    for number, use in enumerate(composition["components"]):
        text = subprocess.run([tool, "inspect", file.parent / use["package"], "--json"], check=True, capture_output=True, text=True).stdout
        contracts.append(json.loads(text)["contract"])
        use["package"] = f"{number}.plk"
    json.dump({"composition": composition, "contracts": contracts}, sys.stdout, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
