#!/usr/bin/env bash
# All tests, shared out as tests/workers.py says: processes each with a screen of its own. Generated cases are the same
# ones every time: luck is for other days.
# Usage: tests.sh PYTEST FOLDER SECONDS [pytest arguments]
set -uo pipefail
pytest=$1
folder=$2
seconds=$3
shift 3
mkdir -p "$folder"
# Many tests start programs: those need not compile what others have, and the checkout stays as it is.
export PYTHONPYCACHEPREFIX="${PYTHONPYCACHEPREFIX:-$folder/bytecode}"

timeout --kill-after=10 "$seconds" \
  "$pytest" --everything --hypothesis-profile=ci -p no:cacheprovider "$@" 2>&1 | tee "$folder/log"
status=$?
if ((status == 124 || status == 137)); then echo "Stopped: all of CI may take so long and no longer."; fi
summary=$(grep -E '^=+ .*(passed|failed|error|no tests ran).* =+$' "$folder/log" | tail -1)
echo "${summary:-pytest gave no summary.}" >"$folder/summary"
[ -n "$summary" ] || status=1
exit "$status"
