from __future__ import annotations

import pytest

from playground.domain.parts import Image, Reasoning, Refusal, Text, ToolCall, ToolResult
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn, one_per_request
from playground.domain.usage import Usage
from tests.support.each_case import each_case


def turn(name: str, role: Role = Role.USER) -> Turn:
    return Turn(id=name, role=role, parts=(Text(text=name),))


def path(transcript: Transcript) -> str:
    return "".join(t.id for t in transcript.path)


ABC = Transcript().append(turn("a"), turn("b"), turn("c"))


def test_append_follows_the_head() -> None:
    assert path(ABC) == "abc"
    assert [t.parent for t in ABC.path] == [None, "a", "b"]
    assert ABC.append() == ABC


def test_edit_keeps_the_old_transcript() -> None:
    ABC.append(turn("d"))
    ABC.remove("b")
    ABC.move("c", -1)
    ABC.replace(turn("b"))
    ABC.insert(turn("x"), before="a")
    assert path(ABC) == "abc"
    assert set(ABC.turns) == set("abc")


def test_alternatives_follow_the_head_side_by_side() -> None:
    many = ABC.append_alternatives([turn("x"), turn("y")])
    assert path(many) == "abcx"
    assert many.siblings("y") == ("x", "y")
    assert many.children("c") == ("x", "y")
    assert ABC.append_alternatives([]) == ABC


def test_replace_keeps_the_place() -> None:
    changed = ABC.replace(Turn(id="b", role=Role.USER, parts=(Text(text="new"),), parent="nonsense"))
    assert path(changed) == "abc"
    assert changed.turns["b"].text == "new"
    assert changed.turns["b"].parent == "a"


def test_remove_gives_all_children_to_the_parent() -> None:
    tree = ABC.truncate_after("b").append(turn("x")).remove("b")
    assert tree.children("a") == ("c", "x")


@each_case(
    ("edited", "expected"),
    [
        (Transcript(), ""), (ABC.insert(turn("x"), before="a"), "xabc"),
        (ABC.insert(turn("x"), before="c"), "abxc"), (ABC.remove("a"), "bc"), (ABC.remove("b"), "ac"),
        (ABC.remove("c"), "ab"), (ABC.move("a", 1), "bac"), (ABC.move("c", -1), "acb"), (ABC.move("b", 1), "acb"),
        (ABC.move("b", -1), "bac"), (ABC.move("a", -1), "abc"), (ABC.move("c", 1), "abc"),
    ],
)  # fmt: skip
def test_edit_leads_to_a_path(edited: Transcript, expected: str) -> None:
    assert path(edited) == expected


def test_move_takes_the_branches_of_the_lower_one_along() -> None:
    tree = ABC.append(turn("d")).move("b", 1)
    assert path(tree) == "acbd"


def test_truncate_and_select_a_branch() -> None:
    back = ABC.truncate_after("a")
    assert path(back) == "a"
    assert set(back.turns) == set("abc")
    second = back.append(turn("x"), turn("y"))
    assert path(second) == "axy"
    assert path(second.select("b")) == "abc"
    assert path(second.select("a")) == "axy"
    assert path(ABC.truncate_after(None)) == ""


def test_unanswered_calls() -> None:
    calls = Turn(id="c1", role=Role.ASSISTANT, parts=tuple(ToolCall(id=i, name="f", arguments="") for i in "pq"))
    answer = Turn(id="r1", role=Role.TOOL, parts=(ToolResult(call_id="p", text="1"),))
    assert [c.id for c in ABC.append(calls, answer).unanswered()] == ["q"]
    assert ABC.unanswered() == ()


def test_turn_has_text_images_reasoning_and_refusal() -> None:
    created = make_turn(Role.USER, "a", Image(url="u"), Text(text="b"))
    assert created.text == "ab"
    assert [i.url for i in created.images] == ["u"]
    assert make_turn(Role.USER).parts == ()
    mixed = Turn(id="m", role=Role.ASSISTANT, parts=(Reasoning(text="r"), Refusal(text="no"), Text(text="t")))
    assert (mixed.reasoning, mixed.refusal, mixed.text) == ("r", "no", "t")


@pytest.mark.parametrize(
    ("ending", "reason", "truncated"),
    [
        (Ending.COMPLETE, "stop", False), (Ending.COMPLETE, "length", True), (Ending.COMPLETE, "max_tokens", True),
        (Ending.STOPPED, None, True), (Ending.CUT_OFF, None, True), (Ending.FAILED, "tool_calls", True),
    ],
)  # fmt: skip
def test_call_of_a_truncated_turn_must_not_run(ending: Ending, reason: str | None, truncated: bool) -> None:
    outcome = Outcome(ending=ending, finish_reason=reason)
    assert Turn(id="t", role=Role.ASSISTANT, outcome=outcome).truncated is truncated
    assert Turn(id="t", role=Role.ASSISTANT).truncated is False


def test_call_id_of_a_later_round_waits_again() -> None:
    def calling(name: str) -> Turn:
        return Turn(id=name, role=Role.ASSISTANT, parts=(ToolCall(id="call_0", name="f", arguments="{}"),))

    def answering(name: str) -> Turn:
        return Turn(id=name, role=Role.TOOL, parts=(ToolResult(call_id="call_0", text="1"),))

    once = Transcript().append(turn("u"), calling("a"), answering("b"))
    assert once.unanswered() == ()
    twice = once.append(calling("c"))
    assert [call.id for call in twice.unanswered()] == ["call_0"]
    assert twice.append(answering("d")).unanswered() == ()


def test_usage_of_a_request_with_choices_is_counted_once() -> None:
    def answer(exchange: str | None, choice: int = 0) -> Turn:
        used = Outcome(ending=Ending.COMPLETE, usage=Usage(completion=10), exchange=exchange, choice=choice, choices=2)
        return make_turn(Role.ASSISTANT, "x").model_copy(update={"outcome": used})

    turns = [make_turn(Role.USER, "?"), answer("e1"), answer("e1", 1), answer("e2"), answer(None), answer(None)]
    assert [outcome.exchange for outcome in one_per_request(turns)] == ["e1", "e2", None, None]
