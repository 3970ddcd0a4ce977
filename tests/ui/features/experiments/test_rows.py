"""Rows of the list of experiments: days, pins and search hits."""

from __future__ import annotations

from playground.engine.library.store import Passage, SearchResult
from playground.ui.features.experiments.rows import Heading, Hit, Line, rows_found
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
