#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# package.sh PYTHON SOURCE FOLDER: installs the package from a copy of SOURCE,
# since pip builds there, and runs its tests on what was installed.
set -eu
python=$1 source=$2 folder=$3
rm -rf "$folder"
mkdir -p "$folder"
cp -r "$source" "$folder/source"
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$folder/site" "$folder/source"
rm -rf "$folder/source/attn" # or the tests might find it
cd "$folder/source"
PYTHONPATH=$folder/site exec "$python" -B -m pytest -q -p no:cacheprovider --durations=5 tests
