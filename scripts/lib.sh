# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the scripts share. Source it: it sets `root` and `build` and defines
# say, die and missing_packages.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$(realpath -m "${AUTOPAR_BUILD_DIR:-$root/build}")
llvm_version=22
# Debian's own: it is the one that finds python3-jsonschema.
python=/usr/bin/python3
[[ -x $python ]] || python=python3

packages=(
  cmake ninja-build ccache
  clang-$llvm_version lld-$llvm_version clang-format-$llvm_version
  llvm-$llvm_version-dev libmlir-$llvm_version-dev mlir-$llvm_version-tools
  libzstd-dev zlib1g-dev nlohmann-json3-dev libcli11-dev libgtest-dev
  libcurl4-openssl-dev libcsv-dev libjs-chart.js openssl
  gnuplot-nox
  python3 python3-jsonschema
)
slow_packages=(clang-tidy-$llvm_version libclang-rt-$llvm_version-dev)

say() { printf '%s\n' "$*"; }
die() {
  printf 'error: %s\n' "$1" >&2
  shift
  for note in "$@"; do printf '  note: %s\n' "$note" >&2; done
  exit 1
}

# Prints those of its arguments that are not installed.
missing_packages() {
  local installed
  installed=$(dpkg-query -W -f '${Status} ${Package}\n' "$@" 2>/dev/null |
    sed -n 's/^install ok installed //p' || true)
  comm -23 <(printf '%s\n' "$@" | sort) <(sort -u <<<"$installed")
}
