#!/usr/bin/env bash
# The main job without a window: start the demo gateway, run a file against it, see the answer stream to standard
# output; decode a recorded stream; and what the application says when there is no display.
# Usage: headless.sh PLAYGROUND FOLDER
set -euo pipefail
playground=$1
folder=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder/home"
export HOME="$folder/home" XDG_CONFIG_HOME="$folder/home/config" XDG_DATA_HOME="$folder/home/data"
export XDG_STATE_HOME="$folder/home/state" XDG_CACHE_HOME="$folder/home/cache"
export PYTHON_KEYRING_BACKEND=keyring.backends.fail.Keyring
unset DISPLAY WAYLAND_DISPLAY QT_QPA_PLATFORM

fail() {
  echo "FAILED: $1"
  [ ! -s "$folder/out" ] || sed 's/^/  out: /' "$folder/out"
  [ ! -s "$folder/err" ] || sed 's/^/  err: /' "$folder/err"
  exit 1
}
# expect CODE WORDS... runs the words, keeps both outputs, and fails on another exit code
expect() {
  local wanted=$1 code=0
  shift
  timeout 60 "$@" >"$folder/out" 2>"$folder/err" </dev/null || code=$?
  [ "$code" -eq "$wanted" ] || fail "$* ended with $code, not $wanted"
  ! grep -q Traceback "$folder/err" || fail "$* printed a traceback"
}

cd "$folder" # nothing may depend on the checkout

expect 0 "$playground" --version
grep -Eq '^[^ ]+.*[0-9]+\.[0-9]+\.[0-9]+' "$folder/out" || fail "--version printed no version"
expect 0 "$playground" --help
grep -q 'run' "$folder/out" || fail "--help does not name its commands"
echo "--version, --help"

expect 2 "$playground"
[ "$(grep -c . "$folder/err")" -eq 1 ] || fail "without a display it should say one line on standard error"
[ ! -s "$folder/out" ] || fail "without a display it should print nothing on standard output"
echo "no display: exit code 2, \"$(cat "$folder/err")\""
expect 2 env DISPLAY=:4242 "$playground"
[ "$(grep -c . "$folder/err")" -eq 1 ] || fail "with a dead display it should say one line on standard error"
echo "a display that does not answer: exit code 2"

for protocol in chat messages; do
  expect 0 "$playground" run "$here/samples/$protocol.json"
  [ "$(wc -c <"$folder/out")" -gt 40 ] || fail "the answer is missing"
  echo "run $protocol: $(wc -c <"$folder/out") bytes streamed to standard output"
  expect 0 "$playground" run --json --record "$folder/$protocol.cassette.json" "$here/samples/$protocol.json"
  [ -s "$folder/$protocol.cassette.json" ] || fail "no cassette was recorded"

  expect 0 "$playground" decode --protocol "$protocol" "$here/samples/$protocol.sse"
  grep -q 'Hello there\.' "$folder/out" || fail "decode did not print the recorded text"
  echo "decode $protocol"
done

printf '{"mcpServers": {"demo": {"command": "%s", "args": ["demo-tools"]}}}' "$playground" >"$folder/mcp.json"
expect 0 "$playground" run --mcp "$folder/mcp.json" --allow roll_dice "$here/samples/dice.json"
grep -q '"sum":' "$folder/out" || fail "the answer of the tool server is missing"
expect 6 "$playground" run --mcp "$folder/mcp.json" "$here/samples/dice.json"
grep -q -e --allow "$folder/err" || fail "it does not say how a tool is allowed"
echo "a tool server answers a call, and only one that is allowed"

echo '{"playground": 1' >"$folder/broken.json"
expect 2 "$playground" run "$folder/broken.json"
[ -s "$folder/err" ] || fail "a broken file should be explained"
expect 2 "$playground" run "$folder/absent.json"
echo "a broken and a missing file: exit code 2"

# say WORDS writes an experiment file that asks the demo gateway to misbehave
say() { sed "s/What is a server-sent event?/Tell me more. $1/" "$here/samples/chat.json" >"$folder/asked.json"; }

expect 3 "$playground" run --base-url http://127.0.0.1:9/v1 --retries 0 "$here/samples/chat.json"
echo "nobody listens: exit code 3"
expect 3 "$playground" run --base-url http://127.0.0.1:9/v1 --retries 1 "$here/samples/chat.json"
grep -q 'Trying again in .* (try 2 of 2)' "$folder/err" || fail "the wait before the next try is not said"
echo "it is tried again, and said"
PLAYGROUND_API_KEY=sk-ci-93ac55d1 expect 2 "$playground" run --base-url http://gateway.invalid/v1 "$here/samples/chat.json"
grep -q -e --allow-http "$folder/err" || fail "it does not say how to send a key unencrypted"
echo "no key goes out unencrypted without consent: exit code 2"
say '!404'
expect 4 "$playground" run "$folder/asked.json"
echo "an HTTP error: exit code 4"
say '!cut'
expect 5 "$playground" run "$folder/asked.json"
[ -s "$folder/out" ] || fail "the text that came before the cut is missing"
echo "a connection cut in mid-stream: exit code 5, the text before it kept"
