#!/usr/bin/env bash
# Which lines and branches of src/ run in tests: a table of rooms (folders of src/), by the unit tests
# alone and by those and the tests of ctest that arguments choose, or all of them, and of what is not
# covered in each file. Builds into build/coverage, without optimisation, and counts with gcov and gcovr.
#   bash scripts/coverage.sh                 # every test; takes hours
#   bash scripts/coverage.sh -R '^order_'    # the unit tests, and these
#   bash scripts/coverage.sh --units         # the unit tests alone
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

mkdir -p "$logs"
bash "$root/scripts/install_packages.sh" "$logs/install.log" gcovr
folder=$build/coverage
cd "$root"
logged configure_coverage cmake --preset coverage
if [[ ${1:-} == --units ]]; then
  mapfile -t targets < <(cmake --build "$folder" --target help | grep -oE '^unit_[a-z0-9_]+' | sort -u)
else
  targets=(all)
fi
echo "building ${targets[*]} for coverage with $(cores) cores"
logged build_coverage cmake --build "$folder" --parallel "$(cores)" --target "${targets[@]}"
mpi_environment
export OMPI_MCA_mpi_yield_when_idle=1  # ranks of one run do not keep the cores from each other

# counted NAME: what has run since the last call, and before, as JSON.
counted() {
  logged "gcovr_$1" gcovr --root "$root" --filter "$root/src/" --object-directory "$folder" \
    --gcov-ignore-parse-errors --exclude-throw-branches --exclude-unreachable-branches \
    --json "$folder/$1.json" -j "$(cores)" "$folder"
}

# ran ARGUMENTS...: tests; what fails is said and counts all the same.
ran() {
  ctest --test-dir "$folder" --parallel "$(cores)" "$@" > "$logs/coverage_tests.log" 2>&1 ||
    echo "concord: warning: some tests failed without optimisation (log: $logs/coverage_tests.log)" >&2
}

find "$folder" -name '*.gcda' -delete
ran -R '^unit_'
counted units
if [[ ${1:-} == --units ]]; then
  /usr/bin/python3 -B "$root/scripts/coverage_table.py" "$folder/units.json"
else
  ran -E '^unit_' "$@"
  counted all
  /usr/bin/python3 -B "$root/scripts/coverage_table.py" "$folder/units.json" "$folder/all.json"
fi
