#!/usr/bin/env bash
# Renews the locks in packaging/locks: the exact versions, and the hashes of all their files, that the packages are built
# from and CI tests with. For CPython 3.11 to 3.13 on Linux, Windows and macOS, in one file each.
# Usage: lock.sh [--upgrade]; without it, versions that still fit stay. Afterwards: .ci/run and .ci/release.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly UV='uv>=0.9,<1'
locks=packaging/locks
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"${PYTHON:-python3}" -m venv "$scratch/env"
"$scratch/env/bin/python" -m pip install --quiet "$UV"
export UV_NO_CONFIG=1

# lock NAME FOR SOURCES... writes one file, in the versions of those before it
lock() {
  local name=$1 words=$2
  shift 2
  "$scratch/env/bin/uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
    --no-emit-find-links --no-header --no-annotate --output-file "$locks/$name.txt" "${upgrade[@]}" "$@" >/dev/null
  {
    echo "# $words"
    echo "# For CPython 3.11 to 3.13 on Linux, Windows and macOS. Renewed by packaging/lock.sh; install it with"
    echo "# pip install --require-hashes -r FILE, which takes these files and no others, wherever they come from."
    cat "$locks/$name.txt"
  } >"$scratch/$name"
  mv "$scratch/$name" "$locks/$name.txt"
}

upgrade=("$@")
mkdir -p "$locks"
lock app "What the application runs on." pyproject.toml
upgrade=("$@" --constraint "$locks/app.txt")
lock build "What builds the wheel and the frozen application." packaging/build.in
upgrade+=(--constraint "$locks/build.txt")
lock dev "What the application runs on, and all that tests and checks it." --extra dev pyproject.toml packaging/wheel.in
