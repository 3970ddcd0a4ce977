"""Check that a window can open before Qt is loaded: Qt aborts the process if none can.

Only Linux and similar systems are checked; Windows and macOS always have a screen. The check costs the start nothing.
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
    """Return why no window can open, in one line for people; "" if one can."""
    names = platforms()
    if not names:
        return NO_DISPLAY
    try:
        from playground.system.platform_plugin import fault
    except ImportError as error:  # not even the core of Qt can be loaded
        from playground.system.missing_libraries import explain

        return explain(str(error), _files_of_qt(error.path or "", names)) or f"Qt cannot be loaded: {error}"
    problem = fault(names)
    if problem is None:
        return ""
    from playground.system.missing_libraries import explain

    return explain(problem.words, problem.files) or f"no window can open: {problem.words}"


def _files_of_qt(core: str, names: tuple[str, ...]) -> list[Path]:
    """Return the files that Qt loads after its core, so that one message names all missing libraries."""
    plugins = [f"Qt/plugins/platforms/libq{name}*.so" for name in names]
    return [file for pattern in ("Qt/lib/libQt6Network.so.*", *plugins) for file in Path(core).parent.glob(pattern)]


def platforms() -> tuple[str, ...]:
    """Return Qt's platforms that could show a window, in the order of Qt; empty without a display."""
    if sys.platform in ("win32", "cygwin", "darwin"):
        return ("cocoa",) if sys.platform == "darwin" else ("windows",)
    chosen = os.environ.get("QT_QPA_PLATFORM", "")
    names = [name.partition(":")[0].strip() for name in chosen.split(";")] if chosen else ["wayland", "xcb"]
    return tuple(name for name in names if _has_display(name))


def _has_display(platform: str) -> bool:
    if platform.startswith("wayland"):
        name = os.environ.get("WAYLAND_DISPLAY", "")
        return bool(name) and _answers(str(Path(os.environ.get("XDG_RUNTIME_DIR", ""), name)))
    if platform == "xcb":
        return bool(os.environ.get("DISPLAY")) and _x_answers(os.environ["DISPLAY"])
    return True  # offscreen and vnc need none; of the others Qt knows more than we do


def _x_answers(display: str) -> bool:
    """Return whether an X server listens at ``DISPLAY``."""
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
    """Return whether something listens on a local socket."""
    from _socket import AF_UNIX, socket  # Python's own module takes 7 ms longer

    probe = socket(AF_UNIX)
    probe.settimeout(2)
    try:
        probe.connect(path)
    except OSError:
        return False
    finally:
        probe.close()
    return True
