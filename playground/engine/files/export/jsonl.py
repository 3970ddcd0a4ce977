"""A conversation as lines of JSON, in the shape of a protocol, for other programs.

The path is one message a line, what a protocol has at the top as a system message before them. The whole
tree is one conversation a line, one for each branch, with its tools. Both are read again by ``messages_import``.
"""

from __future__ import annotations

import json

from playground.domain.request import ReasoningReturn, Request
from playground.domain.transcript import Turn
from playground.engine.files.export.selection import Selection
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.protocol import get_protocol


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
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    return selection.clean(text)


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
    body = spoken.encode(request)
    return {name: body[name] for name in (*spoken.conversation, "tools") if name in body}
