#!/usr/bin/env bash
# Builds everything into build/petsc64 with a PETSc whose indices have 64 bits (Debian's, beside the
# usual one), and runs the unit tests and those on several ranks; arguments go to ctest instead:
# bash tests/petsc64.sh -R '^example_'
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../scripts/common.sh"

install_packages
bash "$root/scripts/install_packages.sh" "$logs/install.log" libpetsc64-real-dev
cd "$root"
logged configure_petsc64 cmake --preset petsc64
echo "building with 64-bit indices with $(cores) cores"
logged build_petsc64 cmake --build --preset petsc64 --parallel "$(cores)"
mkdir -p "$build/petsc64/logs"
mpi_environment

# Debian brings a Scotch of 32-bit indices along, which cannot divide the graph: that is refused, and
# what is said of pieces elsewhere does not hold here.
refused=$(mpirun -n 2 "$build/petsc64/bin/concord" run \
  "$root/examples/hybrid_vehicle/hybrid_vehicle.yaml" -cosim_placement graph 2>&1) && code=0 || code=$?
[[ $code == 2 && $refused == *"has no partitioner"* ]] || {
  echo "concord: error: -cosim_placement graph gave $code instead of a refusal: $refused" >&2
  exit 1
}
export GTEST_FILTER="-PlacementInPieces.*"

(($#)) || set -- -R '^(unit_|mpi_)' -E mpi_ranks_TangleInPieces
log=$logs/petsc64.log
ctest --test-dir "$build/petsc64" --output-on-failure --parallel "$(cores)" "$@" 2>&1 |
  tee "$log" | { grep --line-buffered -vE '^ +Start +[0-9]+:' || true; } || {
  echo "concord: error: tests failed with 64-bit indices (whole log: $log)" >&2
  exit 1
}
