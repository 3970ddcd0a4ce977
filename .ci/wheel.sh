#!/usr/bin/env bash
# The wheel by itself, installed where there is no checkout: it tries itself out. And the source archive: the wheel made
# from it is the same, file by file. Usage: wheel.sh PYTHON PLAYGROUND WHEEL FOLDER; PLAYGROUND is the wheel's, installed.
set -euo pipefail
python=$1
playground=$2
wheel=$3
folder=$4
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$folder/home" "$folder/source"
folder=$(cd "$folder" && pwd)

"$python" "$root/.ci/wheel_holds.py" "$wheel"

cd "$folder" # nothing may depend on the checkout
found=$("$(dirname "$playground")/python" -c 'import playground; print(playground.__file__)')
case $found in
  "$root"/*) echo "the checkout itself was found: $found"; exit 1 ;;
esac
env -u DISPLAY HOME="$folder/home" PYTHON_KEYRING_BACKEND=keyring.backends.fail.Keyring "$playground" --self-test

# The build tool puts the same times into both, so that the same content gives the same bytes.
"$python" -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --require-hashes -r "$root/packaging/locks/build.txt"
hatchling=$folder/env/bin/hatchling
(cd "$root" && "$hatchling" build -t sdist -d "$folder" >/dev/null && "$hatchling" build -t wheel -d "$folder/checkout" >/dev/null)
tar --extract --file "$folder"/gateway_playground-*.tar.gz --directory "$folder/source" --strip-components 1
(cd "$folder/source" && "$hatchling" build -t wheel -d "$folder/again" >/dev/null)
cmp "$folder"/checkout/*.whl "$folder"/again/*.whl
echo "$(basename "$folder"/gateway_playground-*.tar.gz): $(($(stat -c %s "$folder"/gateway_playground-*.tar.gz) / 1024)) KiB; the wheel made from it is the same, byte by byte"
