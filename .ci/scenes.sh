#!/usr/bin/env bash
# Draws the window in its named states and looks whether there is something in every picture.
# Usage: scenes.sh PYTHON FOLDER
set -euo pipefail
mkdir -p "$2"
"$1" -m tests.scenes "$2"
count=0
for picture in "$2"/*.png; do
  [ "$(stat -c %s "$picture" 2>/dev/null || echo 0)" -gt 5000 ] || { echo "$picture is missing or empty"; exit 1; }
  count=$((count + 1))
done
echo "$count pictures"
