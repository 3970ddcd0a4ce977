"""Whether Qt's part for this kind of screen can be loaded. Qt itself aborts the process when it cannot.

It is loaded the way Qt loads it a moment later, which then finds it there: the look costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QLibraryInfo, QPluginLoader


class Fault(NamedTuple):
    """The loader's words, and the files that are needed: the one that it could not load, and others like it."""

    words: str
    files: tuple[Path, ...]


def fault(platforms: Iterable[str]) -> Fault | None:
    """Why none of these platforms can be loaded; None when one can, or where their files are not known."""
    folder = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath), "platforms")
    found: Fault | None = None
    for platform in platforms:
        for file in sorted(folder.glob(f"libq{platform}*.so")):
            loader = QPluginLoader(str(file))
            if loader.load():
                return None
            found = found or Fault(loader.errorString(), (file, *_loaded_later()))
    return found


def _loaded_later() -> tuple[Path, ...]:
    """What the window loads soon after: libraries that only this one needs are better named now than then."""
    folder = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.LibrariesPath))
    return tuple(folder.glob("libQt6Network.so.*"))
