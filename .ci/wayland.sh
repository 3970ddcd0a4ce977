#!/usr/bin/env bash
# The window on Wayland, where there is no X: the installed application tries itself out and is used as a person uses it,
# and tests/wayland points, types and drags. Usage: wayland.sh PLAYGROUND PYTHON FOLDER; PYTHON has the tests' libraries.
set -euo pipefail
playground=$1
export PYTHON=$2
folder=$3
here=$(dirname "$0")
mkdir -p "$folder/use"
"$here/in_wayland.sh" env HOME="$folder" XDG_DATA_HOME="$folder/data" XDG_CONFIG_HOME="$folder/config" \
  XDG_STATE_HOME="$folder/state" PYTHON_KEYRING_BACKEND=keyring.backends.fail.Keyring \
  "$playground" --self-test --window >"$folder/self-test" || { cat "$folder/self-test"; exit 1; }
grep '^ok     window .*wayland' "$folder/self-test" || { cat "$folder/self-test"; echo "The window was not on Wayland."; exit 1; }
"$here/in_wayland.sh" "$PYTHON" "$here/wayland.py" "$playground" "$folder/use"
"$here/in_wayland.sh" "$PYTHON" -m pytest -q -n 0 -p no:cacheprovider --everything tests/wayland
