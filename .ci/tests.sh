#!/usr/bin/env bash
# Runs the tests with no skip allowed, in as many processes as tests/workers.py says. Hypothesis generates equal cases in
# each run.
# Usage: tests.sh PYTEST FOLDER SECONDS [pytest arguments]
set -uo pipefail
. "$(dirname "$0")/sections.sh"
pytest=$1
folder=$2
seconds=$3
shift 3
mkdir -p "$folder"
# Processes that tests start share the bytecode cache, and the checkout stays clean.
export PYTHONPYCACHEPREFIX="${PYTHONPYCACHEPREFIX:-$folder/bytecode}"

command=("$pytest" --everything --hypothesis-profile=ci -o "cache_dir=$folder/cache" "$@")
timeout --kill-after=10 "$seconds" "${command[@]}" 2>&1 | tee "$folder/log"
status=$?
if ((status == 124 || status == 137)); then echo "Stopped: the time for all of CI is over."; fi
if ((status == 1)); then
  repeat_failed "$folder/log" timeout --kill-after=10 300 "${command[@]}" --last-failed -n 0 && status=0
fi
find_summary "$folder/log" >"$folder/summary" || status=1
exit "$status"
