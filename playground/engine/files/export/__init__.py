"""Export of an experiment as Markdown, one HTML page, or JSON Lines in the shape of a protocol.

The conversation that is shown is exported, or the whole tree: every turn, or every branch. No export holds a key, or
anything that is fetched or run when it is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from playground.engine.files.export.jsonl import omissions, to_jsonl
from playground.engine.files.export.markdown import to_markdown
from playground.engine.files.export.page import to_page
from playground.engine.files.export.selection import Selection
from playground.engine.gateways.redacted_output import write_output
from playground.engine.gateways.secrets import Secret
from playground.engine.session.snapshot import Snapshot
from playground.protocols import PROTOCOLS

_MAX_OMISSIONS: Final = 3  # omissions named in the sentence


class ExportError(ValueError):
    """An experiment cannot be exported; the text is a sentence that says why."""


@dataclass(frozen=True)
class ExportFormat:
    """A format: its title and note for people, the suffix of its files, and its functions.

    ``write`` raises ValueError in words; ``omissions`` lists what an export in this format lacks.
    """

    title: str
    note: str
    suffix: str
    write: Callable[[Selection], str]
    omissions: Callable[[Selection], list[str]] = lambda _: []


#: The formats by name. A protocol's name means JSON Lines in its shape.
FORMATS: Final[dict[str, ExportFormat]] = {
    "markdown": ExportFormat("Markdown", "Headings and text, to read and to paste elsewhere", ".md", to_markdown),
    "html": ExportFormat(
        "HTML page", "One file with its images, to look at in a browser; it loads and runs nothing", ".html", to_page
    ),
    **{
        protocol: ExportFormat(
            f"JSON Lines, {title}",
            "Messages for other programs, as this protocol spells them",
            ".jsonl",
            partial(to_jsonl, protocol=protocol),
            partial(omissions, protocol=protocol),
        )
        for protocol, title in PROTOCOLS.items()
    },
}


def export(snapshot: Snapshot, to: str, secrets: Iterable[Secret] = (), *, whole_tree: bool = False) -> str:
    """Return the export in a format of ``FORMATS``, without the secrets. Raises ExportError."""
    try:
        return FORMATS[to].write(Selection(snapshot, secrets, whole_tree=whole_tree))
    except ValueError as error:
        raise ExportError(f"This cannot be exported: {str(error).rstrip('.')}.") from None


def left_out(snapshot: Snapshot, to: str, secrets: Iterable[Secret] = (), *, whole_tree: bool = False) -> str:
    """Return a sentence on what an export lacks; empty for a complete one, as those for people are."""
    names = FORMATS[to].omissions(Selection(snapshot, secrets, whole_tree=whole_tree))
    more = f"; and {len(names) - _MAX_OMISSIONS:,} more" if len(names) > _MAX_OMISSIONS else ""
    return f"Left out: {'; '.join(names[:_MAX_OMISSIONS])}{more}." if names else ""


def save(path: Path, snapshot: Snapshot, to: str, secrets: Iterable[Secret] = (), *, whole_tree: bool = False) -> None:
    """Write the export to a file at once; blocks. Raises ExportError."""
    secrets = tuple(secrets)
    text = export(snapshot, to, secrets, whole_tree=whole_tree)
    try:
        write_output(path, text, secrets)
    except OSError as error:
        raise ExportError(f"{path} cannot be written: {error.strerror or error}.") from None
