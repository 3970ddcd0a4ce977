"""Edits of turns with answers make branches, and one undo takes each of them back."""

from __future__ import annotations

import pytest

from playground.domain.debugging import ResultDraft
from playground.domain.errors import RunRefusedError
from playground.domain.parts import Image, ToolCall, ToolResult
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn
from playground.engine.files.export.selection import Selection
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.session.branching import has_answers, resend_from
from playground.engine.session.session import Experiment, Session
from playground.engine.session.snapshot import snapshot
from tests.engine.session.conftest import Connect
from tests.engine.session.test_run import IN_TWO_PARTS, begin_answer
from tests.support.editors import no_gateway
from tests.support.fault_server import FaultServer

PIXEL = "https://example.org/a.png"


def received(text: str, *calls: ToolCall, ending: Ending = Ending.COMPLETE) -> Turn:
    turn = make_turn(Role.ASSISTANT, text, *calls)
    return turn.model_copy(update={"outcome": Outcome(ending=ending, exchange=turn.id)})


def session_of(*turns: Turn) -> Session:
    session = Experiment(no_gateway, profile_id="p", model="m").main
    session.history.transcript = Transcript().append(*turns)
    return session


@pytest.fixture
def session() -> Session:
    """Two questions, each with an answer that was received."""
    user = Role.USER
    return session_of(make_turn(user, "One?"), received("1"), make_turn(user, "Two?"), received("2"))


def texts(session: Session) -> list[str]:
    return [turn.text or "".join(result.text for result in turn.results) for turn in session.transcript.path]


def ids(session: Session) -> list[str]:
    return [turn.id for turn in session.transcript.path]


def test_edited_question_is_a_branch_without_the_old_answers(session: Session) -> None:
    before, first = session.transcript, ids(session)[0]
    session.turns.edit_text(first, "One?")
    assert session.transcript is before, "the same words are no edit"
    copy_id = session.turns.edit_text(first, "Uno?")
    assert texts(session) == ["Uno?"]
    assert session.transcript.siblings(copy_id) == (first, copy_id), "‹ 2/2 ›"
    assert all(session.transcript.turns[key] == turn for key, turn in before.turns.items())
    places = {
        section.turn.text: section.place for section in Selection(snapshot(session), [], whole_tree=True).sections()
    }
    assert places["One?"] == "alternative 1 of 2"
    assert places["Uno?"].startswith("alternative 2 of 2")
    session.turns.select_alternative(first)
    assert texts(session) == ["One?", "1", "Two?", "2"]
    assert session.undo()
    session.delete_turn(copy_id)
    assert texts(session) == ["One?", "1", "Two?", "2"], "the alternative next to a deleted one is shown"
    assert session.undo()
    assert session.undo()
    assert session.transcript is before, "one step for the branch"


def test_turn_without_answers_is_edited_in_place(session: Session) -> None:
    last = session.transcript.path[-1].id
    assert session.turns.edit_text(last, "zwei") == last
    question = session.turns.add_turn(make_turn(Role.USER, "Thre?"))
    assert session.turns.edit_text(question, "Three?") == question
    session.turns.add_turn(Turn(id="f", role=Role.ASSISTANT, outcome=Outcome(ending=Ending.FAILED)))
    assert session.turns.edit_text(question, "Tres?") == question, "a failure without content is no answer"
    calls = session.turns.add_turn(received("", ToolCall(id="one", name="f", arguments="{}")))
    assert session.turns.edit_call(calls, "one", '{"a": 1}') == calls
    call = session.transcript.turns[calls].calls[0]
    assert session.turns.replace_call(calls, "one", call.model_copy(update={"id": "uno"})) == (calls, "uno")
    assert not session.transcript.forks


def test_turns_below_an_edit_are_copied_up_to_the_first_answer() -> None:
    system, more = make_turn(Role.SYSTEM, "Be brief."), make_turn(Role.USER, "And now?")
    session = session_of(system, make_turn(Role.USER, "One?"), received("1"), more)
    copy_id = session.turns.edit_text(system.id, "Be long.")
    assert texts(session) == ["Be long.", "One?"]
    assert session.transcript.children(None) == (system.id, copy_id)
    assert session.transcript.turns[more.id].parent is not None


