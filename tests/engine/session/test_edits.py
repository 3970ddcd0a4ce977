"""Turns, calls and results written by a person."""

from __future__ import annotations

from typing import Any

import pytest

from playground.domain.debugging import ResultDraft
from playground.domain.parts import Image, ToolCall, ToolResult
from playground.domain.transcript import Role, Transcript, Turn, make_turn
from playground.engine.session import edits
from playground.engine.session.drafts import Draft, turn_of_draft
from playground.engine.session.session import Session
from tests.engine.session.test_session import make_session
from tests.support.each_case import each_case
from tests.support.editors import replace_call


def call(call_id: str = "one", name: str = "get_weather", arguments: str = "{}") -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments)


def result(call_id: str, text: str = "sunny") -> Turn:
    return make_turn(Role.TOOL, "", ToolResult(call_id=call_id, text=text))


@pytest.fixture
def session() -> Session:
    """A question, and a turn with two calls that wait."""
    return make_session(
        make_turn(Role.USER, "Is it warmer in Lisbon or Oslo?"), make_turn(Role.ASSISTANT, "", call("one"), call("two"))
    )


def roles(session: Session) -> str:
    return " ".join(turn.role.value[0] for turn in session.transcript.path)


def answered(session: Session) -> list[str]:
    return [r.call_id for turn in session.transcript.path for r in turn.results]


def messages(session: Session) -> list[dict[str, Any]]:
    body = session.next_request.body()
    result: list[dict[str, Any]] = body["messages"]
    return result


def test_written_result_answers_the_chosen_call_else_the_first_that_waits(session: Session) -> None:
    transcript = session.transcript
    drafts = [Draft(text="9", role=Role.TOOL, answers=answers) for answers in ("two", "", " by-hand ")]
    turns = [*(turn_of_draft(draft, transcript) for draft in drafts), turn_of_draft(drafts[1], Transcript())]
    assert [turn.results[0].call_id for turn in turns if turn] == ["two", "one", "by-hand", ""]
    assert turn_of_draft(Draft(role=Role.TOOL), transcript) is None
    empty = turn_of_draft(Draft(role=Role.TOOL, answers="one"), transcript)
    assert empty is not None
    assert empty.results[0].text == ""


def test_written_assistant_turn_has_its_calls_with_ids() -> None:
    draft = Draft(role=Role.ASSISTANT, calls=(call(""), call("mine", " other "), call("")))
    turn = turn_of_draft(draft, Transcript())
    assert turn is not None
    ids = [item.id for item in turn.calls]
    assert ids[1] == "mine"
    assert len(set(ids)) == 3
    assert all(ids), "an id is made where none was given"
    assert [item.id_is_ours for item in turn.calls] == [True, False, True]
    assert turn.calls[1].name == "other"
    assert turn_of_draft(draft.model_copy(update={"role": Role.USER}), Transcript()) is None, (
        "only assistant turns have calls"
    )


