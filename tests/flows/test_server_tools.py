"""A server's tools in the real window: brought in, changed under one's feet, seen and accepted, removed, gone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QDialog, QLineEdit, QMenu, QMessageBox

import tests.support.hostile_tool_server as hostile_program
from playground.domain.tool_servers import ToolServer
from playground.domain.tools import ToolDefinition
from playground.engine.tool_servers.acceptance import Standing, arriving
from playground.ui.features.tools.control import ToolsControl
from playground.ui.features.tools.panel import ToolsPanel
from playground.ui.shell.features import TOOLS, TOOLS_PANEL
from tests.flows.conftest import Person, Stage
from tests.flows.test_panels import open_tab


def add(person: Person, *modes: str, name: str = "hostile", server_id: str = "h") -> ToolServer:
    """Set a server up that misbehaves so, and agree to its command line."""
    book = person.app.workspace.tool_servers.book
    server = book.add(
        ToolServer(id=server_id, name=name, command=sys.executable, arguments=(hostile_program.__file__, *modes))
    )
    book.confirm(server)
    return server


def panel_of(person: Person) -> ToolsPanel:
    return person.app.window.panels.of(TOOLS_PANEL)


def control(person: Person) -> ToolsControl:
    return person.app.actions.of(TOOLS)


async def choose(person: Person, server: str, what: str) -> None:
    """Choose in the menu of servers what is to be done with one; an empty name is the menu itself."""
    menu = control(person).servers.menu
    await person.do(menu.aboutToShow.emit)

    def entry() -> Callable[[], None] | None:
        if not server:
            return next((it.trigger for it in menu.actions() if it.text() == what), None)
        for action in menu.actions():
            inner = action.menu()
            if isinstance(inner, QMenu) and action.text().startswith(server):
                return next((it.trigger for it in inner.actions() if it.text().startswith(what)), None)
        return None

    def offered() -> bool:
        menu.fill()
        return entry() is not None

    await person.until(offered, f"{what} of {server}")
    act = entry()
    assert act is not None
    await person.do(act)


def names(person: Person) -> list[str]:
    return [tool.name for tool in person.session.settings.tools]


def tool(person: Person, name: str) -> ToolDefinition:
    return next(tool for tool in person.session.settings.tools if tool.name_there == name)


def state(person: Person, server: str = "hostile") -> str:
    """As the header of its group shows it."""
    found = panel_of(person).model.group_server(server)
    return found.state if found is not None else ""


def standing(person: Person, name: str) -> Standing:
    return control(person).servers.standings.of(tool(person, name))


def test_tools_come_go_and_come_back(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        add(person)
        await open_tab(person, "Tools")
        await choose(person, "hostile", "Add its tools")
        await person.until(lambda: "echo" in names(person), "its tools")
        await person.until(lambda: state(person) == "ready", "ready")
        assert tool(person, "echo").enabled
        await person.until(lambda: standing(person, "echo") is Standing.SAME, "accepted")
        await choose(person, "hostile", "Remove its")
        assert names(person) == []
        person.session.undo()
        await person.until(lambda: "echo" in names(person), "undone")
        person.session.redo()
        await person.until(lambda: not names(person), "redone")
        person.session.undo()
        await choose(person, "hostile", "Stop")
        await person.until(lambda: state(person) == "stopped", "stopped")
        assert standing(person, "echo") is Standing.SAME

    stage.play(scene)


def test_what_a_server_changes_is_off_until_it_was_seen(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        server = add(person)
        servers = person.app.workspace.tool_servers
        await open_tab(person, "Tools")
        await choose(person, "hostile", "Add its tools")
        await person.until(lambda: "echo" in names(person), "its tools")
        panel = panel_of(person)
        from playground.engine.session.serving import Ticket

        await servers.call(server.id, "change", {}, Ticket())
        await person.until(lambda: not tool(person, "echo").enabled, "switched off")
        assert standing(person, "echo") is Standing.CHANGED
        assert panel.model.group_attention("hostile") == "1 changed"
        assert "changed the definition of echo" in person.pane.notice.words
        await person.press("Show the difference", person.pane.notice)
        card = panel.editor.origin
        poison = hostile_program.POISON[:12]
        await person.until(lambda: card.change is not None and poison in card.change.toPlainText(), "the difference")
        person.session.undo()
        await person.until(lambda: tool(person, "echo").enabled, "a person's will")
        await person.press("Accept", panel)
        await person.until(lambda: standing(person, "echo") is Standing.SAME, "accepted")
        assert hostile_program.POISON in tool(person, "echo").description
        assert tool(person, "echo").enabled
        assert servers.book.accepted(server.id)["echo"].description == tool(person, "echo").description

    stage.play(scene)


def test_what_is_another_tool_at_the_next_start_is_off(stage: Stage, tmp_path: Path) -> None:
    async def scene(person: Person) -> None:
        add(person, "changes", "--state", str(tmp_path / "state"))
        await open_tab(person, "Tools")
        await choose(person, "hostile", "Add its tools")
        await person.until(lambda: "echo" in names(person), "its tools")
        await person.until(lambda: standing(person, "echo") is Standing.SAME, "accepted")
        await choose(person, "hostile", "Restart")
        await person.until(lambda: not tool(person, "echo").enabled, "switched off")
        assert standing(person, "echo") is Standing.CHANGED
        assert [it.name for it in person.session.settings.tools if not it.enabled] == ["echo"]
        assert hostile_program.POISON not in tool(person, "echo").description
        await choose(person, "hostile", "Remove its")
        await choose(person, "hostile", "Add its tools")
        await person.until(lambda: "echo" in names(person), "its tools once more")
        assert not tool(person, "echo").enabled, "taking it out and in again accepts nothing"

    stage.play(scene)


def test_names_that_no_protocol_takes_are_mapped_and_stay_so(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        add(person, "names")
        add(person, name="other", server_id="o")
        await open_tab(person, "Tools")
        await choose(person, "other", "Add its tools")
        await person.until(lambda: "echo" in names(person), "the other's tools")
        await choose(person, "hostile", "Add its tools")
        await person.until(lambda: any(it.server == "hostile" for it in person.session.settings.tools), "its tools")
        ours = {it.name_there: it for it in person.session.settings.tools if it.server == "hostile"}
        assert ours["echo"].name == "hostile_echo"
        assert ours["a\u202eb"].name.startswith("a_b")
        assert len(set(names(person))) == len(names(person))
        assert "\u202e" not in "".join(names(person))
        before = {it.name_there: it.name for it in ours.values()}
        await choose(person, "hostile", "Remove its")
        await choose(person, "hostile", "Restart")
        await choose(person, "hostile", "Add its tools")
        await person.until(lambda: any(it.server == "hostile" for it in person.session.settings.tools), "its tools")
        after = {it.name_there: it.name for it in person.session.settings.tools if it.server == "hostile"}
        assert after == before
        book = person.app.workspace.tool_servers.book
        server = book.get("h")
        assert server is not None
        book.update(server.model_copy(update={"prefix": "hx"}))
        await person.until(lambda: "hx_echo" in names(person), "the prefix")
        await person.use_model("demo-tools")
        person.session.switch_protocol("messages")
        await person.until(lambda: "hx_echo" in names(person), "the same names")

    stage.play(scene)


def test_ten_thousand_tools_are_asked_about_and_do_not_hold_the_window(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        add(person, "many")
        await open_tab(person, "Tools")
        await choose(person, "hostile", "Add its tools")
        box = await person.seen(QMessageBox)
        assert "10,000 tools" in box.text()
        gaps: list[float] = []
        last = perf_counter()

        def tick() -> None:
            nonlocal last
            now = perf_counter()
            gaps.append(now - last)
            last = now

        timer = QTimer()
        timer.timeout.connect(tick)
        timer.start(1)
        button = next(it for it in box.buttons() if it.text().startswith("Add"))
        last = perf_counter()
        await person.do(button.click)
        await person.until(lambda: len(names(person)) == 10_000, "all of them")
        await person.until(lambda: control(person).servers.standings.counts, "how they stand")
        timer.stop()
        assert not any(it.enabled for it in person.session.settings.tools)
        assert max(gaps) < 1.0, "seconds; on a machine that has other things to do"

    stage.play(scene)


def test_a_server_of_another_computer_says_so(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        person.session.change(tools=(ToolDefinition(name="far", description="Far.", server="elsewhere"),))
        await open_tab(person, "Tools")
        panel = panel_of(person)
        await person.until(lambda: "not set up here" in panel.editor.origin.origin.text, "that it is not here")
        await person.click(panel.editor.origin.way_button)
        dialog = await person.seen(QDialog)
        assert any(field.text() == "elsewhere" for field in dialog.findChildren(QLineEdit)), "its name is filled in"
        await person.do(dialog.close)
        await person.until(lambda: not person.find(QDialog), "it left")

    stage.play(scene)


def test_a_server_that_dies_says_so_in_its_group(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        server = add(person)
        servers = person.app.workspace.tool_servers
        await open_tab(person, "Tools")
        await choose(person, "hostile", "Add its tools")
        await person.until(lambda: "echo" in names(person), "its tools")
        from playground.engine.session.serving import ServingError, Ticket

        try:
            await servers.call(server.id, "die", {}, Ticket())
        except ServingError:
            pass
        else:
            raise AssertionError("it lives")
        await person.until(lambda: state(person) in ("failed", "starting"), "that it died")
        await person.until(lambda: state(person) == "ready", "that it was started again")
        assert standing(person, "echo") is Standing.SAME

    stage.play(scene)


def test_the_command_line_is_agreed_to_before_tools_are_brought_in(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        book = person.app.workspace.tool_servers.book
        book.add(ToolServer(id="h", name="hostile", command=sys.executable, arguments=(hostile_program.__file__,)))
        await open_tab(person, "Tools")
        await choose(person, "hostile", "Add its tools")
        dialog = await person.seen(QDialog)
        assert not names(person)
        await person.do(dialog.reject)
        await person.until(lambda: not person.find(QDialog), "it left")
        assert not names(person)
        await choose(person, "hostile", "Add its tools")
        dialog = await person.seen(QDialog)
        await person.do(dialog.accept)
        await person.until(lambda: "echo" in names(person), "its tools")
        await person.until(lambda: state(person) == "ready", "ready")

    stage.play(scene)


def test_the_demos_server_is_tried_in_two_clicks(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await open_tab(person, "Tools")
        await choose(person, "", "Try the demo's server")
        await person.until(lambda: names(person), "its tools")
        server = person.session.settings.tools[0].server
        await person.until(lambda: state(person, server) == "ready", "ready")
        await person.until(lambda: control(person).servers.standings.counts.get(server), "how they stand")
        assert control(person).servers.standings.attention(server) == ""
        await choose(person, server, "Remove its")
        person.session.change(tools=())
        book = person.app.workspace.tool_servers.book
        assert set(book.accepted("demo")) > {"clock"}
        await choose(person, server, "Add its tools")
        await person.until(lambda: names(person), "its tools once more")
        assert all(it.enabled for it in person.session.settings.tools)

    stage.play(scene)


@pytest.mark.parametrize("mode", ["bidi", "schemas", "restless"])
def test_hostile_definitions_are_shown_as_they_are_and_hold_nothing(stage: Stage, mode: str) -> None:
    async def scene(person: Person) -> None:
        add(person, mode)
        await open_tab(person, "Tools")
        await choose(person, "hostile", "Add its tools")
        await person.until(lambda: names(person), "its tools")
        panel = panel_of(person)
        assert "\u202e" not in "".join(names(person)), "no name that is sent has a mark of direction"
        await person.until(lambda: len(panel.model.sizes) == len(names(person)), "all of them checked")
        for number, _ in enumerate(names(person)):
            await person.do(partial(panel.select, number))
            assert panel.editor.name.isReadOnly()
            shown = [panel.editor.origin.origin.text, panel.editor.origin.mapped.text()]
            assert not any("\u202e" in words or "\x1b" in words for words in shown)
        await person.until(lambda: control(person).servers.standings.counts, "how they stand")
        assert control(person).servers.standings.attention("hostile") == ""

    stage.play(scene)


def test_an_experiment_from_another_computer_is_looked_at_first(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        server = add(person)
        await open_tab(person, "Tools")
        await choose(person, "hostile", "Start")
        servers = person.app.workspace.tool_servers
        await person.until(lambda: servers.live(server.id).listed, "what it offers")
        theirs = arriving((), server, servers.live(server.id).tools, {})
        person.session.change(tools=theirs)
        await person.until(lambda: standing(person, "echo") is Standing.NEW, "that nobody looked at it here")
        assert tool(person, "echo").enabled, "it can be answered by hand"
        await choose(person, "hostile", f"Accept {len(theirs)} tools")
        box = await person.seen(QMessageBox)
        assert "echo" in box.informativeText()
        await person.do(next(it for it in box.buttons() if it.text().startswith("Accept")).click)
        await person.until(lambda: standing(person, "echo") is Standing.SAME, "accepted")
        await person.until(lambda: control(person).servers.standings.attention("hostile") == "", "nothing to look at")

    stage.play(scene)


def test_with_ten_thousand_tools_a_restless_server_does_not_hold_the_window(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        add(person, "restless")
        add(person, "many", name="many", server_id="m")
        await open_tab(person, "Tools")
        await choose(person, "many", "Add its tools")
        box = await person.seen(QMessageBox)
        await person.do(next(it for it in box.buttons() if it.text().startswith("Add")).click)
        await person.until(lambda: len(names(person)) == 10_000, "all of them")
        await choose(person, "hostile", "Add its tools")
        await person.until(lambda: "echo" in names(person), "the restless one's")
        await person.until(lambda: len(panel_of(person).model.sizes) == len(names(person)), "all of them checked")
        gaps: list[float] = []
        last = perf_counter()

        def tick() -> None:
            nonlocal last
            now = perf_counter()
            gaps.append(now - last)
            last = now

        timer = QTimer()
        timer.timeout.connect(tick)
        timer.start(1)
        await person.until(lambda: sum(gaps) > 3, "three seconds of it")
        timer.stop()
        gaps.sort()
        assert gaps[len(gaps) * 99 // 100] < 0.1, "seconds; a benchmark holds it to less"

    stage.play(scene)
