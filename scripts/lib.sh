# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the scripts share. Source it: it sets `root` and `build` and defines
# say, die and missing_packages.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$(realpath -m "${AUTOPAR_BUILD_DIR:-$root/build}")
llvm_version=22
# Where the libraries of pages lie (lib/Page/package.json).
page_packages=${AUTOPAR_PAGE_PACKAGES:-$build/npm}
# Debian's own: it is the one that finds python3-jsonschema.
python=/usr/bin/python3
[[ -x $python ]] || python=python3

packages=(
  cmake ninja-build ccache
  clang-$llvm_version lld-$llvm_version clang-format-$llvm_version
  llvm-$llvm_version-dev libmlir-$llvm_version-dev mlir-$llvm_version-tools
  libzstd-dev zlib1g-dev nlohmann-json3-dev libcli11-dev libgtest-dev
  libcurl4-openssl-dev libcsv-dev libre2-dev libtomlplusplus-dev libyaml-dev libeigen3-dev rapidjson-dev libxlsxwriter-dev libzip-dev openssl
  gnuplot-nox
  python3 python3-jsonschema
)
slow_packages=(clang-tidy-$llvm_version libclang-rt-$llvm_version-dev chromium)
# Any npm will do, of Debian or not.
command -v npm >/dev/null || packages+=(npm)

say() { printf '%s\n' "$*"; }
die() {
  printf 'error: %s\n' "$1" >&2
  shift
  for note in "$@"; do printf '  note: %s\n' "$note" >&2; done
  exit 1
}

# What fuzzers and sanitized tests run on: everything with AddressSanitizer and
# UndefinedBehaviorSanitizer, and with the checks that a release leaves out.
sanitized=$build/fuzz
build_sanitized() {
  AUTOPAR_BUILD_DIR=$sanitized AUTOPAR_PAGE_PACKAGES=$page_packages \
    AUTOPAR_CMAKE_ARGS="-DAUTOPAR_ENABLE_FUZZERS=ON -DCMAKE_BUILD_TYPE= -DCMAKE_CXX_FLAGS=-O1 ${AUTOPAR_CMAKE_ARGS-}" \
    "$root/scripts/build" "$@"
}
# LLVM's archives allocate from arenas that our code, which is instrumented,
# would poison; and they grow containers that our code would check.
sanitizer_options=allow_user_poisoning=0:detect_container_overflow=0

# Prints those of its arguments that are not installed.
missing_packages() {
  local installed
  installed=$(dpkg-query -W -f '${Status} ${Package}\n' "$@" 2>/dev/null |
    sed -n 's/^install ok installed //p' || true)
  comm -23 <(printf '%s\n' "$@" | sort) <(sort -u <<<"$installed")
}
