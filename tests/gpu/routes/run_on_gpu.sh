#!/bin/sh
# In the folder that the target routes_gpu_bundle made, on a machine with a GPU: runs the kernel of every pair of layouts and
# compares every element; a part of them under compute-sanitizer. The last line is "N passed, M failed", or "SKIPPED: why" (77).
# usage: run_on_gpu.sh [COMMIT]     routes.json goes to $OUT, else beside this script.
set -u
here=$(cd "$(dirname "$0")" && pwd)
chmod +x "$here/routes_runner"
exec python3 "$here/record.py" --commit "${1:-unknown}" --out "${OUT:-$here}/routes.json"
