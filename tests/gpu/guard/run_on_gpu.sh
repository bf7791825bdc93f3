#!/bin/sh
# In the folder that the target guard_gpu_bundle made, on a machine with a GPU: plants faults in a guarded composition, and runs
# gemm_swiglu guarded. The last line is "N passed, M failed", or "SKIPPED: why" (exit status 77).
# usage: run_on_gpu.sh [COMMIT]     guard.json goes to $OUT, else beside this script.
set -u
here=$(cd "$(dirname "$0")" && pwd)
chmod +x "$here"/*_runner
driver=$(grep -o '[0-9][0-9]*\.[0-9][0-9.]*' /proc/driver/nvidia/version 2>/dev/null | head -n 1)
gemm="$here/gemm_swiglu_guarded_runner"
digest() { sha256sum <"$here/$1.sm_90a.cubin" | cut -d ' ' -f 1; }
exec "$here/guard_faults_runner" --out "${OUT:-$here}/guard.json" --commit "${1:-unknown}" --driver "${driver:-unknown}" \
  --cubin guard_faults "$(digest guard_faults)" --cubin gemm_swiglu_guarded "$(digest gemm_swiglu_guarded)" \
  --run gemm_swiglu "'$gemm' --m 64" --run gemm_swiglu_ragged "'$gemm' --m 500 --hidden 328 --intermediate 8192"
