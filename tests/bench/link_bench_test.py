"""`ci/bench-link` runs, and each time that it prints is one: a round of one composition."""
import argparse
import json
import subprocess
import sys

TIMES = ("nvjitlink_ms", "link_ms", "check_ms", "place_ms", "compile_ms", "pack_ms", "rebuild_set_ms", "rebuild_owner_ms",
         "rebuild_all_ms", "whole_program_nvcc_ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--bench", "--root", "--pipelink", "--work"):
        parser.add_argument(option, required=True)
    options = parser.parse_args()
    done = subprocess.run([sys.executable, "-B", options.bench, "--root", options.root, "--pipelink", options.pipelink, "--work",
                           options.work, "--repeat", "1", "gemm_swiglu_mma"], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"bench_link.py ended with {done.returncode}")
    line = json.loads(done.stdout)
    wrong = [key for key in TIMES if not 0 < line[key] < 120_000]
    # nvJitLink alone has more than fifty megabytes, the linker less than thirty.
    if wrong or not 50 < line["max_rss_mb"] < 4096 or line["link_ms"] < line["nvjitlink_ms"] or line["rebuild_set_ms"] < line["link_ms"] / 2:
        sys.exit(f"not times of a build ({wrong}): {line}")
    print(line)


if __name__ == "__main__":
    main()
