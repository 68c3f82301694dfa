#!/usr/bin/env bash
# Installs what is missing, builds everything into build/ and runs every test. Arguments go to
# ctest: bash tests/run.sh -R architecture
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../scripts/common.sh"

mkdir -p "$logs"
bash "$root/scripts/install_packages.sh" "$logs/install.log" \
  python3-pandas python3-xarray python3-mpi4py # of the Python package's tests
configure
build_targets all
mpi_environment

log=$logs/tests.log
# Two more than there are cores: tests wait, too, for others that end or hang, for disks and for ranks.
ctest --test-dir "$build" --output-on-failure --timeout 6000 --parallel "$(($(cores) + 2))" "$@" 2>&1 |
  tee "$log" | { grep --line-buffered -vE '^ +Start +[0-9]+:' || true; } || {
  echo "concord: error: tests failed (whole log: $log)" >&2
  exit 1
}
