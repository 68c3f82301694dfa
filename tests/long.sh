#!/usr/bin/env bash
# What takes too long for tests/run.sh: installs what is missing, builds everything and each header alone, runs every method
# on 200 random networks in random units, and prints the table of doc/numerics.md; then subsystems that
# fail in every call, and prints the tables of doc/faults.md; then models of up to 10^5 subsystems, for
# the table of doc/scaling.md; then pages of concord report in a browser, and
# examples/work_precision/tolerances.py with scipy; then every test of tests/run.sh with all rows of its
# table (CONCORD_LONG: results of 10^7 rows, all methods, holds, controls and kinds with checkpoints
# against runs without, on other ranks, isolated, and the jobs of examples/slurm in a Slurm of one node
# among them), 3000 kills in chains, and calls of the system that fail, one in each run, for the table of
# doc/trust.md; and the unit tests and those on several ranks with a PETSc of
# 64-bit indices (tests/petsc64.sh), FMUs of other platforms by the emulators that are there, the Debian package, fuzzers for a minute each, 2000 random models
# written in other ways (tests/trust/laws.py), 10^4 bits that flip (tests/trust/flips.py), and what 150
# small models say of their own error beside the truth (tests/trust/survey.py); and how many changes of the
# program its tests notice (scripts/mutate.py).
# Arguments go to tests/networks/sweep.py: bash tests/long.sh --count 20 --details
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../scripts/common.sh"

install_packages
bash "$root/scripts/install_packages.sh" "$logs/install.log" slurmctld slurmd slurm-client munge
configure
build_targets all architecture_headers_alone architecture_public_headers_alone advance_cost batch_cost expression_cost
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

log=$logs/whole_tables.log
CONCORD_LONG=1 KILLS=15 ctest --test-dir "$build" --output-on-failure --timeout 20000 --parallel "$(cores)" \
  2>&1 | tee "$log" || {
  echo "concord: error: a test fails that takes every row of its table (whole log: $log)" >&2
  exit 1
}

log=$logs/kill_chains.log
CONCORD_PROGRAM=$build/bin/concord KILL_AT_WRITE_LIBRARY=$build/lib/libkill_at_write.so \
  PYTHONPATH=$root/tests/support:$root/tests/restart \
  /usr/bin/python3 -B -u "$root/tests/restart/kill_chains.py" --kills 3000 2>&1 | tee "$log" || {
  echo "concord: error: a run did not go on as promised (whole log: $log)" >&2
  exit 1
}

log=$logs/injected.log
CONCORD_PROGRAM=$build/bin/concord FAILING_CALLS_LIBRARY=$build/lib/libfailing_calls.so \
  NATIVE_TEST_SUBSYSTEMS=$build/lib/libnative_test_subsystems.so \
  PYTHONPATH=$root/tests/support:$root/tests/restart \
  /usr/bin/python3 -B -u "$root/tests/injected/table.py" --per-kind 60 --jobs "$(cores)" 2>&1 | tee "$log" || {
  echo "concord: error: a run in which a call failed did not end as promised (whole log: $log)" >&2
  exit 1
}

# What is not installed is left out, and said: wine and cross compilers are nobody's to install.
log=$logs/emulators.log
CONCORD_PROGRAM=$build/bin/concord FMU_HOST_SOURCE=$build/generated/fmu_host.c \
  PYTHONPATH=$root/tests/support:$root/tests/fmu \
  /usr/bin/python3 -B "$root/tests/fmu/emulators.py" -v 2>&1 | tee "$log" || {
  echo "concord: error: an FMU of another platform does not run as here (whole log: $log)" >&2
  exit 1
}

bash "$root/tests/packages/debian.sh"
bash "$root/tests/fuzz.sh" --seconds 60
bash "$root/tests/petsc64.sh"

log=$logs/flips.log
CONCORD_PROGRAM=$build/bin/concord PYTHONPATH=$root/tests/support /usr/bin/python3 -B -u \
  "$root/tests/trust/flips.py" --count 2000 --jobs "$(cores)" 2>&1 | tee "$log" || {
  echo "concord: error: a checkpoint that had changed on the disk was read (whole log: $log)" >&2
  exit 1
}

for options in "" "-cosim_type gauss"; do
  log=$logs/survey$options.log
  PYTHONPATH=$root/tests/support /usr/bin/python3 -B "$root/tests/trust/survey.py" \
    --concord "$build/bin/concord" --jobs "$(cores)" --inside "--options=$options" 2>&1 | tee "$log" || {
    echo "concord: error: runs were wrong in silence, or did not end (whole log: $log)" >&2
    exit 1
  }
done

# Some are known to fail (doc/trust.md): the last.
log=$logs/laws.log
CONCORD_PROGRAM=$build/bin/concord PYTHONPATH=$root/tests/support /usr/bin/python3 -B -u \
  "$root/tests/trust/laws.py" --count 2000 --jobs "$(cores)" --shrink 2>&1 | tee "$log" || {
  echo "concord: error: a model that is written in another way has other results (whole log: $log)" >&2
  exit 1
}

# Of the numerical rooms' mutants, twenty of each (doc/trust.md).
bash "$root/scripts/install_packages.sh" "$logs/install.log" python3-clang-14
log=$logs/mutants.log
{ /usr/bin/python3 -B "$root/tests/trust/mutants_written.py" &&
  /usr/bin/python3 -B -u "$root/scripts/mutate.py" --jobs "$(cores)" --per-room 20 --least 55 --survivors; } 2>&1 | tee "$log" || {
  echo "concord: error: tests notice too few changes of the program (whole log: $log)" >&2
  exit 1
}
