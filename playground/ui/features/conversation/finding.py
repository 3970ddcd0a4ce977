"""Search in the turns of a conversation; every match has its place in the sent or received source.

Texts are searched as they are, not as they are drawn; marks of Markdown inside a word do not hide it. No Qt here.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice

from playground.engine.inspect.unknown_members import beside_part
from playground.ui.features.conversation.calls.call_text import brief_json, unknown_lines
from playground.ui.features.conversation.caps import MATCHES
from playground.ui.features.conversation.rows import REDACTED, Row, Shown, beside_text, hosted_text, shown_parts

_MARKUP = r"[*`~\\]*"


@dataclass(frozen=True)
class Query:
    """A search: white space in ``words`` matches any; ``case`` matches case, ``whole_words`` whole words only."""

    words: str
    case: bool = False
    whole_words: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str] | None:
        """Return the pattern that matches; None when there is nothing to search for."""
        if not self.words.strip():
            return None
        words = [_MARKUP.join(map(re.escape, word)) for word in self.words.split()]
        text = rf"{_MARKUP}\s+{_MARKUP}".join(words)
        return re.compile(rf"(?<!\w){text}(?!\w)" if self.whole_words else text, 0 if self.case else re.IGNORECASE)


@lru_cache(maxsize=256)
def matches(pattern: re.Pattern[str], text: str) -> Sequence[tuple[int, int]]:
    """Return where a pattern matches: the first character and the one after the last."""
    if pattern.flags & re.IGNORECASE and len(lower := text.lower()) == len(text):
        pattern, text = re.compile(pattern.pattern.lower()), lower  # ten times as fast in a long text
    return [match.span() for match in islice(pattern.finditer(text), MATCHES)]


def part_texts(row: Row, part: Shown) -> Iterator[str]:
    """Yield the texts of a part that a card shows, in the order in which it does."""
    match part.kind:
        case "text" | "refusal" | "tool_result":
            yield part.text
        case "reasoning":
            yield part.text or REDACTED
        case "unknown":
            yield "\n".join(unknown_lines(part))
        case "tool_call":
            answer = row.answers.get(part.id)
            yield part.arguments
            if answer is not None:
                yield brief_json(answer.result.text) or "(empty)"
            for members in (*beside_part(part), *(beside_part(answer.result) if answer is not None else ())):
                yield beside_text(members)
        case "beside":
            yield beside_text(part)
        case "hosted":
            yield hosted_text(part)
        case _:
            return


def count_in_part(pattern: re.Pattern[str], row: Row, part: Shown) -> int:
    """Return how many matches a part of a turn has, of each text at most `MATCHES`."""
    return sum(len(matches(pattern, text)) for text in part_texts(row, part))


def is_capped(pattern: re.Pattern[str], row: Row) -> bool:
    """Return whether a text of a turn may have more matches than are counted."""
    texts = (text for part in shown_parts(row.turn) for text in part_texts(row, part))
    return any(len(matches(pattern, text)) >= MATCHES for text in texts)


class Search:
    """Count the matches of each row. ``work`` searches for a limited time; rows not searched yet count as none."""

    def __init__(self) -> None:
        self.query = Query("")
        self.rows: Sequence[Row] = ()
        self.counts: list[int] = []
        self._unsearched: list[int] = []  # rows to search, the next one last

    def look_for(self, query: Query, start: int) -> None:
        """Begin a new search at the row ``start``."""
        self.query = query
        self._begin(start, {})

    def set_rows(self, rows: Sequence[Row], start: int) -> None:
        """Search other rows; rows that are the same objects are not searched again."""
        unsearched = set(self._unsearched)
        counts = {id(row): self.counts[index] for index, row in enumerate(self.rows) if index not in unsearched}
        self.rows = rows
        self._begin(start, counts)

    def forget(self) -> None:
        """End the search."""
        self.query = Query("")
        self.counts, self._unsearched = [0] * len(self.rows), []
        matches.cache_clear()

    def _begin(self, start: int, counts: dict[int, int]) -> None:
        self.counts = [counts.get(id(row), 0) for row in self.rows]
        order = [*range(start, len(self.rows)), *range(min(start, len(self.rows)))]
        unknown = [index for index in reversed(order) if id(self.rows[index]) not in counts]
        self._unsearched = unknown if self.query.pattern else []

    @property
    def capped(self) -> bool:
        """Return whether there may be more matches than are counted."""
        pattern = self.query.pattern
        full = [row for row, count in zip(self.rows, self.counts, strict=True) if count >= MATCHES]
        return pattern is not None and any(is_capped(pattern, row) for row in full)

    @property
    def done(self) -> bool:
        """Return whether every row has been searched."""
        return not self._unsearched

    @property
    def total(self) -> int:
        """The number of matches so far."""
        return sum(self.counts)

    def work(self, seconds: float) -> bool:
        """Search rows for about this many seconds. Return whether all are searched."""
        end = time.perf_counter() + seconds
        while self._unsearched and time.perf_counter() < end:
            index = self._unsearched.pop()
            row, pattern = self.rows[index], self.query.pattern
            if pattern is not None:
                self.counts[index] = sum(count_in_part(pattern, row, part) for part in shown_parts(row.turn))
        return self.done

    def set_count(self, index: int, count: int) -> None:
        """Set the number of matches in a row that is being received."""
        self.counts[index] = count

    def number(self, index: int, match: int) -> int:
        """Return the number, from 1, of a match of a row among all matches."""
        return sum(self.counts[:index]) + match + 1

    def after(self, index: int, match: int) -> tuple[int, int] | None:
        """Return the match (row, number in it) after another; the first follows the last. None: there is none."""
        if index < len(self.counts) and match + 1 < self.counts[index]:
            return index, match + 1
        rows = (*range(index + 1, len(self.counts)), *range(min(index + 1, len(self.counts))))
        following = next((row for row in rows if self.counts[row]), None)
        return None if following is None else (following, 0)

    def before(self, index: int, match: int) -> tuple[int, int] | None:
        """Return the match before another; the last comes before the first. None: there is none."""
        if index < len(self.counts) and 0 < match <= self.counts[index]:
            return index, match - 1
        rows = (*range(min(index, len(self.counts)) - 1, -1, -1), *range(len(self.counts) - 1, index - 1, -1))
        previous = next((row for row in rows if self.counts[row]), None)
        return None if previous is None else (previous, self.counts[previous] - 1)
