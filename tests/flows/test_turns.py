"""Turns in the hand of a person: an error and its Retry, edits through the card's own buttons, alternatives, undo."""

from __future__ import annotations

import json
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QPlainTextEdit, QPushButton, QToolButton

from playground.domain.parts import ToolCall
from playground.domain.transcript import Ending, Outcome, Role, make_turn
from playground.engine.gateways.offered import DEMO_ID
from playground.engine.gateways.profiles import Profile
from playground.ui.features.conversation.turn_end import ErrorCard, HoleCard
from playground.ui.features.inspector.wire_views import TimelineView
from tests.flows.conftest import Person, Stage
from tests.protocols.messages.test_decode import said, start, stop
from tests.support.fault_server import FaultServer, head, hold, send

CONTROL = Qt.KeyboardModifier.ControlModifier


def never_again(person: Person) -> None:
    """Have failures shown at once instead of tried again by themselves."""
    gateways = person.app.gateways
    gateways.update(gateways.get(DEMO_ID).model_copy(update={"retries": 0}))


def test_an_error_stands_in_its_turn_and_retry_mends_it(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        never_again(person)
        await person.run("!503x1 Hello")
        await person.idle(turns=2)
        failed = person.path[-1]
        assert failed.outcome is not None
        assert failed.outcome.failure is not None
        assert failed.outcome.failure.status == 503
        error = await person.seen(ErrorCard, inside=person.card(-1))
        words = " ".join(label.text() for label in person.find(QLabel, inside=error))
        assert "overloaded" in words
        assert "503" in words
        await person.press("Retry", error)
        await person.until(lambda: person.path[-1].id != failed.id, "another try")
        await person.idle(turns=2)
        assert person.path[-1].outcome is not None
        assert person.path[-1].outcome.ending is Ending.COMPLETE
        assert person.find(ErrorCard) == []
        assert len(person.session.transcript.turns) == 2, "an empty failure is replaced"

    stage.play(scene)


def test_a_failure_that_passes_is_tried_again_without_a_hand(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.run("!503x1 Hello")
        await person.until(lambda: len(person.path) == 2, "the turn")
        await person.idle(turns=2)
        assert person.path[-1].outcome is not None
        assert person.path[-1].outcome.ending is Ending.COMPLETE
        posts = [request for request in person.server.requests if request.method == "POST"]
        assert len(posts) == 2

    stage.play(scene)


def test_editing_deleting_moving_and_changing_roles(stage: Stage) -> None:
    def texts(person: Person) -> list[tuple[str, str]]:
        return [(turn.role.value, turn.text) for turn in person.path]

    def reads(person: Person, state: list[tuple[str, str]]) -> bool:
        return texts(person) == state

    async def add(person: Person, text: str) -> None:
        await person.type_into(person.message, text)
        await person.press("Add", person.pane.composer)
        await person.until(lambda: person.path and person.path[-1].text == text, f"the turn {text}")

    async def scene(person: Person) -> None:
        for text in ("one", "two", "three"):
            await add(person, text)

        await person.press("Edit this turn", person.card(1))
        editor = await person.seen(QPlainTextEdit, "Edit the user turn", person.card(1))
        await person.until(editor.hasFocus, "the cursor in the editor")
        await person.key(Qt.Key.Key_A, CONTROL)
        await person.keys("zwei")
        await person.press("Keep", person.card(1))
        await person.until(lambda: person.path[1].text == "zwei", "the new text")

        await person.press("Edit this turn", person.card(1))
        editor = await person.seen(QPlainTextEdit, "Edit the user turn", person.card(1))
        await person.until(editor.hasFocus, "the cursor in the editor")
        await person.keys("never kept")
        await person.key(Qt.Key.Key_Escape)
        await person.until(lambda: not person.find(QPlainTextEdit, "Edit the user turn"), "the editor to go")
        assert person.path[1].text == "zwei"

        await person.choose(await person.seen(QToolButton, "More for this turn", person.card(2)), "Move up")
        await person.until(lambda: texts(person)[1] == ("user", "three"), "the turn to move up")
        await person.choose(await person.seen(QPushButton, "User", person.card(0)), "System")
        await person.until(lambda: person.path[0].role is Role.SYSTEM, "the new role")
        await person.choose(await person.seen(QToolButton, "More for this turn", person.card(1)), "Delete")
        await person.until(lambda: texts(person) == [("system", "one"), ("user", "zwei")], "the turn to go")
        await person.press("Undo", person.pane.notice)
        await person.until(lambda: len(person.path) == 3, "the turn to come back")

        await person.do(person.pane.view.setFocus)
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

    stage.play(scene)


def test_alternatives_are_made_and_leafed_through(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.use_model("demo-chat")
        await person.run("Hello")
        await person.idle(turns=2)
        first = person.path[-1]
        await person.choose(await person.seen(QToolButton, "More for this turn", person.card(-1)), "Regenerate")
        await person.until(lambda: person.path[-1].id != first.id, "an alternative")
        await person.idle(turns=2)
        second = person.path[-1]
        assert [b.isEnabled() for b in person.find(QAbstractButton, "Later alternative", person.card(-1))] == [False]
        await person.press("Earlier alternative", person.card(-1))
        await person.until(lambda: person.path[-1] == first, "the first again")
        await person.press("Later alternative", person.card(-1))
        await person.until(lambda: person.path[-1] == second, "the second again")

    stage.play(scene)


def test_an_answer_with_a_hole_says_so_and_shows_the_frame(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.run("Tell me about rivers !garble")
        await person.idle(turns=2)
        turn = person.path[-1]
        assert turn.outcome is not None
        assert turn.outcome.holes == ("not_json",)
        card = person.card(-1)
        hole = await person.seen(HoleCard, inside=card)
        words = " ".join(label.text() for label in person.find(QLabel, inside=card))
        assert "Part of the answer could not be read" in words
        assert "part unread" in words
        assert "part unread" in card.accessibleName()
        assert person.session.summary.endswith("part unread")
        await person.press("Show the frame", hole)
        page = person.app.window.inspector.view(TimelineView).page
        await person.until(lambda: page.table.chosen, "the frame")
        assert page.trace is not None
        (number,) = page.table.chosen
        assert page.trace.index.holes == [number]
        payload = page.trace.index.data(number, 100_000)
        with pytest.raises(ValueError, match="line 1"):
            json.loads(payload)

    stage.play(scene)


def test_an_error_is_shown_while_the_connection_stays_open_and_the_text_stays(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        never_again(person)
        await person.run("Tell me about rivers !error=30")
        error = await person.seen(ErrorCard)
        card = person.card(-1)
        assert error in person.find(ErrorCard, inside=card)
        assert person.session.growing, "it is still being received"
        assert {button.text() for button in person.find(QPushButton, inside=error)} <= {"Show the error body"}
        assert any("still open" in label.text() for label in person.find(QLabel, inside=error))
        await person.idle(turns=2)
        last = await person.seen(ErrorCard, inside=person.card(-1))
        assert last is not error
        assert person.find(QPushButton, inside=last)
        turn = person.path[-1]
        assert turn.text
        assert turn.outcome is not None
        assert turn.outcome.failure is not None
        assert turn.outcome.timing is not None
        assert turn.outcome.timing.end is not None
        assert turn.outcome.timing.end < 10

    stage.play(scene)


def test_an_answer_of_the_other_protocol_is_called_that_and_one_press_switches(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        with FaultServer() as server:
            server.play(send(head()), send(start(), said("Hello"), stop()), hold())
            profile = person.app.gateways.store.add_profile(Profile(name="Misled", base_url=server.url, retries=0))
            person.session.change(profile_id=profile.id)
            person.session.change(model="m")
            await person.run("Is anybody there?")
            await person.idle(turns=2)
            error = await person.seen(ErrorCard, inside=person.card(-1))
            words = " ".join(label.text() for label in person.find(QLabel, inside=error))
            assert "The answer is of the other protocol" in words
            assert "holds nothing" not in words
            await person.press("Switch to Messages", error)
            await person.until(lambda: person.session.settings.protocol == "messages", "the other protocol")
            await person.key(Qt.Key.Key_Return, CONTROL)
            await person.until(lambda: person.path[-1].text == "Hello", "the answer, read as what it is")

    stage.play(scene)


def test_an_edited_question_keeps_its_old_answer_and_can_run_at_once(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.use_model("demo-chat")
        await person.run("Hello")
        await person.idle(turns=2)
        first, answer = person.path
        await person.press("Edit this turn", person.card(0))
        editor = await person.seen(QPlainTextEdit, "Edit the user turn", person.card(0))
        await person.until(editor.hasFocus, "the cursor in the editor")
        notes = [label.text() for label in person.find(QLabel, inside=person.card(0))]
        assert "Keeps the old answers on a branch of their own." in notes
        await person.key(Qt.Key.Key_A, CONTROL)
        await person.keys("Good evening")
        await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.AltModifier)
        await person.until(lambda: person.path[0].text == "Good evening", "the branch")
        await person.idle(turns=2)
        assert person.body()["messages"][-1]["content"] == "Good evening"
        assert person.session.transcript.turns[answer.id] == answer
        await person.press("Earlier alternative", person.card(0))
        await person.until(lambda: person.path == (first, answer), "the old words and their answer")
        await person.key(Qt.Key.Key_Z, CONTROL)
        await person.key(Qt.Key.Key_Z, CONTROL)
        await person.until(lambda: len(person.session.transcript.turns) == 2, "one step for the branch and its answer")

        await person.press("Edit this turn", person.card(0))
        editor = await person.seen(QPlainTextEdit, "Edit the user turn", person.card(0))
        await person.until(editor.hasFocus, "the cursor in the editor")
        await person.keys(" there")
        await person.press("Keep", person.card(0))
        await person.until(lambda: [turn.text for turn in person.path] == ["Hello there"], "a branch without an answer")
        assert "stay with the old words" in person.pane.notice.words
        await person.press("Undo", person.pane.notice)
        await person.until(lambda: person.path == (first, answer), "everything as before")

    stage.play(scene)


def test_results_of_a_call_are_leafed_through(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        session = person.session
        call = ToolCall(id="c", name="get_weather", arguments="{}")
        done = make_turn(Role.ASSISTANT, "Sunny then.").model_copy(update={"outcome": Outcome(ending=Ending.COMPLETE)})
        for turn in (make_turn(Role.USER, "Go"), make_turn(Role.ASSISTANT, "", call)):
            session.turns.add_turn(turn)
        session.turns.answer("c", "sun")
        session.turns.add_turn(done)
        await person.press("Edit the result", person.card(1))
        editor = await person.seen(QPlainTextEdit, "Result of the call", person.card(1))
        await person.until(editor.hasFocus, "the cursor in the editor")
        assert person.find(QPushButton, "Run from here", person.card(1))
        await person.keys(" and rain")
        await person.press("Keep", person.card(1))
        await person.until(lambda: person.path[-1].results and person.path[-1].results[0].text == "sun and rain", "it")
        await person.press("Earlier result", person.card(1))
        await person.until(lambda: person.path[-1].text == "Sunny then.", "the old result and what followed it")
        await person.press("Later result", person.card(1))
        await person.until(lambda: len(person.path) == 3, "the new result")

    stage.play(scene)
