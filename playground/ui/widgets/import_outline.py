"""What was understood of a pasted request, as rows for a person to look over. No widgets, and no secret."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from playground.domain.request import ReasoningReturn
from playground.domain.transcript import Turn
from playground.engine.requests.pasted import Imported
from playground.engine.requests.protocol_info import TITLES
from playground.jsonkit.values import JSON
from playground.ui.widgets.reasoning_words import SEND_REASONING
from playground.ui.widgets.role_words import ROLE_WORDS

LONGEST = 400  # characters of a value that are looked at
MOST_ROWS = 200

Row = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Group:
    """A line of its own, or a heading with rows below it."""

    title: str
    value: str = ""
    rows: tuple[Row, ...] = ()


def outline(found: Imported) -> list[Group]:
    """The request in order: what it is, its turns, what is set, what goes along besides."""
    request = found.request
    groups = [
        Group("Protocol", TITLES.get(request.protocol, request.protocol)),
        Group("Model", request.model or "none named"),
        Group("Base URL", found.base_url or "none named"),
        _group("Turns", ((ROLE_WORDS[turn.role], _said(turn)) for turn in request.turns)),
        _group("Parameters", ((name, _json(value)) for name, value in request.parameters.to_wire().items())),
        _group("Tools", ((tool.name, _line(tool.description) or "no description") for tool in request.tools)),
        _group("Extra body", ((name, _json(value)) for name, value in request.extra_body.items())),
        _group("Extra headers", request.extra_headers.items()),
    ]
    if request.reasoning_return != ReasoningReturn():
        when = dict(SEND_REASONING)[request.reasoning_return.when]
        name = f", as {request.reasoning_return.field}" if request.reasoning_return.field else ""
        groups.append(Group("Reasoning goes back", f"{when}{name}"))
    return groups


def _group(title: str, rows: Iterable[Row]) -> Group:
    every = tuple(rows)
    shown = every[:MOST_ROWS]
    if len(every) > MOST_ROWS:
        shown += (("…", f"and {len(every) - MOST_ROWS:,} more"),)
    return Group(title, str(len(every)) if every else "none", shown)


def _said(turn: Turn) -> str:
    """One line on a turn: its text, and what else is in it."""
    pieces = [_line(turn.reasoning) and f"reasoning: {_line(turn.reasoning)}", _line(turn.text), _line(turn.refusal)]
    pieces += [f"calls {call.name}({_line(call.arguments)})" for call in turn.calls]
    pieces += [f"result of {result.call_id}: {_line(result.text)}" for result in turn.results]
    images = len(turn.images)
    pieces.append(f"{images} image{'s' * (images > 1)}" if images else "")
    pieces += ["a part of an unknown kind" for part in turn.parts if part.kind == "unknown"]
    return " · ".join(piece for piece in pieces if piece) or "empty"


def _line(text: str) -> str:
    return " ".join(text[: LONGEST * 2].split())[:LONGEST]


def _json(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)[:LONGEST]
