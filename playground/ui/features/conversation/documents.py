"""Files that a paste or a drop offers for opening, recognised by their names alone."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtCore import QMimeData

SUFFIXES: Final = (".json", ".jsonl", ".ndjson")


def documents(mime: QMimeData) -> list[Path]:
    """Return the files offered if each may be an experiment, a recording or messages; else none."""
    urls = mime.urls() if mime.hasUrls() else []
    files = [Path(url.toLocalFile()) for url in urls if url.isLocalFile()]
    if not files or len(files) < len(urls):
        return []
    return files if all(file.name.lower().endswith(SUFFIXES) for file in files) else []
