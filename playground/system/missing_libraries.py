"""The message about missing libraries of the system: their names, packages, and the command that installs them.

Used only when the window cannot open, so it need not be fast. Uses only the standard library.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple


class _Family(NamedTuple):
    """Distributions that name their packages alike. ``ids`` are how they call themselves in /etc/os-release."""

    name: str
    ids: tuple[str, ...]
    command: str


_FAMILIES: Final = (
    _Family("Debian", ("debian", "ubuntu"), "apt install"),
    _Family("Fedora", ("fedora", "rhel", "centos"), "dnf install"),
    _Family("openSUSE", ("opensuse", "suse"), "zypper install"),
    _Family("Arch", ("arch",), "pacman -S"),
)

#: Libraries of the system that Qt's libraries for the window need: a file's name up to ``.so``, its package by family.
_PACKAGES: Final[Mapping[str, tuple[str, str, str, str]]] = {
    "libEGL": ("libegl1", "libglvnd-egl", "libglvnd", "libglvnd"),
    "libGL": ("libgl1", "libglvnd-glx", "libglvnd", "libglvnd"),
    "libX11": ("libx11-6", "libX11", "libX11-6", "libx11"),
    "libX11-xcb": ("libx11-xcb1", "libX11-xcb", "libX11-xcb1", "libx11"),
    "libbrotlicommon": ("libbrotli1", "libbrotli", "libbrotlicommon1", "brotli"),
    "libbrotlidec": ("libbrotli1", "libbrotli", "libbrotlidec1", "brotli"),
    "libdbus-1": ("libdbus-1-3", "dbus-libs", "libdbus-1-3", "dbus"),
    "libfontconfig": ("libfontconfig1", "fontconfig", "libfontconfig1", "fontconfig"),
    "libfreetype": ("libfreetype6", "freetype", "libfreetype6", "freetype2"),
    "libglib-2.0": ("libglib2.0-0", "glib2", "libglib-2_0-0", "glib2"),
    "libgssapi_krb5": ("libgssapi-krb5-2", "krb5-libs", "krb5", "krb5"),
    "libgthread-2.0": ("libglib2.0-0", "glib2", "libgthread-2_0-0", "glib2"),
    "libwayland-client": ("libwayland-client0", "libwayland-client", "libwayland-client0", "wayland"),
    "libwayland-cursor": ("libwayland-cursor0", "libwayland-cursor", "libwayland-cursor0", "wayland"),
    "libxcb": ("libxcb1", "libxcb", "libxcb1", "libxcb"),
    "libxcb-cursor": ("libxcb-cursor0", "xcb-util-cursor", "libxcb-cursor0", "xcb-util-cursor"),
    "libxcb-icccm": ("libxcb-icccm4", "xcb-util-wm", "libxcb-icccm4", "xcb-util-wm"),
    "libxcb-image": ("libxcb-image0", "xcb-util-image", "libxcb-image0", "xcb-util-image"),
    "libxcb-keysyms": ("libxcb-keysyms1", "xcb-util-keysyms", "libxcb-keysyms1", "xcb-util-keysyms"),
    "libxcb-randr": ("libxcb-randr0", "libxcb", "libxcb-randr0", "libxcb"),
    "libxcb-render": ("libxcb-render0", "libxcb", "libxcb-render0", "libxcb"),
    "libxcb-render-util": ("libxcb-render-util0", "xcb-util-renderutil", "libxcb-render-util0", "xcb-util-renderutil"),
    "libxcb-shape": ("libxcb-shape0", "libxcb", "libxcb-shape0", "libxcb"),
    "libxcb-shm": ("libxcb-shm0", "libxcb", "libxcb-shm0", "libxcb"),
    "libxcb-sync": ("libxcb-sync1", "libxcb", "libxcb-sync1", "libxcb"),
    "libxcb-util": ("libxcb-util1", "xcb-util", "libxcb-util1", "xcb-util"),
    "libxcb-xfixes": ("libxcb-xfixes0", "libxcb", "libxcb-xfixes0", "libxcb"),
    "libxcb-xkb": ("libxcb-xkb1", "libxcb", "libxcb-xkb1", "libxcb"),
    "libxkbcommon": ("libxkbcommon0", "libxkbcommon", "libxkbcommon0", "libxkbcommon"),
    "libxkbcommon-x11": ("libxkbcommon-x11-0", "libxkbcommon-x11", "libxkbcommon-x11-0", "libxkbcommon-x11"),
}
_LACKED: Final = re.compile(r"(?:^|[\s(])([\w.+-]+\.so[\w.]*): cannot open shared object file")
_NOT_FOUND: Final = re.compile(r"^\s*(\S+\.so[\w.]*) => not found$", re.MULTILINE)


def explain(words: str, files: Iterable[Path] = (), ids: Iterable[str] | None = None) -> str:
    """Return a line about the library that the loader's ``words`` call missing; "" for other words.

    ``files`` are searched for other missing libraries, so that one command installs all. ``ids`` name the distribution
    and those it is like, by default as in /etc/os-release.
    """
    match = _LACKED.search(words)
    if match is None:
        return ""
    names = list(dict.fromkeys([match[1], *_missing_for(files)]))
    packaged = [name for name in names if _stem(name) in _PACKAGES]
    problem = _describe_missing(names)
    index = _family(_distribution() if ids is None else ids)
    if not packaged:
        return f"{problem} Install the package that holds it, and start again."
    if index is None:
        packages = "; ".join(f"{family.name}: {_packages(packaged, number)}" for number, family in enumerate(_FAMILIES))
        return f"{problem} What to install: {packages}."
    sudo = "" if os.geteuid() == 0 else "sudo "
    return f"{problem} To install: {sudo}{_FAMILIES[index].command} {_packages(packaged, index)}"


def _describe_missing(names: list[str]) -> str:
    if len(names) == 1:
        return f"the window needs the library {names[0]}, which is not installed."
    return f"the window needs libraries that are not installed: {', '.join(names)}."


def _packages(names: list[str], family: int) -> str:
    return " ".join(dict.fromkeys(_PACKAGES[_stem(name)][family] for name in names))


def _stem(name: str) -> str:
    return name.partition(".so")[0]


def _missing_for(files: Iterable[Path]) -> list[str]:
    """Return the libraries that these files need and the loader does not find."""
    environment = {**os.environ, "LC_ALL": "C"}
    if bundle := getattr(sys, "_MEIPASS", ""):  # a frozen application brings some of them
        environment["LD_LIBRARY_PATH"] = bundle
    command = ["ldd", *map(str, files)]
    try:
        result = subprocess.run(command, capture_output=True, timeout=20, check=False, env=environment)  # noqa: S603 - ours
    except (OSError, subprocess.SubprocessError):
        return []  # the library that the loader named is enough
    return _NOT_FOUND.findall(result.stdout.decode("utf-8", "replace"))


def _distribution() -> list[str]:
    """Return the id of this distribution, and those that it is like."""
    import platform

    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return []
    return [release.get("ID", ""), *release.get("ID_LIKE", "").split()]


def _family(ids: Iterable[str]) -> int | None:
    for name in ids:
        for number, family in enumerate(_FAMILIES):
            if name.partition("-")[0] in family.ids:
                return number
    return None
