"""Two exchanges side by side: what was asked differently, what was answered differently, what it took.

Values in, values out; nothing is decided about how it looks. All of it is for a thread beside the window's: no single
step holds the interpreter for long, however large the bodies are, and what is not compared for its size is said.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from playground.domain.accumulator import Accumulator
from playground.domain.transcript import Role, Turn
from playground.engine.inspect.frames import FrameIndex
from playground.engine.inspect.timeline import Timeline
from playground.engine.inspect.unknown_members import beside_part, beside_turn, clipped
from playground.gateway.tape import Exchange
from playground.jsonkit.nesting import loads
from playground.jsonkit.tokens import tokens
from playground.jsonkit.values import JSON, same
from playground.protocols.protocol import get_protocol

#: A word with the space behind it, so that spaces alone do not match everywhere.
_WORD: Final = re.compile(r"\w+\s*|[^\w\s]\s*|\s+")
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
#: Words beyond which texts are compared line by line first; the time to compare grows with the square.
_MANY: Final = 4000
#: Pairs of what is alike beyond which nothing that is everywhere begins a match: the time grows with their number,
#: times that of the places that differ.
_MOST_PAIRS: Final = 50_000
_MANY_LINES: Final = 8000  # lines or items of both sides beyond which those that stand there once are matched first
_UNITS: Final = {"tokens/s": "tok/s", "tokens": "", "choices": ""}  # in words; a label says the others
_DEEP: Final = 100  # levels of JSON that are gone through; below, a value is alike or not
MOST_TEXT: Final = 200_000  # characters of an answer that are compared
MOST_TOKENS: Final = 500_000  # names, values and signs of a request: the time to read that many is a moment
_OF_ITSELF: Final = frozenset({"content-length"})  # headers that follow from the body


CUT: Final = f"Of longer texts the first {MOST_TEXT:,} characters are compared."


#: What became of a stretch, and where it is in both: as SequenceMatcher tells it.
Opcode: TypeAlias = tuple[str, int, int, int, int]


class Side(StrEnum):
    """Where something stands."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Difference:
    """One member that differs. ``path`` reads like ``messages[2].content``; the absent side is None."""

    path: str
    kind: Side
    before: JSON = None
    after: JSON = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that both sides have, or one of them."""

    kind: Side
    text: str


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of both sides; None where it is not known. ``unit`` is s, tokens, tokens/s, bytes or choices."""

    label: str
    unit: str
    left: float | None
    right: float | None

    @property
    def words(self) -> str:
        """Both for people, with how the second differs: ``0.31 s → 0.42 s (+0.11 s)``."""
        both = f"{_figure_words(self.left, self.unit)} → {_figure_words(self.right, self.unit)}"
        if self.left is None or self.right is None:
            return both
        digits = min(_digits(self.left, self.unit), _digits(self.right, self.unit))
        sign, apart = difference(self.left, self.right, digits)
        return f"{both} ({sign}{_figure_words(apart, self.unit, digits)})"


def difference(before: float, after: float, digits: int) -> tuple[str, float]:
    """Its sign and size, of what is shown of both when they are rounded to so many digits."""
    apart = round(after, digits) - round(before, digits)
    return "±" if not apart else "−" if apart < 0 else "+", abs(apart)


class Sent(NamedTuple):
    """A request as it went out or would: no headers where only its address and body are known; ``body`` is text."""

    url: str
    headers: tuple[tuple[str, str], ...]
    body: str


class TooLargeError(ValueError):
    """Something is too large to be compared; the text is a sentence that says so."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came of two exchanges. ``answer`` and ``reasoning`` are those of the first choice.

    ``figures`` are of a whole exchange, however many choices it brought; where it was several, they say how many.
    ``beside`` is what came with the first choice that nothing here knows, laid out as JSON. ``cut``: texts were longer
    than ``MOST_TEXT``, and only their beginnings are compared.
    """

    answer: tuple[Piece, ...]
    reasoning: tuple[Piece, ...]
    figures: tuple[Figure, ...]
    beside: tuple[Piece, ...] = ()
    cut: bool = False

    @property
    def alike(self) -> str:
        """How much of the longer answer stands in the other, in words."""
        sizes = {kind: sum(len(piece.text) for piece in self.answer if piece.kind is kind) for kind in Side}
        most = sizes[Side.SAME] + max(sizes[Side.ADDED], sizes[Side.REMOVED])
        if not most:
            return "no answers"
        share = sizes[Side.SAME] / most
        return "the answers are alike" if share == 1 else f"{share:.0%} of the answer is alike"


