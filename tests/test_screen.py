"""The messages where no window can open: no display, or a missing system library that Qt needs."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import PySide6
import pytest
import shiboken6

from playground.system import missing_libraries, screen
from playground.system.platform_plugin import fault
from tests.support.each_case import each_case

FOLDERS = ("", "Qt", "Qt/lib", "Qt/plugins", "Qt/plugins/platforms")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="platform: needs Linux, whose loader finds what is missing")


@pytest.fixture
def display() -> Iterator[str]:
    """The name of a display that answers, though nothing is ever shown on it."""
    number = 7000 + os.getpid() % 50_000
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0/tmp/.X11-unix/X{number}")
        listener.listen()
        yield f":{number}"


def qt_that_wants(folder: Path, file: str, library: str, replacement: str) -> Path:
    """A folder with the installed Qt, one file of which needs ``replacement`` instead of ``library``."""
    real = Path(PySide6.__file__).parent
    (folder / "shiboken6").symlink_to(Path(shiboken6.__file__).parent)
    for place in FOLDERS:  # of their own, since the loader looks for a file's libraries in its folder
        (folder / "PySide6" / place).mkdir()
        for entry in (real / place).iterdir():
            name = f"{place}/{entry.name}".lstrip("/")
            if place == FOLDERS[-1]:
                shutil.copy(entry, folder / "PySide6" / name)  # Qt follows links before it loads
            elif name not in (*FOLDERS, file):
                (folder / "PySide6" / name).symlink_to(entry)
    assert len(library) == len(replacement)
    data = (real / file).read_bytes()
    assert data.count(library.encode() + b"\0") == 1
    (folder / "PySide6" / file).write_bytes(data.replace(library.encode() + b"\0", replacement.encode() + b"\0"))
    return folder


@LINUX
@pytest.mark.parametrize(
    ("file", "library", "second", "package"),
    [
        ("Qt/plugins/platforms/libqxcb.so", "libxcb-cursor.so.0", "libxcb-cursor.so.9", "libxcb-cursor0"),
        ("Qt/lib/libQt6Core.so.6", "libglib-2.0.so.0", "libglib-2.0.so.9", "libglib2.0-0"),
    ],
)
def test_a_missing_library_is_named_with_its_package(
    file: str, library: str, second: str, package: str, display: str, tmp_path: Path
) -> None:
    environment = {**os.environ, "PYTHONPATH": str(qt_that_wants(tmp_path, file, library, second)), "DISPLAY": display}
    for name in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY"):
        environment.pop(name, None)
    for arguments in ([], ["--self-test", "--window"]):
        ended = subprocess.run(
            [sys.executable, "-m", "playground", *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            env=environment,
            check=False,
        )
        assert (ended.returncode, ended.stdout) == (2, "")
        assert len(ended.stderr.splitlines()) == 1
        assert ended.stderr.startswith(f"playground: the window needs the library {second}, which is not installed.")
        assert package in ended.stderr


@LINUX
def test_what_is_there_is_loaded_and_what_is_not_known_is_left_to_qt() -> None:
    assert fault(["xcb"]) is None
    assert fault(["offscreen"]) is None
    assert fault(["telepathy"]) is None


WORDS = "Cannot load library /x/libqxcb.so: (libxcb-cursor.so.0: cannot open shared object file: No such file)"


@each_case(
    ("ids", "command"),
    [
        (["debian"], "apt install libxcb-cursor0"),
        (["linuxmint", "ubuntu", "debian"], "apt install libxcb-cursor0"),
        (["fedora"], "dnf install xcb-util-cursor"),
        (["rocky", "rhel", "centos", "fedora"], "dnf install xcb-util-cursor"),
        (["opensuse-tumbleweed", "opensuse", "suse"], "zypper install libxcb-cursor0"),
        (["endeavouros", "arch"], "pacman -S xcb-util-cursor"),
    ],
)
def test_each_family_has_its_own_words(ids: list[str], command: str) -> None:
    line = missing_libraries.explain(WORDS, ids=ids)
    assert line.startswith("the window needs the library libxcb-cursor.so.0, which is not installed. To install: ")
    assert line.endswith(command)


def test_other_systems_hear_all_names() -> None:
    line = missing_libraries.explain(WORDS, ids=["slackware"])
    assert "Debian: libxcb-cursor0; Fedora: xcb-util-cursor; openSUSE: libxcb-cursor0; Arch: xcb-util-cursor." in line


def test_a_library_without_a_known_package_is_named_and_other_words_are_not_explained() -> None:
    words = "libodd.so.3: cannot open shared object file: No such file or directory"
    line = missing_libraries.explain(words, ids=["debian"])
    assert line == (
        "the window needs the library libodd.so.3, which is not installed. "
        "Install the package that holds it, and start again."
    )
    assert missing_libraries.explain("version `GLIBC_2.99' not found (required by /x/libqxcb.so)") == ""


@LINUX
def test_all_that_is_missing_is_named_at_once(tmp_path: Path) -> None:
    plugin = "Qt/plugins/platforms/libqxcb.so"
    place = qt_that_wants(tmp_path, plugin, "libxcb-keysyms.so.1", "libxcb-keysyms.so.9")
    line = missing_libraries.explain(WORDS, [place / "PySide6" / plugin], ["debian"])
    assert line.startswith("the window needs libraries that are not installed: libxcb-cursor.so.0, libxcb-keysyms.so.9")
    assert line.endswith("apt install libxcb-cursor0 libxcb-keysyms1")


@LINUX
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("", ("xcb",)),
        ("xcb", ("xcb",)),
        ("wayland;xcb", ("xcb",)),
        ("wayland", ()),
        ("offscreen", ("offscreen",)),
        ("vnc:size=800x600", ("vnc",)),
    ],
)
def test_which_platforms_could_show_a_window(
    question: str, expected: tuple[str, ...], display: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.setenv("QT_QPA_PLATFORM", question)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert screen.platforms() == expected


@LINUX
def test_wayland_comes_before_x(display: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert screen.platforms() == ("xcb",), "nothing answers at that display"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "wayland-0"))
        listener.listen()
        assert screen.platforms() == ("wayland", "xcb")
