#!/usr/bin/env bash
# The manual as a site in build/manual: installs what is missing, then Sphinx over the pages of doc/ and what
# they link to, Doxygen over the public headers. Warnings are errors. Begin at build/manual/index.html; nothing
# of it needs a network.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

install_packages
bash "$root/scripts/install_packages.sh" "$logs/install.log" \
  python3-sphinx python3-myst-parser furo libjs-mathjax doxygen python3-numpy

site=$build/manual
sources=$build/manual_sources # the pages at their places, without the build folder itself
rm -rf "$site" "$sources" "$build/manual_doctrees"
mkdir -p "$site/_static" "$sources"
for name in README.md CHANGELOG.md LICENSE NOTICE doc examples petsc_options include python src tests \
  scripts packaging library .github; do
  ln -s "$root/$name" "$sources/$name"
done
cp "$root/doc/site/python_reference.rst" "$sources"

export CONCORD_ROOT=$root
logged manual /usr/bin/python3 -m sphinx -q -b html -W --keep-going -c "$root/doc/site" \
  -d "$build/manual_doctrees" "$sources" "$site"
{
  cat "$root/doc/site/Doxyfile"
  echo "INPUT = \"$root/include/concord\""
  echo "STRIP_FROM_PATH = \"$root/include\""
  echo "OUTPUT_DIRECTORY = \"$site\""
} > "$build/Doxyfile"
logged doxygen doxygen "$build/Doxyfile"

# Debian's furo imports one script from another, which browsers do from servers only, not from files.
scripts=$site/_static/scripts
sed 's/^export default.*//' "$scripts/gumshoe-patched.js" > "$build/furo.js"
sed '/^import Gumshoe/d' "$scripts/furo.js" >> "$build/furo.js"
mv "$build/furo.js" "$scripts/furo.js"

mathjax=/usr/share/javascript/mathjax
for part in MathJax.js config/TeX-AMS_CHTML.js jax/element jax/input/TeX jax/output/CommonHTML \
  extensions fonts/HTML-CSS/TeX/woff; do
  mkdir -p "$site/_static/mathjax/$(dirname "$part")"
  cp -rL "$mathjax/$part" "$site/_static/mathjax/$(dirname "$part")/"
done
echo '<!DOCTYPE html><meta http-equiv="refresh" content="0; url=doc/index.html">' > "$site/index.html"
echo "manual: $site/index.html"
