"""Comparison of two exchanges: their requests, their answers and their metrics.

Values in, values out. The functions are meant for a worker thread; values too large to compare are reported.
"""

from __future__ import annotations

import json
import re
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
from playground.engine.inspect.unknown_members import clipped, unknown_in_part, unknown_in_turn
from playground.gateway.tape import Exchange
from playground.jsonkit.nesting import loads
from playground.jsonkit.tokens import tokens
from playground.jsonkit.values import JSON, same
from playground.protocols.protocol import get_protocol

#: A word with the space behind it, so that spaces alone do not match everywhere.
_WORD: Final = re.compile(r"\w+\s*|[^\w\s]\s*|\s+")
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
#: Words beyond which texts are compared line by line first: the time to compare grows with the square.
_MOST_WORDS: Final = 4000
#: Lines or items of both sides that are matched one by one; of more, only the beginning and the end that are equal.
_MOST_ITEMS: Final = 20_000
#: Pairs of equal items beyond which frequent items begin no match: the time grows with their number.
_MOST_PAIRS: Final = 50_000
_UNITS: Final = {"tokens/s": "tok/s", "tokens": "", "choices": ""}  # other units are written as they are
_DEEPEST: Final = 100  # levels of JSON that are compared member by member; below, a value is equal or not
MOST_TEXT: Final = 200_000  # characters of an answer that are compared
MOST_TOKENS: Final = 500_000  # JSON tokens of a request that is compared
_DERIVED_HEADERS: Final = frozenset({"content-length"})  # they follow from the body

CUT: Final = f"Of longer texts the first {MOST_TEXT:,} characters are compared."

#: The kind of a stretch and its bounds on both sides, in the form of ``SequenceMatcher.get_opcodes``.
Opcode: TypeAlias = tuple[str, int, int, int, int]


class Side(StrEnum):
    """The side or sides that have an item."""

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
class Metric:
    """One number of both sides, None if unknown. ``unit`` is s, tokens, tokens/s, bytes or choices."""

    label: str
    unit: str
    first: float | None
    second: float | None

    @property
    def words(self) -> str:
        """Both values and their difference, such as ``0.31 s → 0.42 s (+0.11 s)``."""
        both = f"{_value_words(self.first, self.unit)} → {_value_words(self.second, self.unit)}"
        if self.first is None or self.second is None:
            return both
        digits = min(_digits(self.first, self.unit), _digits(self.second, self.unit))
        sign, size = difference(self.first, self.second, digits)
        return f"{both} ({sign}{_value_words(size, self.unit, digits)})"


def difference(before: float, after: float, digits: int) -> tuple[str, float]:
    """Return the sign and size of the difference of two values that are rounded to ``digits`` decimals."""
    delta = round(after, digits) - round(before, digits)
    return "±" if not delta else "−" if delta < 0 else "+", abs(delta)


class Sent(NamedTuple):
    """A request that was or would be sent. ``headers`` is empty if only address and body text are known."""

    url: str
    headers: tuple[tuple[str, str], ...]
    body: str


class TooLargeError(ValueError):
    """A request is too large to compare; the text is a sentence."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two exchanges compared. ``answer`` and ``reasoning`` are those of the first choice.

    ``metrics`` cover the whole exchange, and give the number of choices if a side has several. ``unknown_members``
    are those of the first choice, as indented JSON. ``cut``: a text was longer than ``MOST_TEXT``.
    """

    answer: tuple[Piece, ...]
    reasoning: tuple[Piece, ...]
    metrics: tuple[Metric, ...]
    unknown_members: tuple[Piece, ...] = ()
    cut: bool = False

    @property
    def alike(self) -> str:
        """The share of the longer answer that the other one has too, in words."""
        sizes = {kind: sum(len(piece.text) for piece in self.answer if piece.kind is kind) for kind in Side}
        longest = sizes[Side.SAME] + max(sizes[Side.ADDED], sizes[Side.REMOVED])
        if not longest:
            return "no answers"
        share = sizes[Side.SAME] / longest
        return "the answers are alike" if share == 1 else f"{share:.0%} of the answer is alike"


# ---- answers and metrics ---------------------------------------------------------------------------------------------


def compare(first: FrameIndex, second: FrameIndex) -> Comparison:
    """Compare the answers and metrics of two exchanges, as far as they have been received."""
    first_answer, second_answer = _decode_answer(first.exchange), _decode_answer(second.exchange)
    first_texts, second_texts = _texts(first_answer), _texts(second_answer)
    answer, reasoning, unknown = (
        diff_words(before[:MOST_TEXT], after[:MOST_TEXT])
        for before, after in zip(first_texts, second_texts, strict=True)
    )
    counts = [item.answered if isinstance(item, Accumulator) else None for item in (first_answer, second_answer)]
    first_count, second_count = counts if any(count is not None and count > 1 for count in counts) else (None, None)
    pairs = zip(_metrics(first, first_count), _metrics(second, second_count), strict=True)
    return Comparison(
        answer=answer,
        reasoning=reasoning,
        metrics=tuple(
            Metric(label, unit, before, after)
            for (label, unit, before), (_, _, after) in pairs
            if before is not None or after is not None
        ),
        unknown_members=unknown,
        cut=any(len(text) > MOST_TEXT for text in (*first_texts, *second_texts)),
    )


