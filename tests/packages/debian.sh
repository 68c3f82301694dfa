#!/usr/bin/env bash
# Makes the Debian package, lets lintian look at it, unpacks it and runs what is in it: program, Python
# package, manual pages, an example.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../../scripts/common.sh"

install_packages
bash "$root/scripts/install_packages.sh" "$logs/install.log" dpkg-dev file lintian man-db
cd "$root"
logged configure_package cmake --preset package
echo "building the package with $(cores) cores"
logged build_package cmake --build --preset package --parallel "$(cores)"
(cd build/package && rm -f ./*.deb && logged cpack cpack)
package=("$build"/package/*.deb)
lintian --fail-on error "${package[0]}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
dpkg -x "${package[0]}" "$work/unpacked"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cd "$work"
"$work/unpacked/usr/bin/concord" run "$work/unpacked/usr/share/concord/examples/two_mass/two_mass.yaml"
PYTHONPATH=$work/unpacked/usr/lib/python3/dist-packages /usr/bin/python3 -c "
import concord
assert concord.__file__.startswith('$work'), concord.__file__
assert concord.read('two_mass.h5').status == 'completed'"
for page in "$work"/unpacked/usr/share/man/man1/*; do
  warnings=$(LC_ALL=C.UTF-8 man --warnings -l "$page" 2>&1 > /dev/null)
  [[ -z $warnings ]] || {
    echo "concord: error: $page: $warnings" >&2
    exit 1
  }
done
echo "package: ${package[0]} ($(du -h "${package[0]}" | cut -f1))"
