#!/usr/bin/env bash
# Installs a .deb in a clean Debian that has no Python, tries it out there as a person would, and removes it again.
# Usage, as root: test_chroot.sh DEB. The mirror is the one this machine's own package sources name; the chroot is gone
# afterwards. Needs debootstrap. The transcript is the proof.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
deb=$(readlink -f "$1")
[ "$(id -u)" -eq 0 ] || { echo "This test makes a chroot and so needs root." >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "debootstrap is missing." >&2; exit 2; }

work=$(mktemp -d "${TMPDIR:-/var/tmp}/playground-chroot.XXXXXX")
system=$work/system
mounted=()
finish() {
  local code=$? place process
  trap - EXIT
  for process in /proc/[0-9]*; do # whatever was started in the chroot and is still there
    if [ "$(readlink "$process/root" 2>/dev/null)" = "$system" ]; then kill -9 "${process#/proc/}" 2>/dev/null || true; fi
  done
  for place in $(printf '%s\n' "${mounted[@]}" | tac); do umount --lazy "$place" || true; done
  # Nothing of the machine's own may be below the folder when it is removed.
  if ! grep -q " $work" /proc/mounts; then rm -rf "$work"; fi
  if ((code == 0)); then echo "chroot test passed in $SECONDS s"; else echo "chroot test FAILED after $SECONDS s"; fi
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT TERM

say() { printf '\n--- %s (%d s)\n' "$1" "$SECONDS"; }
fail() { echo "FAILED: $1"; exit 1; }
# quietly WORDS... shows what was printed only when it went wrong
quietly() { "$@" >"$work/log" 2>&1 || { tail -20 "$work/log"; fail "$*"; }; }
inside() { chroot "$system" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
# person WORDS... runs them as a user without rights, at home
person() { timeout --kill-after=5 120 chroot "$system" /usr/sbin/runuser -u person -- /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/home/person XDG_CURRENT_DESKTOP=GNOME LC_ALL=C.UTF-8 "$@"; }

# What apt itself would use here: each line is a mirror, a suite, components.
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
  awk -v suite="$suite" '$2 == suite && $3 == "main" { print $1; exit }')
[ -n "$mirror" ] || fail "no package source for $suite was found"

say "A clean Debian $suite"
quietly debootstrap --foreign --variant=minbase "$suite" "$system" "$mirror"
mkdir -p "$system/etc/dpkg/dpkg.cfg.d"
echo force-unsafe-io >"$system/etc/dpkg/dpkg.cfg.d/quick" # the chroot outlives no power cut anyway
quietly chroot "$system" /debootstrap/debootstrap --second-stage
cp /etc/resolv.conf "$system/etc/resolv.conf" 2>/dev/null || true
cp /etc/hosts "$system/etc/hosts" 2>/dev/null || true
# This machine's sources, settings and keys, so that updates and mirrors are the same; only Debian's own.
rm -f "$system/etc/apt/sources.list"
mkdir -p "$system/etc/apt/sources.list.d" "$system/usr/share/keyrings"
apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | sort -u |
  awk -v suite="$suite" '$3 == "main" && $2 ~ "^" suite "(-security|-updates)?$" { print "deb", $1, $2, $3 }' \
    >"$system/etc/apt/sources.list"
cp -a /etc/apt/apt.conf.d/. "$system/etc/apt/apt.conf.d/" 2>/dev/null || true
rm -f "$system"/etc/apt/apt.conf.d/*postgresql* "$system"/etc/apt/apt.conf.d/*docker*
for place in proc dev sys; do
  mount --rbind --make-rslave "/$place" "$system/$place" && mounted+=("$system/$place")
done
printf '#!/bin/sh\nexit 101\n' >"$system/usr/sbin/policy-rc.d"
chmod 755 "$system/usr/sbin/policy-rc.d"
inside apt-get -qq update
if inside sh -c 'command -v python3 || ls /usr/bin/python*' 2>/dev/null; then fail "there is a Python in it"; fi
echo "$(du -sm --one-file-system "$system" | cut -f1) MB, no Python in it"

say "Installing $(basename "$deb")"
cp "$deb" "$system/tmp/package.deb"
before=$(inside dpkg-query -W | wc -l)
quietly inside apt-get -qq install -y --no-install-recommends /tmp/package.deb
echo "$(($(inside dpkg-query -W | wc -l) - before)) packages with it"
if inside sh -c 'ls /usr/bin/python3*' >/dev/null 2>&1; then fail "a Python came with it"; fi
inside useradd --create-home person

say "With its dependencies only: the command line, and the self-test without a screen"
person playground --version
code=0
person playground || code=$?
[ "$code" -eq 2 ] || fail "without a display it should end with 2, not $code"
person playground --self-test >"$work/bare" 2>&1 || { cat "$work/bare"; fail "the self-test"; }
cat "$work/bare"
grep -q '^none   keyring' "$work/bare" || fail "it should say that there is no keyring"

say "What a desktop has: screen, session bus, keyring, fonts, file types"
quietly inside apt-get -qq install -y --no-install-recommends xvfb xdotool dbus gnome-keyring ca-certificates \
  desktop-file-utils shared-mime-info xdg-utils libglib2.0-bin
if inside sh -c 'ls /usr/bin/python3*' >/dev/null 2>&1; then fail "a Python came with them"; fi

# A session as a desktop starts one: bus, unlocked keyring, screen. The rest are the words to run in it.
cat >"$system/usr/local/bin/session" <<'SESSION'
#!/bin/sh
XDG_RUNTIME_DIR=$(mktemp -d /tmp/session.XXXXXX)
export XDG_RUNTIME_DIR
exec dbus-run-session -- sh -c '
  printf "password\n" | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
  sleep 1
  Xvfb -displayfd 3 -screen 0 1440x900x24 -nolisten tcp -noreset 3>$XDG_RUNTIME_DIR/display 2>$XDG_RUNTIME_DIR/screen.log &
  screen=$!
  for _ in $(seq 100); do [ -s $XDG_RUNTIME_DIR/display ] && break; sleep 0.1; done
  export DISPLAY=:$(cat $XDG_RUNTIME_DIR/display)
  "$@"
  code=$?
  kill $screen
  exit $code' session "$@"
SESSION
chmod 755 "$system/usr/local/bin/session"

say "The self-test in a window, with a keyring"
person session playground --self-test --window >"$work/window" 2>&1 || { cat "$work/window"; fail "the self-test in a window"; }
cat "$work/window"
grep -q '^ok     window .*xcb' "$work/window" || fail "the window was not on the screen"
grep -q '^ok     keyring' "$work/window" || fail "the keyring was not reached"
grep -q '^ok     certificates' "$work/window" || fail "no certificates"

say "A file by its association"
file="/home/person/two words.playground.json"
cp "$here/opened.playground.json" "$system$file"
chroot "$system" chown person: "$file"
type=$(person xdg-mime query filetype "$file") || fail "xdg-mime"
[ "$type" = application/vnd.gateway-playground+json ] || fail "the file's type is $type"
app=$(person xdg-mime query default "$type") || fail "xdg-mime"
[ "$app" = gateway-playground.desktop ] || fail "the type belongs to \"$app\""
echo "$type opens with $app"
# opened WORDS... opens it as a file manager does, waits for the window and until the file is among those used lately,
# and quits; the experiment must then be in the store
cat >"$system/usr/local/bin/opened" <<'OPENED'
#!/bin/sh
kept=$HOME/.local/share/gateway-playground
settings=$HOME/.config/gateway-playground
rm -rf "$kept" "$settings"
"$@" &
for _ in $(seq 150); do
  window=$(xdotool search --onlyvisible --name 'Gateway Playground' 2>/dev/null | head -1)
  [ -n "$window" ] && grep -qr '^recent=.*words' "$settings" 2>/dev/null && break
  sleep 0.2
done
process=$(xdotool getwindowpid "$window")
echo "$(tr '\0' ' ' <"/proc/$process/cmdline"): a window $(xdotool getwindowgeometry "$window" | awk '/Geometry/ { print $2 }')"
kill -TERM "$process"
for _ in $(seq 50); do kill -0 "$process" 2>/dev/null || break; sleep 0.2; done
if kill -0 "$process" 2>/dev/null; then echo "it did not end"; exit 1; fi
grep -rlF 'Was this file opened?' "$kept" | sed 's/^/the experiment is in /'
[ -n "$(grep -rlF 'Was this file opened?' "$kept")" ]
OPENED
chmod 755 "$system/usr/local/bin/opened"
person session opened xdg-open "$file" || fail "xdg-open"
person session opened gio open "$file" || fail "gio open"

say "Removing it"
kept=$(person sh -c 'find ~/.config/gateway-playground ~/.local/share/gateway-playground -type f 2>/dev/null | sort')
[ -n "$kept" ] || fail "the application kept nothing, so nothing can be said of what stays"
inside apt-get -qq purge -y gateway-playground >/dev/null 2>&1
left=$(inside sh -c 'find /usr /etc /opt /var/lib -name "*gateway-playground*" -not -path "/var/lib/dpkg/*" -not -path "/var/lib/apt/*" 2>/dev/null')
[ -z "$left" ] || fail "left behind: $left"
inside sh -c 'command -v playground' && fail "the command is still there"
[ "$(person xdg-mime query filetype "$file")" != application/vnd.gateway-playground+json ] || fail "the file type stays"
[ "$kept" = "$(person sh -c 'find ~/.config/gateway-playground ~/.local/share/gateway-playground -type f 2>/dev/null | sort')" ] ||
  fail "it took the user's files along"
echo "nothing left of it; the user's files stay:"
echo "$kept"
