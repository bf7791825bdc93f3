#!/bin/sh
# On a machine with a GPU, in the folder that the target gpu_bundle made: the composition and its control, sanitizers, and
# every change of an owner. The last line is PASS or FAIL.
# usage: run_on_gpu.sh [COMMIT]     Results go to $OUT, else beside this script. Exit status 1: something was wrong.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here}
runner="$here/expert_mixture_runner"
base="$here/expert_mixture.sm_90a"
status=0
chmod +x "$runner"

echo "== the composition and its control: every element"
timeout 120 "$runner" || status=1
timeout 120 "$runner" --image "$base.control.cubin" --launch "$base.launch" || status=1

sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
results="$out/sanitizers.json"
printf '{' > "$results"
separator=
for tool in memcheck racecheck synccheck initcheck; do
  log="$out/$tool.log"
  if [ ! -x "$sanitizer" ]; then
    verdict="not run"
  else
    timeout "${SANITIZER_SECONDS:-60}" "$sanitizer" --tool "$tool" --error-exitcode 9 "$runner" > "$log" 2>&1
    code=$?
    if [ $code -eq 0 ] && grep -q "ERROR SUMMARY: 0 errors\|RACECHECK SUMMARY: 0 hazards" "$log"; then verdict=clean
    elif [ $code -eq 124 ] || grep -q "Device not supported\|Unable to" "$log"; then verdict="not run"
    else verdict=failed; status=1; tail -n 20 "$log"
    fi
  fi
  echo "$tool: $verdict"
  printf '%s"%s": "%s"' "$separator" "$tool" "$verdict" >> "$results"
  separator=', '
done
printf '}\n' >> "$results"

echo "== one owner changed"
python3 "$here/demonstrate.py" run --commit "${1:-unknown}" --sanitizers "$results" -o "$out/nvidia-h200.json" || status=1
if [ $status -eq 0 ]; then echo PASS; else echo FAIL; fi
exit $status
