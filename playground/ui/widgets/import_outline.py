"""Summarise an imported request as items for review. No secrets here."""

from __future__ import annotations

import json
from collections.abc import Iterable

from playground.domain.request import SEND_REASONING, ReasoningReturn
from playground.domain.transcript import Turn
from playground.engine.requests.pasted import Imported
from playground.engine.requests.protocol_info import TITLES
from playground.jsonkit.texts import quantity
from playground.jsonkit.values import JSON
from playground.ui.widgets.outline_tree import Item, group
from playground.ui.widgets.role_words import ROLE_WORDS

LONGEST = 400  # characters shown of a value
MOST_ROWS = 200

Row = tuple[str, str]


def outline(imported: Imported) -> list[Item]:
    """Return the outline of a request: protocol, model, turns, parameters, tools, and extra fields."""
    request = imported.request
    items = [
        Item("Protocol", TITLES.get(request.protocol, request.protocol)),
        Item("Model", request.model or "none named"),
        Item("Base URL", imported.base_url or "none named"),
        _group("Messages", ((ROLE_WORDS[turn.role], _summary(turn)) for turn in request.turns)),
        _group("Parameters", ((name, _json(value)) for name, value in request.parameters.to_wire().items())),
        _group("Tools", ((tool.name, _line(tool.description) or "no description") for tool in request.tools)),
        _group("Extra body", ((name, _json(value)) for name, value in request.extra_body.items())),
        _group("Extra headers", request.extra_headers.items()),
    ]
    if request.reasoning_return != ReasoningReturn():
        when = dict(SEND_REASONING)[request.reasoning_return.when]
        name = f", as {request.reasoning_return.field}" if request.reasoning_return.field else ""
        items.append(Item("Reasoning goes back", f"{when}{name}"))
    return items


def _group(title: str, rows: Iterable[Row]) -> Item:
    all_rows = tuple(rows)
    listed = all_rows[:MOST_ROWS]
    if len(all_rows) > MOST_ROWS:
        listed += (("…", f"and {len(all_rows) - MOST_ROWS:,} more"),)
    return group(title, str(len(all_rows)) if all_rows else "none", listed)


def _summary(turn: Turn) -> str:
    """Return a one-line summary of a turn and its parts."""
    pieces = [_line(turn.reasoning) and f"reasoning: {_line(turn.reasoning)}", _line(turn.text), _line(turn.refusal)]
    pieces += [f"calls {call.name}({_line(call.arguments)})" for call in turn.calls]
    pieces += [f"result of {result.call_id}: {_line(result.text)}" for result in turn.results]
    images = len(turn.images)
    pieces.append(quantity(images, "image") if images else "")
    pieces += ["a part of an unknown kind" for part in turn.parts if part.kind == "unknown"]
    return " · ".join(piece for piece in pieces if piece) or "empty"


def _line(text: str) -> str:
    return " ".join(text[: LONGEST * 2].split())[:LONGEST]


def _json(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)[:LONGEST]
