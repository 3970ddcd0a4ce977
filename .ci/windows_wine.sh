#!/usr/bin/env bash
# The application on Windows as far as Wine goes: Windows' CPython with the wheels that Windows gets, the self-test
# without and with a window, the frozen application with the same tests, and the installer, built and checked by its
# list of files. For finding regressions: Wine is not Windows, and nothing that is made here is shipped.
# Usage: windows_wine.sh PYTHON WHEEL FOLDER, on the display in DISPLAY; PYTHON is CPython 3.11 with `packaging`.
set -euo pipefail
python=$1
wheel=$(realpath "$2")
folder=$3
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$folder/home"
folder=$(cd "$folder" && pwd)
. "$root/.ci/system.sh"

step() { printf -- '-- %s (%d s)\n' "$1" "$SECONDS"; }

install_missing wine wine64 gcc-mingw-w64-x86-64 nsis fonts-dejavu-core
readonly WINE=/usr/lib/wine/wine64
for tool in "$WINE" x86_64-w64-mingw32-gcc x86_64-w64-mingw32-objdump makensis; do
  command -v "$tool" >/dev/null || { echo "$tool is not on this machine and could not be installed."; exit 1; }
done
: "${DISPLAY:?a screen is needed for the window}"

step "Windows' Python and wheels"
"$python" "$root/.ci/windows_layout.py" "$folder" "$wheel"

export WINEPREFIX=$folder/prefix WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=" HOME=$folder/home
unset "${!PYTHON@}" "${!QT_@}" WAYLAND_DISPLAY
finish() { "${WINE%wine64}wineserver" --kill 2>/dev/null || true; }
trap finish EXIT

# windows PROGRAM ARGUMENTS... Wine's programs cannot use a file as standard output, but a pipe.
windows() { timeout --kill-after=10 1800 "$WINE" "$@" </dev/null 2>&1 | cat; }

step "Wine"
windows wineboot --init
cp /usr/share/fonts/truetype/dejavu/DejaVuSans*.ttf "$WINEPREFIX/drive_c/windows/Fonts/"
# PyInstaller and Qt ask for Windows 10.
windows reg add 'HKCU\Software\Wine' /v Version /d win10 /f >/dev/null

# try_out PROGRAM ARGUMENTS... is the self-test of a program, without and with a window
try_out() {
  windows "$@" --self-test
  windows "$@" --self-test --window >"$folder/window.log" || { cat "$folder/window.log"; return 1; }
  tail -1 "$folder/window.log"
}

cd "$folder" # Python's -m would find the checkout
step "installed: self-test, then in a window"
try_out "$folder/python/python.exe" -m playground

step "frozen"
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(cd "$root/packaging" && "$python" -B -c 'import freeze; print(freeze.source_date())')
mkdir -p "$folder/work/playground"
"$python" "$root/packaging/icons.py" "$root/resources/icons/app.svg" "$folder/work/playground/icons"
windows "$folder/python/python.exe" -m PyInstaller --noconfirm --log-level WARN --distpath "$folder/dist" \
  --workpath "$folder/work" "$root/packaging/playground.spec" | grep -v 'WARNING: Library not found' || true
frozen=$folder/dist/gateway-playground
for program in playground "Gateway Playground"; do
  [ -x "$frozen/$program.exe" ] || { echo "$program.exe was not made."; exit 1; }
done
# Libraries of the layout that PyInstaller takes for parts of Windows.
for library in icuuc bcryptprimitives gateway-playground-complex; do cp "$folder/python/$library.dll" "$frozen/_internal/"; done
echo "$(find "$frozen" -type f | wc -l) files, $(du -sm "$frozen" | cut -f1) MB"
step "frozen: self-test, then in a window"
try_out "$frozen/playground.exe"

step "installer"
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$root/playground/__init__.py")
setup=$folder/gateway-playground-$version-windows-x86_64-setup.exe
makensis -V2 -WX "-DVERSION=$version" "-DFILES=$frozen/*" "-DICON=$folder/work/playground/icons/app.ico" \
  "-DOUTPUT=$setup" "$root/packaging/windows/installer.nsi"
echo "$(basename "$setup"): $(du -m "$setup" | cut -f1) MB"
