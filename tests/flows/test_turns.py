"""Messages: a failure and its retry, edits with the buttons of a card, alternatives, undo."""

from __future__ import annotations

import json
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QPlainTextEdit, QPushButton

from playground.domain.parts import ToolCall
from playground.domain.transcript import Ending, Outcome, Role, make_turn
from playground.engine.gateways.gateways import DEMO_ID
from playground.engine.gateways.profiles import Profile
from tests.flows.conftest import Person, flow
from tests.flows.pages.inspector import read_frames
from tests.flows.pages.steps import wait_for_selected_rows
from tests.protocols.messages.test_decode import start, stop, text_block
from tests.support.fault_server import FaultServer, head, hold, send

CONTROL = Qt.KeyboardModifier.ControlModifier


def never_again(person: Person) -> None:
    """Have failures shown at once instead of tried again by themselves."""
    gateways = person.app.gateways
    gateways.update(gateways.get(DEMO_ID).model_copy(update={"retries": 0}))


@flow()
async def test_failure_is_retried_automatically_or_shown_with_retry(person: Person) -> None:
    await person.run("!503x1 Hello")
    await person.until(lambda: len(person.path) == 2, "the turn")
    await person.idle(turns=2)
    assert person.path[-1].outcome is not None
    assert person.path[-1].outcome.ending is Ending.COMPLETE
    assert person.conversation.messages.widget.accessibleDescription() == "Answer complete"
    assert len(person.posts) == 2

    await person.trigger("experiment.new")
    never_again(person)
    await person.run("!503x1 Hello")
    await person.idle(turns=2)
    failed = person.path[-1]
    assert failed.outcome is not None
    assert failed.outcome.failure is not None
    assert failed.outcome.failure.status == 503
    error = await person.conversation.message(-1).wait_for_error()
    assert "overloaded" in error.text
    assert "503" in error.text
    await error.press("Retry")
    await person.until(lambda: person.path[-1].id != failed.id, "another try")
    await person.idle(turns=2)
    assert person.path[-1].outcome is not None
    assert person.path[-1].outcome.ending is Ending.COMPLETE
    assert person.conversation.errors == []
    assert len(person.session.transcript.turns) == 2, "an empty failure is replaced"

    # An error while the connection stays open
    await person.trigger("experiment.new")
    await person.run("Tell me about rivers !error=30")
    error = await person.conversation.wait_for_error()
    assert {button.text() for button in error.find(QPushButton)} <= {"Show the error body"}
    await person.idle(turns=2)
    error = await person.conversation.message(-1).wait_for_error()
    assert error.find(QPushButton)
    assert "still open" not in error.text
    turn = person.path[-1]
    assert turn.text or turn.reasoning, "the error may come before the text"
    assert turn.outcome is not None
    assert turn.outcome.failure is not None
    assert turn.outcome.timing is not None
    assert turn.outcome.timing.end is not None
    assert turn.outcome.timing.end < 10


@flow()
async def test_messages_are_edited_moved_deleted_and_undone(person: Person) -> None:
    def texts(person: Person) -> list[tuple[str, str]]:
        return [(turn.role.value, turn.text) for turn in person.path]

    def reads(person: Person, state: list[tuple[str, str]]) -> bool:
        return texts(person) == state

    conversation = person.conversation
    for text in ("one", "two", "three"):
        await conversation.composer.add(text)

    card = await conversation.wait_for_message(1)
    await card.save_edit("zwei")
    await person.until(lambda: person.path[1].text == "zwei", "the new text")
    await conversation.message(1).edit()
    await person.keys("never kept")
    await person.key(Qt.Key.Key_Escape)
    await person.until(lambda: not person.find(QPlainTextEdit, "Edit the user message"), "the editor to close")
    assert person.path[1].text == "zwei"

    await conversation.message(2).choose("Move up")
    await person.until(lambda: texts(person)[1] == ("user", "three"), "the turn to move up")
    await conversation.message(0).choose_role("User", "System")
    await person.until(lambda: person.path[0].role is Role.SYSTEM, "the new role")
    await conversation.message(1).choose("Delete")
    await person.until(lambda: texts(person) == [("system", "one"), ("user", "zwei")], "the turn to go")
    await person.conversation.notice.press("Undo")
    await person.until(lambda: len(person.path) == 3, "the turn to come back")

    await person.do(conversation.messages.widget.setFocus)
    expected = [
        [("user", "one"), ("user", "three"), ("user", "zwei")],
        [("user", "one"), ("user", "zwei"), ("user", "three")],
        [("user", "one"), ("user", "two"), ("user", "three")],
    ]
    for state in expected:
        await person.key(Qt.Key.Key_Z, CONTROL)
        await person.until(partial(reads, person, state), f"{state}")
    for state in [*reversed(expected[:-1]), [("system", "one"), ("user", "three"), ("user", "zwei")]]:
        await person.key(Qt.Key.Key_Z, CONTROL | Qt.KeyboardModifier.ShiftModifier)
        await person.until(partial(reads, person, state), f"{state}")

    await person.key(Qt.Key.Key_Return, CONTROL)
    await person.idle(turns=4)
    assert [(m["role"], m["content"]) for m in person.body()["messages"]] == texts(person)[:3]


