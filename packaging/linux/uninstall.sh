#!/bin/sh
# Removes what install.sh --user put there, and nothing else: gateways, settings and experiments stay.
# Usage: uninstall.sh [--quiet | --refresh]; the last only tells the desktop that something changed.
set -eu
data=${XDG_DATA_HOME:-$HOME/.local/share}
target=$HOME/.local/lib/gateway-playground
command=$HOME/.local/bin/playground

refresh() {
  tell "$data/applications" update-desktop-database
  tell "$data/mime" update-mime-database
  tell "$data/icons/hicolor" gtk-update-icon-cache -q -t -f
}

# tell FOLDER TOOL OPTIONS... runs the tool on the folder where there are both; without it the desktop finds out later
tell() {
  folder=$1
  shift
  if [ -d "$folder" ] && command -v "$1" >/dev/null 2>&1; then "$@" "$folder" >/dev/null 2>&1 || true; fi
}

if [ "${1:-}" = --refresh ]; then
  refresh
  exit 0
fi
if [ ! -f "$target/installed" ]; then
  echo "Gateway Playground is not installed in $target." >&2
  exit 1
fi
while read -r file; do
  rm -f "$data/$file"
done <"$target/installed"
case $(readlink "$command" || true) in
  "$target"/*) rm -f "$command" ;;
esac
rm -rf "$target"
refresh
if [ "${1:-}" != --quiet ]; then
  echo "Removed. What you kept is still there: ${XDG_CONFIG_HOME:-$HOME/.config}/gateway-playground and $data/gateway-playground"
fi
