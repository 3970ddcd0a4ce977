"""The window with tool servers of others: what the reference server offers besides tools, and one that floods."""

from __future__ import annotations

import re

import pytest

from playground.domain.tool_servers import ToolServer
from playground.engine.session.tool_calls import Ticket, ToolCallError
from playground.engine.tool_servers.events import State
from tests.flows.conftest import Person, flow
from tests.flows.pages.server_requests import ServerContentDialog, ServerMessagesPage
from tests.support import tool_servers
from tests.support.required_tools import NODE_PACKAGES, requires

VALUES = {"resourceType": "Text", "resourceId": "1", "department": "Engineering"}  # of the reference server's arguments


async def start_server(person: Person, server: ToolServer) -> str:
    """A server that was confirmed, and runs; its id."""
    servers = person.app.workspace.tool_servers
    added = servers.book.add(server)
    servers.book.confirm(added)
    await servers.start(added.id)
    return added.id


@requires(NODE_PACKAGES)
@flow()
async def test_prompts_and_resources_of_reference_server_are_read(person: Person) -> None:
    server_id = await start_server(person, tool_servers.everything())
    live = person.app.workspace.tool_servers.live(server_id)
    await person.do(person.app.window.action("servers.prompts").trigger)
    dialog = await ServerContentDialog.wait(person)
    for prompt in live.prompts:
        await dialog.choose(prompt.title or prompt.name)
        for field in dialog.fields:
            if "Required" in field.accessibleDescription():
                name = field.accessibleName()
                await dialog.type_into(name, VALUES.get(name, "Paris"))
        await dialog.ask()
        await person.until(lambda: dialog.text or dialog.problem, f"messages of {prompt.name}")
        assert dialog.problem == "", prompt.name
        assert dialog.can_write, prompt.name
    await dialog.choose(next(prompt.title or prompt.name for prompt in live.prompts if "complet" in prompt.name))
    first, second = (field.accessibleName() for field in dialog.fields)
    for name in (first, second):
        await dialog.type_into(name, "E")
        await dialog.type_into(name, "")
        await person.until(lambda name=name: dialog.proposals(name), f"proposals for {name}")  # type: ignore[misc]
        await dialog.type_into(name, dialog.proposals(name)[0])

    await dialog.press("Resources")
    templates = [resource.title or resource.name for resource in live.resources if resource.template]
    assert templates
    for template in templates:
        await dialog.choose(template)
        for field in dialog.fields:
            await dialog.type_into(field.accessibleName(), "1")
        await dialog.ask()
        await person.until(lambda: dialog.outcome and dialog.can_ask, "a resource")
        assert "{" not in dialog.address
        assert dialog.problem == "", template
    await dialog.close("Close")


@flow()
async def test_window_answers_while_server_floods_open_page(person: Person) -> None:
    await start_server(person, tool_servers.hostile("flood"))
    page = await ServerMessagesPage.open(person)
    await person.until(lambda: page.row_count > 500, "much on the page")
    rows = page.row_count
    await person.until(lambda: page.row_count > rows + 3_000, "much more on the page")
    assert page.at_end
    assert person.app.workspace.tool_servers.live("hostile").state is State.READY
    message = next(match for text in page.messages if (match := re.search(r"flood \d+ ", text)))
    await page.search(message[0].upper())
    await person.until(lambda: page.row_count == 1, f"the message with {message[0]!r}")


@flow()
async def test_death_of_server_is_listed_without_control_characters(person: Person) -> None:
    server_id = await start_server(person, tool_servers.hostile("bidi"))
    with pytest.raises(ToolCallError, match="exit code 7"):
        await person.app.workspace.tool_servers.call(server_id, "die", {}, Ticket())
    page = await ServerMessagesPage.open(person)
    await person.until(lambda: any("exit code 7" in text for text in page.messages), "its end")
    assert not set("\u202e\u2066\u200b\x1b\x00\x9b") & set(page.all_texts)
    await page.choose(next(row for row, text in enumerate(page.messages) if "exit code 7" in text))
    await person.until(lambda: "The server ended by itself" in page.detail, "all of it")
    assert not page.has_button("Answer")
