#!/usr/bin/env bash
# All tests in two processes at once, each with a screen of its own: what works with windows, and everything else.
# Generated cases are the same ones every time: luck is for other days. With arguments for pytest: one process with
# those. Usage: tests.sh PYTEST FOLDER SECONDS [pytest arguments]
set -uo pipefail
pytest=$1
folder=$2
seconds=$3
shift 3
mkdir -p "$folder"

# part NAME ARGUMENTS... runs pytest on a screen of its own; its output goes to a file
part() {
  local name=$1 status=0
  shift
  timeout --kill-after=10 "$seconds" xvfb-run -a -s "-screen 0 1440x900x24 -nolisten tcp -noreset" \
    "$pytest" --everything --hypothesis-profile=ci -p no:cacheprovider "$@" >"$folder/$name.log" 2>&1 || status=$?
  if ((status == 124 || status == 137)); then echo "Stopped: all of CI may take so long and no longer." >>"$folder/$name.log"; fi
  return "$status"
}

if (($# > 0)); then
  names=(chosen)
  part chosen "$@"
  status=$?
else
  names=(windows rest)
  part windows tests/ui tests/flows &
  windows=$!
  part rest tests --ignore=tests/ui --ignore=tests/flows
  status=$?
  wait "$windows" || status=$?
fi
for name in "${names[@]}"; do
  echo "--- $name"
  cat "$folder/$name.log"
done
for name in "${names[@]}"; do
  summary=$(grep -E '^=+ .*(passed|failed|error|no tests ran).* =+$' "$folder/$name.log" | tail -1)
  echo "$name: ${summary:-pytest gave no summary.}" | tee -a "$folder/summary"
  [ -n "$summary" ] || status=1
done
exit "$status"
