"""Rows of the list of experiments: days, pins and search hits."""

from __future__ import annotations

import time

from playground.engine.library.store import Passage, SearchResult
from playground.ui.features.experiments.rows import SHOWN, Heading, Hit, Line, More, day_name, rows_found
from tests.support.each_case import each_case
from tests.ui.features.experiments.entries import entry


def test_hits_are_listed_below_their_experiment() -> None:
    passages = (
        Passage("", "title", "Weather in Rome", ((11, 15),)),
        Passage("t1", "text", "a very long beginning of the words before Rome is named", ((42, 46),)),
        Passage("t2", "arguments", '{"city": "Rome"}', ((10, 14),)),
    )
    heading, line, first, second = rows_found([SearchResult(entry("a", "Weather in Rome"), passages)])
    assert isinstance(heading, Heading)
    assert heading.text == "1 experiment found"
    assert isinstance(line, Line)
    assert marked_text(line.title, line.marks) == ["Rome"]
    assert isinstance(first, Hit)
    assert isinstance(second, Hit)
    assert (first.turn_id, second.turn_id) == ("t1", "t2")
    assert marked_text(first.text, first.marks) == ["Rome"]
    assert first.text.startswith("…")
    assert 12 < first.text.index("Rome") < 36, "what was found is seen in a narrow list, with words before it"
    assert second.text == 'Call: {"city": "Rome"}'
    assert marked_text(second.text, second.marks) == ["Rome"]


def test_marks_follow_escaped_characters() -> None:
    passage = Passage("t", "text", "\u202eab<b>Rome</b>\u200b", ((6, 10),))
    hit = rows_found([SearchResult(entry("a"), (passage,))])[-1]
    assert isinstance(hit, Hit)
    assert "\u202e" not in hit.text
    assert marked_text(hit.text, hit.marks) == ["Rome"]
    assert "<b>" in hit.text


def marked_text(text: str, marks: tuple[tuple[int, int], ...]) -> list[str]:
    return [text[start:end] for start, end in marks]


@each_case(
    "then, words",
    [
        ((2026, 11, 21, 0, 1), "Today"),
        ((2026, 11, 22, 9, 0), "Today"),  # a clock that was set back
        ((2026, 11, 20, 23, 59), "Yesterday"),
        ((2026, 11, 19, 12, 0), "19 November"),
        ((2025, 12, 31, 12, 0), "31 December 2025"),
    ],
)
def test_days_are_named(then: tuple[int, int, int, int, int], words: str) -> None:
    assert day_name(moment(*then), moment(2026, 11, 21, 12, 0)) == words


def moment(year: int, month: int, day: int, hour: int, minute: int) -> float:
    """The Unix time of a local time."""
    return time.mktime((year, month, day, hour, minute, 0, 0, 0, -1))


def test_many_hits_are_limited_and_counted() -> None:
    found = [SearchResult(entry(f"e{number}"), ()) for number in range(3 * SHOWN)]
    rows = rows_found(found)
    assert rows[0] == Heading(f"{3 * SHOWN:,} experiments found")
    assert len(rows) == SHOWN + 2
    assert rows[-1] == More(2 * SHOWN)
    assert len(rows_found(found, 4 * SHOWN)) == 3 * SHOWN + 1
