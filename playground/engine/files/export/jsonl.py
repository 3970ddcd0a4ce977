"""A conversation as JSON Lines, in the shape of a protocol, for other programs.

A path is one message a line; parts at the top of a request become system messages before them. A whole tree is one
conversation a line, one for each branch, with its tools. ``files.messages`` reads both, with the unknown members of
answers (``EXTRA``).
"""

from __future__ import annotations

import json

from playground.domain.request import ReasoningReturn, Request, SendReasoning
from playground.domain.transcript import Turn
from playground.engine.files.export.selection import Selection
from playground.engine.requests.protocol_conversion import losses
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
        *above, messages = get_protocol(protocol).conversation
        lines = [*({"role": "system", "content": record[name]} for name in above if name in record), *record[messages]]
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
