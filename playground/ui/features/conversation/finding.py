"""Looks for words in the turns as they are shown, a slice of time after another. No Qt here.

What counts is the text a card shows, not its Markdown source: every place that is counted can be gone to. A turn is
read only if its source may hold the words, and what was read is kept for as long as somebody is looking for something.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from playground.engine.inspect.unknown_members import beside_part
from playground.ui.features.conversation.blocks import exact_lines
from playground.ui.features.conversation.calls.call_text import brief_json, pretty_json, shown_arguments, unknown_lines
from playground.ui.features.conversation.large import forget_places, is_large, look_through
from playground.ui.features.conversation.markdown import Line
from playground.ui.features.conversation.markdown_stream import MarkdownStream
from playground.ui.features.conversation.rows import Answer, Row
from playground.ui.features.conversation.shown_parts import (
    PAGE,
    REDACTED,
    Shown,
    beside_text,
    is_judged,
    shown_parts,
    text_mode,
)
from playground.ui.widgets.json_text import pretty
from playground.ui.widgets.plain_text import HIDDEN, show_hidden, show_prose

STEP = 4096  # characters of Markdown read at once
KEPT = 32_000_000  # characters of what was read that are kept
BETWEEN = "\0"  # between lines: no words match across it
_WORD = re.compile(r"\w+")
_MARKUP = dict.fromkeys(map(ord, "\\*`~"))


@dataclass(frozen=True)
class Query:
    """What to look for. White space in ``words`` stands for any; case and the borders of words count if asked for."""

    words: str
    case: bool = False
    whole: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str] | None:
        """What matches, within one line; None when there is nothing to look for."""
        if not self.words.strip():
            return None
        text = r"\s+".join(re.escape(word) for word in self.words.split())
        return re.compile(rf"(?<!\w){text}(?!\w)" if self.whole else text, 0 if self.case else re.IGNORECASE)

    @cached_property
    def _needles(self) -> list[str]:
        found = _WORD.findall(self.words) or self.words.split()
        return found if self.case else [word.lower() for word in found]

    def may_match(self, source: str) -> bool:
        """Whether a text with this source is worth reading."""
        text = source if self.case else source.lower()
        if all(needle in text for needle in self._needles):
            return True
        bare = text.translate(_MARKUP)  # a mark may stand inside a word
        return len(bare) < len(text) and all(needle in bare for needle in self._needles)


class _Read(NamedTuple):
    """What the card of a row shows but for large texts, which are looked through where they are."""

    row: Row
    texts: list[str]  # of each part that is shown


class Search:
    """How many places each row has. ``work`` goes on for a while; until it is done, unread rows count as none."""

    def __init__(self) -> None:
        self.query = Query("")
        self.rows: Sequence[Row] = ()
        self.counts: list[int] = []
        self._left: list[int] = []  # rows to look at, the next one last
        self._reading: tuple[int, Generator[None, None, int]] | None = None
        self._read: dict[str, _Read] = {}
        self._size = 0
        self._by_part: dict[str, list[int]] = {}  # the places of each part, of turns with more parts than one page

    def look_for(self, query: Query, start: int) -> None:
        """Look for something else, beginning with the row ``start``."""
        self.query = query
        self._by_part = {}
        self._begin(start, [None] * len(self.rows))

    def set_rows(self, rows: Sequence[Row], start: int) -> None:
        """Other rows; those that are the same objects need not be looked at again."""
        unread = {*self._left, *([self._reading[0]] if self._reading else [])}
        seen = {id(row): self.counts[at] for at, row in enumerate(self.rows) if at not in unread}
        known = [seen.get(id(row)) for row in rows]
        self.rows = rows
        self._begin(start, known)

    def forget(self) -> None:
        """Nobody is looking any more."""
        self.query = Query("")
        self.counts, self._left, self._reading = [0] * len(self.rows), [], None
        self._read, self._size, self._by_part = {}, 0, {}
        forget_places()

    def by_part(self, turn_id: str) -> Sequence[int]:
        """How many places each part of a turn has, if the turn is read and its card shows it in pages; else empty."""
        return self._by_part.get(turn_id, ())

    def _begin(self, start: int, known: list[int | None]) -> None:
        self.counts = [count or 0 for count in known]
        self._reading = None
        order = [*range(start, len(known)), *range(min(start, len(known)))]
        self._left = [at for at in reversed(order) if known[at] is None] if self.query.pattern else []

    @property
    def done(self) -> bool:
        """Whether every row has been looked at."""
        return not self._left and self._reading is None

    @property
    def total(self) -> int:
        """The places found so far."""
        return sum(self.counts)

    def work(self, seconds: float) -> bool:
        """Go on for about so long. Returns whether it is done."""
        end = time.perf_counter() + seconds
        while not self.done and time.perf_counter() < end:
            self._step()
        return self.done

    def _step(self) -> None:
        pattern = self.query.pattern
        if pattern is None:
            return
        if self._reading is None:
            at = self._left.pop()
            row = self.rows[at]
            if not self.query.may_match(_source(row)) and not any(_large(row)):
                return
            self._reading = (at, self._count(row, pattern))
        at, reading = self._reading
        try:
            next(reading)
        except StopIteration as counted:
            self._reading = None
            self.counts[at] = counted.value

    def _count(self, row: Row, pattern: re.Pattern[str]) -> Generator[None, None, int]:
        """How many places a row has; pauses now and then."""
        known = self._read.get(row.id)
        if known is None or known.row is not row:
            known = _Read(row, (yield from _read(row)))
            self._keep(known)
        counts = [len(pattern.findall(text)) for text in known.texts]
        for at, text, mode in _large(row):
            counts[at] += yield from look_through(text, pattern, mode)
        if len(counts) > PAGE:
            self._by_part[row.id] = counts
        return sum(counts)

    def _keep(self, read: _Read) -> None:
        if self._size > KEPT:
            self._read, self._size = {}, 0
        self._read[read.row.id] = read
        self._size += sum(map(len, read.texts))

    def correct(self, at: int, count: int) -> bool:
        """A card says how many places it has. Returns whether that is news."""
        if at in self._left or (self._reading is not None and self._reading[0] == at) or self.counts[at] == count:
            return False
        self.counts[at] = count
        return True

    def number(self, at: int, place: int) -> int:
        """Which of all places the one of number ``place`` in row ``at`` is, from 1."""
        return sum(self.counts[:at]) + place + 1

    def after(self, at: int, place: int) -> tuple[int, int] | None:
        """The place (row, number in it) after one; the first comes after the last. None when there is none."""
        if at < len(self.counts) and place + 1 < self.counts[at]:
            return at, place + 1
        rows = (*range(at + 1, len(self.counts)), *range(min(at + 1, len(self.counts))))
        found = next((row for row in rows if self.counts[row]), None)
        return None if found is None else (found, 0)

    def before(self, at: int, place: int) -> tuple[int, int] | None:
        """The place before one; the last comes before the first. None when there is none."""
        if at < len(self.counts) and 0 < place <= self.counts[at]:
            return at, place - 1
        rows = (*range(min(at, len(self.counts)) - 1, -1, -1), *range(len(self.counts) - 1, at - 1, -1))
        found = next((row for row in rows if self.counts[row]), None)
        return None if found is None else (found, self.counts[found] - 1)


def line_texts(lines: Iterable[Line]) -> list[str]:
    """The text of each paragraph that is drawn for ``lines``; a cell of a table is one."""
    out: list[str] = []
    for line in lines:
        if line.kind == "table":
            out += [show_prose("".join([span.text for span in cell])) for row in line.rows for cell in row]
        else:
            out.append((show_hidden if line.kind in ("code", "raw") else show_prose)(line.text))
    return out


def markdown_lines(source: str) -> list[str]:
    """The text of each paragraph that is drawn for Markdown."""
    stream = MarkdownStream()
    stream.append_markdown(source)
    return line_texts(stream.lines)


def exact_texts(text: str) -> list[str]:
    """The text of each paragraph that is drawn for an exact text."""
    return line_texts(exact_lines(text, "raw"))


def places_in(pattern: re.Pattern[str], lines: Iterable[str]) -> int:
    """How many places ``pattern`` matches in these lines."""
    return len(pattern.findall(BETWEEN.join(lines)))


def _large(row: Row) -> Iterator[tuple[int, str, str]]:
    """The large texts that the card of a row shows, in order: the number of the part, and how each is drawn."""
    for at, part in enumerate(shown_parts(row.turn)):
        for text, mode in _texts(row, part):
            if is_large(text, mode):
                yield at, text, mode


def _texts(row: Row, part: Shown) -> list[tuple[str, str]]:
    """The texts of a part that may be of any size."""
    match part.kind:
        case "text" if is_judged(row.turn):
            return [(part.text, "raw")]
        case "text" | "refusal" | "tool_result":
            return [(part.text, text_mode(row.turn, part))]
        case "reasoning":
            return [(part.text, "markdown")]
        case "tool_call":
            answer = row.answers.get(part.id)
            return [(part.arguments, "raw"), *([(_result(answer), "raw")] if answer is not None else [])]
        case _:
            return []


def _result(answer: Answer) -> str:
    return brief_json(answer.result.text) or "(empty)"


def _small(text: str, mode: str) -> str:
    """A text that is drawn whole; nothing of a large one."""
    return "" if is_large(text, mode) else text


def _source(row: Row) -> str:
    """All that the card of a row may show but for large texts, and more, as quickly as it is to be had."""
    out: list[str] = [REDACTED]
    for part in row.turn.parts:
        match part.kind:
            case "text" | "tool_result" | "refusal" | "reasoning":
                out.append(_small(part.text, "markdown"))
            case "tool_call":
                out.append(_unescaped(_small(part.arguments, "raw")))
            case "unknown":
                out.append(json.dumps(part.value, ensure_ascii=False))
            case _:
                pass
    holders = (row.turn, *row.turn.parts, *(answer.result for answer in row.answers.values()))
    out += [json.dumps(extra, ensure_ascii=False) for one in holders if (extra := getattr(one, "extra", None))]
    text = "\n".join([*out, *[_unescaped(_small(answer.result.text, "raw")) for answer in row.answers.values()]])
    return text if text.isascii() or not HIDDEN.search(text) else text + show_hidden(text)


def _unescaped(text: str) -> str:
    """JSON as it is shown, where letters in it are spelled as escapes."""
    return pretty_json(text) if "\\" in text else text


def _read(row: Row) -> Generator[None, None, list[str]]:
    """What the card of a row shows, part by part, their lines joined; pauses now and then."""
    out: list[str] = []
    for part in shown_parts(row.turn):
        if part.kind == "reasoning" or (part.kind in ("text", "refusal") and _is_markdown(row, part)):
            source = _small(part.text or REDACTED, "markdown")
            stream = MarkdownStream()
            for at in range(0, len(source), STEP):
                stream.append_markdown(source[at : at + STEP])
                yield
            out.append(BETWEEN.join(line_texts(stream.lines)))
        else:
            out.append(BETWEEN.join(line_texts(_exact(row, part))))
        yield
    return out


def _is_markdown(row: Row, part: Shown) -> bool:
    return text_mode(row.turn, part) == "markdown" and not (part.kind == "text" and is_judged(row.turn))


def _exact(row: Row, part: Shown) -> list[Line]:
    """The lines of what is not Markdown."""
    match part.kind:
        case "text" if is_judged(row.turn):
            return exact_lines(pretty(_small(part.text, "raw")), "raw")
        case "text" | "refusal" | "tool_result":
            mode = text_mode(row.turn, part)
            return exact_lines(_small(part.text, mode), mode)
        case "unknown":
            return [line for text in unknown_lines(part) for line in exact_lines(text, "raw")]
        case "tool_call":
            answer = row.answers.get(part.id)
            lines = shown_arguments(_small(part.arguments, "raw"), [], answered=answer is not None)
            result = exact_lines(_small(_result(answer), "raw"), "raw") if answer is not None else []
            came = [*beside_part(part), *(beside_part(answer.result) if answer is not None else [])]
            beside = [line for one in came for line in exact_lines(beside_text(one), "raw")]
            return [*lines, *result, *beside]
        case "beside":
            return exact_lines(beside_text(part), "raw")
        case _:
            return []
