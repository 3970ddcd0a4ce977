#!/usr/bin/env bash
# Draws the window in its named states, light and large, dark and small, and looks whether there is something in every
# picture. All schemes in all sizes are for eyes, and take twice as long.
# Usage: scenes.sh PYTHON FOLDER
set -euo pipefail
mkdir -p "$2"
"$1" -m tests.scenes "$2" --scheme light --size 1440x900 &
light=$!
dark=0
"$1" -m tests.scenes "$2" --scheme dark --size 1024x700 || dark=1
wait "$light"
[ "$dark" = 0 ]
count=0
for picture in "$2"/*.png; do
  [ "$(stat -c %s "$picture" 2>/dev/null || echo 0)" -gt 5000 ] || { echo "$picture is missing or empty"; exit 1; }
  count=$((count + 1))
done
echo "$count pictures"
