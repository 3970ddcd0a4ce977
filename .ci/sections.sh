# Headings with times, checks that are counted, and the summary line of pytest. Sourced by .ci/setup.sh and .ci/tests.sh.

section="the start"
section_start=""
failures=()

open_section() {
  close_section
  section=$1
  section_start=$SECONDS
  printf '\n=== %s\n' "$section"
}

close_section() {
  if [ -n "$section_start" ]; then printf -- '--- %s: %d s\n' "$section" $((SECONDS - section_start)); fi
  section_start=""
}

# check NAME COMMAND... runs the command, remembers a failure and goes on
check() {
  open_section "$1"
  shift
  if ! "$@"; then
    failures+=("$section")
    echo "*** FAILED: $section"
  fi
}

# begin NAME COMMAND... starts the command beside the checks that follow, in a process group of its own, so that its
# children can be ended with it; `await` reports the result, like `check`
begin() {
  begun=$1
  begun_start=$SECONDS
  shift
  setsid "$@" >"$scratch/begun.log" 2>&1 &
  begun_process=$!
  processes+=("$begun_process")
}

await() {
  open_section "$begun"
  local status=0
  wait "$begun_process" || status=$?
  cat "$scratch/begun.log"
  echo "$begun took $((SECONDS - begun_start)) s beside the others."
  if ((status != 0)); then
    failures+=("$section")
    echo "*** FAILED: $section"
  fi
}

# find_summary LOG prints the last summary line of pytest in a log; fails when there is none
find_summary() {
  grep -E '^=+ .*(passed|failed|error|no tests ran).* =+$' "$1" | tail -1 | grep . || {
    echo "pytest gave no summary."
    return 1
  }
}
