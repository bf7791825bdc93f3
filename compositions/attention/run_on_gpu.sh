#!/bin/sh
# On a machine with a GPU, in the folder that the target attention.bundle made: correctness, sanitizers and, where there is
# PyTorch, the benchmark. What need not be alone runs at a time: the benchmark begins when all else is over. The last line is
# PASS or FAIL.
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
logs=$(mktemp -d)

compiling=
if python3 -c 'import torch'; then
  python3 benchmark.py --compile-only "$@" > "$logs/compile.log" 2>&1 &
  compiling=$!
fi
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
: "${SANITIZED:=$(for launch in *.launch; do echo "${launch%.sm_90a.launch}"; done)}"
ends=$(($(date +%s) + ${SANITIZER_SECONDS:-150}))
sanitizing=
for tool in memcheck racecheck synccheck; do
  if [ -x "$sanitizer" ]; then
    (
      for name in $SANITIZED; do
        left=$((ends - $(date +%s)))
        [ $left -gt 0 ] || break
        timeout $left "$sanitizer" --tool "$tool" --error-exitcode 9 ./attention_runner --small "$name" > "$logs/$tool.$name.log" 2>&1
        echo $? > "$logs/$tool.$name.code"
      done
    ) &
    sanitizing="$sanitizing $!"
  fi
done

echo "== correctness: every element, several shapes"
for launch in *.launch; do
  name=${launch%.sm_90a.launch}
  if timeout 60 ./attention_runner --controls . "$name" > "$logs/$name.log" 2>&1; then
    echo "$name: $(grep -c 'control equal' "$logs/$name.log") shapes right and equal to the control"
  else
    echo "$name: WRONG"
    tail -n 20 "$logs/$name.log"
    status=1
  fi
done

for process in $sanitizing; do wait "$process"; done
results="$out/sanitizers.json" # of each variant, what each tool says; of those that its time did not suffice for, nothing
{
  printf '{'
  separator=
  for name in $SANITIZED; do
    printf '%b"%s": {' "$separator" "$name"
    between=
    for tool in memcheck racecheck synccheck; do
      log="$logs/$tool.$name.log"
      code=$(cat "$logs/$tool.$name.code" 2> /dev/null || echo 124)
      if [ "$code" -eq 0 ] && grep -q "ERROR SUMMARY: 0 errors\|RACECHECK SUMMARY: 0 hazards" "$log"; then verdict=clean
      elif [ "$code" -eq 124 ] || grep -q "Device not supported\|Unable to" "$log"; then verdict="not run"
      else
        verdict=failed
        status=1
        tail -n 4 "$log" >&2
      fi
      printf '%s"%s": "%s"' "$between" "$tool" "$verdict"
      between=', '
    done
    printf '}'
    separator=',\n '
  done
  printf '}\n'
} > "$results"
cat "$results"

if [ -n "$compiling" ]; then
  if ! wait "$compiling"; then
    echo "the peers' kernels were not compiled:"
    tail -n 5 "$logs/compile.log"
  fi
  echo "== benchmark"
  python3 benchmark.py --commit "$commit" --sanitizers "$results" --out "$out" "$@" || status=1
fi
tar -C "$logs" -czf "$out/logs.tgz" .
rm -rf "$logs"
if [ $status -eq 0 ]; then echo PASS; else echo FAIL; fi
exit $status
