#!/usr/bin/env bash
# Runs the README's second command, word for word, in a copy of the checkout and in the environment of a bare Debian
# machine: the programs of its base system, git and Python; DejaVu fonts; no display, session bus, keyring, Node or curl.
# Shared libraries are those of this machine. Run again with the same folder, it keeps the virtual environment.
# Usage: bare.sh PYTHON FOLDER [pytest arguments]
set -euo pipefail
. "$(dirname "$0")/sections.sh"
python=$(command -v "$1")
folder=$(mkdir -p "$2" && cd "$2" && pwd)
shift 2
cd "$(dirname "$0")/.."

readonly FONTS=(DejaVuSans DejaVuSans-Bold DejaVuSansMono DejaVuSansMono-Bold DejaVuSerif DejaVuSerif-Bold)
readonly HIDDEN=(Xvfb sway xdotool dbus-daemon gnome-keyring-daemon curl node npm wl-copy desktop-file-validate)
readonly KEPT='^(PIP_[A-Z_]+|https?_proxy|HTTPS?_PROXY|no_proxy|NO_PROXY|TMPDIR)=' # how this machine gets packages

command=$(grep -F "pip install -e '.[dev]'" README.md)
[ "$(wc -l <<<"$command")" -eq 1 ] || { echo "README.md names the command for developers more than once."; exit 1; }

rm -rf "$folder/bin" "$folder/fonts" "$folder/home" "$folder/fonts.conf"
mkdir -p "$folder/bin" "$folder/fonts" "$folder/home" "$folder/checkout"

mapfile -t packages < <(dpkg-query --show --showformat='${Package} ${Essential} ${Priority}\n' |
  awk '$2 == "yes" || $3 == "required" { print $1 }')
dpkg-query --listfiles "${packages[@]}" | grep -E '^(/usr)?/s?bin/' | while read -r program; do
  [ ! -x "$program" ] || ln -sf "$program" "$folder/bin/"
done
ln -sf "$(command -v git)" "$folder/bin/git"
# No link: Python looks for its own folder beside the name it was started by.
printf '#!/bin/sh\nexec "%s" "$@"\n' "$("$python" -c 'import sys; print(sys.executable)')" >"$folder/bin/python3"
chmod +x "$folder/bin/python3"
for program in "${HIDDEN[@]}"; do
  [ ! -e "$folder/bin/$program" ] || { echo "$program is part of this machine's base system; it cannot be hidden."; exit 1; }
done

for font in "${FONTS[@]}"; do
  file=$(find /usr/share/fonts -name "$font.ttf" -print -quit)
  [ -n "$file" ] || { echo "$font.ttf is not on this machine (Debian: fonts-dejavu-core)."; exit 1; }
  ln -sf "$file" "$folder/fonts/"
done
cat >"$folder/fonts.conf" <<END
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>$folder/fonts</dir>
  <cachedir>$folder/home/fontconfig</cachedir>
  <include ignore_missing="yes">/etc/fonts/conf.d</include>
</fontconfig>
END

# The files of the checkout as they are now, committed or not, without those that an earlier run copied.
find "$folder/checkout" -mindepth 1 -maxdepth 1 ! -name .venv -exec rm -rf {} +
git ls-files -z --cached --others --exclude-standard |
  while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
  tar --create --null --files-from=- | tar --extract --directory="$folder/checkout"

mapfile -t kept < <(env | grep -E "$KEPT" || true)
cd "$folder/checkout"
echo "$command"
bare=(env -i "${kept[@]}" "PATH=$folder/bin" "HOME=$folder/home" "FONTCONFIG_FILE=$folder/fonts.conf")
status=0
"${bare[@]}" sh -c "$command \"\$@\"" sh "$@" 2>&1 | tee "$folder/log" || status=$?
if ((status == 1)); then
  repeat_failed "$folder/log" timeout --kill-after=10 300 "${bare[@]}" .venv/bin/pytest "$@" --last-failed -n 0 && status=0
fi
exit "$status"
