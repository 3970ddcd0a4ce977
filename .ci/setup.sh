# Prepares the machine, the installations and the screen, and prints the final summary. Sourced by .ci/run and
# .ci/release, which may add to SYSTEM_PACKAGES and TOOLS before they call `prepare`.

. .ci/sections.sh
. .ci/system.sh

SYSTEM_PACKAGES=(
  # what the window needs (README, "System libraries")
  libegl1 libgl1 libglib2.0-0 libxkbcommon-x11-0 libdbus-1-3 libfontconfig1
  libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-render-util0 libxcb-shape0 libxcb-xinerama0
  # an X screen, synthetic input, fonts
  xvfb xauth xdotool fonts-dejavu fonts-noto-core fonts-noto-color-emoji
  # a Wayland screen
  sway wl-clipboard
  # a keyring
  dbus gnome-keyring
  # what runs generated code, besides Node
  curl
)
readonly NODE_PACKAGES=(nodejs npm) # only where the commands are missing: other sources of Node bring npm in one package
TOOLS=(Xvfb xvfb-run xauth xdotool sway swaymsg wl-copy wl-paste dbus-run-session gnome-keyring-daemon curl node npm)

scratch=$(mktemp -d "${TMPDIR:-/tmp}/playground-ci.XXXXXX")
processes=()
summaries=()

finish() {
  local code=$?
  trap - EXIT
  for process in "${processes[@]}"; do kill -- "-$process" 2>/dev/null || kill "$process" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$scratch"
  if ((code != 0)) && ((${#failures[@]} == 0)); then failures=("$section"); fi
  close_section
  echo
  if ((code == 0)); then
    echo "CI passed in $SECONDS s."
  else
    printf 'CI FAILED in %d s, exit code %d, at:\n' "$SECONDS" "$code"
    printf '  %s\n' "${failures[@]}"
  fi
  printf '%s\n' "${summaries[@]:-pytest did not run.}"
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Each later check needs these: a failure ends the run.
prepare() {
  prepare_system
  install_all
  start_screen
}

prepare_system() {
  open_section "System packages"
  install_missing "${SYSTEM_PACKAGES[@]}"
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then install_missing "${NODE_PACKAGES[@]}"; fi
  local tool
  for tool in "${TOOLS[@]}"; do
    command -v "$tool" >/dev/null || { echo "$tool is not on this machine and could not be installed."; exit 1; }
  done
  python=$(find_python)
  if [ -z "$python" ]; then
    install_missing python3 python3-venv
    python=$(find_python)
  fi
  [ -n "$python" ] || { echo "No CPython 3.11, 3.12 or 3.13 with venv was found."; exit 1; }
  echo "Python: $("$python" --version) on $("$python" -c 'import platform; print(platform.platform())')"
}

# Two environments: $bin has the checkout and its tools, $playground is the command of the installed wheel.
install_all() {
  # All processes share one bytecode cache, and the checkout stays clean.
  export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONPYCACHEPREFIX="$scratch/bytecode"
  unset PYTHONDONTWRITEBYTECODE
  bin="$scratch/dev/bin"
  playground="$scratch/use/bin/playground"
  "$python" -m venv "$scratch/dev"
  "$python" -m venv "$scratch/use"
  if [ "${newest:-no}" = yes ]; then install_newest; else install_locked; fi
  "$bin/pip" check
  "$scratch/use/bin/pip" check
  open_section "Tool servers of others, for the tests"
  "$bin/python" -m tests.support.tool_servers
}

install_newest() {
  open_section "Install: the README's second command, the newest of everything"
  "$bin/pip" install --quiet -e '.[dev]'
  "$bin/pip" freeze --exclude-editable
  open_section "Install: the README's first command, from the wheel"
  "$scratch/use/bin/pip" wheel --quiet --no-deps --wheel-dir "$scratch/wheel" .
  "$scratch/use/bin/pip" install --quiet "$scratch"/wheel/*.whl
}

install_locked() {
  open_section "Install: the checkout, with the versions of packaging/locks/dev.txt"
  "$scratch/use/bin/pip" install --quiet --require-hashes -r packaging/locks/app.txt &
  local beside=$!
  processes+=("$beside")
  "$bin/pip" install --quiet --require-hashes -r packaging/locks/dev.txt
  "$bin/pip" install --quiet --no-deps --no-build-isolation -e .
  open_section "Install: the wheel, with the versions of packaging/locks/app.txt"
  "$bin/pip" wheel --quiet --no-deps --no-build-isolation --wheel-dir "$scratch/wheel" .
  wait "$beside"
  "$scratch/use/bin/pip" install --quiet --no-deps "$scratch"/wheel/*.whl
}

start_screen() {
  open_section "Screen"
  mkfifo "$scratch/display"
  # Without -noreset the server resets when its last client leaves, and refuses a client that connects at that moment.
  Xvfb -displayfd 3 -screen 0 1440x900x24 -nolisten tcp -noreset 3<>"$scratch/display" 2>"$scratch/xvfb.log" &
  processes+=($!)
  local number
  read -r -t 30 number <>"$scratch/display" || { cat "$scratch/xvfb.log"; echo "Xvfb did not start."; exit 1; }
  export DISPLAY=":$number"
  unset WAYLAND_DISPLAY QT_QPA_PLATFORM
  echo "Xvfb runs on display $DISPLAY"
}

# run_tests MINUTES [pytest arguments]: all tests with all tools there, until so many minutes after the start
run_tests() {
  local minutes=$1
  shift
  check "pytest" bash .ci/tests.sh "$bin/pytest" "$scratch/tests" $((minutes * 60 - SECONDS)) "$@"
  summaries+=("$(cat "$scratch/tests/summary" 2>/dev/null || echo "pytest gave no summary.")")
}
