#!/usr/bin/env bash
# Builds both Linux packages from one frozen application, the .deb and the portable .tar.gz, and beside them their bill
# of materials.
# Usage: build.sh OUT [--frozen FOLDER] [--quick]; FOLDER is what packaging/freeze.py wrote (default: it is run).
# --quick packs less tightly: for trying a package out, not for giving it away.
# The same input gives the same bytes; times are those of SOURCE_DATE_EPOCH, by default the last commit's.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
readonly LIMIT=75000000 # bytes of the .deb
readonly NAME=gateway-playground

usage() { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
[ $# -ge 1 ] || usage
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
frozen=$out
level=6
while (($# > 0)); do
  case $1 in
    --frozen) frozen=$(cd "$2" && pwd); shift 2 ;;
    --quick) level=2; shift ;;
    *) usage ;;
  esac
done
for tool in dpkg-deb dpkg-shlibdeps; do
  command -v "$tool" >/dev/null || { echo "$tool is missing; install dpkg-dev." >&2; exit 1; }
done

python=${PYTHON:-python3}
export LC_ALL=C.UTF-8 TZ=UTC
SOURCE_DATE_EPOCH=$(cd "$here/.." && "$python" -c 'import freeze; print(freeze.source_date())')
export SOURCE_DATE_EPOCH
umask 022
[ "$frozen" != "$out" ] || "$python" "$here/../freeze.py" "$out"

version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$root/playground/__init__.py")
package_version=$version-1 # the first package of that version
date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%F)
arch=$(dpkg --print-architecture)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# fill FILE: a template with its names filled in
fill() { sed "s/@VERSION@/$version/g; s/@DATE@/$date/g" "$1"; }

# share FOLDER: what desktops look for, below a folder like /usr/share
share() {
  install -D -m 644 "$here/$NAME.desktop" "$1/applications/$NAME.desktop"
  install -D -m 644 "$here/$NAME.xml" "$1/mime/packages/$NAME.xml"
  install -D -m 644 "$root/resources/icons/app.svg" "$1/icons/hicolor/scalable/apps/$NAME.svg"
  install -D -m 644 "$here/document.svg" \
    "$1/icons/hicolor/scalable/mimetypes/application-vnd.gateway-playground+json.svg"
  local picture
  for picture in "$frozen"/icons/*.png; do
    local size
    size=$(basename "$picture" .png)
    install -D -m 644 "$picture" "$1/icons/hicolor/${size}x$size/apps/$NAME.png"
  done
  local metainfo
  for metainfo in "$here"/*.metainfo.xml.in; do
    mkdir -p "$1/metainfo"
    fill "$metainfo" >"$1/metainfo/$(basename "$metainfo" .in)"
  done
  mkdir -p "$1/man/man1"
  fill "$here/playground.1.in" | gzip -9n >"$1/man/man1/playground.1.gz"
}

# settle FOLDER: the same rights and times on every machine
settle() {
  find "$1" -type d -exec chmod 755 {} +
  find "$1" -type f -exec chmod 644 {} +
  find "$1" -type f \( -path '*/playground' -o -name '*.sh' \) -exec chmod 755 {} +
  find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}

# ---- the .deb

deb=$scratch/deb
app=$deb/usr/lib/$NAME
doc=$deb/usr/share/doc/$NAME
mkdir -p "$app" "$deb/usr/bin" "$doc" "$deb/usr/share/lintian/overrides" "$deb/DEBIAN"
cp -R "$frozen/$NAME/." "$app/"
ln -s "../lib/$NAME/playground" "$deb/usr/bin/playground"
share "$deb/usr/share"
ln -s "../../../lib/$NAME/_internal/licences" "$doc/licences"
ln -s "../../../lib/$NAME/_internal/sbom.cdx.json" "$doc/sbom.cdx.json"
sed 's/^$/./; s/^/ /' "$root/LICENSE" >"$scratch/mit"
sed -e "/@MIT@/{r $scratch/mit" -e 'd}' "$here/copyright.in" >"$doc/copyright"
gzip -9nc "$root/CHANGELOG.md" >"$doc/changelog.gz"
maintainer="The Gateway Playground authors <gateway-playground@example.invalid>"
gzip -9n >"$doc/changelog.Debian.gz" <<CHANGELOG
$NAME ($package_version) stable; urgency=medium

  * Version $version. What is new is in changelog.gz.

 -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
