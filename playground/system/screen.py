"""Whether a window can open here, found out before Qt is asked: Qt aborts the process where none can.

Only Linux and its kin are in question; Windows and macOS always have a screen. What is asked costs the start nothing.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

NO_DISPLAY = (
    "no display. Set DISPLAY or WAYLAND_DISPLAY, or use a headless command: "
    "playground run, playground decode, playground demo, playground replay."
)


def hindrance() -> str:
    """Why no window can open, in one line for people; "" where one can."""
    found = platforms()
    if not found:
        return NO_DISPLAY
    try:
        from playground.system.platform_plugin import fault
    except ImportError as error:  # not even the core of Qt can be loaded
        from playground.system.missing_libraries import explain

        return explain(str(error), _files_of_qt(error.path or "", found)) or f"Qt cannot be loaded: {error}"
    missed = fault(found)
    if missed is None:
        return ""
    from playground.system.missing_libraries import explain

    return explain(missed.words, missed.files) or f"no window can open: {missed.words}"


def _files_of_qt(core: str, names: tuple[str, ...]) -> list[Path]:
    """What would be loaded after the core, which could not be: all it lacks is better told at once."""
    plugins = [f"Qt/plugins/platforms/libq{name}*.so" for name in names]
    return [found for pattern in ("Qt/lib/libQt6Network.so.*", *plugins) for found in Path(core).parent.glob(pattern)]


def platforms() -> tuple[str, ...]:
    """Qt's platforms that could show a window, in the order in which Qt tries them; empty where there is no display."""
    if sys.platform in ("win32", "cygwin", "darwin"):
        return ("cocoa",) if sys.platform == "darwin" else ("windows",)
    asked = os.environ.get("QT_QPA_PLATFORM", "")
    names = [name.partition(":")[0].strip() for name in asked.split(";")] if asked else ["wayland", "xcb"]
    return tuple(name for name in names if _has_display(name))


def _has_display(platform: str) -> bool:
    if platform.startswith("wayland"):
        name = os.environ.get("WAYLAND_DISPLAY", "")
        return bool(name) and _answers(str(Path(os.environ.get("XDG_RUNTIME_DIR", ""), name)))
    if platform == "xcb":
        return bool(os.environ.get("DISPLAY")) and _x_answers(os.environ["DISPLAY"])
    return True  # offscreen and vnc need none; of the others Qt knows more than we do


def _x_answers(display: str) -> bool:
    """Whether something listens where ``DISPLAY`` points."""
    machine, _, numbers = display.rpartition(":")
    number = numbers.partition(".")[0]
    if machine not in ("", "unix", "localhost") or not number.isdecimal():
        return True  # a display on another machine, or a form we do not know: let Qt try
    place = f"/tmp/.X11-unix/X{number}"  # noqa: S108 - X's own place
    if _answers(f"\0{place}") or _answers(place):
        return True
    import socket

    try:
        socket.create_connection(("localhost", 6000 + int(number)), timeout=2).close()
    except (OSError, OverflowError):
        return False
    return True


def _answers(path: str) -> bool:
    """Whether something listens on that local socket."""
    from _socket import AF_UNIX, socket  # what lies below Python's socket, which names a hundred numbers first: 7 ms

    probe = socket(AF_UNIX)
    probe.settimeout(2)
    try:
        probe.connect(path)
    except OSError:
        return False
    finally:
        probe.close()
    return True
