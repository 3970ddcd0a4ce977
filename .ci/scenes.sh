#!/usr/bin/env bash
# Draws the window in its named states, every other one light and large, the rest dark and small, and looks whether there
# is something in every picture. All schemes in all sizes are for eyes, and take four times as long.
# Four processes at once: each waits for its window most of the time.
# Usage: scenes.sh PYTHON FOLDER
set -euo pipefail
mkdir -p "$2"
mapfile -t names < <("$1" -c 'from tests.scenes.registry import all_scenes; print(*all_scenes(), sep="\n")')
drawing=() failed=0
for part in 0 1 2 3; do
  these=()
  for ((at = part; at < ${#names[@]}; at += 4)); do these+=("${names[at]}"); done
  if ((part % 2)); then look=(--scheme dark --size 1024x700); else look=(--scheme light --size 1440x900); fi
  "$1" -m tests.scenes "$2" "${these[@]}" "${look[@]}" &
  drawing+=($!)
done
for one in "${drawing[@]}"; do wait "$one" || failed=1; done
[ "$failed" = 0 ]
count=0
for picture in "$2"/*.png; do
  [ "$(stat -c %s "$picture" 2>/dev/null || echo 0)" -gt 5000 ] || { echo "$picture is missing or empty"; exit 1; }
  count=$((count + 1))
done
((count >= ${#names[@]})) || { echo "$count pictures of ${#names[@]} states"; exit 1; }
echo "$count pictures of ${#names[@]} states"