CHANGELOG
install -m 644 "$here/lintian-overrides" "$deb/usr/share/lintian/overrides/$NAME"
settle "$deb"

# What the bundled libraries need of the system, from the system's own lists of symbols; not what is bundled itself.
mkdir -p "$scratch/debian"
printf 'Source: %s\n\nPackage: %s\nArchitecture: any\n' "$NAME" "$NAME" >"$scratch/debian/control"
mapfile -t binaries < <(find "$app" -type f \( -name '*.so' -o -name '*.so.*' -o -name playground \) | sort)
mapfile -t bundled < <(find "$app/_internal/licences/system" -name '*.txt' -printf '-x%f\n' 2>/dev/null | sed 's/\.txt$//' | sort)
depends=$(cd "$scratch" && dpkg-shlibdeps -O --ignore-missing-info --warnings=0 -l"$app/_internal" \
  -l"$app/_internal/PySide6/Qt/lib" -l"$app/_internal/PySide6" -l"$app/_internal/shiboken6" "${bundled[@]}" "${binaries[@]}" |
  sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { echo "The dependencies could not be computed." >&2; exit 1; }
cat >"$deb/DEBIAN/control" <<CONTROL
Package: $NAME
Version: $package_version
Architecture: $arch
Maintainer: $maintainer
Installed-Size: $(du -k --apparent-size -s "$deb/usr" | cut -f1)
Depends: $depends
Recommends: ca-certificates, desktop-file-utils, fonts-dejavu-core | fonts-noto-core | fonts-liberation, gnome-keyring | kwalletmanager | keepassxc, hicolor-icon-theme, shared-mime-info, xdg-utils
Section: devel
Priority: optional
Description: see what a model gateway is sent and what comes back
 A window onto what a model gateway is sent and what it sends back: every
 parameter, every token, every tool call, every byte. Conversations are run
 against any gateway that speaks the chat-completions or the native messages
 protocol; tool calls are stopped at like a line of code at a breakpoint.
 .
 The package brings its own interpreter and Qt; nothing else is needed but what
 a desktop has. A demo gateway is built in, which needs no key and no network.
CONTROL
(cd "$deb" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$deb/DEBIAN/md5sums"
chmod 755 "$deb/DEBIAN"
chmod 644 "$deb/DEBIAN"/*
touch --date="@$SOURCE_DATE_EPOCH" "$deb/DEBIAN" "$deb/DEBIAN"/*
deb_file=$out/${NAME}_${package_version}_$arch.deb
dpkg-deb --root-owner-group -Zxz "-z$level" --build "$deb" "$deb_file" >/dev/null & # goes on while the archive is made
packing=$!

# ---- the portable archive

machine=$(uname -m)
portable=$scratch/tar/$NAME-$version-linux-$machine
mkdir -p "$portable"
cp -R "$frozen/$NAME" "$portable/app"
share "$portable/share"
cp "$here/install.sh" "$here/uninstall.sh" "$root/LICENSE" "$portable/"
fill "$here/README.txt.in" >"$portable/README.txt"
settle "$scratch/tar"
tar_file=$out/$NAME-$version-linux-$machine.tar.gz
tar --create --sort=name --owner=0 --group=0 --numeric-owner --format=gnu --mtime="@$SOURCE_DATE_EPOCH" \
  --directory "$scratch/tar" "$(basename "$portable")" | gzip "-$level" -n >"$tar_file"
wait "$packing"

# What is in both, beside them as well.
install -m 644 "$frozen/sbom.cdx.json" "$out/$NAME-$version-linux-$machine.cdx.json"
touch --date="@$SOURCE_DATE_EPOCH" "$out/$NAME-$version-linux-$machine.cdx.json"

for file in "$deb_file" "$tar_file"; do
  echo "$(basename "$file"): $(awk -v n="$(stat -c %s "$file")" 'BEGIN { printf "%.1f MB", n / 1e6 }'), sha256 $(sha256sum "$file" | cut -c1-16)"
done
echo "Depends: $depends"
if (($(stat -c %s "$deb_file") > LIMIT)); then
  echo "The .deb is larger than $((LIMIT / 1000000)) MB." >&2
  exit 1
fi
