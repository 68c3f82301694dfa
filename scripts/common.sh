# shellcheck shell=bash
# Sourced by examples/quickstart.sh and tests/run.sh: what both do in the same way, in one build/.

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build
logs=$build/logs

# logged NAME COMMAND...: output goes to a log; on failure its end and its path are shown.
logged() {
  local log=$logs/$1.log
  shift
  "$@" > "$log" 2>&1 && return
  local code=$?
  tail -n 30 "$log" >&2
  echo "concord: error: failed: $* (whole log: $log)" >&2
  return "$code"
}

install_packages() {
  mkdir -p "$logs"
  bash "$root/scripts/install_packages.sh" "$logs/install.log"
}

# cached ENTRY: whether the build folder is configured with it.
cached() { grep -qxF "$1" "$build/CMakeCache.txt" 2> /dev/null; }

# Same settings for both callers, so that neither rebuilds what the other has built. Warnings are
# errors with the compiler of Debian 12 only: another one's new warnings shall not stop a user.
configure() {
  local werror=OFF
  [[ $("${CXX:-c++}" -dumpversion) == 12* ]] && werror=ON
  local here=CMAKE_HOME_DIRECTORY:INTERNAL=$root
  if cached "$here" && cached CONCORD_TESTS:BOOL=ON && cached CONCORD_WERROR:BOOL=$werror &&
    cached CMAKE_UNITY_BUILD:BOOL=ON && [[ -f $build/build.ninja || -f $build/Makefile ]]; then
    return
  fi
  echo "configuring $build"
  cached "$here" || rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles" # moved or copied
  local generator=()
  [[ -f $build/CMakeCache.txt ]] || generator=(-G Ninja)
  logged configure cmake -S "$root" -B "$build" "${generator[@]}" \
    -D CONCORD_TESTS=ON -D CONCORD_WERROR=$werror -D CMAKE_UNITY_BUILD:BOOL=ON
}

# That this job may use; nproc alone would count the threads of OMP_NUM_THREADS.
cores() { env -u OMP_NUM_THREADS nproc; }

# show_progress LOG: how far ninja has come, every ten seconds, until it is ended.
show_progress() {
  local last='' now
  while sleep 10; do
    now=$(tail -c 2000 "$1" 2> /dev/null | grep -aoE '^\[[0-9]+/[0-9]+\]' | tail -n 1) || true
    [[ -z $now || $now == "$last" ]] || echo "  $now"
    last=$now
  done
}

# build_targets TARGET...
build_targets() {
  echo "building $* with $(cores) cores"
  : > "$logs/build.log"
  show_progress "$logs/build.log" &
  local watcher=$! code=0
  logged build cmake --build "$build" --parallel "$(cores)" --target "$@" || code=$?
  kill "$watcher" 2> /dev/null || true
  wait "$watcher" 2> /dev/null || true
  return "$code"
}

# Open MPI as root, with more ranks than cores, without its remarks on containers, and without
# binding every run to the same first cores.
mpi_environment() {
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
  export OMPI_MCA_btl_vader_single_copy_mechanism=none
  export OMPI_MCA_pml=ob1 # several ranks of one machine; others look for networks first
  export OMP_NUM_THREADS=1
}
