"""What differs from the first lane: words only, each at its place, answer by answer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from playground.domain.parts import Part, Reasoning, Text
from playground.domain.transcript import Ending, Outcome, Role, Turn, make_turn, new_id
from playground.engine.compare.differences import differing


def answer(*texts: str) -> Turn:
    parts: tuple[Part, ...] = (Reasoning(text="hm"), *(Text(text=text) for text in texts))
    return Turn(id=new_id(), role=Role.ASSISTANT, parts=parts, outcome=Outcome(ending=Ending.COMPLETE))


def marked(turn: Turn, other: Turn) -> list[str]:
    texts = [part.text for part in turn.parts if part.kind == "text"]
    found = differing([make_turn(Role.USER, "?"), turn], [make_turn(Role.USER, "?"), other])
    return [texts[one.nth][one.start : one.end] for one in found.get(turn.id, ())]


def test_words_that_the_other_answer_does_not_have_are_marked() -> None:
    assert marked(answer("Lisbon is warmer today."), answer("Lisbon is colder today.")) == ["warmer "]
    assert marked(answer("the same"), answer("the same")) == []
    assert marked(answer("less"), answer("less and more")) == []


def test_an_answer_in_several_texts_is_compared_as_one() -> None:
    assert "".join(marked(answer("One. ", "Two, new. ", "Three."), answer("One. Two. Three."))).strip() == ", new"


def test_the_same_turn_and_one_without_a_fellow_are_left_alone() -> None:
    one, other = answer("a"), answer("b")
    assert differing([one], [one]) == {}
    assert differing([other, one], [other]) == {}


@given(st.text("ab \n.", max_size=40), st.text("ab \n.", max_size=40), st.integers(0, 40))
def test_every_mark_is_inside_its_text_and_none_is_blank(ours: str, theirs: str, cut: int) -> None:
    turn = answer(ours[:cut], ours[cut:])
    for words in marked(turn, answer(theirs)):
        assert words
