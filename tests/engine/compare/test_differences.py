"""Marked differences from the first lane, answer by answer."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from playground.domain.parts import Part, Reasoning, Text
from playground.domain.transcript import Ending, Outcome, Role, Turn, make_turn, new_id
from playground.engine.compare.differences import GONE, MANY, MOST_MARKS, differing, fellows
from playground.engine.inspect.compare import CUT, MOST_TEXT, MOST_TOKENS
from tests.engine.exchanges import exchange


def answer(*texts: str) -> Turn:
    parts: tuple[Part, ...] = (Reasoning(text="hm"), *(Text(text=text) for text in texts))
    return Turn(id=new_id(), role=Role.ASSISTANT, parts=parts, outcome=Outcome(ending=Ending.COMPLETE))


def marked(turn: Turn, second: Turn) -> list[str]:
    texts = [part.text for part in turn.parts if part.kind == "text"]
    differences = differing([make_turn(Role.USER, "?"), turn], [make_turn(Role.USER, "?"), second])
    return [texts[mark.nth][mark.start : mark.end] for mark in differences.words.get(turn.id, ())]


def test_words_missing_in_the_other_answer_are_marked() -> None:
    assert marked(answer("Lisbon is warmer today."), answer("Lisbon is colder today.")) == ["warmer "]
    assert marked(answer("the same"), answer("the same")) == []
    assert marked(answer("less"), answer("less and more")) == []
    several = marked(answer("One. ", "Two, new. ", "Three."), answer("One. Two. Three."))
    assert "".join(several).strip() == ", new", "several texts are compared as one"
    first, second = answer("a"), answer("b")
    assert differing([first], [first]).words == {}
    assert differing([second, first], [second]).words == {}


def test_answers_of_the_same_round_are_fellows() -> None:
    question, other_question = make_turn(Role.USER, "?"), make_turn(Role.USER, "And?")
    first, two, three, four = (answer(text) for text in ("a", "b", "c", "d"))
    path = [question, first, two, other_question, three]
    assert list(fellows(path, [question, four, other_question, first])) == [(first, four), (three, first)]
    assert list(fellows([question, first], [other_question])) == []


def test_differing_fields_of_requests_are_named() -> None:
    first = exchange(asked={"model": "a", "temperature": 1})
    two = exchange(asked={"model": "b", "top_p": 1})
    assert differing([], [], (first, two)).fields == ("model", "top_p", "temperature")
    assert differing([], [], (first, first)).fields == ()
    assert differing([], []).fields is None
    two.drop()
    without_lanes = differing([], [], (first, two))
    assert (without_lanes.fields, without_lanes.left_out) == (None, (GONE,))
    large = exchange(asked=[1] * MOST_TOKENS)
    differences = differing([], [], (first, large))
    assert differences.fields is None
    assert "not compared" in differences.left_out[0]


def test_beginning_of_a_long_answer_is_marked_with_a_note() -> None:
    turn, second = answer("other words " * 90_000), answer("some words " * 90_000)
    differences = differing([turn], [second])
    assert differences.left_out == (CUT,)
    assert all(mark.end <= MOST_TEXT for mark in differences.words[turn.id])


def test_first_of_thousands_of_differences_are_marked_with_a_note() -> None:
    texts = ["".join(f"line {index}\n\nof {word}\n\n" for index in range(MOST_MARKS + 10)) for word in ("some", "such")]
    turn, second = answer(texts[1]), answer(texts[0])
    differences = differing([turn], [second])
    assert differences.left_out == (MANY,)
    assert len(differences.words[turn.id]) == MOST_MARKS


@settings(max_examples=50)
@given(st.text("ab \n.", max_size=40), st.text("ab \n.", max_size=40), st.integers(0, 40))
def test_every_mark_is_inside_its_text_and_none_is_blank(ours: str, theirs: str, cut: int) -> None:
    turn = answer(ours[:cut], ours[cut:])
    for words in marked(turn, answer(theirs)):
        assert words
