"""Requirements of a protocol on its answers: the rules of the lint, and the names they search for.

Each has a section of the specification, empty where only common practice requires it.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from playground.jsonkit import foreign
from playground.jsonkit.values import JSONObject

#: A section and its requirement.
Says = tuple[str, str]

NUMBERS: Final = ("", "By the JSON standard (RFC 8259) a number is written in digits; NaN and Infinity are none.")
LARGE: Final = ("", "By the JSON standard (RFC 8259) numbers are to be such as a double holds, up to about 1.8e308.")
ERROR: Final = ("7.2", "An error is a JSON object with code, message and data.")


_EVENT_NAME: Final = re.compile(rb"(?:\A|[\r\n])event:([^\r\n]*)")

#: Checks an object; returns a note on a missing or wrong field, else an empty string.
Look = Callable[[JSONObject], str]


class Shapes(ABC):
    """Checks that the frames of one answer have the required fields. Each defect is reported once.

    A defect is a code and a note for people. ``body_looks`` are the checks of an answer that is no stream;
    ``body_member`` is a member that only such an answer has.
    """

    body_looks: ClassVar[Mapping[str, Look]]
    body_member: ClassVar[str]

    def __init__(self) -> None:
        self._reported: set[str] = set()

    def body(self, raw: bytes) -> Iterator[tuple[str, str]]:
        """Yield the defects of an answer that is no stream."""
        value = parsed(raw)
        if value is not None and self.body_member in value:
            yield from self.look(self.body_looks, value)

    @abstractmethod
    def frame(self, raw: bytes) -> Iterable[tuple[str, str]]:
        """Yield the defects of the next frame of a stream."""

    def first(self, code: str, note: str) -> Iterator[tuple[str, str]]:
        """Yield a defect unless one of that code was reported before."""
        if note and code not in self._reported:
            self._reported.add(code)
            yield code, note

    def look(self, looks: Mapping[str, Look], value: JSONObject) -> Iterator[tuple[str, str]]:
        """Yield the defects of ``value`` that were not reported before."""
        for code, look in looks.items():
            if code not in self._reported:
                yield from self.first(code, look(value))


class EventShapes(Shapes):
    """Checks of a stream whose events have a type, which their ``event:`` lines repeat."""

    def frame(self, raw: bytes) -> Iterator[tuple[str, str]]:
        """Yield the defects of an event."""
        named = _EVENT_NAME.search(raw)
        value = parsed(raw.partition(b"data:")[2].partition(b"\nevent:")[0])
        kind = value.get("type") if value is not None else None
        if value is None or not isinstance(kind, str):
            return
        name = named[1].strip().decode("utf-8", "replace") if named else ""
        if name != kind:
            note = f"an event is named “{name[:60]}” and its type is “{kind[:60]}”"
            yield from self.first("event_name", note if named else "an event has no name with its data")
        yield from self.event(kind, value)

    @abstractmethod
    def event(self, kind: str, value: JSONObject) -> Iterator[tuple[str, str]]:
        """Yield the defects of an event of a type."""


def _none(_error: JSONObject) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Expected:
    """Requirements of one protocol. A rule of the lint applies where ``rules`` has an entry for it.

    ``noted`` has the requirements by the decoder's codes, ``noted_else`` the one for all other codes. ``calling``,
    ``talking`` and ``cut`` are the finish reasons for tool calls, a natural end and a limit. ``limits`` are the members
    of a body that limit its tokens, the first one set counts, with whether reasoning is included; ``stops`` is the
    member with the stop sequences, ``counts`` the members of usage. ``is_error`` recognizes an error body in the
    protocol's own shape, ``errors_in_stream`` means that there is an event for errors. ``shape_codes`` are the codes
    that ``shapes`` may report.
    """

    rules: Mapping[str, Says]
    noted: Mapping[str, Says]
    noted_else: Says
    calling: str
    talking: str
    cut: str
    limits: tuple[tuple[str, bool], ...]
    stops: str
    counts: tuple[str, ...]
    shapes: Callable[[], Shapes]
    shape_codes: tuple[str, ...]
    is_error: Callable[[JSONObject], bool] = _none
    errors_in_stream: bool = False


def other_way(*, streamed: bool) -> tuple[str, str]:
    """Return code and note of an answer that is ``streamed``, or not, against the request."""
    if streamed:
        return "streamed_unasked", "a stream was received although none was requested"
    return "not_streamed", "one JSON body was received although a stream was requested"


def other_count(requested: int, received: int) -> tuple[str, str]:
    """Return code and note of an answer with ``received`` completions where ``requested`` were asked for."""
    subject = "1 choice was" if requested == 1 else f"{requested:,} choices were"
    return "choices_count", f"{subject} requested, {received or 'none'} received"


def text_in(name: str, what: str) -> Look:
    """Return a check that the member ``name`` is a text."""

    def look(value: JSONObject) -> str:
        text = value.get(name)
        return "" if isinstance(text, str) and text else f"{what} has no {name}"

    return look


def parsed(text: bytes) -> JSONObject | None:
    """Return the JSON object in a frame; None where there is none."""
    try:
        value = foreign.parse(text.decode("utf-8", "replace").strip())
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
