"""Export of an experiment as Markdown, one HTML page, or JSON Lines in the shape of a protocol.

The conversation that is shown is exported, or the whole tree: every turn, or every branch. No export holds a key, or
anything that is fetched or run when it is opened.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from playground.domain.request import ReasoningReturn, Request, SendReasoning
from playground.domain.transcript import Turn
from playground.engine.files.export.markdown import to_markdown
from playground.engine.files.export.page import to_page
from playground.engine.files.export.selection import Selection
from playground.engine.gateways.redaction import write_output
from playground.engine.gateways.secrets import Secret
from playground.engine.io.files import ExportFormat
from playground.engine.requests.protocol_conversion import losses
from playground.engine.session.snapshot import Snapshot
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import PROTOCOLS
from playground.protocols.conversion import LOST
from playground.protocols.protocol import get_protocol


def to_jsonl(selection: Selection, protocol: str) -> str:
    """Return the lines. Raises ValueError in words if the protocol cannot carry something."""
    lines: list[JSON]
    if selection.whole_tree:
        lines = [_record(selection, turns, protocol) for turns in selection.branches()]
    else:
        (turns,) = selection.branches()
        record = _record(selection, turns, protocol)
        definition = get_protocol(protocol)
        above = definition.conversation[:-1]
        lines = [{"role": "system", "content": record[name]} for name in above if name in record]
        lines += definition.entries(record)
    return selection.clean("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def omissions(selection: Selection, protocol: str) -> list[str]:
    """Return what the lines lack of the turns and tools, because of the protocol or of a setting."""
    snapshot = selection.snapshot
    turns = tuple(section.turn.model_copy(update={"extra": {}}) for section in selection.sections())
    when = (snapshot.reasoning_return or ReasoningReturn()).when
    keeps_reasoning = when is SendReasoning.ALWAYS or not get_protocol(protocol).returns_reasoning
    names: list[str] = []
    if not keeps_reasoning and any(
        turn.reasoning and (when is SendReasoning.NEVER or not turn.calls) for turn in turns
    ):
        names.append("reasoning that is set not to be sent back")
    if snapshot.protocol in PROTOCOLS:
        request = Request(protocol=snapshot.protocol, model="", turns=turns, tools=snapshot.tools)
        names += [selection.clean(str(loss)) for loss in losses(request, protocol) if loss.kind == LOST]
    return names


def _record(selection: Selection, turns: tuple[Turn, ...], protocol: str) -> JSONObject:
    snapshot = selection.snapshot
    request = Request(
        protocol=protocol,
        model="",
        turns=tuple(turn for turn in turns if turn.parts or turn.outcome is None),
        tools=snapshot.tools,
        reasoning_return=snapshot.reasoning_return or ReasoningReturn(),
    )
    definition = get_protocol(protocol)
    body = definition.encode(request, with_extra=True)
    return {name: body[name] for name in (*definition.conversation, "tools") if name in body}


_MAX_OMISSIONS: Final = 3  # omissions named in the sentence


class ExportError(ValueError):
    """An experiment cannot be exported; the text is a sentence that says why."""


@dataclass(frozen=True)
class ExperimentFormat(ExportFormat[Callable[[Selection], str]]):
    """A format of experiments. ``write`` raises ValueError in words; ``omissions`` lists what the file lacks."""

    omissions: Callable[[Selection], list[str]] = lambda _: []


#: The formats by name. A protocol's name means JSON Lines in its shape.
FORMATS: Final = {
    row.name: row
    for row in (
        ExperimentFormat(
            "markdown", "Markdown", "md", to_markdown, "Headings and text, to read and to paste elsewhere"
        ),
        ExperimentFormat(
            "html",
            "HTML page",
            "html",
            to_page,
            "One file with its images, to look at in a browser; it loads and runs nothing",
        ),
        *(
            ExperimentFormat(
                protocol,
                f"JSON Lines, {title}",
                "jsonl",
                partial(to_jsonl, protocol=protocol),
                "Messages for other programs, as this protocol spells them",
                partial(omissions, protocol=protocol),
            )
            for protocol, title in PROTOCOLS.items()
        ),
    )
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
