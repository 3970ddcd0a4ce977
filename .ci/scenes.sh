#!/usr/bin/env bash
# Draws the window in its named states, every other one light and large, the rest dark and small, and looks whether there
# is something in every picture. All schemes in all sizes are for eyes, and take four times as long.
# Usage: scenes.sh PYTHON FOLDER
set -euo pipefail
mkdir -p "$2"
mapfile -t names < <("$1" -c 'from tests.scenes.registry import all_scenes; print(*all_scenes(), sep="\n")')
light=() dark=()
for at in "${!names[@]}"; do
  if ((at % 2)); then dark+=("${names[at]}"); else light+=("${names[at]}"); fi
done
"$1" -m tests.scenes "$2" "${light[@]}" --scheme light --size 1440x900 &
lights=$!
darks=0
"$1" -m tests.scenes "$2" "${dark[@]}" --scheme dark --size 1024x700 || darks=1
wait "$lights"
[ "$darks" = 0 ]
count=0
for picture in "$2"/*.png; do
  [ "$(stat -c %s "$picture" 2>/dev/null || echo 0)" -gt 5000 ] || { echo "$picture is missing or empty"; exit 1; }
  count=$((count + 1))
done
((count >= ${#names[@]})) || { echo "$count pictures of ${#names[@]} states"; exit 1; }
echo "$count pictures of ${#names[@]} states"
