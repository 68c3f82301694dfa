#!/usr/bin/env bash
# Builds everything into build/sanitize, with addresses, leaks and undefined behaviour watched, and
# runs every test; arguments go to ctest: bash tests/sanitize.sh -R '^unit_'
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../scripts/common.sh"

install_packages
cd "$root"
logged configure_sanitize cmake --preset sanitize
echo "building with sanitizers with $(cores) cores"
logged build_sanitize cmake --build --preset sanitize --parallel "$(cores)"
mkdir -p "$build/sanitize/logs"
mpi_environment

# Of what MPI, HDF5 and PETSc hold until the process ends, nobody has lost sight. Open MPI's plug-ins
# stay loaded, so that what they have lost can be told from what Concord has.
export LSAN_OPTIONS=suppressions=$root/tests/support/leaks.supp:print_suppressions=0
export ASAN_OPTIONS=detect_leaks=1:allow_user_segv_handler=1:fast_unwind_on_malloc=0
export ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0
plug_ins_stay=$build/sanitize/libplug_ins_stay.so
echo 'int dlclose(void* handle) { (void)handle; return 0; }' |
  "${CC:-cc}" -x c -shared -fPIC -o "$plug_ins_stay" -
export LD_PRELOAD=$plug_ins_stay
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1

log=$logs/sanitize.log
ctest --test-dir "$build/sanitize" --output-on-failure --parallel "$(cores)" "$@" 2>&1 |
  tee "$log" | { grep --line-buffered -vE '^ +Start +[0-9]+:' || true; } || {
  echo "concord: error: tests failed under sanitizers (whole log: $log)" >&2
  exit 1
}
