"""Try to load Qt's plugin for this kind of screen: Qt itself aborts the process if it cannot.

Qt finds it loaded a moment later, so the check costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QLibraryInfo, QPluginLoader


class Fault(NamedTuple):
    """The message of the loader, and the needed files: the one that it could not load, and others like it."""

    words: str
    files: tuple[Path, ...]


def fault(platforms: Iterable[str]) -> Fault | None:
    """Return why none of these platforms can be loaded; None if one can, or if their files are unknown."""
    folder = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath), "platforms")
    first: Fault | None = None
    for platform in platforms:
        for file in sorted(folder.glob(f"libq{platform}*.so")):
            loader = QPluginLoader(str(file))
            if loader.load():
                return None
            first = first or Fault(loader.errorString(), (file, *_loaded_later()))
    return first


def _loaded_later() -> tuple[Path, ...]:
    """Return libraries that the window loads later, to name missing ones of theirs now."""
    folder = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.LibrariesPath))
    return tuple(folder.glob("libQt6Network.so.*"))
