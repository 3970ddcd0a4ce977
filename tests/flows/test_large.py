"""A result of a megabyte in the window: folded, leafed through, found in, copied and saved, and nothing is held up."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

from playground.domain.parts import Text, ToolCall, ToolResult
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn, new_id
from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.features.conversation.fold_row import FoldRow
from playground.ui.features.conversation.large import LARGE
from playground.ui.features.inspector.diff_page import ALIKE, NEXT
from playground.ui.features.inspector.views import SENT, RequestView
from playground.ui.features.inspector.wire_views import DiffView
from playground.ui.features.variables.control import AT_ONCE as VARIABLES_AT_ONCE
from playground.ui.features.variables.variables_bar import VariablesBar
from tests.flows.conftest import Person, Stage
from tests.flows.pages.dialogs import name_file
from tests.flows.test_find import current, open_bar, says, show

LINE = "one of many lines of a log that somebody sent\n"
SHAPES = {
    "many lines": LINE * 20_000 + "the needle\n" + LINE * 2_000,
    "one line": "0123456789" * 90_000 + " the needle " + "0123456789" * 10_000,
}


def answered(text: str, arguments: str = '{"city": "Lisbon"}') -> Transcript:
    call = ToolCall(id="call_1", name="get_weather", arguments=arguments)
    outcome = Outcome(ending=Ending.COMPLETE, finish_reason="tool_calls")
    return Transcript().append(
        make_turn(Role.USER, "Read the log."),
        Turn(id=new_id(), role=Role.ASSISTANT, parts=(call,), outcome=outcome),
        make_turn(Role.TOOL, "", ToolResult(call_id="call_1", text=text)),
        Turn(id=new_id(), role=Role.ASSISTANT, parts=(Text(text="Read."),), outcome=outcome),
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_a_large_result_is_folded_and_everything_in_it_is_found(stage: Stage, shape: str) -> None:
    async def scene(person: Person) -> None:
        text = SHAPES[shape]
        show(person, answered(text))
        card = await person.seen(CallCard)
        row = await person.seen(FoldRow, inside=card)
        await person.until(lambda: "this is the beginning" in row.words.text(), "what is shown")
        assert row.words.text().startswith(f"{len(text) / 1024:.0f} KB")
        field = await open_bar(person)
        await person.type_into(field, "needle")
        await says(person, "1 of 1")
        await person.until(lambda: current(person) == "needle", "the place in view")
        QGuiApplication.clipboard().clear()
        await person.do(row.copy.click)  # the row may stand below what is in view
        await person.until(lambda: QGuiApplication.clipboard().text() == text, "all of it on the clipboard")

    stage.play(scene)


def test_a_large_result_is_saved_exactly(stage: Stage, tmp_path: Path) -> None:
    text = "\ufeffa line\r\n寿司\ud800\n" * 9_000

    async def scene(person: Person) -> None:
        show(person, answered(text))
        row = await person.seen(FoldRow)
        await person.until(lambda: "this is the beginning" in row.words.text(), "what is shown")
        await person.click(row.save)
        await name_file(person, tmp_path / "result.txt")
        await person.until(lambda: row.words.text() == "Saved as result.txt", "that it was saved")
        assert (tmp_path / "result.txt").read_bytes() == text.encode("utf-8", "surrogatepass")

    stage.play(scene)


def test_arguments_too_large_to_be_checked_say_so(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        show(person, answered("ok", '{"city": "' + "x" * 1_200_000 + '"}'))
        await person.seen(QPushButton, "Edit the arguments")
        card = await person.seen(CallCard)
        await person.until(lambda: card._verdict.text() == "too large to check here", "that it is not checked")
        show(person, answered("ok", '{"city": "' + "x" * 600_000 + '", }'))
        await person.until(lambda: "not JSON" in (person.one(CallCard)._verdict.text()), "a verdict")

    stage.play(scene)


def test_the_next_request_is_shown_by_its_beginning_and_copied_whole(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        text = LINE * 20_000
        show(person, answered(text))
        person.session.change(model="demo-chat")
        request = next(view for view in person.app.window.inspector.views if isinstance(view, RequestView))
        editor = request.next.editor
        await person.until(lambda: f"{len(text):,} characters" in editor.text(), "the request")
        assert len(editor.text()) < 20_000
        assert editor.isReadOnly()
        QGuiApplication.clipboard().clear()
        await person.click(request.pane.copy_button)
        await person.until(lambda: QGuiApplication.clipboard().text(), "the request on the clipboard")
        body = json.loads(QGuiApplication.clipboard().text())
        assert text in [message["content"] for message in body["messages"]]

    stage.play(scene)


def test_all_of_a_large_body_is_looked_at_part_by_part(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        text = LINE * 12_000 + "the needle"
        show(person, Transcript().append(make_turn(Role.USER, text)))
        await person.run("Hello")
        await person.idle(turns=3)
        view = person.app.window.inspector.view(RequestView)
        person.app.window.inspector.show_tab("Request")
        await person.until(view.switch.buttons[SENT].isEnabled, "the request that was sent")
        view.switch.set_index(SENT)
        view.switch.chosen.emit(SENT)
        await person.until(lambda: "more characters" in view.pane.text.text(), "an excerpt")
        await person.click(view.pane.all_button)
        await person.until(lambda: view.pane.row is not None and view.pane.row.isVisible(), "that there are parts")
        assert view.pane.row is not None
        assert len(view.pane.text.text()) <= LARGE
        assert "the needle" not in view.pane.text.text()
        view.pane.row.asked.emit("last")
        assert "the needle" in view.pane.text.text()
        view.pane.row.asked.emit("before")
        assert "the needle" not in view.pane.text.text()
        await person.click(view.pane.copy_button)
        assert json.loads(QGuiApplication.clipboard().text())["messages"][0]["content"] == text
        view.pane.row.asked.emit("fold")
        await person.until(lambda: "more characters" in view.pane.text.text(), "the excerpt again")
        assert not view.pane.row.isVisible()

    stage.play(scene)


def test_the_next_request_of_a_large_conversation_is_compared_whole(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        show(person, Transcript().append(make_turn(Role.USER, LINE * 12_000)))
        await person.run("Hello")
        await person.idle(turns=3)
        await person.do(person.app.window.action("wire.diff").trigger)
        diff = person.app.window.inspector.view(DiffView).page
        await person.do(lambda: diff.against.setCurrentIndex(diff.against.findData(NEXT)))
        await person.until(lambda: diff._preview is not None, "the next request")
        await person.until(lambda: diff.text.toPlainText() == ALIKE, "the comparison")

    stage.play(scene)


@pytest.mark.slow
def test_megabytes_are_opened_about_as_fast_as_a_short_result(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        async def seconds(text: str) -> float:
            best = 60.0
            for _ in range(3):
                show(person, answered("short"))
                await person.seen(CallCard)
                began = time.thread_time()
                show(person, answered(text))
                await person.seen(CallCard)
                best = min(best, time.thread_time() - began)
            return best

        short = await seconds("a short result")
        for text in ("0123456789" * 300_000, LINE * 60_000):
            assert await seconds(text) < 6 * short + 0.2

    stage.play(scene)


def test_a_long_conversation_gone_back_to_shows_what_changed_meanwhile(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        words = [make_turn(Role(("user", "assistant")[at % 2]), f"Turn number {at}.") for at in range(700)]
        show(person, Transcript().append(*words))
        there, view = person.session, person.app.window.pane.view

        def last(text: str) -> bool:
            drawn = [card for card in view.cards.values() if card.isVisible() and not card.visibleRegion().isEmpty()]
            return view.complete and max(drawn, key=lambda card: card.y()).turn.text == text

        await person.until(lambda: last("Turn number 699."), "all cards there is room for")
        await person.do(person.app.workspace.new)
        await person.until(lambda: person.session is not there, "another one")
        there.delete_turn(words[-1].id)
        there.turns.add_turn(make_turn(Role.USER, "Meanwhile."))
        await person.do(lambda: person.app.workspace.open(there.id))
        await person.until(lambda: last("Meanwhile."), "the turn that came meanwhile")
        assert [row.turn.id for row in person.app.window.pane.rows.rows] == [turn.id for turn in there.transcript.path]

    stage.play(scene)


def test_what_a_long_conversation_mentions_is_there_a_moment_after_it_is_opened(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        turns = [make_turn(Role.USER, f"Question {at} of {{{{subject}}}}") for at in range(VARIABLES_AT_ONCE + 1)]
        person.session.change(variables={"tone": "plain"})
        person.session.history.transcript = Transcript({turn.id: turn for turn in _chained(turns)}, turns[-1].id)
        long = person.session.id
        person.app.workspace.new()
        (bar,) = person.app.window.findChildren(VariablesBar)
        await person.until(lambda: not bar.isVisible(), "no variables")
        person.app.workspace.open(long)
        await person.until(lambda: list(bar.rows) == ["subject", "tone"] and bar.isVisible(), "both of its variables")

    stage.play(scene)


def _chained(turns: list[Turn]) -> list[Turn]:
    return [turn.model_copy(update={"parent": turns[at - 1].id if at else None}) for at, turn in enumerate(turns)]
