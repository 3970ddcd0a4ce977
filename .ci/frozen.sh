#!/usr/bin/env bash
# The packages for people without a terminal: frozen from the wheel, tried out and weighed; as root also installed in a
# clean Debian (packaging/linux/test_chroot.sh).
# Usage: frozen.sh PYTHON WHEEL INSTALLED FOLDER, on the display in DISPLAY; INSTALLED is the other's `playground`.
set -euo pipefail
python=$1
wheel=$2
installed=$3
folder=$4
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$folder/home"
folder=$(cd "$folder" && pwd)

step() { printf -- '-- %s (%d s)\n' "$1" "$SECONDS"; }

step "frozen"
"$python" "$root/packaging/freeze.py" "$folder" --wheel "$wheel" 2>"$folder/freeze.log" || { tail -30 "$folder/freeze.log"; exit 1; }

step "packed"
PYTHON=$python "$root/packaging/linux/build.sh" "$folder/packages" --frozen "$folder" --quick
desktop-file-validate "$root/packaging/linux/gateway-playground.desktop"
deb=$(echo "$folder"/packages/*.deb)
dpkg-deb --fsys-tarfile "$deb" | tar --extract --directory "$folder" ./usr/share/metainfo
appstreamcli validate --no-net "$folder"/usr/share/metainfo/*.xml | tail -1
echo "desktop-file-validate, appstreamcli: nothing to say"

# A home of its own: the portable archive is installed into it, tried out and removed again.
export HOME="$folder/home"
unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME QT_QPA_PLATFORM
export PYTHON_KEYRING_BACKEND=keyring.backends.fail.Keyring

step "the portable archive"
tar --extract --file "$(echo "$folder"/packages/*.tar.gz)" --directory "$folder"
"$folder"/gateway-playground-*-linux-*/install.sh --user >/dev/null
frozen=$HOME/.local/lib/gateway-playground/app/playground
[ "$("$HOME/.local/bin/playground" --version)" = "$("$installed" --version)" ] || { echo "another version came out"; exit 1; }
env -u DISPLAY "$HOME/.local/bin/playground" --self-test
step "in a window"
"$frozen" --self-test --window | tail -1

"$HOME/.local/lib/gateway-playground/uninstall.sh" --quiet
left=$(find "$HOME/.local/bin" "$HOME/.local/lib" "$HOME/.local/share" -name '*playground*' 2>/dev/null | grep -v 'share/gateway-playground' || true)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
echo "removed without a trace but the user's files"

# Lintian reads while the clean Debian is fetched.
lintian --allow-root --fail-on error,warning "$deb" >"$folder/lintian.log" 2>&1 &
reading=$!

if [ "$(id -u)" -ne 0 ]; then
  echo "Not root: the test in a clean Debian is left out."
elif [ "${PLAYGROUND_CHROOT:-yes}" = no ]; then
  echo "PLAYGROUND_CHROOT=no: the test in a clean Debian is left out."
else
  step "in a clean Debian"
  env -u HOME "$root/packaging/linux/test_chroot.sh" "$deb"
fi

wait "$reading" || { cat "$folder/lintian.log"; echo "lintian has something to say"; exit 1; }
echo "lintian: nothing to say"
