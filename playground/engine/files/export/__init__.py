"""An experiment for other people and other programs: Markdown, one HTML page, or lines of JSON.

The conversation that is shown is exported; of the whole tree every turn, or every branch. No key is in any of it, and
nothing in it is fetched or run when it is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from playground.engine.files.export.selection import Selection
from playground.engine.gateways.redacted_output import write_output
from playground.engine.gateways.secrets import Secret
from playground.engine.session.snapshot import Snapshot
from playground.protocols import PROTOCOLS

MARKDOWN: Final = "markdown"
HTML: Final = "html"
#: What an export can be, and the ending of its file. A protocol stands for lines of JSON in its shape.
SUFFIXES: Final = {MARKDOWN: ".md", HTML: ".html", **dict.fromkeys(PROTOCOLS, ".jsonl")}

MOST: Final = 3  # things left out that are named


class ExportError(ValueError):
    """An experiment cannot be exported; the text is a sentence that says why."""


def export(snapshot: Snapshot, to: str, known: Iterable[Secret] = (), *, whole_tree: bool = False) -> str:
    """The text of the export, one of ``SUFFIXES``. ``known`` are the secrets of this process. Raises ExportError."""
    selection = Selection(snapshot, known, whole_tree=whole_tree)
    if to == MARKDOWN:
        from playground.engine.files.export.markdown import markdown

        return markdown(selection)
    if to == HTML:
        from playground.engine.files.export.page import page

        return page(selection)
    from playground.engine.files.export.jsonl import jsonl

    try:
        return jsonl(selection, to, whole_tree=whole_tree)
    except ValueError as error:
        raise ExportError(f"This cannot be exported: {str(error).rstrip('.')}.") from None


def left_out(snapshot: Snapshot, to: str, known: Iterable[Secret] = (), *, whole_tree: bool = False) -> str:
    """A sentence on what is not in an export that could be; empty where all of it is, as in those for people."""
    if to not in PROTOCOLS:
        return ""
    from playground.engine.files.export.jsonl import lacking

    found = lacking(Selection(snapshot, known, whole_tree=whole_tree), to)
    more = f"; and {len(found) - MOST:,} more" if len(found) > MOST else ""
    return f"Left out: {'; '.join(found[:MOST])}{more}." if found else ""


def save(path: Path, snapshot: Snapshot, to: str, known: Iterable[Secret] = (), *, whole_tree: bool = False) -> None:
    """Write the export to a file as a whole; blocks. Raises ExportError."""
    text = export(snapshot, to, known, whole_tree=whole_tree)
    try:
        write_output(path, text, known)
    except OSError as error:
        raise ExportError(f"{path} cannot be written: {error.strerror or error}.") from None