def _decode_answer(exchange: Exchange) -> Accumulator | str:
    """Return the decoded answer; the body as text if it is an error or of no known protocol."""
    if not exchange.protocol or (exchange.status or 0) >= 300:
        return exchange.body.decode("utf-8", "replace")
    accumulator = Accumulator()
    for _, events in exchange.replay(get_protocol(exchange.protocol).decoder(exchange.content_type)):
        accumulator.add_events(events)
    return accumulator


def _texts(answer: Accumulator | str) -> tuple[str, str, str]:
    """Return the first choice's answer with its calls, its reasoning, and its unknown content."""
    if isinstance(answer, str):
        return answer, "", ""
    if not answer.choices:
        return "", "", ""
    choice = answer.choices[min(answer.choices)]
    turn = Turn(id="", role=Role.ASSISTANT, parts=choice.freeze(), extra=choice.extra)
    texts, reasoning, unknown = [], [], []
    for part in turn.parts:
        if part.kind == "reasoning":
            reasoning.append(part.text)
        elif part.kind == "tool_call":
            texts.append(f"{part.name}({part.arguments})")
        elif part.kind in ("text", "refusal"):
            texts.append(part.text)
        elif part.kind == "unknown":
            unknown.append(_indented(part.value))
        unknown += [f"{part.kind}: {_indented(extra.members)}" for extra in unknown_in_part(part)]
    unknown += [f"message: {_indented(extra.members)}" for extra in unknown_in_turn(turn)]
    return "\n".join(filter(None, texts)), "\n".join(filter(None, reasoning)), "\n".join(unknown)


def _indented(value: JSON) -> str:
    return json.dumps(clipped(value), ensure_ascii=False, indent=2)


def _metrics(index: FrameIndex, choices: int | None) -> list[tuple[str, str, float | None]]:
    """Return label, unit and value of each metric."""
    exchange, usage = index.exchange, index.usage
    timeline = Timeline(index)
    timeline.extend()
    marks = {mark.name: mark.time for mark in timeline.marks}
    starts = [marks[name] for name in ("first reasoning", "first content", "first tool call") if name in marks]
    count = usage.completion if usage else None
    duration = max(segment.end for segment in timeline.segments) - min(starts) if starts else 0.0
    return [
        ("Choices, all of them counted", "choices", choices),
        ("Time to headers", "s", marks.get("headers")),
        ("Time to first byte", "s", marks.get("first byte")),
        ("Time to first reasoning", "s", marks.get("first reasoning")),
        ("Time to first content", "s", marks.get("first content")),
        ("Time to first tool call", "s", marks.get("first tool call")),
        ("Whole time", "s", exchange.ended),
        ("Speed", "tokens/s", count / duration if count and duration > 0 else None),
        ("Prompt tokens", "tokens", usage.prompt if usage else None),
        ("Cached tokens", "tokens", usage.cached if usage else None),
        ("Completion tokens", "tokens", count),
        ("Reasoning tokens", "tokens", usage.reasoning if usage else None),
        ("Request body", "bytes", len(exchange.request_body) or None),
        ("Response body", "bytes", exchange.size or None),
    ]


def _digits(value: float, unit: str) -> int:
    """Return the number of decimals that are shown."""
    return 0 if unit != "s" else 3 if value < 1 else 2


def _value_words(value: float | None, unit: str, digits: int | None = None) -> str:
    if value is None:
        return "not known"
    number = f"{value:,.{_digits(value, unit) if digits is None else digits}f}"
    return f"{number} {_UNITS.get(unit, unit)}".strip()


# ---- requests --------------------------------------------------------------------------------------------------------


def sent(exchange: Exchange) -> Sent:
    """Return the request of an exchange, with the secrets masked that are masked there."""
    return Sent(exchange.url, tuple(exchange.request_headers), exchange.request_body.decode("utf-8", "replace"))


def diff_sent(before: Sent, after: Sent) -> tuple[Difference, ...]:
    """Compare two requests: address, headers, then the members of the bodies. Raises TooLargeError."""
    differences = []
    if before.url and after.url and before.url != after.url:
        differences.append(Difference("URL", Side.CHANGED, before.url, after.url))
    if before.headers and after.headers:
        differences += [
            Difference(f"header {header.path}", header.kind, header.before, header.after)
            for header in diff_json(_headers(before), _headers(after))
        ]
    return (*differences, *diff_json(request_of(before), request_of(after)))


def _headers(request: Sent) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in request.headers:
        if (name := name.lower()) not in _DERIVED_HEADERS:
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def request_of(request: Sent) -> JSON:
    """Return the body as a value: a text if it is no JSON, None if it is empty. Raises TooLargeError."""
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
    """Return the members in which two values differ, in the order of the second.

    Items of a list are matched by their content, so an inserted one does not make all items after it differ.
    """
    return tuple(_differences(before, after, "", 0))


