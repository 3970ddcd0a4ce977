"""Files dropped on the window or inserted into a message as text."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtCore import QMimeData

from playground.domain.sizes import size_words
from playground.engine.io.files import decode_text

SUFFIXES: Final = (".json", ".jsonl", ".ndjson")
MOST_BYTES: Final = 1_000_000  # of a text file


def documents(mime: QMimeData) -> list[Path]:
    """Return the dropped files if each can be an experiment, a recording or messages, judged by name; else none."""
    urls = mime.urls() if mime.hasUrls() else []
    files = [Path(url.toLocalFile()) for url in urls if url.isLocalFile()]
    if not files or len(files) < len(urls):
        return []
    return files if all(file.name.lower().endswith(SUFFIXES) for file in files) else []


def read_text_file(path: Path) -> str:
    """Return a text file as a fenced block under its name. Raises ValueError with a sentence for people."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {error.strerror}.") from error
    if len(data) > MOST_BYTES:
        raise ValueError(f"{path.name} is larger than {size_words(MOST_BYTES)}. Insert a part of it.")
    try:
        text = decode_text(data)
    except ValueError:
        text = "\0"
    if "\0" in text:
        raise ValueError(f"{path.name} is not a text file.")
    fence = "```"
    while fence in text:
        fence += "`"
    end = "" if text.endswith("\n") or not text else "\n"
    return f"{path.name}\n{fence}\n{text}{end}{fence}"
