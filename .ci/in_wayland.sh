#!/usr/bin/env bash
# Runs a command on a Wayland screen of its own, as xvfb-run does on one of X: sway, drawing into memory. There is no X
# beside it; the mouse and the keyboard are those of tests/support/wayland_hands.py. Windows float, as on most desktops,
# and have no frame. Usage: in_wayland.sh COMMAND [ARGUMENTS]; PYTHON is any Python 3.
set -euo pipefail

# sway refuses to run as root: then nobody runs it, who must be able to get to this folder.
runtime=$(mktemp -d /tmp/playground-wayland.XXXXXX)
as=()
if [ "$(id -u)" -eq 0 ]; then
  as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  chown 65534:65534 "$runtime"
fi
cat >"$runtime/config" <<'END'
xwayland disable
output HEADLESS-1 resolution 1440x900 position 0 0
default_border none
default_floating_border none
for_window [app_id="."] floating enable
focus_on_window_activation urgent
END
unset DISPLAY WAYLAND_DISPLAY QT_QPA_PLATFORM
export SWAYSOCK=$runtime/ipc
XDG_RUNTIME_DIR=$runtime WLR_BACKENDS=headless WLR_RENDERER=pixman WLR_LIBINPUT_NO_DEVICES=1 HOME=$runtime \
  "${as[@]}" sway --config "$runtime/config" >"$runtime/log" 2>&1 &
compositor=$!
hands=""
finish() {
  kill $hands "$compositor" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$runtime"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

socket=""
for _ in $(seq 100); do
  socket=$(find "$runtime" -name 'wayland-*' -type s)
  if [ -n "$socket" ] && swaymsg -q -t get_version >/dev/null 2>&1; then break; fi
  kill -0 "$compositor" 2>/dev/null || break
  sleep 0.1
done
[ -n "$socket" ] || { cat "$runtime/log"; echo "The Wayland compositor did not start."; exit 1; }
export WAYLAND_DISPLAY=$socket
"${PYTHON:-python3}" "$(dirname "$0")/../tests/support/wayland_hands.py" &
hands=$!
"$@"
