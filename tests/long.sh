#!/usr/bin/env bash
# What takes too long for tests/run.sh: installs what is missing, builds the program, runs every method
# on 200 random networks in random units, and prints the table of doc/numerics.md; then subsystems that
# fail in every call, and prints the tables of doc/faults.md; then runs of 10^7 rows, whose memory must
# not grow; then models of up to 10^5 subsystems, for the table of doc/scaling.md; then pages of concord
# report in a browser, and examples/work_precision/tolerances.py with scipy; then 105 runs that are killed
# and go on, 3000 kills in chains, runs with checkpoints against runs without, restarts on other ranks, runs
# on 2, 3 and 5 ranks and isolated subsystems with every method, and the jobs of examples/slurm in a Slurm of
# one node; and the unit tests and those on several ranks with a PETSc of 64-bit indices (tests/petsc64.sh),
# the Debian package, fuzzers for a minute each, and what 150 small models say of their own error beside the
# truth (tests/trust/survey.py).
# Arguments go to tests/networks/sweep.py: bash tests/long.sh --count 20 --details
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../scripts/common.sh"

install_packages
bash "$root/scripts/install_packages.sh" "$logs/install.log" slurmctld slurmd slurm-client munge
configure
build_targets concord_program concord_subsystem_host faulty_subsystem faulty_fmu faulty_fmu3 \
  native_test_subsystems kill_at_write endless_run
mpi_environment
export OMPI_MCA_mpi_yield_when_idle=1  # two ranks of one run do not keep the cores from the other

log=$logs/long.log
CONCORD_PROGRAM=$build/bin/concord PYTHONPATH=$root/tests/support \
  /usr/bin/python3 -B "$root/tests/networks/sweep.py" --jobs "$(cores)" "$@" 2>&1 | tee "$log" || {
  echo "concord: error: runs were wrong (whole log: $log)" >&2
  exit 1
}

log=$logs/faults.log
CONCORD_PROGRAM=$build/bin/concord FAULTY_SUBSYSTEM=$build/lib/libfaulty_subsystem.so \
  FAULTY_FMU=$build/lib/libfaulty_fmu.so FAULTY_FMU3=$build/lib/libfaulty_fmu3.so \
  /usr/bin/python3 -B "$root/tests/faults/table.py" --jobs "$(cores)" 2>&1 | tee "$log" || {
  echo "concord: error: failures were not told as promised (whole log: $log)" >&2
  exit 1
}

restarts() {
  (cd "$root/tests/restart" && CONCORD_LONG=1 CONCORD_PROGRAM=$build/bin/concord \
    NATIVE_TEST_SUBSYSTEMS=$build/lib/libnative_test_subsystems.so \
    PYTHONPATH=$root/tests/support:$root/tests/fmu:$root/tests/faults:$root/tests/restart \
    /usr/bin/python3 -B -u "$@" -v)
}
kill_chains() {
  CONCORD_PROGRAM=$build/bin/concord KILL_AT_WRITE_LIBRARY=$build/lib/libkill_at_write.so \
    PYTHONPATH=$root/tests/support:$root/tests/restart \
    /usr/bin/python3 -B -u "$root/tests/restart/kill_chains.py" --kills 3000
}
kills_at_growth() {
  for part in "" 1000000; do
    CONCORD_LONG=1 /usr/bin/python3 -B "$root/tests/unit/record/kill_at_growth_test.py" \
      "$build/bin/endless_run" "$build/lib/libkill_at_write.so" ${part:+"$part"}
  done
}
log=$logs/memory.log
CONCORD_LONG=1 CONCORD_PROGRAM=$build/bin/concord PYTHONPATH=$root/tests/support \
  /usr/bin/python3 -B "$root/tests/record/memory.py" 2>&1 | tee "$log" || {
  echo "concord: error: rows take memory (whole log: $log)" >&2
  exit 1
}

log=$logs/scaling.log
/usr/bin/python3 -B "$root/tests/scaling/scaling.py" "$build/bin/concord" --largest 100000 2>&1 |
  tee "$log" || {
  echo "concord: error: a large model did not run (whole log: $log)" >&2
  exit 1
}

bash "$root/scripts/install_packages.sh" "$logs/install.log" chromium python3-scipy
log=$logs/browser.log
CONCORD_PROGRAM=$build/bin/concord PYTHONPATH=$root/tests/support \
  /usr/bin/python3 -B "$root/tests/cli/report_in_browser.py" -v 2>&1 | tee "$log" || {
  echo "concord: error: a browser has complaints about a report (whole log: $log)" >&2
  exit 1
}

bash "$root/scripts/manual.sh"
log=$logs/example_pages.log
build_targets concord_python concord_chain concord_embedded
/usr/bin/python3 -B "$root/tests/documentation/commands.py" "$build/bin/concord" "$build/python" "$root" \
  "$root"/examples/*/README.md 2>&1 | tee "$log" || {
  echo "concord: error: a command of an example's page does not run (whole log: $log)" >&2
  exit 1
}
log=$logs/manual_in_browser.log
/usr/bin/python3 -B "$root/tests/documentation/site_in_browser.py" "$build/manual" \
  "$build/manual_pictures" 2>&1 | tee "$log" || {
  echo "concord: error: a browser has complaints about the manual (whole log: $log)" >&2
  exit 1
}

log=$logs/tolerances.log
/usr/bin/python3 -B "$root/examples/work_precision/tolerances.py" "$build/bin/concord" \
  -o "$build/work_precision" 2>&1 | tee "$log" || {
  echo "concord: error: errors against work were not measured (whole log: $log)" >&2
  exit 1
}

log=$logs/restarts.log
{ KILLS=15 restarts checkpoints.py Files Kills && kills_at_growth && kill_chains &&
  restarts with_and_without.py && restarts warm_starts.py SameModel && restarts ../mpi/ranks.py TwoMass RingVariants &&
  restarts ../delays/runs.py Ranks &&
  restarts slurm.py; } 2>&1 | tee "$log" || {
  echo "concord: error: a run did not go on as promised (whole log: $log)" >&2
  exit 1
}

build_targets all
log=$logs/whole_tables.log
CONCORD_LONG=1 ctest --test-dir "$build" --output-on-failure --timeout 6000 --parallel "$(cores)" -R \
  '^(fmu_(agreement|network_events)|findings_explicit|isolation_isolated|restart_every_method|trust_accuracy)_' \
  2>&1 | tee "$log" || {
  echo "concord: error: a test fails that takes every row of its table (whole log: $log)" >&2
  exit 1
}

bash "$root/tests/packages/debian.sh"
bash "$root/tests/fuzz.sh" --seconds 60
bash "$root/tests/petsc64.sh"

log=$logs/survey.log
PYTHONPATH=$root/tests/support /usr/bin/python3 -B "$root/tests/trust/survey.py" \
  --concord "$build/bin/concord" --jobs "$(cores)" --inside 2>&1 | tee "$log" || {
  echo "concord: error: runs were wrong in silence, or did not end (whole log: $log)" >&2
  exit 1
}
