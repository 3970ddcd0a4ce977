"""Turns, calls and results written by a person: whose result is whose, and what goes out is never half of it."""

from __future__ import annotations

from typing import Any

import pytest

from playground.domain.debugging import ResultDraft
from playground.domain.parts import Image, ToolCall, ToolResult
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn
from playground.engine.session.draft import Draft
from playground.engine.session.hand_made import answerable, own_id, written
from playground.engine.session.session import Session
from playground.gateway.client import GatewayClient


async def nowhere(_profile_id: str) -> GatewayClient:
    raise OSError("there is no gateway here")


def call(call_id: str = "one", name: str = "get_weather", arguments: str = "{}") -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments)


def result(call_id: str, text: str = "sunny") -> Turn:
    return make_turn(Role.TOOL, "", ToolResult(call_id=call_id, text=text))


@pytest.fixture
def session() -> Session:
    """A question, and a turn with two calls that wait."""
    session = Session(nowhere, profile_id="p", model="m")
    session.turns.add_turn(make_turn(Role.USER, "Is it warmer in Lisbon or Oslo?"))
    session.turns.add_turn(make_turn(Role.ASSISTANT, "", call("one"), call("two")))
    return session


def roles(session: Session) -> str:
    return " ".join(turn.role.value[0] for turn in session.transcript.path)


def answered(session: Session) -> list[str]:
    return [r.call_id for turn in session.transcript.path for r in turn.results]


def messages(session: Session) -> list[dict[str, Any]]:
    body = session.next_request.body()
    found: list[dict[str, Any]] = body["messages"]
    return found


# ---- what a draft becomes


def test_a_result_answers_the_call_that_was_chosen_else_the_first_that_waits(session: Session) -> None:
    transcript = session.transcript
    chosen = written(Draft(text="9", role=Role.TOOL, answers="two"), transcript)
    first = written(Draft(text="9", role=Role.TOOL), transcript)
    typed = written(Draft(text="9", role=Role.TOOL, answers=" by-hand "), transcript)
    alone = written(Draft(text="9", role=Role.TOOL), Transcript())
    assert [turn.results[0].call_id for turn in (chosen, first, typed, alone) if turn] == ["two", "one", "by-hand", ""]


def test_an_empty_result_is_one_where_its_call_was_chosen(session: Session) -> None:
    assert written(Draft(role=Role.TOOL), session.transcript) is None
    empty = written(Draft(role=Role.TOOL, answers="one"), session.transcript)
    assert empty is not None
    assert empty.results[0].text == ""


def test_an_assistant_turn_has_the_calls_that_were_written() -> None:
    draft = Draft(role=Role.ASSISTANT, calls=(call(""), call("mine", " other "), call("")))
    turn = written(draft, Transcript())
    assert turn is not None
    ids = [one.id for one in turn.calls]
    assert ids[1] == "mine"
    assert len(set(ids)) == 3
    assert all(ids), "an id is made where none was given"
    assert [one.id_is_ours for one in turn.calls] == [True, False, True]
    assert turn.calls[1].name == "other"
    assert written(draft.model_copy(update={"role": Role.USER}), Transcript()) is None, "nobody else has calls"


