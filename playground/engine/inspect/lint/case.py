"""What the rules of the lint look at: one exchange, what it asked for, what its frames said, the answer they make.

``read_exchange`` does the work in small steps, once the exchange has ended; no token on its way needs any of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Final, NamedTuple

from playground.domain.accumulator import Accumulator
from playground.domain.errors import FailureKind
from playground.engine.inspect.frames import FrameIndex, Kind, bits
from playground.engine.inspect.lint.asked import Asked, read_asked
from playground.jsonkit import foreign
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.expected import Expected
from playground.protocols.protocol import get_protocol

_AT_ONCE: Final = 64  # frames between two pauses
_SKIPPED: Final = bits(Kind.COMMENT)
_BODY: Final = bits(Kind.BODY)
_NO_CAP: Final = 1 << 62


class Seen(NamedTuple):
    """What a rule found: a note for people, and the frame that shows it; None for status and headers."""

    note: str
    frame: int | None


class Case:
    """One ended exchange. Rules are called after ``read_exchange`` was gone through."""

    def __init__(self, index: FrameIndex) -> None:
        self.index = index
        self.exchange = index.exchange
        self.asked = Asked()
        self.answer: Accumulator | None = None  # where a rule wants its text
        self.shapes: dict[str, Seen] = {}  # by code

    def read_exchange(self) -> Iterator[None]:
        """Look at all of it, with pauses in which other work can be done."""
        exchange = self.exchange
        self.asked = read_asked(exchange.request_body, exchange.protocol)
        yield
        if not self.is_answer:
            return
        yield from self._look_at_shapes()
        if self.asked.as_json or self.asked.stops or self.index.calls:
            self.answer = Accumulator()
            for _, events in exchange.replay(get_protocol(exchange.protocol).decoder(exchange.content_type, _NO_CAP)):
                self.answer.add_events(events)
                yield

    def _look_at_shapes(self) -> Iterator[None]:
        index, shapes = self.index, self.expected.shapes()
        for number in range(len(index)):
            kind = index.kind_bits(number)
            if not kind & _SKIPPED:
                raw = index.raw(number)
                for code, note in shapes.body(raw) if kind & _BODY else shapes.frame(raw):
                    self.shapes[code] = Seen(note, number)
            if not number % _AT_ONCE:
                yield

    @cached_property
    def expected(self) -> Expected:
        """What the protocol says of its answers. There is none of what is not asked over any, such as a model list."""
        return get_protocol(self.exchange.protocol).expected

    @property
    def is_answer(self) -> bool:
        """Whether a body came that the protocol speaks of, and is still there."""
        return (
            not self.exchange.dropped
            and bool(self.exchange.protocol)
            and 200 <= (self.exchange.status or 0) < 300
            and len(self.index) > 0
        )

    @property
    def is_error(self) -> bool:
        """Whether the status is that of an error, and what came with it is still there."""
        return not self.exchange.dropped and (self.exchange.status or 0) >= 400

    @property
    def is_whole(self) -> bool:
        """Whether the answer was seen to its end, so that what is not there was not sent; one that is empty, too."""
        failure = self.index.failure
        return self.is_answer and self.exchange.complete and (failure is None or failure.kind is FailureKind.EMPTY)

    @property
    def streamed(self) -> bool:
        """Whether the answer came in frames."""
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
        """What was found missing in the frames under ``code``."""
        return [self.shapes[code]] if code in self.shapes else []

    def calls_of(self, choice: int) -> list[int]:
        """The frames in which the calls of a completion began."""
        return self._calls.get(choice, [])

    @cached_property
    def _calls(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for (choice, _), call in self.index.calls.items():
            found.setdefault(choice, []).append(call.frame)
        return found

    @cached_property
    def error(self) -> JSON:
        """The body of an error as JSON; None where it is none."""
        try:
            return foreign.parse(self.exchange.body.decode("utf-8", "replace"))
        except ValueError:
            return None

    @property
    def usage(self) -> JSONObject:
        """The usage object as received."""
        usage = self.index.usage
        return (usage.raw if usage is not None else None) or {}
