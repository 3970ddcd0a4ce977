#!/usr/bin/env bash
# The installed application, started as a person starts it, on the display in DISPLAY: a window appears, and the
# process ends when it is told to. Usage: window.sh PLAYGROUND FOLDER
set -euo pipefail
playground=$1
folder=$2
mkdir -p "$folder/home"
export HOME="$folder/home" XDG_CONFIG_HOME="$folder/home/config" XDG_DATA_HOME="$folder/home/data"
export XDG_STATE_HOME="$folder/home/state" XDG_CACHE_HOME="$folder/home/cache"
export PYTHON_KEYRING_BACKEND=keyring.backends.fail.Keyring
cd "$folder"

"$playground" >"$folder/out" 2>"$folder/err" &
process=$!
trap 'kill -9 "$process" 2>/dev/null || true' EXIT

fail() {
  echo "FAILED: $1"
  cat "$folder/out" "$folder/err"
  exit 1
}

window=""
for _ in $(seq 150); do
  kill -0 "$process" 2>/dev/null || fail "the application ended before its window opened"
  window=$(xdotool search --onlyvisible --name 'Playground' 2>/dev/null | head -1 || true)
  [ -z "$window" ] || break
  sleep 0.2
done
[ -n "$window" ] || fail "no window after 30 seconds"
sleep 2 # until what comes behind the first paint is there
xdotool mousemove --window "$window" 400 400 click 5 # with a first key, click or turn of the wheel the demo gateway starts
sleep 2
kill -0 "$process" 2>/dev/null || fail "the application ended soon after its window opened"
echo "window \"$(xdotool getwindowname "$window")\", $(xdotool getwindowgeometry "$window" | awk '/Geometry/ { print $2 }')"

kill -TERM "$process"
for _ in $(seq 150); do
  kill -0 "$process" 2>/dev/null || break
  sleep 0.2
done
if kill -0 "$process" 2>/dev/null; then fail "it did not end within 30 seconds of SIGTERM"; fi
! grep -q 'Traceback' "$folder/err" || fail "a traceback was printed"
echo "ended when told to"
