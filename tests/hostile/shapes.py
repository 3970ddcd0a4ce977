"""The one table of what froze us, or might: named shapes, played into the decoders, the checker and the window.

A new shape is a new row. ``tests/hostile/test_*.py`` hold the bounds, with a wide margin; the benchmark
``hostile`` measures the same rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from playground.domain.debugging import Answer, AnswerRow, Debugging, MatchKind, Policy, ToolRule
from playground.domain.tools import ToolDefinition
from playground.engine.questions.kinds import (
    AnswerFits,
    ArgumentsFit,
    DefinitionSound,
    PathFits,
    Question,
    RowFits,
    SampleOf,
)
from playground.engine.session.variants import MOST_LANES
from playground.jsonkit.values import JSON, JSONObject
from tests.hostile.drawn import COLD, DRAWN, calls
from tests.hostile.streams import (
    BEGIN,
    Make,
    answer_with,
    block,
    call_with,
    delta,
    each,
    event,
    grown,
    named,
    piece,
    pieces,
    same,
)


@dataclass(frozen=True)
class StreamShape:
    """``make(count)`` is a body of about so many events. ``parts``: each of them is a part of the answer, or a
    completion, that is shorter on the wire than it can be in memory. ``read``: bytes of one network read."""

    name: str
    make: Make
    protocol: str = "chat"
    parts: bool = False
    read: int = 65536


def _tool_use(number: int) -> bytes:
    return block(number, type="tool_use", id=f"t{number}", name="f", input={})


def _body_of_calls(count: int) -> bytes:
    calls = [piece("{}", number, f"c{number}", "f") for number in range(count)]
    return json.dumps({"choices": [{"message": {"tool_calls": calls}}]}).encode()


def _choices_at_once(count: int) -> bytes:
    return event({"choices": [{"index": number, "delta": {"content": "a"}} for number in range(count)]})


def _repeats(count: int) -> bytes:
    complete = pieces(piece('{"a":"' + "x" * (count * 20) + '"}', 0, "c", "f"))
    return complete + pieces(piece('{"a":1}')) * count


def _message(count: int) -> bytes:
    return json.dumps({"type": "message", "content": [{"type": "text", "text": "a"}] * count}).encode()


def _big_then_small_usage(count: int) -> bytes:
    first = named("message_delta", delta={}, usage={"a": "x" * (count * 50)})
    return BEGIN + first + b"".join(named("message_delta", delta={}, usage={"k": n}) for n in range(count))


_TEXT: Final = {"type": "text", "text": "a"}


def _after_blocks(make: Callable[[int], bytes]) -> Make:
    """Blocks in the first half of the events, others in the second half."""

    def body(count: int) -> bytes:
        half = range(count // 2)
        return BEGIN + b"".join(block(n, **_TEXT) for n in half) + b"".join(map(make, half))

    return body


STREAMS: Final = (
    # framing
    StreamShape("blank lines", same(b"\n", 100)),
    StreamShape("carriage returns", same(b"\r", 100)),
    StreamShape("a blank line too many", same(b"data: {}\n\n\n", 5)),
    StreamShape("carriage returns a byte at a time", same(b"\r", 10), read=1),
    StreamShape("a line a byte at a time", same(b"x", 20, before=b"data: "), read=1),
    StreamShape("a line without an end", same(b"x", 300, before=b"data: ")),
    StreamShape("lines of an event without an end", same(b"data:\n", 20)),
    StreamShape("comments", same(b":\n\n", 20)),
    StreamShape("event lines", same(b"event: x\n", 10)),
    StreamShape("stray lines", same(b"x\n", 20)),
    StreamShape("events that are not JSON", same(b"data: {x\n\n", 5)),
    StreamShape("events after the end", same(b'data: {"a":1}\n\n', 5, before=b"data: [DONE]\n")),
    StreamShape("a page of opened tags", same(b"<html><title>", 8)),
    StreamShape("a body of blank lines", same(b"\n", 100, before=b"{")),
    StreamShape("brackets without an end", same(b"[", 60, before=b'data: {"choices":[{"delta":{"k":')),
    StreamShape("a list of empty objects", lambda count: b"data: [" + b"{}," * (count * 10) + b"{}]\n\n", parts=True),
    # chat completions
    StreamShape("text", same(delta({"content": "a"}))),
    StreamShape("choices", each(lambda n: delta({"content": "a"}, n)), parts=True),
    StreamShape("choices at once", _choices_at_once, parts=True),
    StreamShape("calls", each(lambda n: pieces(piece("{}", n, f"c{n}", "f"))), parts=True),
    StreamShape("calls at once", _body_of_calls, parts=True),
    StreamShape(
        "calls without an index",
        each(lambda n: pieces({"id": f"c{n}", "function": {"name": "f", "arguments": "{}"}})),
        parts=True,
    ),
    StreamShape("arguments", same(pieces(piece("x")), before=pieces(piece('{"a":"', 0, "c", "f")))),
    StreamShape("arguments of brackets", same(pieces(piece("[")), before=pieces(piece('{"a":', 0, "c", "f")))),
    StreamShape("empty arguments and spaces", same(pieces(piece(" " * 20)), before=pieces(piece("{}", 0, "c", "f")))),
    StreamShape("arguments said again", _repeats),
    StreamShape("names of calls", each(lambda n: pieces(piece("", 0, "c", f"f{n}")))),
    StreamShape("unknown members", each(lambda n: delta({f"k{n}": 1}))),
    StreamShape("an unknown text", each(lambda n: delta({"k": f"v{n}"}))),
    StreamShape("an unknown object", each(lambda n: delta({"k": {f"k{n}": 1}}))),
    StreamShape("unknown members of a call", each(lambda n: pieces(piece("1", 0, "c", "f", **{f"x{n}": 1})))),
    StreamShape("usage", each(lambda n: delta({"content": "a"}, usage={f"k{n}": 1}))),
    StreamShape(
        "errors", each(lambda n: delta({"content": "a"}, n) + event({"error": {"message": f"x{n}"}})), parts=True
    ),
    StreamShape(
        "reasoning records", same(delta({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "abc"}]}))
    ),
    StreamShape(
        "reasoning and text in turn",
        each(lambda n: delta({("content", "reasoning_content")[n % 2]: "a"})),
        parts=True,
    ),
    StreamShape("images", each(lambda n: delta({"images": [{"type": "image_url", "i": n}]})), parts=True),
    StreamShape("a tag that may begin", same(delta({"content": "<"}), before=delta({"content": "<think>"}))),
    StreamShape("halves of characters", same(b'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n')),
    StreamShape("finish reasons", each(lambda n: delta({}, finish=f"r{n}"))),
    # native messages
    StreamShape(
        "usage keys", each(lambda n: named("message_delta", delta={}, usage={f"k{n}": 1}), before=BEGIN), "messages"
    ),
    StreamShape("a large usage and small ones", _big_then_small_usage, "messages"),
    StreamShape(
        "message starts",
        each(lambda n: named("message_start", message={"id": f"m{n}", "usage": {f"u{n}": 1}})),
        "messages",
    ),
    StreamShape("blocks", each(lambda n: block(n, **_TEXT), before=BEGIN), "messages"),
    StreamShape("blocks of calls", each(_tool_use, before=BEGIN), "messages", parts=True),
    StreamShape(
        "blocks, then stop reasons",
        _after_blocks(lambda n: named("message_delta", delta={"stop_reason": "ab"[n % 2]})),
        "messages",
    ),
    StreamShape(
        "blocks, then text without an index",
        _after_blocks(lambda n: grown({"type": "text_delta", "text": "a"}, None)),
        "messages",
    ),
    StreamShape(
        "blocks, then whole messages",
        _after_blocks(lambda n: event({"type": "message", "content": [_TEXT]})),
        "messages",
    ),
    StreamShape(
        "blocks, then errors",
        _after_blocks(lambda n: named("error", error={"type": "x", "message": "m"})),
        "messages",
    ),
    StreamShape("blocks at once", _message, "messages", parts=True),
    StreamShape(
        "an unknown block",
        each(lambda n: grown({"type": "odd", f"k{n}": 1}), before=BEGIN + block(0, type="odd")),
        "messages",
    ),
    StreamShape(
        "input", same(grown({"type": "input_json_delta", "partial_json": "["}), before=BEGIN + _tool_use(0)), "messages"
    ),
    StreamShape(
        "signatures",
        same(
            grown({"type": "signature_delta", "signature": "abcdefgh" * 8}),
            before=BEGIN + block(0, type="thinking", thinking=""),
        ),
        "messages",
    ),
    StreamShape(
        "citations",
        each(lambda n: grown({"type": "citations_delta", "citation": {"a": n}}), before=BEGIN + block(0, **_TEXT)),
        "messages",
    ),
)


@dataclass(frozen=True)
class CheckShape:
    """A question about a foreign schema, pattern or path.

    ``decided``: whether there is an answer, or it is too costly; None: as the machine is quick.
    """

    name: str
    question: Callable[[], Question[Any]]
    decided: bool | None = True


def doubled(times: int) -> JSONObject:
    """A schema that says the same twice, of which each says the same twice, and so on."""
    names = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(times)}
    return {
        "type": "object",
        "$defs": {**names, f"d{times}": {"type": "string"}},
        "properties": {"a": {"$ref": "#/$defs/d0"}},
    }


def property_of(schema: JSONObject) -> JSONObject:
    """An object with ``a`` under a schema."""
    return {"type": "object", "properties": {"a": schema}}


def tool(schema: JSONObject, name: str = "tool") -> ToolDefinition:
    """A tool with that schema."""
    return ToolDefinition(name=name, description="A tool.", parameters=schema)


def _text(value: object) -> str:
    return json.dumps({"a": value})


_LETTERS: Final = "a" * 40 + "!"
_MANY_NAMES: Final = {f"p{n}": {"type": "string"} for n in range(20_000)}
_PATTERN_ROW: Final = AnswerRow(match=MatchKind.PATH, pattern="$[?search(@.a,'^(a+)+$')]")

CHECKS: Final = (
    CheckShape("a pattern that goes back", lambda: ArgumentsFit(_text(_LETTERS), property_of({"pattern": "^(a+)+$"}))),
    CheckShape(
        "a pattern that looks ahead and goes back",
        lambda: ArgumentsFit(_text("a" * 200), property_of({"pattern": "^(a|aa)+\\1b$"})),
        decided=False,
    ),
    CheckShape(
        "a pattern of a million states",
        lambda: ArgumentsFit(_text("a"), property_of({"pattern": "((a{100}){100}){100}"})),
    ),
    CheckShape(
        "names under a pattern that goes back",
        lambda: ArgumentsFit(json.dumps({_LETTERS: 1}), {"patternProperties": {"^(a+)+$": False}}),
    ),
    CheckShape(
        "unique items",
        lambda: ArgumentsFit(_text([{"n": n} for n in range(1_500)]), property_of({"uniqueItems": True})),
    ),
    CheckShape(
        "unique items by the ten thousand",
        lambda: ArgumentsFit(_text([{"n": n} for n in range(30_000)]), property_of({"uniqueItems": True})),
    ),
    CheckShape("alternatives doubled", lambda: ArgumentsFit(_text("x"), doubled(30))),
    CheckShape("alternatives doubled, none of which fits", lambda: ArgumentsFit(_text(5), doubled(30)), decided=False),
    CheckShape(
        "alternatives inside one another",
        lambda: ArgumentsFit("[" * 300 + "5" + "]" * 300, {"anyOf": [{"items": {"$ref": "#"}}] * 2}),
    ),
    CheckShape("a schema that is its own", lambda: ArgumentsFit(_text(5), {"allOf": [{"$ref": "#"}]})),
    CheckShape(
        "a schema of 20,000 properties", lambda: DefinitionSound(tool({"type": "object", "properties": _MANY_NAMES}))
    ),
    CheckShape(
        "arguments under 20,000 properties",
        lambda: ArgumentsFit('{"p1": 5}', {"type": "object", "properties": _MANY_NAMES, "required": [*_MANY_NAMES]}),
    ),
    CheckShape(
        "references that are looked for",
        lambda: DefinitionSound(tool({"properties": {f"p{n}": {"$ref": f"#a{n}"} for n in range(3_000)}})),
        decided=False,
    ),
    CheckShape(
        "an answer with 20,000 errors",
        lambda: AnswerFits(json.dumps(["x"] * 20_000), _format({"items": {"type": "integer"}})),
    ),
    CheckShape("a path with a pattern that goes back", lambda: PathFits("$[?search(@.a,'^(a+)+$')]", _text(_LETTERS))),
    CheckShape("a row with a pattern that goes back", lambda: RowFits(_PATTERN_ROW, _text(_LETTERS))),
    CheckShape(
        "a path through everything again and again",
        lambda: PathFits("$" + "..*" * 12 + ".none", _text([[[[[[1] * 4] * 4] * 4] * 4] * 4] * 4)),
        decided=None,
    ),
    CheckShape("an example of alternatives doubled", lambda: SampleOf(doubled(30))),
    CheckShape("an example for a pattern that goes back", lambda: SampleOf(property_of({"pattern": "^(a+)+!$"}))),
)


def _format(schema: JSONObject) -> JSONObject:
    return {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}


_NO_RULES: Final = Debugging()


@dataclass(frozen=True)
class WindowShape:
    """An answer that is played into a real window: ``body`` is the stream, ``tools`` are on offer, ``rules`` in force.

    ``cold``: fonts are looked up again, as in a window that has drawn nothing yet. ``lanes``: number of lanes that
    receive it at once.
    """

    name: str
    body: Callable[[], bytes]
    tools: tuple[ToolDefinition, ...] = ()
    rules: Debugging = _NO_RULES
    protocol: str = "chat"
    cold: bool = False
    lanes: int = 1


def _called(arguments: str, name: str = "tool") -> Callable[[], bytes]:
    return lambda: call_with(arguments, name)


def _ended(shape: str, count: int) -> Callable[[], bytes]:
    created = next(item for item in STREAMS if item.name == shape)
    return lambda: created.make(count) + delta({}, finish="stop") + b"data: [DONE]\n\n"


def _choices(count: int) -> bytes:
    received = b"".join(delta({"content": "x"}, number) for number in range(count))
    return received + b"".join(delta({}, number, "stop") for number in range(count)) + b"data: [DONE]\n\n"


def _unknown_members(what: JSONObject) -> bytes:
    return delta(what) + delta({}, finish="stop") + b"data: [DONE]\n\n"


def _in_lists(value: JSON, levels: int) -> JSON:
    for _ in range(levels):
        value = [value]
    return value


def _asked(pattern: str) -> Debugging:
    return Debugging(default=ToolRule(policy=Policy.TABLE, pause_on_path=pattern, rows=(_PATTERN_ROW,)))


WINDOW: Final = (
    # what is checked
    WindowShape("a pattern that goes back", _called(_text(_LETTERS)), (tool(property_of({"pattern": "^(a+)+$"})),)),
    WindowShape(
        "a pattern that refers back", _called(_text("a" * 200)), (tool(property_of({"pattern": "^(a|aa)+\\1b$"})),)
    ),
    WindowShape(
        "unique items",
        _called(_text([{"n": n} for n in range(1_500)])),
        (tool(property_of({"uniqueItems": True})),),
    ),
    WindowShape("alternatives doubled", _called(_text(5)), (tool(doubled(30)),)),
    WindowShape(
        "a rule with a pattern that goes back", _called(_text(_LETTERS)), (), _asked("$[?search(@.a,'^(a+)+$')]")
    ),
    WindowShape("a rule that walks and walks", _called(_text([[[[1] * 9] * 9] * 9] * 9)), (), _asked("$" + "..*" * 12)),
    WindowShape(
        "calls that a rule answers",
        lambda: calls(150),
        (tool({"type": "object"}, "get_weather"),),
        Debugging(default=ToolRule(policy=Policy.FIXED, fixed=Answer(text="ok")), step_limit=2),
    ),
    # arguments
    WindowShape("arguments of brackets", _called('{"a":' + "[" * 100_000)),
    WindowShape("arguments of numbers", _called('{"a":[' + "1," * 50_000)),
    WindowShape("arguments of numbers in brackets", _called(_text({"a": _in_lists([1] * 9_000, 57)}))),
    WindowShape("arguments with names of a megabyte", _called('{"' + "n" * 1_000_000 + '": 1}')),
    WindowShape("arguments of doubled names", lambda: call_with("{" + '"a":1,' * 4_600, size=8)),
    WindowShape("arguments of six thousand lines", _called(_text([[1] * 9] * 600)), (tool(property_of({})),)),
    WindowShape("arguments of escapes", _called(_text('"' * 1_000_000))),
    # names
    WindowShape("a tool name of a megabyte", _called("{}", "n" * 1_000_000)),
    WindowShape("a tool name of 50,000 parts", _called("{}", "part_" * 50_000)),
    WindowShape("a tool name of words", _called("{}", "part " * 50_000)),
    # the decoder
    WindowShape("blank lines", _ended("blank lines", 10_000)),
    WindowShape("carriage returns", _ended("carriage returns", 10_000)),
    WindowShape("comments", _ended("comments", 5_000)),
    WindowShape("unknown members", _ended("unknown members", 10_000)),
    WindowShape("unknown numbers in brackets", lambda: _unknown_members({"k": _in_lists(list(range(50_000)), 90)})),
    WindowShape("usage", _ended("usage", 5_000)),
    WindowShape("usage of 50,000 keys", lambda: answer_with("hi", usage={f"k{n}": n for n in range(50_000)})),
    # side by side
    WindowShape("arguments of brackets in six lanes", _called('{"a":' + "[" * 100_000), lanes=MOST_LANES),
    WindowShape("a line of a megabyte in six lanes", lambda: answer_with("x" * 1_000_000), lanes=MOST_LANES),
    WindowShape("a tool name of a megabyte in six lanes", _called("{}", "n" * 1_000_000), lanes=MOST_LANES),
    WindowShape("two thousand choices of six lanes", lambda: _choices(2_000 // MOST_LANES), lanes=MOST_LANES),
    # what is drawn
    *(WindowShape(name, body, cold=name in COLD) for name, body in DRAWN.items()),
)
