#!/bin/sh
# On a machine with a GPU, in a composition's folder that the target gpu_bundle made: correctness, the examples, sanitizers
# and, where there are such, the benchmark and the profile. Neighbours named NAME_tile… and NAME_group… are the same composition
# with other tiles, or another order of them, and are examined too. The last line is PASS or FAIL.
# usage: run_on_gpu.sh [COMMIT [BENCHMARK-OPTION...]]     Results go to $OUT, else beside this script. Exit status 1: something
# was wrong.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here}
commit=${1:-unknown}
[ $# -eq 0 ] || shift
status=0
name=$(basename "$here")
all=$name
for neighbour in "$here/../${name}"_tile* "$here/../${name}"_group*; do
  [ -d "$neighbour" ] && all="$all $(basename "$neighbour")"
done
runner() { echo "$here/../$1/$1_runner"; }
control() { echo "$here/../$1/$1.${ARCH:-sm_90a}.control.cubin"; }

logs=$(mktemp -d)
echo "== correctness: every element, several sizes"
for each in $all; do
  chmod +x "$(runner "$each")"
  sizes=
  [ "$each" = "$name" ] || sizes="--m 64,128,500,1024"
  {
    # shellcheck disable=SC2086 # no sizes are no words
    "$(runner "$each")" --control "$(control "$each")" $sizes &&
      "$(runner "$each")" --control "$(control "$each")" --m 1,63,129,200,1000 --hidden 1096 --intermediate 3000
    echo $? > "$logs/$each.status"
  } > "$logs/$each" 2>&1 &
done
wait
for each in $all; do
  cat "$logs/$each"
  [ "$(cat "$logs/$each.status")" -eq 0 ] || status=1
done

# What a program in C++ and one in Python do: here, having nothing to run on is a failure too.
example() { # example NAME COMMAND...
  label=$1
  shift
  echo "== example in $label"
  if "$@"; then echo "example in $label: PASS"; else
    echo "example in $label: FAIL"
    status=1
  fi
}
if [ -e "$here/${name}_example" ]; then
  chmod +x "$here/${name}_example"
  example C++ "$here/${name}_example"
  if python3 -c 'import torch'; then
    example Python python3 "$here/$name.py" "$here/lib$name.so"
  else
    echo "example in Python: not run, PyTorch cannot be imported"
  fi
fi

if [ -e "$here/hand_fused.cubin" ]; then
  echo "== the hand-fused kernels: every element, several sizes"
  python3 "$here/hand_fused.py" || status=1
fi

# A small problem: ragged rows, several tiles per block, the ring wrapped several times. All compositions and tools at a time.
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
results="$out/sanitizers.json"
printf '{' > "$results"
separator=
tools="memcheck racecheck synccheck"
if [ -x "$sanitizer" ]; then
  for tool in $tools; do
    for each in $all; do
      {
        timeout "${SANITIZER_SECONDS:-150}" "$sanitizer" --tool "$tool" --error-exitcode 9 "$(runner "$each")" --m 500 --hidden 328 \
          --intermediate 8192 > "$logs/$each.$tool" 2>&1
        echo $? > "$logs/$each.$tool.status"
      } &
    done
  done
  wait
fi
for tool in $tools; do
  echo "== $tool"
  verdict=clean
  if [ ! -x "$sanitizer" ]; then
    verdict="not run"
  else
    for each in $all; do
      code=$(cat "$logs/$each.$tool.status")
      echo "$each:"
      tail -n 2 "$logs/$each.$tool"
      if [ "$code" -eq 0 ] && grep -q "ERROR SUMMARY: 0 errors\|RACECHECK SUMMARY: 0 hazards" "$logs/$each.$tool"; then continue; fi
      if [ "$code" -eq 124 ] || grep -q "Device not supported\|Unable to" "$logs/$each.$tool"; then
        [ "$verdict" = failed ] || verdict="not run"
      else
        cat "$logs/$each.$tool"
        verdict=failed
        status=1
      fi
    done
  fi
  echo "$tool: $verdict"
  printf '%s"%s": "%s"' "$separator" "$tool" "$verdict" >> "$results"
  separator=', '
done
printf '}\n' >> "$results"
rm -r "$logs"

if [ -e "$here/benchmark.py" ]; then
  echo "== benchmark"
  python3 "$here/benchmark.py" --commit "$commit" --sanitizers "$results" --out "$out" "$@" || status=1
fi
if [ -e "$here/gpu_profile.py" ] && [ -x "$(command -v ncu || echo /usr/local/cuda/bin/ncu)" ]; then
  echo "== profile"
  python3 "$here/gpu_profile.py" --commit "$commit" --out "$out" || status=1
fi
if [ $status -eq 0 ]; then echo PASS; else echo FAIL; fi
exit $status
