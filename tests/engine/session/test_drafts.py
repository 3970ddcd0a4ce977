"""Text in open editors is sent, saved and restored."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable

import pytest

from playground.domain.errors import RunRefusedError
from playground.domain.parts import ToolCall, ToolResult
from playground.domain.transcript import Ending, Outcome, Role, Turn, make_turn
from playground.engine.files.experiment_file import read, write
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.session.drafts import HEAD, EditKey, OpenEdit, What, position_after
from playground.engine.session.session import Experiment, Session
from playground.engine.session.snapshot import decode, encode_experiment, restore, snapshot
from tests.engine.debugging import ToolConversation
from tests.support.editors import no_gateway

OSLO = '{"city": "Oslo", "unit": "celsius"}'


def begin_arguments(conversation: ToolConversation, number: int, text: str) -> EditKey:
    turn_id, call_id = conversation.keys[number]
    edit = OpenEdit(turn=turn_id, what=What.ARGUMENTS, call=call_id, text=text)
    conversation.session.editors.set_editing(edit)
    return edit.key


@pytest.mark.parametrize("how", ["send", "send_all", "fill", "step", "step_next", "go_on", "run_to_end"])
async def test_arguments_being_typed_are_sent(conversation: ToolConversation, how: str) -> None:
    session, debugger = conversation.session, conversation.session.debugger
    await conversation.ask("Weather in Lisbon")
    begin_arguments(conversation, 0, OSLO)
    key = conversation.keys[0]
    match how:
        case "send":
            debugger.send(*key, "sunny")
        case "send_all":
            debugger.send_all("sunny")
        case "fill":
            debugger.fill()
        case _:
            conversation.table()
            await (debugger.step(*key) if how == "step" else getattr(debugger, how)())
    assert session.editors.open == {}
    if not debugger.waiting and conversation.roles[-1] == "t":
        await session.run()
    calls, _ = conversation.sent()
    assert calls[0][1] == json.loads(OSLO)
    assert conversation.path[1].calls[0].received is not None, "the arguments of the model are kept"


async def test_unfinished_call_refuses_the_run(conversation: ToolConversation) -> None:
    session = conversation.session
    session.change(tools=())
    await conversation.ask("Say one")
    answer = conversation.path[-1]
    session.editors.set_editing(
        OpenEdit(turn=answer.id, what=What.CALL, written=ToolCall(id="", name="", arguments="{}"))
    )
    session.turns.add_turn(make_turn(Role.USER, "And now"))
    before = session.transcript
    with pytest.raises(RunRefusedError, match="Finish or cancel it"):
        await session.run()
    assert session.transcript is before
    assert len(session.editors.open) == 1
    session.editors.set_editing(
        OpenEdit(turn=answer.id, what=What.CALL, written=ToolCall(id="", name="get_heat", arguments="{}"))
    )
    with pytest.raises(RunRefusedError, match="The call of get_heat that is being written needs a result"):
        await session.run()


async def test_open_edits_are_saved_and_restored(conversation: ToolConversation, gateways: Gateways) -> None:
    await conversation.ask("Weather in Lisbon")
    begin_arguments(conversation, 0, '{"city": "Os')
    conversation.session.editors.set_editing(OpenEdit(turn=conversation.path[0].id, text="two\nlines"))
    stored = snapshot(conversation.session)
    assert decode(encode_experiment(stored)).editing == stored.editing
    assert read(write(stored)).editing == stored.editing
    session = Experiment(gateways.client, profile_id=DEMO_ID).main
    restore(stored, session)
    assert session.editors.open == conversation.session.editors.open
    session.editors.set_editing(OpenEdit(turn="gone", what=What.ARGUMENTS, call="gone", text="x"))
    assert session.editors.preview()[0].path[0].text == "two\nlines"
    session.editors.keep_editing(EditKey("gone", What.ARGUMENTS, "gone"))
    assert EditKey("gone", What.ARGUMENTS, "gone") not in session.editors.open


async def test_open_edit_above_an_answer_becomes_a_branch(conversation: ToolConversation) -> None:
    session = conversation.session
    session.change(tools=())
    await conversation.ask("Say one")
    session.turns.add_turn(make_turn(Role.USER, "And two"))
    first, answer, second = conversation.path
    session.editors.set_editing(OpenEdit(turn=first.id, text="Say uno"))
    session.editors.set_editing(OpenEdit(turn=second.id, text="never shown beside it"))
    body = session.next_request.body()
    assert [turn.text for turn in session.next_request.build().turns] == ["Say uno"]
    await session.run()
    assert json.loads(conversation.posts[-1]) == body
    assert session.transcript.siblings(conversation.path[0].id) == (first.id, conversation.path[0].id)
    assert session.transcript.turns[answer.id] == answer, "the old answer stays with the old words"
    assert list(session.editors.open) == [EditKey(second.id)], "it is on the other branch"

    session.turns.select_alternative(first.id)
    session.editors.set_editing(OpenEdit(turn=first.id, text="Say eins"))
    await session.regenerate(answer.id)
    assert [turn.text for turn in conversation.path[:1]] == ["Say eins"]
    assert "Say eins" in conversation.posts[-1].decode()


async def test_edit_and_run_saves_the_other_open_edits(conversation: ToolConversation) -> None:
    session = conversation.session
    session.change(tools=())
    session.turns.add_turn(make_turn(Role.USER, "one"))
    session.turns.add_turn(make_turn(Role.USER, "two"))
    session.editors.set_editing(OpenEdit(turn=conversation.path[0].id, text="eins"))
    session.editors.set_editing(OpenEdit(turn=conversation.path[1].id, text="zw"))
    await session.run_edited(conversation.path[1].id, "zwei")
    assert [turn.text for turn in conversation.path[:2]] == ["eins", "zwei"]
    assert session.editors.open == {}


def spoken(turns: Iterable[Turn]) -> list[tuple[object, ...]]:
    """Return the content of turns, without their ids."""
    return [
        (
            turn.role,
            turn.text,
            [(call.name, call.arguments) for call in turn.calls],
            [result.text for result in turn.results],
        )
        for turn in turns
    ]


def grown(chance: random.Random) -> Session:
    """A tree of turns with branches, calls and results, and up to four editors open anywhere in it."""
    session = Experiment(no_gateway, profile_id="p", model="m").main
    calls: list[ToolCall] = []
    for number in range(chance.randint(1, 9)):
        role = chance.choice([Role.SYSTEM, Role.USER, Role.USER, Role.ASSISTANT, Role.TOOL])
        if role is Role.ASSISTANT:
            new_calls = [ToolCall(id=f"c{number}{n}", name="f", arguments="{}") for n in range(chance.randint(0, 2))]
            calls += new_calls
            outcome = Outcome(ending=Ending.COMPLETE) if chance.random() < 0.5 else None
            turn = make_turn(role, f"a{number}", *new_calls).model_copy(update={"outcome": outcome})
        elif role is Role.TOOL and calls:
            turn = make_turn(role, "", ToolResult(call_id=chance.choice(calls).id, text=f"r{number}"))
        else:
            turn = make_turn(Role.USER if role is Role.TOOL else role, f"u{number}")
        session.turns.add_turn(turn)
        if chance.random() < 0.2:
            session.turns.select_alternative(chance.choice(list(session.transcript.turns)))
        if chance.random() < 0.2:
            session.turns.rewrite(session.transcript.truncate_after(chance.choice(list(session.transcript.turns))))
    for _ in range(chance.randint(1, 4)):
        turn, what = chance.choice(list(session.transcript.turns.values())), chance.choice(list(What))
        call = chance.choice([*(item.id for item in turn.calls), ""])
        written = ToolCall(id=chance.choice(["", "zz", call]), name=chance.choice(["", "g", "g"]), arguments="{}")
        text = chance.choice([None, "", "other", "{}"])
        is_call = what is What.CALL
        edit = OpenEdit(
            turn=turn.id,
            what=what,
            call="" if what is What.TEXT else call,
            text=None if is_call else text,
            written=written if is_call else None,
        )
        session.editors.set_editing(edit)
    return session


def test_shown_request_equals_the_saved_one_whatever_is_open() -> None:
    for seed in range(150):
        chance = random.Random(seed)
        session = grown(chance)
        tip_of_request = chance.choice([HEAD, None, *session.transcript.turns])
        why, (transcript, tip) = session.editors.problem(tip_of_request), session.editors.preview(tip_of_request)
        texts = spoken(transcript.path if tip_of_request == HEAD else transcript.lineage(tip))
        if why:
            with pytest.raises(ValueError, match="call"):
                session.editors.keep_open(tip_of_request)
            continue
        copies = session.editors.keep_open(tip_of_request)
        now = session.transcript
        tip = position_after(now, copies, tip_of_request)
        assert spoken(now.path if tip_of_request == HEAD else now.lineage(tip)) == texts, seed
