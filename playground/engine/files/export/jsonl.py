"""A conversation as lines of JSON, in the shape of a protocol, for other programs.

The path is one message a line, what a protocol has at the top as a system message before them. The whole
tree is one conversation a line, one for each branch, with its tools. Both are read again by ``files.messages``, what
an answer came with beside the message included (``EXTRA``). ``lacking`` says what a protocol has no place for.
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

_JSON = json.JSONEncoder(ensure_ascii=False)


def jsonl(selection: Selection, protocol: str, *, whole_tree: bool) -> str:
    """The lines. Raises ValueError in words where the protocol cannot carry something."""
    lines: list[JSON]
    if whole_tree:
        lines = [_record(selection, turns, protocol) for turns in selection.branches()]
    else:
        (turns,) = selection.branches()
        record = _record(selection, turns, protocol)
        *above, said = get_protocol(protocol).conversation
        lines = [*({"role": "system", "content": record[name]} for name in above if name in record), *record[said]]
    text = "".join(_JSON.encode(line) + "\n" for line in lines)
    return selection.clean(text)


def lacking(selection: Selection, protocol: str) -> list[str]:
    """What of the turns and tools is not in the lines, because ``protocol`` has no place for it or as set."""
    snapshot = selection.snapshot
    turns = tuple(section.turn.model_copy(update={"extra": {}}) for section in selection.sections())
    rule = (snapshot.reasoning_return or ReasoningReturn()).when
    kept = rule is SendReasoning.ALWAYS or not get_protocol(protocol).returns_reasoning
    found: list[str] = []
    if not kept and any(turn.reasoning and (rule is SendReasoning.NEVER or not turn.calls) for turn in turns):
        found.append("reasoning that is set not to be sent back")
    if snapshot.protocol in PROTOCOLS:
        request = Request(protocol=snapshot.protocol, model="", turns=turns, tools=snapshot.tools)
        found += [selection.clean(str(loss)) for loss in losses(request, protocol) if loss.kind == LOST]
    return found


def _record(selection: Selection, turns: tuple[Turn, ...], protocol: str) -> JSONObject:
    snapshot = selection.snapshot
    request = Request(
        protocol=protocol,
        model="",
        turns=tuple(turn for turn in turns if turn.parts or turn.outcome is None),
        tools=snapshot.tools,
        reasoning_return=snapshot.reasoning_return or ReasoningReturn(),
    )
    spoken = get_protocol(protocol)
    body = spoken.encode(request, with_extra=True)
    return {name: body[name] for name in (*spoken.conversation, "tools") if name in body}