@each_case(
    ("draft", "words"),
    [
        (Draft(role=Role.ASSISTANT, calls=(call("", " "),)), "name of the tool"),
        (Draft(role=Role.ASSISTANT, calls=(call("a"), call(" a "))), "Two calls have the id a"),
        (Draft(role=Role.TOOL, text="x", images=(Image(url="http://a/b.png"),)), "text only"),
    ],
)
def test_incomplete_draft_is_refused_with_the_reason(draft: Draft, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        turn_of_draft(draft, Transcript())


def test_request_with_a_result_without_its_call_is_refused(session: Session) -> None:
    session.turns.add_turn(result("", "21 degrees and sunny all over the place, with a light wind"))
    refusal = session.next_request.refusal()
    assert "does not say which call it answers" in refusal
    assert "“21 degrees and sunny" in refusal
    turn = session.transcript.path[-1]
    session.turns.give_call(turn.id, 0, "one")
    plain = session.turns.add_turn(make_turn(Role.TOOL, "9"))
    assert "which call it answers" in session.next_request.refusal(), "a tool turn of text has no call either"
    session.turns.give_call(plain, 0, "two")
    assert session.transcript.turns[plain].results[0] == ToolResult(call_id="two", text="9", by="you")
    assert session.next_request.refusal() == ""
    assert [message.get("tool_call_id") for message in messages(session)] == [None, None, "one", "two"]


def test_draft_of_a_result_counts_and_a_draft_of_a_call_does_not(session: Session) -> None:
    session.turns.answer("one", "21")
    assert "two" in session.next_request.refusal()
    assert session.next_request.refusal(result("two")) == ""
    assert "which call it answers" in session.next_request.refusal(result(""))
    session.turns.answer("two", "9")
    more = make_turn(Role.ASSISTANT, "", call("x", "get_wind"))
    assert "Add the message first" in session.next_request.refusal(more)
    assert "get_wind" in session.next_request.refusal(more)


def test_results_move_behind_the_turn_of_their_call(session: Session) -> None:
    session.turns.add_turn(make_turn(Role.USER, "Well?"))
    lost = session.turns.add_turn(result(""))
    session.turns.give_call(lost, 0, "one")
    assert roles(session) == "u a t u"
    assert session.undo()
    assert roles(session) == "u a u t"
    assert answered(session) == [""]
    session.delete_turn(lost)
    for call_id in ("two", "one", "elsewhere"):
        session.turns.add_written(result(call_id))
    assert (roles(session), answered(session)) == ("u a t t u t", ["one", "two", "elsewhere"])


def test_result_in_its_place_stays_and_so_does_that_of_an_unknown_call(session: Session) -> None:
    lost = session.turns.add_turn(result(""))
    path = [turn.id for turn in session.transcript.path]
    session.turns.give_call(lost, 0, "unknown")
    session.turns.give_call(lost, 0, " two ")
    assert [turn.id for turn in session.transcript.path] == path
    assert answered(session) == ["two"]
    session.turns.add_turn(make_turn(Role.ASSISTANT, "", call(" odd ")))
    odd = turn_of_draft(Draft(text="x", role=Role.TOOL, answers=" odd "), session.transcript)
    assert odd is not None
    assert odd.results[0].call_id == " odd ", "an id of a gateway is taken exactly"


def test_calls_added_to_a_turn_are_answered_and_sent(session: Session) -> None:
    session.turns.answer("one", "21")
    session.turns.answer("two", "9")
    turn = make_turn(Role.ASSISTANT, "Let me see.")
    session.turns.add_turn(turn)
    wind, time = call("", "get_wind", '{"city": "Oslo"}'), call("mine", "get_time", "")
    session.turns.replace_turn(edits.with_more_calls(turn, [wind, time]))
    added, mine = session.transcript.turns[turn.id].calls
    assert (mine.id, added.id_is_ours) == ("mine", True)
    assert [item.id for item in session.transcript.unanswered()] == [added.id, "mine"]
    session.turns.answer("mine", "noon")
    session.turns.answer(added.id, "calm")
    assert session.next_request.refusal() == ""
    sent = messages(session)
    assert [item["id"] for item in sent[-3]["tool_calls"]] == [added.id, "mine"]
    assert [item["tool_call_id"] for item in sent[-2:]] == [added.id, "mine"]
    assert sent[-3]["tool_calls"][1]["function"] == {"name": "get_time", "arguments": "{}"}
    with pytest.raises(ValueError, match="mine"):
        session.turns.replace_turn(edits.with_more_calls(session.transcript.turns[turn.id], [call("mine")]))


def test_results_follow_a_call_to_its_new_id(session: Session) -> None:
    maker = session.transcript.path[1].id
    session.turns.answer("one", "21")
    session.turns.rewrite(session.transcript.truncate_after(maker))
    session.turns.answer("one", "22")
    session.debugger.notes.set_draft(maker, "two", ResultDraft(text="half"))
    edit = edits.replace_call(session.transcript, maker, "one", call("uno", "get_heat", '{"a": 1}'))
    session.turns.rewrite(edit.transcript)
    assert [r.call_id for turn in session.transcript.turns.values() for r in turn.results] == ["uno", "uno"]
    assert session.transcript.turns[maker].calls[0] == call("uno", "get_heat", '{"a": 1}')
    assert replace_call(session, maker, "two", call("dos")) == (maker, "dos")
    draft = session.debugger.notes.draft(maker, "dos")
    assert draft is not None, "what is typed for it stays with it"
    assert draft.text == "half"
    with pytest.raises(ValueError, match="uno"):
        replace_call(session, maker, "dos", call("uno"))
    assert session.undo()
    assert session.undo()
    assert [item.id for item in session.transcript.turns[maker].calls] == ["one", "two"]


def test_deleted_call_or_changed_role_takes_the_results_along(session: Session) -> None:
    maker = session.transcript.path[1].id
    both = make_turn(Role.TOOL, "", ToolResult(call_id="one", text="a"), ToolResult(call_id="", text="b"))
    session.turns.add_turn(both)
    session.turns.give_call(both.id, 1, "two")
    with pytest.raises(IndexError):
        session.turns.give_call(both.id, 2, "two")
    assert answered(session) == ["one", "two"]
    session.turns.delete_call(maker, "one")
    assert [item.id for item in session.transcript.path[1].calls] == ["two"]
    assert answered(session) == ["two"]
    assert session.undo()
    assert answered(session) == ["one", "two"]
    session.delete_turn(both.id)
    session.turns.change_role(maker, Role.USER)
    assert session.transcript.turns[maker].calls == ()
    assert session.undo()
    assert len(session.transcript.turns[maker].calls) == 2
