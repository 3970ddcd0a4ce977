"""Offers of the demo's tool server besides tools, through the real window: a prompt with proposals for its arguments,
resources attached, one that is watched; and the messages about it on the page of servers.
"""

from __future__ import annotations

import asyncio
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListWidget, QPushButton

from playground.domain.transcript import Role
from playground.engine.session.tool_calls import Ticket
from playground.engine.tool_servers.events import State
from tests.flows.conftest import Person, flow
from tests.flows.pages.server_requests import ServerContentDialog, ServerMessagesPage
from tests.flows.pages.steps import column_texts
from tests.support import tool_servers

NOTE = "These notes live in the demo's tool server."
PROMPT = "Explain a note"


async def open_offers(person: Person, action: str) -> ServerContentDialog:
    """The dialog with what the demo's server offers, which runs then."""
    dialog = await ServerContentDialog.open(person, action)
    await dialog.start_servers()
    return dialog


def palette_entries(person: Person) -> list[str]:
    """The entries of the command palette."""
    lists = person.find(QListWidget, "Matches")
    return [text for matches in lists for text in column_texts(matches)]


@flow()
async def test_prompt_is_filled_in_and_added_to_message_or_conversation(person: Person) -> None:
    assert "tool_servers" not in person.app.workspace.__dict__, "nothing of servers is made before it is used"
    assert person.conversation.composer.insertable == ["Image…", "File…", "Variable", "More for images"]
    dialog = await ServerContentDialog.open(person, "servers.prompts")
    assert "is stopped" in dialog.stopped_servers
    await dialog.start_servers()
    await dialog.choose(PROMPT)
    await person.until(lambda: dialog.fields, "the fields of its arguments")
    assert not dialog.can_ask
    assert not dialog.can_write
    await dialog.type_into("title", "We")
    await person.until(lambda: "Welcome" in dialog.proposals("title"), "the server's proposal")
    await dialog.type_into("title", "nowhere to be found")
    await dialog.ask()
    await person.until(lambda: "nowhere to be found" in dialog.problem, "the server's error")
    await dialog.type_into("title", "Welcome")
    assert not dialog.problem
    await dialog.ask()
    await person.until(lambda: NOTE in dialog.text, "the messages")
    assert dialog.outcome
    assert dialog.text.startswith("User:\nExplain this note")
    await person.do(partial(person.message.setPlainText, "First of all."))
    await dialog.close("Insert into message")
    written = person.message.toPlainText()
    assert written.startswith("First of all.\n\nExplain this note")
    assert NOTE in written
    assert "User:" not in written

    dialog = await open_offers(person, "servers.prompts")
    await dialog.choose(PROMPT)
    await dialog.type_into("title", "Welcome")
    await person.do(partial(QTest.keyClick, dialog.field("title"), "\r"))
    await person.until(lambda: dialog.has_button("Add to conversation"), "the messages")
    await person.do(partial(person.pane.composer.set_starting, True))
    await dialog.press("Add to conversation")
    assert "A run is under way" in dialog.problem
    assert not person.path
    await person.do(partial(person.pane.composer.set_starting, False))
    await dialog.close("Add to conversation")
    assert len(person.path) >= 1
    assert person.path[0].role is Role.USER
    assert any(NOTE in turn.text for turn in person.path)
    await person.do(person.app.window.action("view.palette").trigger)
    await person.until(lambda: any(text.startswith(PROMPT) for text in palette_entries(person)), "it in the palette")
    await person.key(Qt.Key.Key_Escape)


@flow()
async def test_prompt_selected_during_a_request_for_another_waits_for_its_arguments(person: Person) -> None:
    dialog = await open_offers(person, "servers.prompts")
    await dialog.choose("Try the tools")
    await person.do(dialog.button("Get messages").click)
    await dialog.choose(PROMPT)
    assert [field.accessibleName() for field in dialog.fields] == ["title", "tone"]
    await asyncio.sleep(0.2)  # the cancelled request ends
    assert not dialog.can_ask
    assert not dialog.outcome
    await dialog.type_into("title", "Welcome")
    await dialog.ask()
    await person.until(lambda: NOTE in dialog.text, "the messages")
    assert dialog.can_ask


@flow()
async def test_prompt_chosen_before_server_is_ready_stays_filled_in(person: Person) -> None:
    servers = person.app.workspace.tool_servers
    servers.book.confirm(servers.book.add(tool_servers.hostile("slow")))
    await person.conversation.composer.insert("Server prompt…")
    dialog = await ServerContentDialog.wait(person)
    servers.begin("hostile")
    await dialog.choose("explain")
    await dialog.type_into("title", "We")
    title = dialog.field("title")
    assert servers.live("hostile").state is State.STARTING
    await person.until(lambda: dialog.proposals("title") == ["Welcome"], "what it proposes")
    assert servers.live("hostile").state is State.READY
    assert dialog.field("title") is title

    await servers.call("hostile", "change", {}, Ticket())
    await person.until(lambda: len(dialog.fields) == 2, "its other argument")
    assert {field.accessibleName(): field.text() for field in dialog.fields} == {"title": "We", "tone": ""}
    assert not dialog.can_ask


@flow()
async def test_resources_are_attached_and_watched(person: Person) -> None:
    dialog = await open_offers(person, "servers.resources")
    servers = person.app.workspace.tool_servers
    resources = {resource.uri: resource.title or resource.name for resource in servers.live("demo").resources}
    picture = next(name for uri, name in resources.items() if "picture" in uri)
    await dialog.choose(picture)
    await dialog.ask()
    await person.until(lambda: dialog.pictures, "the picture")
    await dialog.close("Insert into message")
    await person.until(lambda: len(person.pane.composer.attached) == 1, "the picture attached")

    dialog = await open_offers(person, "servers.resources")
    await dialog.search("all notes")
    await person.until(lambda: len(dialog.offers) == 1, "the resource with these words")
    notes = dialog.offers[0]
    await dialog.choose(notes)
    await dialog.press("Watch for changes")
    await person.until(
        lambda: any(entry.method == "resources/subscribe" and entry.request for entry in servers.tape.entries),
        "the resource watched",
    )
    await dialog.ask()
    await person.until(lambda: dialog.can_write, "the resource")
    await dialog.close("Insert into message")
    assert person.message.toPlainText().startswith("[Resource ")
    await servers.call("demo", "add_note", {"title": "Later", "text": "A new one."}, Ticket())
    await person.click(await person.seen(QPushButton, "Read it again"))
    dialog = await ServerContentDialog.wait(person)
    await person.until(lambda: notes in dialog.texts, "the resource again")
    assert dialog.watched
    await dialog.ask()
    await person.until(lambda: "Later" in dialog.text, "the new note in it")
    await dialog.close("Close")

    page = await ServerMessagesPage.open(person)
    await person.until(lambda: page.row_count > 4, "the messages")
    names = " ".join(page.column(2))
    for method in ("initialize", "resources/read", "resources/subscribe", "tools/call"):
        assert method in names
    took = page.column(3)
    assert any(took)
