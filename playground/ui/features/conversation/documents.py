"""Which files a paste or a drop offers for opening. Looks at names only, never at what is in them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtCore import QMimeData

SUFFIXES: Final = (".json", ".jsonl", ".ndjson")


def documents(mime: QMimeData) -> list[Path]:
    """The files a drop offers, where each can be an experiment, a cassette or messages; else none."""
    urls = mime.urls() if mime.hasUrls() else []
    files = [Path(url.toLocalFile()) for url in urls if url.isLocalFile()]
    if not files or len(files) < len(urls):
        return []
    return files if all(file.name.lower().endswith(SUFFIXES) for file in files) else []
