#!/bin/sh
# Installs Gateway Playground for one user, without root: the application below ~/.local/lib, a command in ~/.local/bin,
# an entry in the menu and the file type. Usage: ./install.sh --user. To remove it: the uninstall.sh that it installs.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
[ "$#" -eq 1 ] && [ "$1" = --user ] || {
  echo "Usage: $0 --user" >&2
  echo "Installs Gateway Playground into ~/.local, for this user. The folder can also be used where it is:" >&2
  echo "  $here/app/playground" >&2
  exit 2
}
data=${XDG_DATA_HOME:-$HOME/.local/share}
target=$HOME/.local/lib/gateway-playground # not below $data: experiments are kept there
command=$HOME/.local/bin/playground

if [ -e "$command" ] || [ -L "$command" ]; then
  case $(readlink "$command" || true) in
    "$target"/*) ;;
    *) echo "$command is there already and belongs to something else; nothing was changed." >&2; exit 1 ;;
  esac
fi
[ ! -x "$target/uninstall.sh" ] || "$target/uninstall.sh" --quiet

mkdir -p "$target" "$HOME/.local/bin"
cp -R "$here/app" "$here/uninstall.sh" "$here/LICENSE" "$target/"
ln -s "$target/app/playground" "$command"
(cd "$here/share" && find . -type f) | sed 's|^\./||' >"$target/installed"
while read -r file; do
  mkdir -p "$data/$(dirname "$file")"
  cp "$here/share/$file" "$data/$file"
done <"$target/installed"

# The entry names the program by its whole path, since ~/.local/bin is not everywhere among the places looked through.
quoted=$(printf '%s' "$target/app/playground" | sed 's/[\\"`$]/\\\\&/g; s/%/%%/g')
plain=$(printf '%s' "$target/app/playground" | sed 's/\\/\\\\/g')
entry=$data/applications/gateway-playground.desktop
EXEC="Exec=\"$quoted\" %f" TRY="TryExec=$plain" awk '
  /^Exec=/ { print ENVIRON["EXEC"]; next }
  /^TryExec=/ { print ENVIRON["TRY"]; next }
  { print }' "$here/share/applications/gateway-playground.desktop" >"$entry"

"$target/uninstall.sh" --refresh
echo "Installed. Start it from the menu, or with $command"
case ":$PATH:" in
  *":$HOME/.local/bin:"*) ;;
  *) echo "~/.local/bin is not in your PATH; log in again or name the command in full." ;;
esac