def _differences(before: JSON, after: JSON, path: str, depth: int) -> Iterator[Difference]:
    if isinstance(before, dict) and isinstance(after, dict) and depth < _DEEPEST:
        for name in [*after, *(name for name in before if name not in after)]:
            member = f"{path}.{name}" if path else str(name)
            if name not in before:
                yield Difference(member, Side.ADDED, after=after[name])
            elif name not in after:
                yield Difference(member, Side.REMOVED, before=before[name])
            else:
                yield from _differences(before[name], after[name], member, depth + 1)
    elif isinstance(before, list) and isinstance(after, list) and depth < _DEEPEST:
        yield from _list_differences(before, after, path, depth)
    elif not same(before, after):
        yield Difference(path, Side.CHANGED, before, after)


def _list_differences(before: list[JSON], after: list[JSON], path: str, depth: int) -> Iterator[Difference]:
    """Compare two lists. Items are numbered as in ``after``, removed ones as in ``before``."""
    for op, i, j, k, m in _opcodes([_key(item) for item in before], [_key(item) for item in after]):
        if op == "equal":
            continue
        shared = min(j - i, m - k)
        for step in range(shared):
            yield from _differences(before[i + step], after[k + step], f"{path}[{k + step}]", depth + 1)
        for index in range(i + shared, j):
            yield Difference(f"{path}[{index}]", Side.REMOVED, before=before[index])
        for index in range(k + shared, m):
            yield Difference(f"{path}[{index}]", Side.ADDED, after=after[index])


def _key(value: JSON) -> str:
    """Return a text that is equal for equal values: 1, 1.0 and true differ, the order of names does not matter."""
    try:
        return json.dumps(value, sort_keys=True)
    except (RecursionError, ValueError, TypeError):
        return repr(type(value))


# ---- texts -----------------------------------------------------------------------------------------------------------


def diff_words(before: str, after: str) -> tuple[Piece, ...]:
    """Compare two texts word by word; long ones line by line, and word by word within the lines that differ.

    The pieces without the added ones join to ``before``, those without the removed ones to ``after``.
    """
    first, second = _WORD.findall(before), _WORD.findall(after)
    if len(first) + len(second) <= _MOST_WORDS:
        return _joined(_diff_items(first, second))
    return _joined(_diff_lines(_LINE.findall(before), _LINE.findall(after)))


def _diff_lines(first: list[str], second: list[str]) -> Iterator[Piece]:
    for op, i, j, k, m in _opcodes(first, second, autojunk=True):
        before, after = "".join(first[i:j]), "".join(second[k:m])
        first_words, second_words = _WORD.findall(before), _WORD.findall(after)
        if op == "replace" and len(first_words) + len(second_words) <= _MOST_WORDS:
            yield from _diff_items(first_words, second_words)
        else:
            yield from _pieces(op, before, after)


def _diff_items(first: list[str], second: list[str]) -> Iterator[Piece]:
    for op, i, j, k, m in _opcodes(first, second):
        yield from _pieces(op, "".join(first[i:j]), "".join(second[k:m]))


def _pieces(op: str, before: str, after: str) -> Iterator[Piece]:
    if op == "equal":
        yield Piece(Side.SAME, before)
        return
    if before:
        yield Piece(Side.REMOVED, before)
    if after:
        yield Piece(Side.ADDED, after)


def _joined(pieces: Iterator[Piece]) -> tuple[Piece, ...]:
    """Join neighbours of one kind."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and joined[-1].kind is piece.kind:
            joined[-1] = Piece(piece.kind, joined[-1].text + piece.text)
        else:
            joined.append(piece)
    return tuple(joined)


def _opcodes(first: list[str], second: list[str], *, autojunk: bool = False) -> Sequence[Opcode]:
    """Match two lists as SequenceMatcher does, in bounded time; ``autojunk``: frequent items begin no match."""
    start = _common_prefix(first, second)
    end = _common_prefix(first[start:][::-1], second[start:][::-1])
    i, j, k, m = start, len(first) - end, start, len(second) - end
    opcodes: list[Opcode] = [("equal", 0, i, 0, k)] if start else []
    if j - i + m - k > _MOST_ITEMS:
        opcodes.append(("replace", i, j, k, m))
    else:
        counts = Counter(first[i:j])
        frequent = autojunk or sum(counts[item] for item in second[k:m]) > _MOST_PAIRS
        matcher = SequenceMatcher(None, first[i:j], second[k:m], autojunk=frequent)
        opcodes += [(op, i + a, i + b, k + c, k + d) for op, a, b, c, d in matcher.get_opcodes()]
    return [*opcodes, ("equal", j, len(first), m, len(second))] if end else opcodes


def _common_prefix(first: list[str], second: list[str]) -> int:
    """Return the number of equal items at the beginning of both lists."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((index for index, (before, after) in pairs if before != after), min(len(first), len(second)))
