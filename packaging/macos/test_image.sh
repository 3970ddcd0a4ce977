#!/usr/bin/env bash
# Opens a disk image, copies the application out as a person would, tries it out. Usage: test_image.sh IMAGE
set -euo pipefail
place=$(mktemp -d)
volume=$place/volume
finish() {
  hdiutil detach -quiet "$volume" || true
  rm -rf "$place"
}
trap finish EXIT
hdiutil attach -quiet -nobrowse -readonly -mountpoint "$volume" "$1"
cp -R "$volume/Gateway Playground.app" "$place/"
program="$place/Gateway Playground.app/Contents/MacOS/playground"
"$program" --version
"$program" --self-test
"$program" --self-test --window
