#!/usr/bin/env bash
# outside_project.sh BUILD WORK: installs BUILD into a prefix below WORK, builds a small project
# against it that knows nothing else of this tree, and simulates its subsystem with the installed
# program.
set -euo pipefail
build=$1 work=$2
source=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)/outside_project

rm -rf "$work"
mkdir -p "$work"
cp -r "$source" "$work/project"
cmake --install "$build" --prefix "$work/prefix" > "$work/install.log"
cmake -G Ninja -S "$work/project" -B "$work/project/build" \
  -D CMAKE_PREFIX_PATH="$work/prefix" -D CMAKE_CXX_FLAGS="-Wall -Wextra -Werror"
cmake --build "$work/project/build"
"$work/prefix/bin/concord" run "$work/project/pendulum.yaml" -cosim_output "$work/pendulum.h5"
