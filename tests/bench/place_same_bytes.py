"""The solver's words are the same for shuffled inputs, in another process, and with and without optimisation."""
import argparse
import hashlib
import subprocess
import sys
from pathlib import Path

NAMES = ["attn", "gemm", "moe42", "moe42v", "moe42inf", "moe_v39", "gap12_0", "gap16_0", "cut20_0", "cut40_1", "syn50_0", "poset50_0",
         "real100_0", "real100_16", "cut100_1", "syn100_1"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("programs", nargs=2, help="optimised, not optimised")
    options = parser.parse_args()
    files = [options.data / f"{name}.pl" for name in NAMES]
    digests = {}
    for program, seeds in zip(options.programs, ((1, 2, 3), (4,))):
        for seed in seeds:
            text = subprocess.run([program, str(seed), *files], check=True, stdout=subprocess.PIPE).stdout
            digests[(Path(program).name, seed)] = (len(text), hashlib.sha256(text).hexdigest())
    for run, digest in digests.items():
        print(*run, *digest)
    if len(set(digests.values())) != 1 or next(iter(digests.values()))[0] < 100_000:
        sys.exit("the outputs differ")


if __name__ == "__main__":
    main()