@flow()
async def test_alternatives_are_made_by_regenerating_and_editing(person: Person) -> None:
    await person.use_model("demo-chat")
    await person.run("Hello")
    await person.idle(turns=2)
    first = person.path[-1]
    card = person.conversation.message(-1)
    await card.choose("Regenerate")
    await person.until(lambda: person.path[-1].id != first.id, "an alternative")
    await person.idle(turns=2)
    second = person.path[-1]
    card = person.conversation.message(-1)
    later = await card.wait_for(QAbstractButton, "Later alternative")
    await person.until(lambda: not later.isEnabled(), "a disabled button")
    await card.press("Earlier alternative")
    await person.until(lambda: person.path[-1] == first, "the first again")
    await person.conversation.message(-1).press("Later alternative")
    await person.until(lambda: person.path[-1] == second, "the second again")

    # An edited question is a branch
    await person.trigger("experiment.new")
    await person.run("Hello")
    await person.idle(turns=2)
    first, answer = person.path
    card = person.conversation.message(0)
    await card.edit()
    await person.until(lambda: "Old answers stay as a branch." in card.texts, "the hint")
    await person.key(Qt.Key.Key_A, CONTROL)
    await person.keys("Good evening")
    await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.AltModifier)
    await person.until(lambda: person.path[0].text == "Good evening", "the branch")
    await person.idle(turns=2)
    assert person.body()["messages"][-1]["content"] == "Good evening"
    assert person.session.transcript.turns[answer.id] == answer
    await person.conversation.message(0).press("Earlier alternative")
    await person.until(lambda: person.path == (first, answer), "the old words and their answer")
    await person.key(Qt.Key.Key_Z, CONTROL)
    await person.key(Qt.Key.Key_Z, CONTROL)
    await person.until(lambda: len(person.session.transcript.turns) == 2, "one step for the branch and its answer")

    card = person.conversation.message(0)
    await card.edit()
    await person.keys(" there")
    await card.press("Save")
    await person.until(lambda: [turn.text for turn in person.path] == ["Hello there"], "a branch without an answer")
    await person.conversation.notice.wait_for_text("Saved as a new branch")
    await person.conversation.notice.press("Undo")
    await person.until(lambda: person.path == (first, answer), "everything as before")

    # An edited result is an alternative result
    await person.trigger("experiment.new")
    session = person.session
    call = ToolCall(id="c", name="get_weather", arguments="{}")
    done = make_turn(Role.ASSISTANT, "Sunny then.").model_copy(update={"outcome": Outcome(ending=Ending.COMPLETE)})
    for turn in (make_turn(Role.USER, "Go"), make_turn(Role.ASSISTANT, "", call)):
        session.turns.add_turn(turn)
    session.turns.answer("c", "sun")
    session.turns.add_turn(done)
    card = await person.conversation.wait_for_message(1)
    await card.press("Edit the result")
    await card.wait_for_editor("Result of the call")
    await person.until(lambda: card.has_button("Run from here"), "the button")
    await person.keys(" and rain")
    await card.press("Save")
    await person.until(lambda: person.path[-1].results and person.path[-1].results[0].text == "sun and rain", "it")
    await card.press("Earlier result")
    await person.until(lambda: person.path[-1].text == "Sunny then.", "the old result and what followed it")
    await person.conversation.message(1).press("Later result")
    await person.until(lambda: len(person.path) == 3, "the new result")


@flow()
async def test_unread_part_and_the_other_protocol_are_reported_with_their_remedy(person: Person) -> None:
    await person.run("Tell me about rivers !garble")
    await person.idle(turns=2)
    turn = person.path[-1]
    assert turn.outcome is not None
    assert turn.outcome.holes == ("not_json",)
    card = person.conversation.message(-1)
    await card.wait_until(lambda: len(card.unread_parts) == 1, "the notice of the unread part")
    (unread_part,) = card.unread_parts
    assert "Part of the answer could not be read" in unread_part.text
    assert "part unread" in card.text
    assert "part unread" in card.widget.accessibleName()
    assert person.session.summary.endswith("part unread")
    await unread_part.press("Show event")
    (number,) = await wait_for_selected_rows(person, "Events")
    frames = read_frames(person.session.exchanges[turn.outcome.exchange or ""])
    assert frames.holes == [number]
    payload = frames.data(number, 100_000)
    with pytest.raises(ValueError, match="line 1"):
        json.loads(payload)

    await person.trigger("experiment.new")
    with FaultServer() as server:
        server.play(send(head()), send(start(), text_block("Hello"), stop()), hold())
        profile = person.app.gateways.store.add_profile(Profile(name="Misled", base_url=server.url, retries=0))
        person.session.change(profile_id=profile.id)
        person.session.change(model="m")
        await person.run("Is anybody there?")
        await person.idle(turns=2)
        error = await person.conversation.message(-1).wait_for_error()
        assert "The answer is of the other protocol" in error.text
        assert "holds nothing" not in error.text
        await error.press("Switch to Messages")
        await person.until(lambda: person.session.settings.protocol == "messages", "the other protocol")
        await person.key(Qt.Key.Key_Return, CONTROL)
        await person.until(lambda: person.path[-1].text == "Hello", "the answer, read as what it is")