def test_written_answers_stay_but_examples_follow_an_edited_system_prompt() -> None:
    user, assistant = Role.USER, Role.ASSISTANT
    turns = [make_turn(user, "a?"), make_turn(assistant, "A"), make_turn(user, "b?"), make_turn(assistant, "B")]
    session = session_of(make_turn(Role.SYSTEM, "Be brief."), *turns)
    copy_id = session.turns.edit_text(turns[0].id, "x?")
    assert texts(session) == ["Be brief.", "x?"]
    assert resend_from(session.transcript, copy_id) == copy_id
    assert session.undo()
    session.turns.edit_text(ids(session)[0], "Be long.")
    assert texts(session) == ["Be long.", "a?", "A", "b?", "B"]
    assert session.transcript.turns[resend_from(session.transcript, ids(session)[0])].text == "b?"


def test_edited_image_or_role_is_a_branch() -> None:
    image = Image(url=PIXEL, name="a.png")
    question = make_turn(Role.USER, "What is it?", image)
    session = session_of(question, received("A dot."))
    assert session.turns.set_image(question.id, 0, None) != question.id
    assert [turn.images for turn in session.transcript.path] == [()]
    assert session.undo()
    copy_id = session.turns.change_role(question.id, Role.SYSTEM)
    assert session.transcript.turns[copy_id].role is Role.SYSTEM
    assert session.transcript.turns[question.id].role is Role.USER


def with_calls(*more: Turn) -> Session:
    calls = ToolCall(id="one", name="f", arguments="{}"), ToolCall(id="two", name="g", arguments="{}")
    results = [make_turn(Role.TOOL, "", ToolResult(call_id=call.id, text=f"is {call.id}")) for call in calls]
    return session_of(make_turn(Role.USER, "Go"), received("", *calls), *results, *more)


def test_edited_call_with_a_result_waits_for_another_on_a_branch() -> None:
    session = with_calls(received("done"))
    maker = ids(session)[1]
    session.debugger.notes.set_draft(maker, "two", ResultDraft(text="half"))
    copy_id = session.turns.edit_call(maker, "one", '{"a": 1}')
    assert [call.arguments for call in session.transcript.turns[copy_id].calls] == ['{"a": 1}', "{}"]
    assert [call.id for call in session.transcript.unanswered()] == ["one"]
    assert texts(session) == ["Go", "", "is two"], "the other call keeps its answer"
    draft = session.debugger.notes.draft(copy_id, "one")
    assert draft is not None
    assert draft.text == "is one", "the old result is the draft"
    result_draft = session.debugger.notes.draft(copy_id, "two")
    assert result_draft is not None
    assert result_draft.text == "half"
    assert [call.arguments for call in session.transcript.turns[maker].calls] == ["{}", "{}"]
    assert session.undo()
    assert texts(session) == ["Go", "", "is one", "is two", "done"]


async def test_edit_and_run_is_one_step_of_undo(gateways: Gateways) -> None:
    session = Experiment(gateways.client, profile_id=DEMO_ID, model="demo-chat").main
    question = session.turns.add_turn(make_turn(Role.USER, "One?"))
    await session.run()
    answer = session.transcript.path[-1]
    before = session.transcript
    await session.run_edited(question, "Uno?")
    assert [turn.role for turn in session.transcript.path] == [Role.USER, Role.ASSISTANT]
    assert session.transcript.path[0].text == "Uno?"
    assert session.transcript.path[1].outcome is not None
    assert session.transcript.turns[answer.id] == answer
    assert session.undo()
    assert session.transcript == before
    await session.run_edited(question, "One?")
    assert len(session.transcript.siblings(answer.id)) == 2, "the same words ask for an alternative of the answer"


async def test_edit_during_a_run_makes_a_branch(connect_to: Connect, server: FaultServer) -> None:
    server.play(*IN_TWO_PARTS)
    session = connect_to(server.url)
    run = await begin_answer(session, "Hello", 1)
    question = session.transcript.path[0].id
    with pytest.raises(RunRefusedError, match="Stop it first"):
        await session.run_edited(question, "Other")
    assert session.transcript.turns[question].text == "Hello"
    assert has_answers(session.transcript, question), "an answer that is arriving is one"
    copy_id = session.turns.edit_text(question, "Other")
    server.go_on()
    await run
    assert texts(session) == ["Other"], "the answer arrives where it was asked for"
    assert session.transcript.children(copy_id) == ()
    answer = session.transcript.turns[session.transcript.children(question)[0]]
    assert answer.outcome is not None
    assert answer.outcome.ending is Ending.COMPLETE
