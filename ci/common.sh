# Sourced by the scripts here: where the project is, how to say what happens.
# shellcheck shell=bash
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
jobs="$(nproc)"
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1 # another checkout finds what this one compiled

say() { printf '== %s\n' "$*"; }
# show_help "$@": the comment that the script begins with, if its first argument asks for help.
show_help() {
  if [[ "${1:-}" != --help && "${1:-}" != -h ]]; then return; fi
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
  exit 0
}
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 2
}

# Whether $1 is an nvcc of CUDA 13.
is_cuda_13() { [ -x "$1" ] && "$1" --version 2>/dev/null | grep -q 'release 13\.'; }

# Every build folder is made alike: Ninja, ccache where it is installed, compile commands for lint and editors.
configure() { # configure FOLDER OPTION...
  local folder="$1"
  shift
  local launcher=()
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
  fi
  cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "${launcher[@]}" "$@"
}

# Of the folder build/fuzz_fast: four times as many inputs in the same time, without the address sanitizer.
# shellcheck disable=SC2034
fast_fuzz_options=(
  -DCMAKE_CXX_COMPILER=clang++ -DPIPELINK_FUZZ=ON -DPIPELINK_SANITIZE=fuzzer-no-link,leak,undefined -DPIPELINK_BUILD_COMPONENTS=OFF
  "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -g1 -D_GLIBCXX_ASSERTIONS -fno-sanitize-coverage=trace-cmp -fsanitize-trap=undefined"
)

# Of the folder build/fuzz, which has the libFuzzer targets alone.
fuzz_options=(
  -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_CXX_FLAGS_RELEASE="-O1 -g1" -DPIPELINK_FUZZ=ON -DPIPELINK_SANITIZE=fuzzer-no-link,address,undefined -DPIPELINK_BUILD_COMPONENTS=OFF
)
