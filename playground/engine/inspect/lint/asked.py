"""What a request asked for, in one shape for all protocols, so that an answer can be compared with it.

Read from the bytes that went out, not from the panels: an edited body, a cassette and the store have nothing else.
Values of the wrong type count as not given; nothing here raises.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from playground.domain.output import format_of, wants_json
from playground.jsonkit import foreign
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import DEFAULT
from playground.protocols.protocol import get_protocol

_MODES: Final = {"none": "none", "required": "required", "any": "required"}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request; ``known`` is False where its body cannot be read, and the rest then means nothing.

    ``tools`` are the names on offer, None where some cannot be known. ``choice`` is "auto", "none", "required" or
    "named", which is the tool ``named``. ``limit`` is in tokens of one completion, reasoning included where
    ``limits_reasoning``. ``body`` is the request itself.
    """

    known: bool = False
    model: str = ""
    stream: bool = False
    usage: bool = False
    count: int = 1
    tools: frozenset[str] | None = None
    choice: str = "auto"
    named: str = ""
    parallel: bool = True
    limit: int | None = None
    limits_reasoning: bool = True
    stops: tuple[str, ...] = ()
    as_json: bool = False
    body: JSONObject = field(default_factory=dict)


def read_asked(data: bytes, protocol: str) -> Asked:
    """What the request body ``data`` asks for."""
    try:
        body = foreign.parse(data.decode("utf-8", "replace"))
    except ValueError:
        return Asked()
    if not isinstance(body, dict):
        return Asked()
    spoken = get_protocol(protocol or DEFAULT)
    expected = spoken.expected
    choice, named = _choice(body.get("tool_choice"))
    limits = [(_count(body.get(name)), reasons) for name, reasons in expected.limits]
    limit, limits_reasoning = next((one for one in limits if one[0] is not None), limits[-1])
    stops = body.get(expected.stops)
    options = body.get("stream_options")
    return Asked(
        known=True,
        model=_text(body.get("model")),
        stream=body.get("stream") is True,
        usage=isinstance(options, dict) and options.get("include_usage") is True,
        count=spoken.choices(body),
        tools=_tools(body),
        choice=choice,
        named=named,
        parallel=_parallel(body),
        limit=limit,
        limits_reasoning=limits_reasoning,
        stops=tuple(stop for stop in (stops if isinstance(stops, list) else [stops]) if stop and isinstance(stop, str)),
        as_json=wants_json(format_of(body)),
        body=body,
    )


def _tools(body: JSONObject) -> frozenset[str] | None:
    """The names of the functions on offer; None where one has no name, as tools that the gateway runs itself."""
    names = set()
    for key in ("tools", "functions"):
        entries = body.get(key)
        for entry in entries if isinstance(entries, list) else []:
            function = entry.get("function", entry) if isinstance(entry, dict) else None
            name = function.get("name") if isinstance(function, dict) else None
            if not isinstance(name, str):
                return None
            names.add(name)
    return frozenset(names)


def _choice(value: JSON) -> tuple[str, str]:
    if isinstance(value, str):
        return _MODES.get(value, "auto"), ""
    if not isinstance(value, dict):
        return "auto", ""
    function = value.get("function")
    name = function.get("name") if isinstance(function, dict) else value.get("name")
    if value.get("type") in ("function", "tool") and isinstance(name, str):
        return "named", name
    return _MODES.get(_text(value.get("type")), "auto"), ""


def _parallel(body: JSONObject) -> bool:
    choice = body.get("tool_choice")
    one = isinstance(choice, dict) and choice.get("disable_parallel_tool_use") is True
    return not one and body.get("parallel_tool_calls") is not False


def _count(value: JSON) -> int | None:
    return value if type(value) is int and value > 0 else None


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else ""
