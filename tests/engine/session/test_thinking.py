"""Signed thinking: edits that make it invalid, and the two remedies, checked in the bodies to be sent."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from playground.domain.parts import Image, Reasoning, Text, ToolCall
from playground.domain.transcript import Role, Turn, make_turn, new_id
from playground.engine.session import edits, thinking
from playground.engine.session.session import Experiment, Session
from tests.support.editors import edit_in_place, no_gateway


def thought(text: str, *, redacted: bool = False) -> Turn:
    block = Reasoning(text="", redacted="x9") if redacted else Reasoning(text="hm", field="thinking", signature="s1g")
    return Turn(id=new_id(), role=Role.ASSISTANT, parts=(block, Text(text=text)))


@pytest.fixture
def session() -> Session:
    """A conversation of system, user, thought, user, thought."""
    session = Experiment(no_gateway, profile_id="p", protocol="messages", model="m").main
    for turn in (
        make_turn(Role.SYSTEM, "Be brief."),
        make_turn(Role.USER, "One?"),
        thought("1"),
        make_turn(Role.USER, "Two?", Image(url="https://example.org/a.png")),
        thought("2", redacted=True),
    ):
        session.turns.add_turn(turn)
    return session


#: Edits of one turn, made without a branch.
IN_PLACE: dict[str, Callable[..., Turn]] = {
    "edit_text": lambda transcript, key, text: edits.with_text(transcript.turns[key], text),
    "edit_call": lambda transcript, key, *call: edits.with_arguments(transcript.turns[key], *call),
    "set_image": lambda transcript, key, *image: edits.with_image(transcript.turns[key], *image),
    "change_role": edits.with_role,
}


def ids(session: Session) -> list[str]:
    return [turn.id for turn in session.transcript.path]


def stale_after(session: Session, edit: str, *arguments: object) -> list[int]:
    """Return the places on the path of the turns whose thinking an edit in place made stale."""
    before = session.transcript
    if (of_a_turn := IN_PLACE.get(edit)) is not None:
        session.turns.rewrite(before.replace(of_a_turn(before, *arguments)))
    else:
        getattr(session if edit == "delete_turn" else session.turns, edit)(*arguments)
    stale = thinking.invalidated(before, session.transcript)
    return [number for number, turn in enumerate(session.transcript.path) if turn.id in stale]


def blocks_of(session: Session) -> list[str]:
    """Return the kinds of all blocks in the assistant messages of the body."""
    kinds = []
    for message in session.next_request.body()["messages"]:
        if message["role"] == "assistant":
            content = message["content"]
            kinds += [block["type"] for block in content] if isinstance(content, list) else ["text"]
    return kinds


def test_edit_makes_the_thinking_after_it_stale(session: Session) -> None:
    path = ids(session)
    assert stale_after(session, "edit_text", path[1], "Uno?") == [2, 4]
    assert stale_after(session, "edit_text", path[2], "eins") == [4]
    assert stale_after(session, "edit_text", path[3], "Due?") == [4]
    assert stale_after(session, "edit_text", path[4], "zwei") == []
    session.turns.add_turn(Turn(id="plain", role=Role.ASSISTANT, parts=(Reasoning(text="hm"), Text(text="3"))))
    assert stale_after(session, "edit_text", path[3], "Deux?") == [4], "reasoning without a signature is never stale"
    call = ToolCall(id="c1", name="f", arguments="{}")
    session.turns.add_turn(Turn(id="called", role=Role.ASSISTANT, parts=(call,)))
    session.turns.answer("c1", "done")
    session.turns.add_turn(thought("4"))
    assert stale_after(session, "edit_call", "called", "c1", '{"a": 1}') == [8]


def test_system_prompt_anywhere_makes_all_thinking_stale(session: Session) -> None:
    assert stale_after(session, "edit_text", ids(session)[0], "Be long.") == [2, 4]
    late = make_turn(Role.SYSTEM, "And kind.")
    assert stale_after(session, "add_turn", late) == [2, 4]
    assert stale_after(session, "delete_turn", late.id) == [2, 4]


def test_deleting_moving_and_changing_a_role_are_edits(session: Session) -> None:
    path = ids(session)
    assert stale_after(session, "move_turn", path[3], -1) == [3, 4]
    session.undo()
    assert stale_after(session, "change_role", path[2], Role.USER) == [2, 4]
    session.undo()
    assert stale_after(session, "delete_turn", path[1]) == [1, 3]


def test_edit_of_what_is_not_sent_makes_nothing_stale(session: Session) -> None:
    turn = ids(session)[3]
    image = Image(url="https://example.org/a.png", detail="high", name="a.png")
    assert stale_after(session, "set_image", turn, 0, image) == []
    assert stale_after(session, "set_image", turn, 0, None) == [4]


def test_thinking_on_other_branches_becomes_stale(session: Session) -> None:
    path, second = ids(session), thought("another one")
    session.history.transcript = session.transcript.truncate_after(path[1]).append(second).select(path[4])
    before = session.transcript
    edit_in_place(session, path[1], "Uno?")
    assert set(thinking.invalidated(before, session.transcript)) == {path[2], path[4], second.id}


def test_dropped_thinking_leaves_the_text_and_can_be_undone(session: Session) -> None:
    path = ids(session)
    before = session.transcript
    edit_in_place(session, path[1], "Uno?")
    session.turns.drop_thinking(thinking.invalidated(before, session.transcript))
    assert blocks_of(session) == ["text", "text"]
    assert [turn.text for turn in session.transcript.path] == ["Be brief.", "Uno?", "1", "Two?", "2"]
    session.undo()
    assert blocks_of(session) == ["thinking", "text", "redacted_thinking", "text"]


@pytest.mark.parametrize("step", ["edit", "delete"])
def test_branch_without_thinking_leaves_the_old_path_unchanged(session: Session, step: str) -> None:
    path, before = ids(session), session.transcript
    assert thinking.signed_turns(session.transcript) == (path[2], path[4])
    if step == "edit":
        edit_in_place(session, path[1], "Uno?")
    else:
        session.delete_turn(path[1])
    session.turns.branch(before, thinking.invalidated(before, session.transcript))
    assert all(session.transcript.turns[turn.id] == turn for turn in before.turns.values())
    assert session.transcript.path[0].id == path[0]
    texts = [turn.text for turn in session.transcript.path]
    assert texts == (["Be brief.", "Uno?", "1", "Two?", "2"] if step == "edit" else ["Be brief.", "1", "Two?", "2"])
    assert not {turn.id for turn in session.transcript.path[1:]} & set(path)
    assert blocks_of(session) == ["text", "text"]
    session.turns.select_alternative(path[1])
    assert blocks_of(session) == ["thinking", "text", "redacted_thinking", "text"]
    session.undo()
    session.undo()
    assert session.transcript is before, "one step for edit and branch"


def test_edit_before_encrypted_reasoning_makes_it_stale_and_tools_do_not() -> None:
    session = Experiment(no_gateway, profile_id="p", protocol="responses", model="m").main
    encrypted = Reasoning(text="", extra={"responses": {"item": {"id": "rs_1", "encrypted_content": "gAAA"}}})
    answer = Turn(id=new_id(), role=Role.ASSISTANT, parts=(encrypted, Text(text="1")))
    for turn in (make_turn(Role.USER, "One?"), answer):
        session.turns.add_turn(turn)
    assert thinking.signed_turns(session.transcript) == ()
    assert stale_after(session, "edit_text", ids(session)[0], "Two?") == [1]
    session.turns.drop_thinking([answer.id])
    assert [item["role"] for item in session.next_request.body()["input"]] == ["user", "assistant"]
