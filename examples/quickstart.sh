#!/usr/bin/env bash
# Installs what is missing, builds Concord into build/, simulates the two-mass example on two ranks
# and plots it. Call it from anywhere: bash examples/quickstart.sh
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../scripts/common.sh"

install_packages
configure
build_targets concord_program concord_python
mpi_environment

results=$build/quickstart/two_mass.h5
picture=$build/quickstart/two_mass.png
mkdir -p "$build/quickstart"
mpirun -n 2 "$build/bin/concord" run "$root/examples/two_mass/two_mass.yaml" \
  -cosim_output "$results"
logged plot "$build/bin/concord" plot "$results" --variables left.x,right.x -o "$picture"
echo "results: $results"
echo "picture: $picture"
