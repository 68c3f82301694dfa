#!/usr/bin/env bash
# outside_project.sh BUILD WORK: installs BUILD below WORK, moves it, builds a small project
# against it that knows nothing else of this tree, and simulates its subsystem with the installed
# program; then does the same with the installed chain example, a program of its own, and with one that
# pkg-config helps to compile; looks for manual pages, completion and the module file.
set -euo pipefail
build=$1 work=$2
source=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)/outside_project

rm -rf "$work"
mkdir -p "$work"
cp -r "$source" "$work/project"
cmake --install "$build" --prefix "$work/made/here" > "$work/install.log"
mv "$work/made/here" "$work/prefix"
rmdir "$work/made"

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

# As a user who has no folder but the one where he stands.
mkdir "$work/empty"
(cd "$work/empty" && "$work/prefix/bin/concord" run \
  "$work/prefix/share/concord/examples/two_mass/two_mass.yaml" -cosim_stop 0.01)
[[ $(ls "$work/empty") == two_mass.h5 ]]

pc=("$work"/prefix/lib*/pkgconfig "$work"/prefix/lib/*/pkgconfig)
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(IFS=:; echo "${pc[*]}")
cat > "$work/linked.cpp" << 'end'
#include <concord/model_builder.hpp>
#include <cstdio>
int main() {
  concord::ModelBuilder("linked", 0.0, 1.0).event(0.5);
  std::puts("linked");
}
end
read -ra flags <<< "$(pkg-config --cflags --libs concord)"
library=$(pkg-config --variable=libdir concord)
c++ -std=c++20 "$work/linked.cpp" -o "$work/linked" "${flags[@]}" "-Wl,-rpath,$library"
[[ $("$work/linked") == linked ]]

for command in $("$work/prefix/bin/concord" --help-all | sed -nE 's/^  (mpirun -n R )?concord ([a-z-]+) .*/\2/p'); do
  grep -q "^\.SH EXAMPLES" "$work/prefix/share/man/man1/concord-$command.1"
done
bash -n "$work/prefix/share/bash-completion/completions/concord"
module=("$work"/prefix/share/concord/modulefiles/concord/*)
up=$(sed -nE 's/^set prefix .*\] (.*)\]\]$/\1/p' "${module[0]}")
[[ $(realpath "$(dirname "${module[0]}")/$up") == "$(realpath "$work/prefix")" ]]
