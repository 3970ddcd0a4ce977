"""Edits of turns with answers make branches: the old answers stay under the old words, and one undo takes it back."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from playground.demo.server import DemoServer
from playground.domain.debugging import ResultDraft
from playground.domain.errors import RunRefusedError
from playground.domain.parts import Image, ToolCall, ToolResult
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn
from playground.engine.files.export.selection import Selection
from playground.engine.gateways.secrets import Secret
from playground.engine.session.branching import asking, has_answers
from playground.engine.session.session import Session
from playground.engine.session.snapshot import snapshot
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection
from tests.engine.debugging import begin
from tests.support.editors import no_gateway
from tests.support.eventually import eventually

PIXEL = "https://example.org/a.png"


def received(text: str, *calls: ToolCall, ending: Ending = Ending.COMPLETE) -> Turn:
    turn = make_turn(Role.ASSISTANT, text, *calls)
    return turn.model_copy(update={"outcome": Outcome(ending=ending, exchange=turn.id)})


def session_of(*turns: Turn) -> Session:
    session = Session(no_gateway, profile_id="p", model="m")
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


def test_an_edited_question_leaves_its_answers_under_the_old_words(session: Session) -> None:
    before, first = session.transcript, ids(session)[0]
    made = session.turns.edit_text(first, "Uno?")
    assert texts(session) == ["Uno?"]
    assert session.transcript.siblings(made) == (first, made), "‹ 2/2 ›"
    assert all(session.transcript.turns[key] == turn for key, turn in before.turns.items())
    session.turns.select_alternative(first)
    assert texts(session) == ["One?", "1", "Two?", "2"]
    assert session.undo()
    assert session.undo()
    assert session.transcript is before, "one step for the branch, one for looking elsewhere"


def test_a_turn_without_answers_is_edited_where_it_is(session: Session) -> None:
    last = session.transcript.path[-1].id
    assert session.turns.edit_text(last, "zwei") == last
    question = session.turns.add_turn(make_turn(Role.USER, "Thre?"))
    assert session.turns.edit_text(question, "Three?") == question
    assert len(session.transcript.turns) == 5
    assert not session.transcript.forks


def test_what_was_written_below_goes_along_up_to_the_first_answer() -> None:
    system, more = make_turn(Role.SYSTEM, "Be brief."), make_turn(Role.USER, "And now?")
    session = session_of(system, make_turn(Role.USER, "One?"), received("1"), more)
    made = session.turns.edit_text(system.id, "Be long.")
    assert texts(session) == ["Be long.", "One?"]
    assert session.transcript.children(None) == (system.id, made)
    assert session.transcript.turns[more.id].parent is not None


def test_answers_that_were_written_stay_too_but_examples_go_with_a_system_prompt() -> None:
    user, assistant = Role.USER, Role.ASSISTANT
    turns = [make_turn(user, "a?"), make_turn(assistant, "A"), make_turn(user, "b?"), make_turn(assistant, "B")]
    session = session_of(make_turn(Role.SYSTEM, "Be brief."), *turns)
    made = session.turns.edit_text(turns[0].id, "x?")
    assert texts(session) == ["Be brief.", "x?"]
    assert asking(session.transcript, made) == made
    assert session.undo()
    session.turns.edit_text(ids(session)[0], "Be long.")
    assert texts(session) == ["Be long.", "a?", "A", "b?", "B"]
    assert session.transcript.turns[asking(session.transcript, ids(session)[0])].text == "b?"


def test_the_same_words_make_no_branch(session: Session) -> None:
    before = session.transcript
    session.turns.edit_text(ids(session)[0], "One?")
    assert session.transcript is before
    assert not session.history.can_undo


def test_an_answer_that_failed_with_nothing_in_it_is_none() -> None:
    failed = Turn(id="f", role=Role.ASSISTANT, outcome=Outcome(ending=Ending.FAILED))
    session = session_of(make_turn(Role.USER, "One?"), failed)
    question = ids(session)[0]
    assert not session.turns.branches(question)
    assert session.turns.edit_text(question, "Uno?") == question


def test_images_and_roles_branch_as_words_do() -> None:
    image = Image(url=PIXEL, name="a.png")
    asked = make_turn(Role.USER, "What is it?", image)
    session = session_of(asked, received("A dot."))
    assert session.turns.set_image(asked.id, 0, None) != asked.id
    assert [turn.images for turn in session.transcript.path] == [()]
    assert session.undo()
    made = session.turns.change_role(asked.id, Role.SYSTEM)
    assert session.transcript.turns[made].role is Role.SYSTEM
    assert session.transcript.turns[asked.id].role is Role.USER


# ---- calls and results


def with_calls(*more: Turn) -> Session:
    calls = ToolCall(id="one", name="f", arguments="{}"), ToolCall(id="two", name="g", arguments="{}")
    results = [make_turn(Role.TOOL, "", ToolResult(call_id=call.id, text=f"is {call.id}")) for call in calls]
    return session_of(make_turn(Role.USER, "Go"), received("", *calls), *results, *more)


def test_a_call_with_a_result_branches_and_waits_for_its_own() -> None:
    session = with_calls(received("done"))
    maker = ids(session)[1]
    session.debugger.notes.set_draft(maker, "two", ResultDraft(text="half"))
    made = session.turns.edit_call(maker, "one", '{"a": 1}')
    assert [call.arguments for call in session.transcript.turns[made].calls] == ['{"a": 1}', "{}"]
    assert [call.id for call in session.transcript.unanswered()] == ["one"]
    assert texts(session) == ["Go", "", "is two"], "the other call keeps its answer"
    draft = session.debugger.notes.draft(made, "one")
    assert draft is not None
    assert draft.text == "is one", "what the call was answered with stands ready"
    kept = session.debugger.notes.draft(made, "two")
    assert kept is not None
    assert kept.text == "half"
    assert [call.arguments for call in session.transcript.turns[maker].calls] == ["{}", "{}"]
    assert session.undo()
    assert texts(session) == ["Go", "", "is one", "is two", "done"]


def test_a_call_that_waits_is_edited_where_it_is() -> None:
    session = session_of(make_turn(Role.USER, "Go"), received("", ToolCall(id="one", name="f", arguments="{}")))
    maker = ids(session)[1]
    assert not session.turns.branches(maker, "one")
    assert session.turns.edit_call(maker, "one", '{"a": 1}') == maker


def test_an_edited_result_leaves_the_answer_with_the_old_one() -> None:
    session = with_calls(received("done"))
    last = ids(session)[3]
    made = session.turns.edit_text(last, "is other")
    assert texts(session) == ["Go", "", "is one", "is other"]
    assert session.transcript.siblings(made) == (last, made)


def test_a_call_that_is_taken_out_stays_on_the_old_branch() -> None:
    session = with_calls(received("done"))
    maker = ids(session)[1]
    made = session.turns.delete_call(maker, "one")
    assert [call.id for call in session.transcript.turns[made].calls] == ["two"]
    assert texts(session) == ["Go", "", "is two"]
    assert len(session.transcript.turns[maker].calls) == 2


def test_another_id_of_a_call_is_no_other_question() -> None:
    session = with_calls()
    maker = ids(session)[1]
    call = session.transcript.turns[maker].calls[0]
    assert session.turns.replace_call(maker, "one", call.model_copy(update={"id": "uno"})) == (maker, "uno")
    assert not session.transcript.forks


# ---- alternatives that are taken out


def test_an_alternative_that_is_deleted_shows_the_one_beside_it(session: Session) -> None:
    first = ids(session)[0]
    made = session.turns.edit_text(first, "Uno?")
    session.delete_turn(made)
    assert texts(session) == ["One?", "1", "Two?", "2"]


def test_exports_name_the_alternatives_of_a_question(session: Session) -> None:
    session.turns.edit_text(ids(session)[0], "Uno?")
    places = {one.turn.text: one.place for one in Selection(snapshot(session), [], whole_tree=True).sections()}
    assert places["One?"] == "alternative 1 of 2"
    assert places["Uno?"].startswith("alternative 2 of 2")


# ---- asking from an edited turn


def test_it_is_asked_from_the_last_turn_that_was_written() -> None:
    system, question = make_turn(Role.SYSTEM, "Be brief."), make_turn(Role.USER, "One?")
    transcript = Transcript().append(system, question, received("1"))
    assert asking(transcript, system.id) == question.id
    assert asking(transcript, question.id) == question.id


@asynccontextmanager
async def talking_to(server: DemoServer) -> AsyncIterator[Session]:
    async with GatewayClient(Connection(base_url=server.base_url, key=Secret("demo"))) as client:

        async def connect(_profile_id: str) -> GatewayClient:
            return client

        yield Session(connect, profile_id="p", model="demo-chat")


async def test_one_action_edits_and_runs_and_one_undo_takes_both_back(gateway: DemoServer) -> None:
    async with talking_to(gateway) as session:
        await edit_and_run(session)


async def edit_and_run(session: Session) -> None:
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


async def test_nothing_is_edited_for_a_run_that_cannot_be_while_another_goes_on(gateway: DemoServer) -> None:
    async with talking_to(gateway) as session:
        await edit_meanwhile(session)


async def edit_meanwhile(session: Session) -> None:
    question = session.turns.add_turn(make_turn(Role.USER, "Hello !tps=200"))
    run = begin(session.run())
    await eventually(lambda: bool(session.growing))
    with pytest.raises(RunRefusedError, match="Stop it first"):
        await session.run_edited(question, "Other")
    assert session.transcript.turns[question].text == "Hello !tps=200"
    assert has_answers(session.transcript, question), "an answer that is arriving is one"
    made = session.turns.edit_text(question, "Other")
    await run
    assert texts(session) == ["Other"], "the answer arrives where it was asked for"
    assert session.transcript.children(made) == ()
    answer = session.transcript.turns[session.transcript.children(question)[0]]
    assert answer.outcome is not None
    assert answer.outcome.ending is Ending.COMPLETE


def test_many_turns_without_an_answer_are_looked_at_quickly() -> None:
    turns = [make_turn(Role.USER, str(number)) for number in range(6000)]
    session = session_of(*turns)
    began = time.thread_time()
    assert not session.turns.branches(turns[0].id)
    assert session.turns.edit_text(turns[0].id, "x") == turns[0].id
    assert time.thread_time() - began < 1
