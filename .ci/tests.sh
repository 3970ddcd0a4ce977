#!/usr/bin/env bash
# All tests, two processes at once, each with a screen of its own: a person's ways through the window beside everything
# else, and behind that the window's parts, so that both take about as long. Generated cases are the same ones every
# time: luck is for other days. With arguments for pytest: one process with those.
# Usage: tests.sh PYTEST FOLDER SECONDS [pytest arguments]
set -uo pipefail
pytest=$1
folder=$2
seconds=$3
shift 3
mkdir -p "$folder"
# Many tests start programs: those need not compile what others have, and the checkout stays as it is.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX="$folder/bytecode"

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
  names=(flows rest ui)
  part flows tests/flows &
  flows=$!
  part rest tests --ignore=tests/ui --ignore=tests/flows
  status=$?
  part ui tests/ui || status=$?
  wait "$flows" || status=$?
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
