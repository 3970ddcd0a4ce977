# What the machine itself must have. Sourced by .ci/setup.sh; calls apt only when something is missing.

missing_packages() {
  local package
  for package in "$@"; do
    # A renamed package (libglib2.0-0 became libglib2.0-0t64) still provides its old name.
    if ! dpkg-query --show --showformat='${db:Status-Status} ${Package} ${Provides}\n' 2>/dev/null |
      awk -v want="$package" '$1 == "installed" { gsub(/,/, " "); for (i = 2; i <= NF; i++) if ($i == want) found = 1 }
                              END { exit !found }'; then
      echo "$package"
    fi
  done
}

install_missing() {
  if ! command -v dpkg-query >/dev/null; then
    echo "This is not a Debian or Ubuntu machine; its packages are taken as they are."
    return
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]} == 0)); then
    echo "All there: $*"
    return
  fi
  echo "Installing: ${missing[*]}"
  local as_root=()
  if (($(id -u) != 0)); then
    command -v sudo >/dev/null || { echo "Not root, and there is no sudo. Install these by hand: ${missing[*]}"; return 1; }
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# The first Python that is new enough and can really make a virtual environment; nothing when there is none.
find_python() {
  local name
  for name in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
    if "$name" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
      command -v "$name"
      return
    fi
  done
}
