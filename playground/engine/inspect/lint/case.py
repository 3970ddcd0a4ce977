"""The subject of the lint rules: one exchange with its request, its frames and the decoded answer.

``read_exchange`` does the work once the exchange has ended; receiving tokens needs none of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from playground.domain.accumulator import Accumulator
from playground.domain.errors import FailureKind
from playground.domain.output import wants_json
from playground.engine.inspect.frames import FrameIndex, Kind, bits
from playground.jsonkit import foreign
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import DEFAULT
from playground.protocols.expected import Expected, parsed
from playground.protocols.protocol import format_in, get_protocol

_SKIPPED: Final = bits(Kind.COMMENT)
_BODY: Final = bits(Kind.BODY)
_NO_CAP: Final = 1 << 62

_MODES: Final = {"none": "none", "required": "required", "any": "required"}


@dataclass(frozen=True, slots=True)
class LintRequest:
    """One request; ``readable`` is False if its body is not JSON; the other fields are then meaningless.

    ``tools`` are the names on offer, None where some cannot be known. ``choice`` is "auto", "none", "required" or
    "named", which is the tool ``named``. ``limit`` is in tokens of one completion, reasoning included where
    ``limits_reasoning``. ``body`` is the request itself.
    """

    readable: bool = False
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


def read_request(data: bytes, protocol: str) -> LintRequest:
    """Read the settings of the request body ``data`` that rules compare with."""
    try:
        body = foreign.parse(data.decode("utf-8", "replace"))
    except ValueError:
        return LintRequest()
    if not isinstance(body, dict):
        return LintRequest()
    spoken = get_protocol(protocol or DEFAULT)
    expected = spoken.expected
    choice, named = _choice(body.get("tool_choice"))
    limits = [(_count(body.get(name)), reasons) for name, reasons in expected.limits]
    limit, limits_reasoning = next((entry for entry in limits if entry[0] is not None), limits[-1])
    stops = body.get(expected.stops)
    options = body.get("stream_options")
    return LintRequest(
        readable=True,
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
        as_json=wants_json(format_in(spoken.name, body)),
        body=body,
    )


def _tools(body: JSONObject) -> frozenset[str] | None:
    """The names of the tools on offer; None where one has no name, as tools that the gateway runs itself."""
    names = set()
    for key in ("tools", "functions"):
        entries = body.get(key)
        for entry in entries if isinstance(entries, list) else []:
            function = entry.get("function", entry.get("custom", entry)) if isinstance(entry, dict) else None
            name = function.get("name") if isinstance(function, dict) else None
            if not isinstance(name, str):
                return None
            names.add(name)
    return frozenset(names)


def call_ids(body: JSONObject, protocol: str) -> frozenset[str]:
    """The ids of the calls in the conversation that a request sends."""
    ids: set[JSON] = set()
    for message in get_protocol(protocol).entries(body):
        if not isinstance(message, dict):
            continue
        ids.add(str(message.get("call_id", "")))  # of an item that is a call, or its result
        for key in ("tool_calls", "content"):
            entries = message.get(key)
            ids.update(
                entry["id"]
                for entry in (entries if isinstance(entries, list) else ())
                if isinstance(entry, dict) and isinstance(entry.get("id"), str)
            )
    return frozenset(str(id_) for id_ in ids if id_)


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
    single = isinstance(choice, dict) and choice.get("disable_parallel_tool_use") is True
    return not single and body.get("parallel_tool_calls") is not False


def _count(value: JSON) -> int | None:
    return value if type(value) is int and value > 0 else None


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else ""


class Seen(NamedTuple):
    """A deviation: a note for people, and the number of the frame that shows it; None for status and headers."""

    note: str
    frame: int | None


class Case:
    """One ended exchange. Rules are called after ``read_exchange`` was gone through."""

    def __init__(self, index: FrameIndex) -> None:
        self.index = index
        self.exchange = index.exchange
        self.request = LintRequest()
        self.answer: Accumulator | None = None  # where a rule wants its text
        self.shapes: dict[str, Seen] = {}  # by code

    def read_exchange(self) -> None:
        """Read the request, the frames' shapes and, if a rule wants its text, the answer."""
        exchange = self.exchange
        self.request = read_request(exchange.request_body, exchange.protocol)
        if not self.is_answer:
            return
        self._check_shapes()
        if self.request.as_json or self.request.stops or self.index.calls:
            self.answer = Accumulator()
            for _, events in exchange.replay(get_protocol(exchange.protocol).decoder(exchange.content_type, _NO_CAP)):
                self.answer.add_events(events)

    def _check_shapes(self) -> None:
        index, shapes = self.index, self.expected.shapes()
        for number in range(len(index)):
            kind = index.kind_bits(number)
            if not kind & _SKIPPED:
                raw = index.raw(number)
                for code, note in shapes.body(raw) if kind & _BODY else shapes.frame(raw):
                    self.shapes[code] = Seen(note, number)

    @cached_property
    def expected(self) -> Expected:
        """The protocol's expectations of its answers. Raises for an exchange without protocol, such as a model list."""
        return get_protocol(self.exchange.protocol).expected

    @property
    def is_answer(self) -> bool:
        """Return whether there is a successful body of the protocol, still in memory."""
        return (
            not self.exchange.dropped
            and bool(self.exchange.protocol)
            and 200 <= (self.exchange.status or 0) < 300
            and len(self.index) > 0
        )

    @property
    def is_error(self) -> bool:
        """Return whether the status is an error and its body is still in memory."""
        return not self.exchange.dropped and (self.exchange.status or 0) >= 400

    @property
    def is_whole(self) -> bool:
        """Return whether the answer was received to its end, so that missing members were never sent."""
        failure = self.index.failure
        return self.is_answer and self.exchange.complete and (failure is None or failure.kind is FailureKind.EMPTY)

    @property
    def streamed(self) -> bool:
        """Return whether the answer came in frames."""
        return self.is_answer and not self.index.kind_bits(0) & _BODY

    @property
    def last(self) -> int | None:
        """The last frame, if there is any."""
        return len(self.index) - 1 if len(self.index) else None

    @property
    def media_type(self) -> str:
        """The response's Content-Type without its parameters; empty where there is none."""
        return (self.exchange.content_type or "").partition(";")[0].strip().lower()

    @cached_property
    def noted(self) -> frozenset[str]:
        """The codes that the decoder noted."""
        return frozenset(code for notes in self.index.deviations.values() for code, _ in notes)

    @cached_property
    def choices(self) -> list[int]:
        """The completions that brought anything."""
        return sorted({*self.index.choices(), *self.index.finish})

    def shape(self, code: str) -> list[Seen]:
        """Return the deviation of the frames' shape with this code, if any."""
        return [self.shapes[code]] if code in self.shapes else []

    def calls_of(self, choice: int) -> list[int]:
        """The frames in which the calls of a completion began."""
        return self._calls.get(choice, [])

    @cached_property
    def _calls(self) -> dict[int, list[int]]:
        frames: dict[int, list[int]] = {}
        for (choice, _), call in self.index.calls.items():
            frames.setdefault(choice, []).append(call.frame)
        return frames

    @cached_property
    def error(self) -> JSON:
        """The body of an error as JSON; None where it is none."""
        try:
            return foreign.parse(self.exchange.body.decode("utf-8", "replace"))
        except ValueError:
            return None

    def is_own_error(self, number: int | None) -> bool:
        """Return whether a frame holds an error in the protocol's own shape."""
        value = parsed(self.index.raw(number).partition(b"data:")[2]) if number is not None else None
        return value is not None and self.expected.is_error(value)

    @property
    def usage(self) -> JSONObject:
        """The usage object as received."""
        usage = self.index.usage
        return (usage.raw if usage is not None else None) or {}
