#!/usr/bin/env bash
# The wheel on 64-bit ARM: installed in a clean Debian 13 under QEMU, where it tests itself without a window. Debian 13,
# since the ARM wheels of PySide6 need glibc 2.39.
# Usage, as root: arm64.sh PYTHON WHEEL FOLDER; PYTHON has `packaging`. The mirror is the one this machine's own package sources name.
set -euo pipefail
python=$1
wheel=$(realpath "$2")
folder=$3
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$folder"
system=$(cd "$folder" && pwd)/system
readonly SUITE=trixie ARCHITECTURE=arm64
. "$root/.ci/system.sh"

step() { printf -- '-- %s (%d s)\n' "$1" "$SECONDS"; }
inside() { chroot "$system" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"; }

if [ "$(id -u)" -ne 0 ]; then
  echo "Not root: the test on ARM is left out."
  exit 0
fi
install_missing debootstrap qemu-user-static binfmt-support
[ -e /proc/sys/fs/binfmt_misc/register ] || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
[ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || update-binfmts --enable qemu-aarch64

mirror=$(apt-get indextargets --format '$(SITE) $(COMPONENT)' 'Created-By: Packages' | awk '$2 == "main" { print $1; exit }')
[ -n "$mirror" ] || { echo "No package source was found."; exit 1; }

step "Debian $SUITE for $ARCHITECTURE"
# The libraries are those that README.md names for a bare Debian.
debootstrap --foreign --arch="$ARCHITECTURE" --variant=minbase --include=ca-certificates,fonts-dejavu-core,python3-venv,\
libegl1,libgl1,libglib2.0-0t64,libxkbcommon-x11-0,libdbus-1-3,libfontconfig1,libxcb-cursor0,libxcb-icccm4,\
libxcb-keysyms1,libxcb-shape0 "$SUITE" "$system" "$mirror" >"$folder/debootstrap.log" 2>&1 || { tail -20 "$folder/debootstrap.log"; exit 1; }
mkdir -p "$system/etc/dpkg/dpkg.cfg.d"
echo force-unsafe-io >"$system/etc/dpkg/dpkg.cfg.d/quick"
chroot "$system" /debootstrap/debootstrap --second-stage >"$folder/second.log" 2>&1 || { tail -20 "$folder/second.log"; exit 1; }

step "installed from the lock of the application"
pip=(--quiet --disable-pip-version-check --only-binary=:all:)
tags=(--platform manylinux_2_39_aarch64 --platform manylinux_2_34_aarch64 --platform manylinux_2_28_aarch64
  --platform manylinux_2_17_aarch64 --platform manylinux2014_aarch64 --python-version 3.13 --implementation cp)
mkdir -p "$system/root/wheels"
# Downloading needs no emulation.
"$python" "$root/.ci/locked.py" linux 3.13 app >"$folder/requirements.txt"
"$python" -m pip download "${pip[@]}" "${tags[@]}" --no-deps --require-hashes \
  --dest "$system/root/wheels" -r "$folder/requirements.txt"
cp "$wheel" "$system/root/wheels/"
inside python3 -m venv /root/env
inside sh -c '/root/env/bin/pip install --quiet --no-index --no-deps /root/wheels/*.whl'

step "self-test"
mount -t proc proc "$system/proc"
trap 'umount --lazy "$system/proc"' EXIT
inside PYTHON_KEYRING_BACKEND=keyring.backends.fail.Keyring /root/env/bin/playground --self-test --slow