def compare(left: FrameIndex, right: FrameIndex) -> Comparison:
    """What both brought, as far as it has come."""
    one, two = _answer(left.exchange), _answer(right.exchange)
    ours, theirs = _texts(one), _texts(two)
    answer, reasoning, beside = (
        diff_words(text[:MOST_TEXT], other[:MOST_TEXT]) for text, other in zip(ours, theirs, strict=True)
    )
    counts = [found.answered if isinstance(found, Accumulator) else None for found in (one, two)]
    several = any(count is not None and count > 1 for count in counts)
    choices, others = counts if several else (None, None)
    return Comparison(
        answer=answer,
        reasoning=reasoning,
        figures=tuple(
            Figure(label, unit, ours, theirs)
            for (label, unit, ours), (_, _, theirs) in zip(
                _figures(left, choices), _figures(right, others), strict=True
            )
            if ours is not None or theirs is not None
        ),
        beside=beside,
        cut=any(len(text) > MOST_TEXT for text in (*ours, *theirs)),
    )


def sent(exchange: Exchange) -> Sent:
    """What an exchange asked, its secrets masked as they are there."""
    return Sent(exchange.url, tuple(exchange.request_headers), exchange.request_body.decode("utf-8", "replace"))


def diff_sent(before: Sent, after: Sent) -> tuple[Difference, ...]:
    """Where the requests differ: address, headers, then the members of the bodies. Raises TooLargeError."""
    out = []
    if before.url and after.url and before.url != after.url:
        out.append(Difference("URL", Side.CHANGED, before.url, after.url))
    if before.headers and after.headers:
        ours, theirs = (_headers(one) for one in (before, after))
        out += [Difference(f"header {one.path}", one.kind, one.before, one.after) for one in diff_json(ours, theirs)]
    return (*out, *diff_json(request_of(before), request_of(after)))


def _headers(request: Sent) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in request.headers:
        if (name := name.lower()) not in _OF_ITSELF:
            found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def request_of(request: Sent) -> JSON:
    """The body, as a value; as text where it is no JSON, None where there is none. Raises TooLargeError."""
    text = request.body
    if not text:
        return None
    if len(text) > MOST_TOKENS and sum(1 for _ in islice(tokens(text), MOST_TOKENS + 1)) > MOST_TOKENS:
        raise TooLargeError(f"A request of more than {MOST_TOKENS:,} names and values is not compared.")
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return text


def diff_json(before: JSON, after: JSON) -> tuple[Difference, ...]:
    """The members in which two values differ, in the order of the second; none for values that are alike.

    Members of a list are matched by what they hold, so one that was put in does not make all after it differ.
    """
    return tuple(_differences(before, after, "", 0))


def diff_words(before: str, after: str) -> tuple[Piece, ...]:
    """``before`` and ``after`` in pieces: without those added it is the first, without those removed the second."""
    ours, theirs = _WORD.findall(before), _WORD.findall(after)
    if len(ours) + len(theirs) > _MANY:
        return _joined(_by_lines(_LINE.findall(before), _LINE.findall(after)))
    return _joined(_by_pieces(ours, theirs))


def _by_lines(ours: list[str], theirs: list[str]) -> Iterator[Piece]:
    """Line by line; word by word where lines differ and are not too many. Lines that are everywhere never match."""
    for op, i, j, k, m in _opcodes(ours, theirs, often=True):
        one, two = "".join(ours[i:j]), "".join(theirs[k:m])
        words, others = _WORD.findall(one), _WORD.findall(two)
        if op == "replace" and len(words) + len(others) <= _MANY:
            yield from _by_pieces(words, others)
        else:
            yield from _pieces(op, one, two)


def _by_pieces(ours: list[str], theirs: list[str]) -> Iterator[Piece]:
    for op, i, j, k, m in _opcodes(ours, theirs):
        yield from _pieces(op, "".join(ours[i:j]), "".join(theirs[k:m]))


