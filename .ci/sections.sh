# Headings with times, checks that are counted, the summary line of pytest, and failed tests once more. Sourced by
# .ci/setup.sh, .ci/tests.sh and .ci/bare.sh.

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

# find_summary LOG prints the first summary line of pytest in a log, and the unsteady tests; fails when there is none
find_summary() {
  grep -m 1 -E '^=+ .*(passed|failed|error|no tests ran).* =+$' "$1" || {
    echo "pytest gave no summary."
    return 1
  }
  grep '^UNSTEADY' "$1" || true
}

# repeat_failed LOG COMMAND... runs COMMAND, which repeats the tests that failed in the log, if they are no more than
# MOST_REPEATED: on a busy machine, a test may fail that passes by itself. Such tests are named as unsteady in the
# summary. Fails when one fails again.
readonly MOST_REPEATED=3
repeat_failed() {
  local log=$1 failed
  shift
  mapfile -t failed < <(grep -E '^(FAILED|ERROR) ' "$log" | awk '{ print $2 }' | sort -u)
  if ((${#failed[@]} == 0 || ${#failed[@]} > MOST_REPEATED)); then return 1; fi
  echo "Once more, by themselves: ${failed[*]}"
  "$@" || return 1
  printf 'UNSTEADY, passed only when repeated: %s\n' "${failed[@]}" | tee -a "$log"
}
