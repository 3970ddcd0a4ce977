"""What an answer is to be, as a protocol says it: the rules of the lint, and what they have to know to look.

Each is said with a section of the specification, empty where only common practice says so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from playground.jsonkit import foreign
from playground.jsonkit.values import JSONObject

#: A section and what it says.
Says = tuple[str, str]

NUMBERS: Final = ("", "By the JSON standard (RFC 8259) a number is written in digits; NaN and Infinity are none.")
LARGE: Final = ("", "By the JSON standard (RFC 8259) numbers are to be such as a double holds, up to about 1.8e308.")
ERROR: Final = ("7.2", "An error is a JSON object with code, message and data.")


#: Looks at an object, and gives a note on what it lacks; empty for nothing.
Look = Callable[[JSONObject], str]


class Shapes(ABC):
    """Looks for the fields that every frame of one answer is to have. Of each thing that is missing it tells once.

    What is found are a code, and a note for people. ``whole`` is what is looked for in an answer that is no stream,
    which ``known_by`` that member.
    """

    whole: ClassVar[Mapping[str, Look]]
    known_by: ClassVar[str]

    def __init__(self) -> None:
        self._told: set[str] = set()

    def body(self, raw: bytes) -> Iterator[tuple[str, str]]:
        """What an answer that is no stream lacks."""
        value = parsed(raw)
        if value is not None and self.known_by in value:
            yield from self.look(self.whole, value)

    @abstractmethod
    def frame(self, raw: bytes) -> Iterable[tuple[str, str]]:
        """What the next frame of a stream lacks."""

    def first(self, code: str, note: str) -> Iterator[tuple[str, str]]:
        """The finding, unless there was one of that code."""
        if note and code not in self._told:
            self._told.add(code)
            yield code, note

    def look(self, looks: Mapping[str, Look], value: JSONObject) -> Iterator[tuple[str, str]]:
        """What is odd about ``value`` and was not told yet."""
        for code, look in looks.items():
            if code not in self._told:
                yield from self.first(code, look(value))


def _none(_error: JSONObject) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Expected:
    """What one protocol expects. A rule of the lint that needs words of it holds where it has them in ``rules``.

    ``noted`` are by the codes of the decoder, ``noted_else`` for those that are not among them. ``calling``,
    ``talking`` and ``cut`` are how a completion ends that calls tools, that ends by itself, that reached a limit.
    ``limits`` are the members of a body with the most tokens, the first that is set counts, and whether reasoning is
    among them; ``stops`` is the member with the stop sequences, ``counts`` what usage has. ``is_error`` tells the body
    of an error in the protocol's own shape, ``errors_in_stream`` whether it has an event for one. ``shape_codes`` are
    what its ``shapes`` may tell.
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
    """The code and the note of an answer that came ``streamed``, or whole, where the other was asked for."""
    if streamed:
        return "streamed_unasked", "a stream came although none was asked for"
    return "not_streamed", "one JSON body came although a stream was asked for"


def other_count(asked: int, came: int) -> tuple[str, str]:
    """The code and the note of an answer of ``came`` completions where ``asked`` were asked for."""
    wanted = "1 choice was" if asked == 1 else f"{asked:,} choices were"
    return "choices_count", f"{wanted} asked for, {came or 'none'} came"


def text_in(name: str, what: str) -> Look:
    """Looks for a text."""

    def look(value: JSONObject) -> str:
        found = value.get(name)
        return "" if isinstance(found, str) and found else f"{what} has no {name}"

    return look


def parsed(text: bytes) -> JSONObject | None:
    """The object in a frame; None where there is none."""
    try:
        value = foreign.parse(text.decode("utf-8", "replace").strip())
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
