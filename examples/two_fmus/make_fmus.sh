#!/usr/bin/env bash
# Compiles cart.fmu and spring_cart.fmu into the folder $1 (default: this one), beside the models.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
target=${1:-$here}
mkdir -p "$target"
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

for model in cart spring_cart; do
  mkdir -p "$work/$model/binaries/linux64"
  cp "$here/$model.xml" "$work/$model/modelDescription.xml"
  cc -O2 -fPIC -shared -DMODEL="\"$model.h\"" -o "$work/$model/binaries/linux64/$model.so" \
    "$here/simple_fmu.c"
  rm -f "$target/$model.fmu"
  (cd "$work/$model" && zip -q -r "$work/$model.fmu" .)
  mv "$work/$model.fmu" "$target/"
done
[[ $target -ef $here ]] || cp "$here/two_fmus.yaml" "$here/two_fmus.ssd" "$target/"
