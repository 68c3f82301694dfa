#!/usr/bin/env bash
# Installs the Debian packages that Concord needs and this machine lacks; does nothing when all are
# there. Works as root and as a user with sudo. The output of apt-get goes to the file $1, if given;
# further arguments are packages that are wanted, too.
set -euo pipefail

packages=(
  g++ cmake ninja-build pkg-config
  petsc-dev libopenmpi-dev openmpi-bin libsundials-dev libsuitesparse-dev libhdf5-openmpi-dev libssl-dev
  libeigen3-dev libyaml-cpp-dev libudunits2-dev libgsl-dev libpugixml-dev nlohmann-json3-dev libzip-dev libzmq3-dev cppzmq-dev libevent-dev libxml2-dev zlib1g-dev unzip
  graphviz
  pybind11-dev libpython3-dev python3-numpy python3-h5py python3-matplotlib # for the Python package
  libgtest-dev clang-format-14 hdf5-tools python3 python3-jsonschema python3-yaml python3-zmq python3-msgpack python3-scipy zip # for the tests
)

packages+=("${@:2}")

if ! command -v dpkg-query > /dev/null; then
  echo "concord: error: this machine has no Debian packages; install the counterparts of these" \
    "by hand, then call cmake: ${packages[*]}" >&2
  exit 2
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2> /dev/null) || true
  [[ $status == installed* ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

if ((EUID == 0)); then
  as_root=()
elif command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
  as_root=(sudo -n)
elif command -v sudo > /dev/null && [[ -t 0 ]]; then
  as_root=(sudo)
else
  echo "concord: error: these packages are missing: ${missing[*]}" >&2
  echo "Installing them needs root or sudo without a password, and neither is there. As root, run" >&2
  echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
  echo "and repeat the command." >&2
  exit 2
fi

echo "installing ${#missing[@]} Debian packages: ${missing[*]}"
log=${1:-}
if [[ -n $log ]]; then exec 3> "$log"; else exec 3>&1; fi
{
  "${as_root[@]}" apt-get update -q &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}"
} >&3 2>&1 || {
  [[ -z $log ]] || tail -n 30 "$log" >&2
  echo "concord: error: apt-get could not install the packages${log:+ (whole log: $log)}" >&2
  exit 1
}
