#!/bin/sh
# On a machine with a GPU, in the folder that the target attention.bundle made: correctness, sanitizers and, where there is
# PyTorch, the benchmark. The last line is PASS or FAIL.
# usage: run_on_gpu.sh [COMMIT [OPTIONS OF benchmark.py]]     Results go to $OUT, else beside this script. Exit status 1:
# something was wrong.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here}
commit=${1:-unknown}
[ $# -gt 0 ] && shift
status=0
chmod +x "$here/attention_runner"
cd "$here" || exit 1

echo "== correctness: every element, several shapes"
for launch in *.launch; do
  name=${launch%.sm_90a.launch}
  if timeout 20 ./attention_runner --controls . "$name" > "$out/$name.log" 2>&1; then
    echo "$name: $(grep -c 'control equal' "$out/$name.log") shapes right and equal to the control"
  else
    echo "$name: WRONG"
    tail -n 20 "$out/$name.log"
    status=1
  fi
done

sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
results="$out/sanitizers.json"
printf '{' > "$results"
separator=
for tool in memcheck racecheck synccheck; do
  log="$out/$tool.log"
  if [ ! -x "$sanitizer" ]; then
    verdict="not run"
  else
    timeout "${SANITIZER_SECONDS:-150}" "$sanitizer" --tool "$tool" --error-exitcode 9 ./attention_runner --small \
      ${SANITIZED:-attention_full attention_paged_window} > "$log" 2>&1
    code=$?
    if [ $code -eq 0 ] && grep -q "ERROR SUMMARY: 0 errors\|RACECHECK SUMMARY: 0 hazards" "$log"; then verdict=clean
    elif [ $code -eq 124 ] || grep -q "Device not supported\|Unable to" "$log"; then verdict="not run"
    else
      verdict=failed
      status=1
      tail -n 4 "$log"
    fi
  fi
  echo "$tool: $verdict"
  printf '%s"%s": "%s"' "$separator" "$tool" "$verdict" >> "$results"
  separator=', '
done
printf '}\n' >> "$results"

if python3 -c 'import torch'; then
  echo "== benchmark"
  python3 benchmark.py --commit "$commit" --sanitizers "$results" --out "$out" "$@" || status=1
fi
if [ $status -eq 0 ]; then echo PASS; else echo FAIL; fi
exit $status
