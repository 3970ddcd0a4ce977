# Headings with times, and checks that are counted. Sourced by .ci/run.

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
