#!/usr/bin/env bash
# Builds libFuzzer programs for all that is read (build/fuzz, by clang, with addresses and undefined
# behaviour watched) and runs each for a while, from the examples on: bash tests/fuzz.sh [--seconds 600]
# [model ssd expression table model_description results checkpoint]. What fails stays in
# build/fuzz/findings.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../scripts/common.sh"

seconds=600
if [[ ${1:-} == --seconds ]]; then
  seconds=$2
  shift 2
fi
targets=("$@")
((${#targets[@]})) || targets=(model ssd expression table model_description results checkpoint)

install_packages
bash "$root/scripts/install_packages.sh" "$logs/install.log" clang
configure
build_targets concord_program
cd "$root"
logged configure_fuzz cmake --preset fuzz
echo "building fuzzers with $(cores) cores"
logged build_fuzz cmake --build --preset fuzz --parallel "$(cores)" --target "${targets[@]/#/fuzz_}"
mpi_environment

seeds=$build/fuzz/seeds
findings=$build/fuzz/findings
mkdir -p "$findings"
for target in model ssd expression table model_description results checkpoint; do
  mkdir -p "$seeds/$target"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$root"/examples/*/*.yaml "$seeds/model"
cp "$root"/examples/*/*.csv "$seeds/table" 2> /dev/null || true
for number in 1 2 3; do
  sed -nE 's/^ *[a-z_]+: "?([^"#{}]*[-+*/(][^"#{}]*)"?$/\1/p' "$root"/examples/*/*.yaml |
    sed -n "$((7 * number))p" > "$seeds/expression/$number"
done
printf 'time,a\n0,1\n0.5,2\n1,true\n' > "$seeds/table/small.csv"
(
  cd "$work"
  model=$root/examples/two_mass/two_mass.yaml
  "$build/bin/concord" export-ssp "$model" -o two_mass.ssd
  for fmi in 2 3; do
    "$build/bin/concord" export-fmu "$model" left --fmi $fmi --no-binary -o left$fmi.fmu
    unzip -p left$fmi.fmu modelDescription.xml > "$seeds/model_description/$fmi.xml"
  done
  "$build/bin/concord" run "$model" -cosim_stop 0.005 -cosim_step 1e-3 -cosim_output two_mass.h5 \
    -cosim_checkpoint two_mass.checkpoint
) > "$logs/fuzz_seeds.log"
cp "$work/two_mass.ssd" "$seeds/ssd"
cp "$work/two_mass.h5" "$seeds/results"
cp "$work/two_mass.checkpoint" "$seeds/checkpoint"

# Leaks are watched by tests/sanitize.sh: those of MPI's plug-ins could not be told from ours here.
export ASAN_OPTIONS=detect_leaks=0
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
failed=()
for target in "${targets[@]}"; do
  corpus=$build/fuzz/corpus/$target
  mkdir -p "$corpus"
  "$build/fuzz/bin/fuzz_$target" -max_total_time="$seconds" -detect_leaks=0 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$findings/${target}_" "$corpus" "$seeds/$target" > "$logs/fuzz_$target.log" 2>&1 ||
    failed+=("$target")
  printf '%-18s %s\n' "$target" "$(grep -aE 'cov: ' "$logs/fuzz_$target.log" | tail -n 1)"
done
rm -rf /dev/shm/concord_fuzz_*
((${#failed[@]} == 0)) || {
  echo "concord: error: findings in ${failed[*]}: $findings, $logs/fuzz_*.log" >&2
  exit 1
}
