#!/usr/bin/env bash
# Renews the locks of the tool servers that tests speak with: package-lock.json of package.json, python.txt of python.in.
set -euo pipefail
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
npm install --package-lock-only --omit-lockfile-registry-resolved --ignore-scripts --no-audit --no-fund
"${PYTHON:-python3}" -m venv "$scratch/env"
"$scratch/env/bin/python" -m pip install --quiet 'uv>=0.9,<1'
"$scratch/env/bin/uv" pip compile --no-config --quiet --universal --python-version 3.11 --generate-hashes \
  --no-emit-index-url --no-emit-find-links --no-header --no-annotate --output-file python.txt python.in >/dev/null