@pytest.mark.parametrize(
    ("draft", "words"),
    [
        (Draft(role=Role.ASSISTANT, calls=(call("", " "),)), "name of the tool"),
        (Draft(role=Role.ASSISTANT, calls=(call("a"), call(" a "))), "Two calls have the id a"),
        (Draft(role=Role.TOOL, text="x", images=(Image(url="http://a/b.png"),)), "text only"),
    ],
)
def test_what_cannot_be_a_turn_yet_is_said(draft: Draft, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        written(draft, Transcript())


def test_ids_are_made_for_both_protocols() -> None:
    made = own_id()
    assert made != own_id()
    assert made.replace("_", "").replace("-", "").isalnum()


# ---- which calls there are


def test_calls_that_wait_come_first_and_each_id_once(session: Session) -> None:
    session.turns.answer("one", "21")
    session.turns.add_turn(make_turn(Role.ASSISTANT, "", call("one"), call("three")))
    found = [(entry.call.id, entry.waits) for entry in answerable(session.transcript.path)]
    assert found == [("two", True), ("one", True), ("three", True)]
    session.turns.answer("one", "again")
    found = [(entry.call.id, entry.waits) for entry in answerable(session.transcript.path)]
    assert found == [("two", True), ("three", True), ("one", False)]


# ---- before it is sent


def test_a_tool_turn_without_its_call_is_not_sent(session: Session) -> None:
    session.turns.add_turn(result("", "21 degrees and sunny all over the place, with a light wind"))
    refusal = session.next_request.refusal()
    assert "does not say which call it answers" in refusal
    assert "“21 degrees and sunny" in refusal
    turn = session.transcript.path[-1]
    session.turns.give_call(turn.id, 0, "one")
    session.turns.add_written(result("two"))
    assert session.next_request.refusal() == ""
    assert [message.get("tool_call_id") for message in messages(session)] == [None, None, "one", "two"]


def test_a_tool_turn_that_holds_no_result_is_none_either(session: Session) -> None:
    turn = make_turn(Role.TOOL, "21")
    session.turns.add_turn(turn)
    assert "which call it answers" in session.next_request.refusal()
    session.turns.give_call(turn.id, 0, "two")
    assert session.transcript.turns[turn.id].results[0] == ToolResult(call_id="two", text="21", by="you")


def test_the_result_that_is_being_written_counts_and_calls_that_are_wait_for_theirs(session: Session) -> None:
    session.turns.answer("one", "21")
    assert "two" in session.next_request.refusal()
    assert session.next_request.refusal(result("two")) == ""
    assert "which call it answers" in session.next_request.refusal(result(""))
    session.turns.answer("two", "9")
    more = make_turn(Role.ASSISTANT, "", call("x", "get_wind"))
    assert "Add the turn first" in session.next_request.refusal(more)
    assert "get_wind" in session.next_request.refusal(more)


# ---- giving a result its call


def test_a_result_goes_behind_the_turn_whose_call_it_answers(session: Session) -> None:
    session.turns.add_turn(make_turn(Role.USER, "Well?"))
    lost = session.turns.add_turn(result(""))
    session.turns.give_call(lost, 0, "one")
    assert roles(session) == "u a t u"
    assert session.undo()
    assert roles(session) == "u a u t"
    assert answered(session) == [""]


def test_results_written_for_waiting_calls_stand_in_the_order_of_the_calls(session: Session) -> None:
    session.turns.add_turn(make_turn(Role.USER, "Well?"))
    session.turns.add_written(result("two"))
    session.turns.add_written(result("one"))
    assert roles(session) == "u a t t u"
    assert answered(session) == ["one", "two"]
    session.turns.add_written(result("elsewhere"))
    assert answered(session) == ["one", "two", "elsewhere"], "an id of one's own stays where it is written"


def test_a_result_at_its_place_stays_and_so_does_one_for_an_unknown_call(session: Session) -> None:
    lost = session.turns.add_turn(result(""))
    path = [turn.id for turn in session.transcript.path]
    session.turns.give_call(lost, 0, "nobody's")
    session.turns.give_call(lost, 0, " two ")
    assert [turn.id for turn in session.transcript.path] == path
    assert answered(session) == ["two"]


def test_an_odd_id_of_a_call_is_met_exactly(session: Session) -> None:
    session.turns.add_turn(make_turn(Role.ASSISTANT, "", call(" odd ")))
    turn = written(Draft(text="x", role=Role.TOOL, answers=" odd "), session.transcript)
    assert turn is not None
    assert turn.results[0].call_id == " odd "
    lost = session.turns.add_turn(result(""))
    session.turns.give_call(lost, 0, " odd ")
    assert answered(session) == [" odd "]
    maker = session.transcript.path[-2].id
    session.turns.replace_call(maker, " odd ", call(" odd ", " n ", '{"a": 1}'), in_place=True)
    assert session.transcript.turns[maker].calls[0] == call(" odd ", "n", '{"a": 1}')
    session.turns.give_call(lost, 0, " mine ")
    assert answered(session) == ["mine"]


def test_one_of_several_results_in_a_turn_is_given_its_call(session: Session) -> None:
    turn = make_turn(Role.TOOL, "", ToolResult(call_id="one", text="a"), ToolResult(call_id="", text="a"))
    session.turns.add_turn(turn)
    session.turns.give_call(turn.id, 1, "two")
    assert answered(session) == ["one", "two"]
    with pytest.raises(IndexError):
        session.turns.give_call(turn.id, 2, "two")


# ---- calls of turns


@pytest.mark.parametrize("protocol", ["chat", "messages"])
def test_a_turn_is_given_calls_and_they_go_out(session: Session, protocol: str) -> None:
    session.change(protocol=protocol)
    session.turns.answer("one", "21")
    session.turns.answer("two", "9")
    turn = make_turn(Role.ASSISTANT, "Let me see.")
    session.turns.add_turn(turn)
    session.turns.add_calls(turn.id, [call("", "get_wind", '{"city": "Oslo"}'), call("mine", "get_time", "")])
    made, mine = session.transcript.turns[turn.id].calls
    assert (mine.id, made.id_is_ours) == ("mine", True)
    assert [one.id for one in session.transcript.unanswered()] == [made.id, "mine"]
    session.turns.answer("mine", "noon")
    session.turns.answer(made.id, "calm")
    assert session.next_request.refusal() == ""
    sent = messages(session)
    if protocol == "chat":
        assert [one["id"] for one in sent[-3]["tool_calls"]] == [made.id, "mine"]
        assert [one["tool_call_id"] for one in sent[-2:]] == [made.id, "mine"]
        assert sent[-3]["tool_calls"][1]["function"] == {"name": "get_time", "arguments": "{}"}
    else:
        assert [block["type"] for block in sent[-2]["content"]] == ["text", "tool_use", "tool_use"]
        assert sent[-2]["content"][1]["input"] == {"city": "Oslo"}
        assert [block["tool_use_id"] for block in sent[-1]["content"]] == [made.id, "mine"]
    with pytest.raises(ValueError, match="mine"):
        session.turns.add_calls(turn.id, [call("mine")])


def test_a_call_gets_another_id_and_its_results_keep_to_it_on_every_branch(session: Session) -> None:
    maker = session.transcript.path[1].id
    session.turns.answer("one", "21")
    session.turns.rewrite(session.transcript.truncate_after(maker))
    session.turns.answer("one", "22")
    session.debugger.notes.set_draft(maker, "two", ResultDraft(text="half"))
    session.turns.replace_call(maker, "one", call("uno", "get_heat", '{"a": 1}'), in_place=True)
    assert [r.call_id for turn in session.transcript.turns.values() for r in turn.results] == ["uno", "uno"]
    assert session.transcript.turns[maker].calls[0] == call("uno", "get_heat", '{"a": 1}')
    assert session.turns.replace_call(maker, "two", call("dos")) == (maker, "dos")
    draft = session.debugger.notes.draft(maker, "dos")
    assert draft is not None, "what is typed for it stays with it"
    assert draft.text == "half"
    with pytest.raises(ValueError, match="uno"):
        session.turns.replace_call(maker, "dos", call("uno"))
    assert session.undo()
    assert session.undo()
    assert [one.id for one in session.transcript.turns[maker].calls] == ["one", "two"]


def test_what_the_model_sent_is_kept_beside_a_call_that_was_changed() -> None:
    session = Session(nowhere, profile_id="p", model="m")
    came = ToolCall(id="c", name="get_weather", arguments='{"a": 1}', id_is_ours=True)
    turn = make_turn(Role.ASSISTANT, "", came).model_copy(update={"outcome": Outcome(ending=Ending.COMPLETE)})
    session.turns.add_turn(turn)
    session.turns.replace_call(turn.id, "c", came.model_copy(update={"arguments": '{"a": 2}'}))
    changed = session.transcript.turns[turn.id].calls[0]
    assert (changed.arguments, changed.received, changed.id_is_ours) == ('{"a": 2}', '{"a": 1}', True)
    before = session.transcript
    session.turns.replace_call(turn.id, "c", changed)
    assert session.transcript is before, "nothing was changed, and there is nothing to undo"


def test_a_call_goes_with_its_results(session: Session) -> None:
    maker = session.transcript.path[1].id
    session.turns.answer("one", "21")
    session.turns.answer("two", "9")
    session.turns.delete_call(maker, "one")
    assert [one.id for one in session.transcript.turns[maker].calls] == ["two"]
    assert answered(session) == ["two"]
    assert session.undo()
    assert answered(session) == ["one", "two"]


def test_a_call_goes_out_of_a_turn_with_several_results(session: Session) -> None:
    both = make_turn(Role.TOOL, "", ToolResult(call_id="one", text="a"), ToolResult(call_id="two", text="b"))
    session.turns.add_turn(both)
    session.turns.delete_call(session.transcript.path[1].id, "one")
    assert answered(session) == ["two"]


def test_only_an_assistant_turn_has_calls(session: Session) -> None:
    maker = session.transcript.path[1].id
    session.turns.change_role(maker, Role.USER)
    assert session.transcript.turns[maker].calls == ()
    assert session.undo()
    assert len(session.transcript.turns[maker].calls) == 2