def _opcodes(ours: list[str], theirs: list[str], *, often: bool = False) -> Sequence[Opcode]:
    """As those of SequenceMatcher; ``often``: what stands there often begins no match."""
    if len(ours) + len(theirs) > _MANY_LINES:
        return list(_anchored(ours, theirs))
    if not often:
        counts = Counter(ours)
        often = sum(counts[one] for one in theirs) > _MOST_PAIRS
    return SequenceMatcher(None, ours, theirs, autojunk=often).get_opcodes()


def _anchored(ours: list[str], theirs: list[str]) -> Iterator[Opcode]:
    """The same for very many, where SequenceMatcher's time grows with the square of those in another order.

    What stands once on both sides, in the same order, is matched first (a patience diff), then what is between.
    """
    alone = [{one for one, count in Counter(side).items() if count == 1} for side in (ours, theirs)]
    place = {one: at for at, one in enumerate(ours) if one in alone[0] and one in alone[1]}
    anchors = _rising([(place[one], at) for at, one in enumerate(theirs) if one in place])
    i = k = 0
    for j, m in (*anchors, (len(ours), len(theirs))):
        yield from _between(ours, theirs, (i, j, k, m))
        if j < len(ours):
            yield "equal", j, j + 1, m, m + 1
        i, k = j + 1, m + 1


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """As many of these as have rising first numbers; the second ones rise already."""
    tops: list[int] = []  # the smallest first number that ends a row of each length
    last: list[int] = []  # and which pair that is
    before: list[int] = []
    for at, (first, _) in enumerate(pairs):
        length = bisect_left(tops, first)
        tops[length : length + 1], last[length : length + 1] = [first], [at]
        before.append(last[length - 1] if length else -1)
    out, at = [], last[-1] if last else -1
    while at >= 0:
        out.append(pairs[at])
        at = before[at]
    return out[::-1]


def _between(ours: list[str], theirs: list[str], where: tuple[int, int, int, int]) -> Iterator[Opcode]:
    i, j, k, m = where
    if ours[i:j] == theirs[k:m]:
        yield "equal", i, j, k, m
    elif j - i + m - k > _MANY_LINES:
        yield "replace", i, j, k, m
    else:
        for op, a, b, c, d in SequenceMatcher(None, ours[i:j], theirs[k:m]).get_opcodes():
            yield op, i + a, i + b, k + c, k + d


def _pieces(op: str, one: str, two: str) -> Iterator[Piece]:
    if op == "equal":
        yield Piece(Side.SAME, one)
        return
    if one:
        yield Piece(Side.REMOVED, one)
    if two:
        yield Piece(Side.ADDED, two)


def _joined(pieces: Iterator[Piece]) -> tuple[Piece, ...]:
    out: list[Piece] = []
    for piece in pieces:
        if out and out[-1].kind is piece.kind:
            out[-1] = Piece(piece.kind, out[-1].text + piece.text)
        else:
            out.append(piece)
    return tuple(out)


def _differences(before: JSON, after: JSON, path: str, depth: int) -> Iterator[Difference]:
    if isinstance(before, dict) and isinstance(after, dict) and depth < _DEEP:
        for name in [*after, *(name for name in before if name not in after)]:
            place = f"{path}.{name}" if path else str(name)
            if name not in before:
                yield Difference(place, Side.ADDED, after=after[name])
            elif name not in after:
                yield Difference(place, Side.REMOVED, before=before[name])
            else:
                yield from _differences(before[name], after[name], place, depth + 1)
    elif isinstance(before, list) and isinstance(after, list) and depth < _DEEP:
        yield from _of_lists(before, after, path, depth)
    elif not same(before, after):
        yield Difference(path, Side.CHANGED, before, after)


