#!/usr/bin/env bash
# Builds the application bundle and the disk image, on macOS. Usage: build.sh OUT. Needs Python 3.11 to 3.13 and Xcode's
# command line tools. With MACOS_IDENTITY ("Developer ID Application: …") they are signed by it, else only ad hoc, which
# other Macs refuse. packaging/macos/notarise.sh does the rest.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
readonly NAME="Gateway Playground"
identity=${MACOS_IDENTITY:--}
stamp=()
if [ "$identity" != - ]; then stamp=(--timestamp); fi

"${PYTHON:-python3}" "$root/packaging/freeze.py" "$out"
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$root/playground/__init__.py")
app="$out/$NAME.app"

# From the inside out: a seal holds what it encloses.
sign() { codesign --force --sign "$identity" --options runtime ${stamp[@]+"${stamp[@]}"} "$@"; }
find "$app/Contents" -type f \( -name '*.so' -o -name '*.dylib' \) -print0 |
  while IFS= read -r -d '' library; do sign "$library"; done
find "$app/Contents/Frameworks" -type d -name '*.framework' -print0 |
  while IFS= read -r -d '' framework; do sign "$framework"; done
sign --entitlements "$here/entitlements.plist" "$app"
codesign --verify --deep --strict "$app"

image="$out/gateway-playground-$version-macos-$(uname -m).dmg"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -R "$app" "$folder/"
ln -s /Applications "$folder/Applications"
rm -f "$image"
hdiutil create -quiet -volname "$NAME" -srcfolder "$folder" -format UDZO -fs HFS+ "$image"
if [ "$identity" != - ]; then codesign --sign "$identity" --timestamp "$image"; fi
cp "$out/sbom.cdx.json" "${image%.dmg}.cdx.json"
echo "$(basename "$image"): $(du -m "$image" | cut -f1) MB"
