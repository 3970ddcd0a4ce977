"""What the demo's tool server offers besides tools, through the real window: a prompt with proposals for its arguments,
resources attached, one that is watched; and what was said meanwhile on the page of servers.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from playground.domain.transcript import Role
from playground.engine.session.serving import Ticket
from playground.engine.tool_servers.live import State
from playground.ui.features.offered.dialog import OfferedDialog
from playground.ui.features.offered.offers import PROMPTS, RESOURCES
from playground.ui.shell.features import OFFERED, SERVER_TAPE
from tests.flows.conftest import Person, Stage
from tests.support import tool_servers

NOTE = "These notes live in the demo's tool server."


async def offers(person: Person, entry: str) -> OfferedDialog:
    """The dialog, opened from beside the message, with what the demo's server offers."""
    await person.choose(person.one(QPushButton, "Take something from a tool server"), entry)
    dialog = person.app.actions.of(OFFERED).dialog
    assert dialog is not None
    if person.app.workspace.tool_servers.live("demo").state is not State.READY:
        assert "does not run" in dialog.asleep.text()
        await person.do(dialog.start_button.click)
    await person.until(lambda: bool(dialog.model.offers), "what the server offers")
    await person.until(lambda: not dialog.start_button.isVisible(), "the server running")
    return dialog


def test_a_prompt_is_filled_in_and_goes_where_it_is_sent(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        assert "tool_servers" not in person.app.workspace.__dict__, "nothing of servers is made before it is used"
        dialog = await offers(person, "Prompt…")
        explain = next(offer for offer in dialog.model.offers if offer.arguments)
        await person.do(partial(dialog.choose, PROMPTS, explain.key))
        title = dialog.form.fields["title"]
        assert not dialog.ask_button.isEnabled()
        assert not dialog.write_button.isEnabled()
        await person.do(partial(QTest.keyClicks, title, "We"))
        await person.until(lambda: "Welcome" in title.proposed, "the server's proposal")
        await person.do(partial(title.setText, "nowhere to be found"))
        await person.do(dialog.ask)
        await person.until(lambda: "nowhere to be found" in dialog.problem.text(), "what the server says")
        await person.do(partial(title.setText, "Welcome"))
        assert not dialog.problem.isVisible()
        await person.do(dialog.ask)
        await person.until(lambda: NOTE in dialog.text.text(), "the messages")
        assert dialog.outcome.text()
        assert dialog.text.text().startswith("User:\nExplain this note")
        await person.do(partial(person.message.setPlainText, "First of all."))
        await person.do(dialog.write_button.click)
        await person.until(lambda: person.app.actions.of(OFFERED).dialog is None, "the dialog closed")
        written = person.pane.composer.text
        assert written.startswith("First of all.\n\nExplain this note")
        assert NOTE in written
        assert "User:" not in written

        dialog = await offers(person, "Prompt…")
        await person.do(partial(dialog.choose, PROMPTS, explain.key))
        await person.do(partial(dialog.form.fields["title"].setText, "Welcome"))
        await person.do(dialog.form.submitted.emit)
        await person.until(dialog.add_button.isVisible, "the messages")
        await person.do(partial(person.pane.composer.set_starting, True))
        await person.do(dialog.add_button.click)
        assert "A run is under way" in dialog.problem.text()
        assert not person.path
        await person.do(partial(person.pane.composer.set_starting, False))
        await person.do(dialog.add_button.click)
        await person.until(lambda: person.app.actions.of(OFFERED).dialog is None, "the dialog closed")
        assert len(person.path) >= 1
        assert person.path[0].role is Role.USER
        assert any(NOTE in turn.text for turn in person.path)
        entries = [entry.text for entry in person.app.actions.of(OFFERED).entries()]
        assert explain.name in entries

    stage.play(scene)


def test_what_is_chosen_before_a_server_is_ready_is_kept_as_it_is_offered_later(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        servers = person.app.workspace.tool_servers
        servers.book.confirm(servers.book.add(tool_servers.hostile("slow")))
        await person.choose(person.one(QPushButton, "Take something from a tool server"), "Prompt…")
        dialog = person.app.actions.of(OFFERED).dialog
        assert dialog is not None
        servers.begin("hostile")
        await person.until(lambda: bool(dialog.model.offers), "its prompt")
        await person.do(partial(dialog.choose, PROMPTS, ("hostile", "explain")))
        title = dialog.form.fields["title"]
        await person.do(partial(QTest.keyClicks, title, "We"))
        assert servers.live("hostile").state is State.STARTING
        await person.until(lambda: title.proposed == ["Welcome"], "what it proposes")
        assert servers.live("hostile").state is State.READY
        assert dialog.form.fields["title"] is title
        await person.until(lambda: dialog.offer is not None and "completions" in dialog.offer.can, "what it can do")

        await servers.call("hostile", "change", {}, Ticket())
        await person.until(lambda: "tone" in dialog.form.fields, "its other argument")
        assert dialog.form.values == {"title": "We"}
        assert not dialog.ask_button.isEnabled()

    stage.play(scene)


def test_resources_are_attached_and_watched(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        dialog = await offers(person, "Resource…")
        servers = person.app.workspace.tool_servers
        picture = next(offer for offer in dialog.model.offers if "picture" in offer.key[1])
        await person.do(partial(dialog.choose, RESOURCES, picture.key))
        await person.do(dialog.ask)
        await person.until(lambda: bool(dialog.strip.images), "the picture")
        await person.do(dialog.write_button.click)
        await person.until(lambda: len(person.pane.composer.attached) == 1, "the picture attached")

        dialog = await offers(person, "Resource…")
        await person.do(partial(dialog.finder.setText, "all notes"))
        await person.until(lambda: len(dialog.model.offers) == 1, "what has these words")
        notes = dialog.model.offers[0]
        await person.do(partial(dialog.choose, RESOURCES, notes.key))
        await person.do(dialog.watch.click)
        await person.until(lambda: notes.key in dialog._watched, "the resource watched")
        await person.do(dialog.ask)
        await person.until(dialog.write_button.isEnabled, "the resource")
        await person.do(dialog.write_button.click)
        assert person.pane.composer.text.startswith(f"[Resource {notes.key[1]}")
        await servers.call("demo", "add_note", {"title": "Later", "text": "A new one."}, Ticket())
        again = await person.seen(QPushButton, "Read it again")
        await person.click(again)
        dialog = await _dialog(person)
        await person.until(lambda: dialog.offer is not None and dialog.offer.key == notes.key, "the resource again")
        assert dialog.watch.isChecked()
        await person.do(dialog.ask)
        await person.until(lambda: "Later" in dialog.text.text(), "what it holds now")
        await person.do(dialog.reject)

        await person.do(person.app.window.action("view.servers").trigger)
        page = person.app.actions.of(SERVER_TAPE).page
        assert page is not None
        await person.until(lambda: page.model.rowCount() > 4, "what was said")
        methods = {entry.method for entry in page.model.rows}
        assert {"initialize", "resources/read", "resources/subscribe", "tools/call"} <= methods
        answers = [entry for entry in page.model.rows if entry.request]
        assert answers
        assert all(entry.seconds is not None for entry in answers)

    stage.play(scene)


async def _dialog(person: Person) -> OfferedDialog:
    await person.until(lambda: person.app.actions.of(OFFERED).dialog is not None, "the dialog")
    dialog = person.app.actions.of(OFFERED).dialog
    assert dialog is not None
    return dialog
