#!/usr/bin/env bash
# outside_project.sh BUILD WORK: installs BUILD into a prefix below WORK, builds a small project
# against it that knows nothing else of this tree, and simulates its subsystem with the installed
# program; then does the same with the installed chain example, a program of its own.
set -euo pipefail
build=$1 work=$2
source=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)/outside_project

rm -rf "$work"
mkdir -p "$work"
cp -r "$source" "$work/project"
cmake --install "$build" --prefix "$work/prefix" > "$work/install.log"

# build_outside SOURCE BUILD
build_outside() {
  cmake -G Ninja -S "$1" -B "$2" \
    -D CMAKE_PREFIX_PATH="$work/prefix" -D CMAKE_CXX_FLAGS="-Wall -Wextra -Werror"
  cmake --build "$2"
}

build_outside "$work/project" "$work/project/build"
"$work/prefix/bin/concord" run "$work/project/pendulum.yaml" -cosim_output "$work/pendulum.h5"

build_outside "$work/prefix/share/concord/examples/chain" "$work/chain"
build_outside "$work/prefix/share/concord/examples/embedded" "$work/embedded"
/usr/bin/python3 "$work/prefix/share/concord/examples/embedded/check.py" \
  "$work/embedded/concord_embedded"

package=("$work"/prefix/lib/python3*/*-packages)
if [[ -e ${package[0]}/concord ]]; then
  PYTHONPATH=${package[0]} /usr/bin/python3 -c "
import concord
assert concord.__file__.startswith('$work/prefix'), concord.__file__
print(concord.run('$work/project/pendulum.yaml'))"
fi

"$work/chain/concord_chain" -chain_n 5 -cosim_stop 0.1 -cosim_output "$work/chain.h5"