def _of_lists(before: list[JSON], after: list[JSON], path: str, depth: int) -> Iterator[Difference]:
    """A place is numbered as in ``after``, that of a removed member as in ``before``."""
    ours, theirs = [_key(item) for item in before], [_key(item) for item in after]
    for op, i, j, k, m in _opcodes(ours, theirs):
        if op == "equal":
            continue
        shared = min(j - i, m - k)
        for step in range(shared):
            yield from _differences(before[i + step], after[k + step], f"{path}[{k + step}]", depth + 1)
        for at in range(i + shared, j):
            yield Difference(f"{path}[{at}]", Side.REMOVED, before=before[at])
        for at in range(k + shared, m):
            yield Difference(f"{path}[{at}]", Side.ADDED, after=after[at])


def _key(value: JSON) -> str:
    """A text that values which are written alike share: 1, 1.0 and true differ, the order of names does not matter."""
    try:
        return json.dumps(value, sort_keys=True)
    except (RecursionError, ValueError, TypeError):
        return repr(type(value))


def _digits(value: float, unit: str) -> int:
    """Digits behind the point of a figure."""
    return 0 if unit != "s" else 3 if value < 1 else 2


def _figure_words(value: float | None, unit: str, digits: int | None = None) -> str:
    if value is None:
        return "not known"
    words = f"{value:,.{_digits(value, unit) if digits is None else digits}f}"
    return f"{words} {_UNITS.get(unit, unit)}".strip()


def _answer(exchange: Exchange) -> Accumulator | str:
    """What was answered; the body as text where it is none that is understood."""
    if not exchange.protocol or (exchange.status or 0) >= 300:
        return exchange.body.decode("utf-8", "replace")
    accumulator = Accumulator()
    for _, events in exchange.replay(get_protocol(exchange.protocol).decoder(exchange.content_type)):
        accumulator.add_events(events)
    return accumulator


def _texts(answered: Accumulator | str) -> tuple[str, str, str]:
    """What the first choice answered, calls included as they are written, what it reasoned, what is unknown here."""
    if isinstance(answered, str):
        return answered, "", ""
    if not answered.choices:
        return "", "", ""
    choice = answered.choices[min(answered.choices)]
    turn = Turn(id="", role=Role.ASSISTANT, parts=choice.freeze(), extra=choice.extra)
    answer, reasoning, beside = [], [], []
    for part in turn.parts:
        if part.kind == "reasoning":
            reasoning.append(part.text)
        elif part.kind == "tool_call":
            answer.append(f"{part.name}({part.arguments})")
        elif part.kind in ("text", "refusal"):
            answer.append(part.text)
        elif part.kind == "unknown":
            beside.append(_laid_out(part.value))
        beside += [f"{part.kind}: {_laid_out(found.members)}" for found in beside_part(part)]
    beside += [f"message: {_laid_out(found.members)}" for found in beside_turn(turn)]
    return "\n".join(filter(None, answer)), "\n".join(filter(None, reasoning)), "\n".join(beside)


def _laid_out(value: JSON) -> str:
    return json.dumps(clipped(value), ensure_ascii=False, indent=2)


def _figures(index: FrameIndex, choices: int | None) -> list[tuple[str, str, float | None]]:
    exchange, usage = index.exchange, index.usage
    timeline = Timeline(index)
    timeline.extend()
    marks = {mark.name: mark.at for mark in timeline.marks}
    begun = [marks[name] for name in ("first reasoning", "first content", "first tool call") if name in marks]
    tokens = usage.completion if usage else None
    wrote = max(segment.end for segment in timeline.segments) - min(begun) if begun else 0.0
    return [
        ("Choices, all of them counted", "choices", choices),
        ("Time to headers", "s", marks.get("headers")),
        ("Time to first byte", "s", marks.get("first byte")),
        ("Time to first reasoning", "s", marks.get("first reasoning")),
        ("Time to first content", "s", marks.get("first content")),
        ("Time to first tool call", "s", marks.get("first tool call")),
        ("Whole time", "s", exchange.ended),
        ("Speed", "tokens/s", tokens / wrote if tokens and wrote > 0 else None),
        ("Prompt tokens", "tokens", usage.prompt if usage else None),
        ("Cached tokens", "tokens", usage.cached if usage else None),
        ("Completion tokens", "tokens", tokens),
        ("Reasoning tokens", "tokens", usage.reasoning if usage else None),
        ("Request body", "bytes", len(exchange.request_body) or None),
        ("Response body", "bytes", exchange.size or None),
    ]
