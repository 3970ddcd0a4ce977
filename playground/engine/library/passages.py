"""Passages: the words around the hits of a search, in texts of any length.

SQLite's ``snippet()`` and ``highlight()`` compare every hit with every other one: a turn of 400,000 characters with
80,000 hits took them 48 seconds. Here the search for hits ends after the first ones.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final

_LENGTH: Final = 200  # characters of a passage: two lines of a wide list
_BEFORE: Final = 50  # of them before the first hit
_MOST_HITS: Final = 500  # looked at to find the passage with most of the words
_LETTER: Final = r"[^\W_]"  # a letter or a digit, as in the words of the full-text index


@dataclass(frozen=True, slots=True)
class Passage:
    """Words around a hit. ``field`` is "title", "model", "text", "reasoning" or "arguments"; ``marks`` are the hits in
    ``text``, as (start, end) in characters. ``turn_id`` is empty for a title and a model.
    """

    turn_id: str
    field: str
    text: str
    marks: tuple[tuple[int, int], ...]


class SearchWords:
    """The words that a person searches for: each may be the beginning of a word, in any case, without accents."""

    def __init__(self, words: Iterable[str]) -> None:
        alternatives = (r"[\W_]+".join(re.findall(rf"{_LETTER}+", _folded(word))) for word in words)
        self._patterns = [re.compile(rf"(?<!{_LETTER}){words}{_LETTER}*") for words in alternatives]

    def passage(self, turn_id: str, field: str, text: str) -> Passage | None:
        """The passage of ``text`` that has most of the words, or None without a hit. Line breaks become spaces."""
        folded = _folded(text)
        hits = [
            (*hit.span(), number)
            for number, pattern in enumerate(self._patterns)
            for hit in islice(pattern.finditer(folded), _MOST_HITS)
        ]
        if not hits:
            return None
        hits.sort()
        start = max(hits, key=lambda hit: (_words_within(hits, hit[0]), -hit[0]))[0]
        begin = max(start - _BEFORE, 0)
        if len(text) <= _LENGTH:
            begin, end = 0, len(text)
        else:
            end = min(begin + _LENGTH, len(text))
            begin = text.find(" ", begin, start) + 1 or begin if begin else 0
        head = "…" if begin else ""
        excerpt = "".join(" " if letter.isspace() else letter for letter in text[begin:end])
        shift = len(head) - begin
        marks = tuple(
            (first + shift, min(last, end) + shift)
            for first, last in sorted({hit[:2] for hit in hits})
            if begin <= first < end
        )
        return Passage(turn_id, field, f"{head}{excerpt}{'…' if end < len(text) else ''}", marks)


def _words_within(hits: list[tuple[int, int, int]], start: int) -> int:
    """The number of different words among the hits of a passage that starts at ``start``."""
    return len({number for first, _, number in hits if start <= first < start + _LENGTH - _BEFORE})


class _Letters(dict[int, int]):
    """Each letter's code without accents and in lower case, looked up once."""

    def __missing__(self, code: int) -> int:
        plain = unicodedata.normalize("NFD", chr(code))[0].lower()[0]
        self[code] = ord(plain)
        return ord(plain)


_LETTERS: Final = _Letters()


def _folded(text: str) -> str:
    """``text`` in lower case and without accents, of the same length."""
    return text.lower() if text.isascii() else text.translate(_LETTERS)
