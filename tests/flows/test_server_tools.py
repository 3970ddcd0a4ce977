"""A server's tools in the real window: added, changed by the server, reviewed and accepted, removed, gone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import tests.support.hostile_tool_server as hostile_program
from playground.domain.tool_servers import ToolServer
from playground.domain.tools import ToolDefinition
from playground.engine.session.tool_calls import Ticket, ToolCallError
from playground.engine.tool_servers.tools import new_tools
from tests.flows.conftest import Person, flow
from tests.flows.pages.steps import answer_question
from tests.flows.pages.tool_servers import ConfirmServerDialog, ToolServersDialog
from tests.flows.pages.tools import ToolsPage
from tests.support.slow import slow_except


def set_up_server(person: Person, *modes: str, name: str = "hostile", server_id: str = "h") -> ToolServer:
    """Set a server up that misbehaves so, and confirm its command line."""
    book = person.app.workspace.tool_servers.book
    arguments = (hostile_program.__file__, *modes)
    server = book.add(ToolServer(id=server_id, name=name, command=sys.executable, arguments=arguments))
    book.confirm(server)
    return server


async def add_tools(person: Person, *modes: str) -> ToolsPage:
    """The panel with the tools of a server that misbehaves so."""
    set_up_server(person, *modes)
    tools = await ToolsPage.open(person)
    await tools.choose_for_server("hostile", "Add its tools")
    await person.until(lambda: names(person), "its tools")
    return tools


def names(person: Person) -> list[str]:
    return [tool.name for tool in person.session.settings.tools]


def tool(person: Person, name: str) -> ToolDefinition:
    return next(tool for tool in person.session.settings.tools if tool.name_there == name)


async def accepted(tools: ToolsPage, server_id: str = "h") -> None:
    """Wait until the tool is accepted as it is, and its row says nothing else."""
    book = tools.person.app.workspace.tool_servers.book
    await tools.wait_until(
        lambda: "echo" in book.accepted(server_id) and tools.state("echo").startswith("on, sent"), "accepted"
    )


@flow()
async def test_tools_of_server_are_added_removed_undone_and_outlive_its_death(person: Person) -> None:
    tools = await add_tools(person)
    await person.until(lambda: tools.server_state("hostile") == "ready", "ready")
    assert tool(person, "echo").enabled
    await accepted(tools)
    await tools.choose_for_server("hostile", "Remove its")
    await person.until(lambda: names(person) == [], "no tools")
    person.session.undo()
    await person.until(lambda: "echo" in names(person), "undone")
    person.session.redo()
    await person.until(lambda: not names(person), "redone")
    person.session.undo()
    await person.until(lambda: "echo" in names(person), "undone again")
    with pytest.raises(ToolCallError):
        await person.app.workspace.tool_servers.call("h", "die", {}, Ticket())
    await person.until(lambda: tools.server_state("hostile") == "ready", "a restart after its death")
    await accepted(tools)
    await tools.choose_for_server("hostile", "Stop")
    await person.until(lambda: tools.server_state("hostile") == "stopped", "stopped")
    await accepted(tools)


@flow()
async def test_tool_changed_by_server_is_off_until_accepted(person: Person) -> None:
    servers = person.app.workspace.tool_servers
    tools = await add_tools(person)
    await servers.call("h", "change", {}, Ticket())
    await person.until(lambda: not tool(person, "echo").enabled, "switched off")
    await person.until(lambda: tools.state("echo").startswith("off, changed on the server"), "its state")
    await person.until(lambda: tools.attention("hostile") == "1 changed", "the number of changes")
    await person.conversation.notice.wait_for_text("changed the definition of echo")
    await person.conversation.notice.press("Show the difference")
    await person.until(lambda: hostile_program.POISON[:12] in tools.difference, "the difference")
    person.session.undo()
    await person.until(lambda: tool(person, "echo").enabled, "switched on by a person")
    await tools.accept()
    await accepted(tools)
    assert hostile_program.POISON in tool(person, "echo").description
    assert tool(person, "echo").enabled
    assert servers.book.accepted("h")["echo"].description == tool(person, "echo").description


@flow()
async def test_tool_changed_at_restart_is_off_and_not_accepted_by_adding_again(person: Person, tmp_path: Path) -> None:
    tools = await add_tools(person, "changes", "--state", str(tmp_path / "state"))
    await accepted(tools)
    await tools.choose_for_server("hostile", "Restart")
    await person.until(lambda: not tool(person, "echo").enabled, "switched off")
    await person.until(lambda: tools.state("echo").startswith("off, changed on the server"), "its state")
    assert [it.name for it in person.session.settings.tools if not it.enabled] == ["echo"]
    assert hostile_program.POISON not in tool(person, "echo").description
    await tools.choose_for_server("hostile", "Remove its")
    await tools.choose_for_server("hostile", "Add its tools")
    await person.until(lambda: "echo" in names(person), "its tools once more")
    assert not tool(person, "echo").enabled


@flow()
async def test_tool_names_that_no_protocol_takes_are_mapped_once(person: Person) -> None:
    def mapped() -> dict[str, str]:
        return {it.name_there: it.name for it in person.session.settings.tools if it.server == "hostile"}

    set_up_server(person, "names")
    set_up_server(person, name="other", server_id="o")
    tools = await ToolsPage.open(person)
    await tools.choose_for_server("other", "Add its tools")
    await person.until(lambda: "echo" in names(person), "the other's tools")
    await tools.choose_for_server("hostile", "Add its tools")
    await person.until(mapped, "its tools")
    before = mapped()
    assert before["echo"] == "hostile_echo"
    assert before["a\u202eb"].startswith("a_b")
    assert len(set(names(person))) == len(names(person))
    assert "\u202e" not in "".join(names(person))
    await tools.choose_for_server("hostile", "Remove its")
    await tools.choose_for_server("hostile", "Restart")
    await tools.choose_for_server("hostile", "Add its tools")
    await person.until(mapped, "its tools")
    assert mapped() == before
    book = person.app.workspace.tool_servers.book
    server = book.get("h")
    assert server is not None
    book.update(server.model_copy(update={"prefix": "hx"}))
    await person.until(lambda: "hx_echo" in names(person), "the prefix")
    await person.use_model("demo-tools")
    person.session.switch_protocol("messages")
    await person.until(lambda: "hx_echo" in names(person), "the same names")


@flow()
async def test_ten_thousand_tools_are_added_after_question(person: Person) -> None:
    set_up_server(person, "many")
    tools = await ToolsPage.open(person)
    await tools.choose_for_server("hostile", "Add its tools")
    assert "10,000 tools" in await answer_question(person, "Add")
    await person.until(lambda: len(names(person)) == 10_000, "all of them")
    await person.until(lambda: "server hostile: ready" in tools.group("hostile"), "its state")
    assert not any(it.enabled for it in person.session.settings.tools)


@flow()
async def test_server_is_set_up_and_its_command_line_confirmed_before_tools_are_added(person: Person) -> None:
    book = person.app.workspace.tool_servers.book
    book.add(ToolServer(id="h", name="hostile", command=sys.executable, arguments=(hostile_program.__file__,)))
    tools = await ToolsPage.open(person)

    # A tool of a server that is not set up leads to the settings
    person.session.change(tools=(ToolDefinition(name="far", description="Far.", server="elsewhere"),))
    await person.until(lambda: "not set up here" in tools.origin, "its origin")
    await tools.press_server_button()
    settings = await ToolServersDialog.wait(person)
    assert settings.name == "elsewhere"
    await settings.close("Close")
    person.session.change(tools=())

    await tools.choose_for_server("hostile", "Add its tools")
    dialog = await ConfirmServerDialog.wait(person)
    assert not names(person)
    await dialog.close("Cancel")
    assert not names(person)
    await tools.choose_for_server("hostile", "Add its tools")
    dialog = await ConfirmServerDialog.wait(person)
    await dialog.close("Confirm and start")
    await person.until(lambda: "echo" in names(person), "its tools")
    await person.until(lambda: tools.server_state("hostile") == "ready", "ready")


@flow()
async def test_demo_server_is_added_in_two_clicks_and_accepted(person: Person) -> None:
    servers = person.app.workspace.tool_servers
    tools = await ToolsPage.open(person)
    await tools.choose_from_servers("Try the demo's server")
    await person.until(lambda: names(person), "its tools")
    server = person.session.settings.tools[0].server
    await person.until(lambda: tools.server_state(server) == "ready", "ready")
    await person.until(lambda: tools.attention(server) == "", "nothing to review")
    assert set(servers.book.accepted("demo")) == {tool.name for tool in servers.live("demo").tools} > {"clock"}
    await tools.choose_for_server(server, "Remove its")
    person.session.change(tools=())
    await tools.choose_for_server(server, "Add its tools")
    await person.until(lambda: names(person), "its tools once more")
    assert all(it.enabled for it in person.session.settings.tools)
    await person.until(lambda: tools.checked and tools.attention(server) == "", "nothing to review")


@pytest.mark.parametrize("mode", slow_except(["bidi"], ["bidi", "schemas", "restless"]))
@flow()
async def test_hostile_definitions_are_shown_without_control_characters(person: Person, mode: str) -> None:
    tools = await add_tools(person, mode)
    assert "\u202e" not in "".join(names(person))
    await person.until(lambda: tools.checked, "all of them checked")
    for row, text in enumerate(tools.rows):
        if text.startswith("group "):
            continue
        await tools.select(row)
        await person.until(lambda: tools.origin, "where it is from")
        assert tools.name_is_read_only
        displayed = "".join((text, *tools.server_texts))
        assert not {"\u202e", "\x1b"} & set(displayed), displayed
    await person.until(lambda: tools.attention("hostile") == "", "nothing to review")


@flow()
async def test_tools_of_opened_experiment_are_accepted_after_question(person: Person) -> None:
    server = set_up_server(person)
    servers = person.app.workspace.tool_servers
    tools = await ToolsPage.open(person)
    await tools.choose_for_server("hostile", "Start")
    await person.until(lambda: servers.live(server.id).listed, "what it offers")
    theirs = new_tools((), server, servers.live(server.id).tools, {})
    person.session.change(tools=theirs)
    await person.until(lambda: tools.state("echo").startswith("on, not accepted yet"), "that it is new here")
    assert tool(person, "echo").enabled, "it can be answered by hand"
    await tools.choose_for_server("hostile", f"Accept {len(theirs)} tools")
    assert "echo" in await answer_question(person, "Accept")
    await accepted(tools)
    await person.until(lambda: tools.attention("hostile") == "", "nothing to review")
