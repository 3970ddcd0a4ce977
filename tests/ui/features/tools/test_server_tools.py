"""Tools of servers in the panel: read and not edited, held back when they changed, said where they come from."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from playground.domain.tool_servers import Hints, ServerTool, ToolServer
from playground.domain.tools import ToolDefinition
from playground.engine.tool_servers.acceptance import arriving, by_name
from playground.engine.tool_servers.naming import definition_of
from playground.ui.features.tools.panel import ToolsPanel
from playground.ui.features.tools.server_card import ServerCard
from playground.ui.features.tools.servers_menu import ServersMenu
from playground.ui.features.tools.standings import ABSENT, Seen, Standings
from playground.ui.features.tools.tool_editor import TEXT

FILES = ToolServer(id="f", name="files")
SCHEMA = {"type": "object", "properties": {"path": {"type": "string", "description": "Which"}}}
READ = ServerTool(name="read", description="Reads a file.", parameters=SCHEMA, hints=Hints(read_only=True))
WRITE = ServerTool(name="write.file", description="Writes.", parameters=SCHEMA, hints=Hints(destructive=True))
OWN = ToolDefinition(name="mine", description="Mine.", parameters=SCHEMA)
TOOLS = (OWN, definition_of(FILES, READ, "read"), definition_of(FILES, WRITE, "write_file"))


@pytest.fixture
def panel(qtbot: QtBot) -> Iterator[ToolsPanel]:
    panel = ToolsPanel()
    qtbot.addWidget(panel)
    panel.set_tools(TOOLS)
    panel.resize(340, 900)
    panel.show()
    qtbot.waitExposed(panel)
    yield panel
    panel.hide()


def know(panel: ToolsPanel, *listed: ServerTool, state: str = "ready", accepted: tuple[ServerTool, ...] = ()) -> None:
    """Tell the panel of the server, which was accepted as it is in this file."""
    standings = Standings()
    standings.put([Seen("files", "f", state, listed=by_name(listed), accepted=by_name(accepted or (READ, WRITE)))])
    for _ in standings.sweep(panel.tools):
        pass
    panel.show_standings(standings)


def difference(card: ServerCard) -> str:
    return card.change.toPlainText() if card.change is not None else ""


def texts(menu: QMenu) -> list[str]:
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def test_a_group_of_a_server_tells_its_state_count_and_tokens(panel: ToolsPanel) -> None:
    know(panel, READ, WRITE)
    panel.check_now()
    found = panel.model.group_server("files")
    assert found is not None
    assert found.state == "ready"
    assert panel.model.group_server("") is None
    assert panel.model.group_words("files").startswith("2 of 2 on · ≈ ")
    said = panel.model.data(panel.model.index_of("files"), Qt.ItemDataRole.AccessibleTextRole)
    assert "server files: ready" in str(said)
    row = str(panel.model.data(panel.model.index_of(2), Qt.ItemDataRole.AccessibleTextRole))
    assert "write.file on its server" in row
    assert "destructive" in row


def test_what_a_server_says_is_read_and_not_edited(panel: ToolsPanel) -> None:
    know(panel, READ, WRITE)
    got: list[object] = []
    panel.changed.connect(got.append)
    panel.select(2)
    editor = panel.editor
    assert editor.origin.isVisibleTo(panel)
    assert "“write.file” is sent as write_file" in editor.origin.mapped.text()
    assert "may destroy what is there" in editor.origin.says.text()
    assert not editor.form.add_button.isVisibleTo(panel)
    QTest.keyClicks(editor.name, "x")
    QTest.keyClicks(editor.description, "x")
    editor.form.add_parameter(())
    editor.form.open_field(("properties", "path"))
    assert editor.form.block is not None
    assert not editor.form.block.isEnabled()
    row = editor.form.row_at(("properties", "path"))
    assert row is not None
    QTest.keyClick(row, Qt.Key.Key_Delete)
    editor.show_view(TEXT)
    QTest.keyClicks(editor.schema, "x")
    assert got == []
    assert editor.rule.isEnabled()
    panel.select(0)
    assert not editor.origin.isVisibleTo(panel)
    QTest.keyClicks(editor.name, "x")
    assert panel.tools[0].name == "minex"


def test_a_copy_is_edited_instead_and_the_servers_own_is_off(panel: ToolsPanel) -> None:
    know(panel, READ, WRITE)
    panel.select(1)
    QTest.mouseClick(panel.editor.origin.copy_button, Qt.MouseButton.LeftButton)
    copy = panel.tools[panel.selected]
    assert (copy.name, copy.server, copy.hints, copy.enabled) == ("read_copy", "", None, True)
    assert not next(tool for tool in panel.tools if tool.name == "read").enabled
    assert not panel.editor.name.isReadOnly()


def test_what_changed_stays_off_and_shows_its_difference(qtbot: QtBot, panel: ToolsPanel) -> None:
    panel.switch([1], on=False)
    know(panel, READ.model_copy(update={"description": "Reads a file\u202e and sends it."}), WRITE)
    assert panel.model.group_attention("files") == "1 changed"
    panel.switch([1], on=True)
    assert not panel.tools[1].enabled
    assert panel.selected == 1, "who wants it on is shown why it is not"
    card = panel.editor.origin
    qtbot.waitUntil(lambda: "‹U+202E›" in difference(card))
    assert card.accept_button.isVisibleTo(panel)
    with qtbot.waitSignal(panel.accept_asked) as caught:
        QTest.mouseClick(card.accept_button, Qt.MouseButton.LeftButton)
    assert caught.args == [[1]]
    QTest.mouseClick(card.leave_button, Qt.MouseButton.LeftButton)
    assert card.change is None or not card.change.isVisibleTo(panel)
    QTest.mouseClick(card.leave_button, Qt.MouseButton.LeftButton)
    assert card.change is not None
    assert card.change.isVisibleTo(panel)
    assert panel.head.all_button.text() == "All off", "all are on that can be"
    panel.switch_all()
    assert not any(tool.enabled for tool in panel.tools)
    panel.switch_all()
    assert [tool.enabled for tool in panel.tools] == [True, False, True]


def test_switching_a_group_on_leaves_what_changed_off(panel: ToolsPanel) -> None:
    panel.switch([1, 2], on=False)
    know(panel, READ.model_copy(update={"hints": Hints()}), WRITE)
    panel.list.delegate.group_toggled.emit("files")
    assert [tool.enabled for tool in panel.tools] == [True, False, True]
    assert panel.model.group_on("files")


def test_what_a_server_offers_besides_is_told_until_it_is_accepted(panel: ToolsPanel) -> None:
    know(panel, READ, WRITE, ServerTool(name="more"), ServerTool(name="most"))
    assert panel.model.group_attention("files") == "2 more offered"
    know(panel, READ, WRITE, ServerTool(name="more"), accepted=(READ, WRITE, ServerTool(name="more")))
    assert panel.model.group_attention("files") == "", "it was removed, or never wanted"


def test_what_is_gone_says_so_and_can_be_removed(panel: ToolsPanel) -> None:
    know(panel, READ)
    panel.select(2)
    assert "does not offer this tool any more" in panel.editor.origin.words.text()
    QTest.mouseClick(panel.editor.origin.remove_button, Qt.MouseButton.LeftButton)
    assert [tool.name for tool in panel.tools] == ["mine", "read"]
    panel.undo_delete()
    assert panel.tools == TOOLS


def test_what_nobody_accepted_here_is_new(panel: ToolsPanel) -> None:
    know(panel, READ, WRITE, accepted=(READ,))
    assert panel.model.group_attention("files") == "1 new"
    panel.select(2)
    card = panel.editor.origin
    assert "Nobody has accepted this tool" in card.words.text()
    assert card.accept_button.isVisibleTo(panel)
    assert card.change is None or not card.change.isVisibleTo(panel)


def test_a_server_that_is_not_set_up_says_so_and_offers_it(qtbot: QtBot, panel: ToolsPanel) -> None:
    standings = Standings()
    standings.put([])
    panel.show_standings(standings)
    panel.select(1)
    card = panel.editor.origin
    assert "No server called “files” is set up on this computer" in card.problem.text()
    with qtbot.waitSignal(panel.server_asked) as caught:
        QTest.mouseClick(card.way_button, Qt.MouseButton.LeftButton)
    assert caught.args == ["set up", "files"]
    assert panel.tools[1].sendable, "its calls can be answered by hand"


def test_the_menu_offers_what_can_be_done_with_each(qtbot: QtBot, panel: ToolsPanel) -> None:
    standings = Standings()
    standings.put(
        [
            Seen("Demo tools", "demo", "stopped", demo=True),
            Seen("files", "f", "ready", listed=by_name([READ, WRITE, ServerTool(name="more")])),
            Seen("a & b", "x", "stopped"),
        ]
    )
    asked: list[tuple[str, str]] = []
    tools = (*panel.tools, ToolDefinition(name="far", server="elsewhere"))
    menu = ServersMenu(lambda: (standings, tools), lambda *what: asked.append(what), panel)
    menu.fill()
    assert texts(menu) == [
        "files   ready",
        "a && b   stopped",
        "elsewhere   not set up here",
        "Add a server…",
        "Try the demo's server",
    ]
    inner = [action.menu() for action in menu.actions() if action.menu() is not None]
    assert [texts(one) for one in inner if isinstance(one, QMenu)] == [
        ["Add 1 tool it has besides", "Remove its 2 tools", "Stop", "Restart", "Prefix of its names…", "Settings…"],
        ["Add its tools", "Start", "Prefix of its names…", "Settings…"],
        ["Set it up…", "Remove its 1 tool"],
    ]
    menu.actions()[-1].trigger()
    first = inner[0]
    assert isinstance(first, QMenu)
    first.actions()[0].trigger()
    assert asked == [("demo", ""), ("add", "files")]


def test_removing_a_servers_tools_can_be_taken_back(panel: ToolsPanel) -> None:
    know(panel, READ, WRITE)
    panel.remove_server("files")
    assert [tool.name for tool in panel.tools] == ["mine"]
    assert "Deleted 2 tools" in panel.undo_text.text()
    panel.undo_delete()
    assert panel.tools == TOOLS


def test_hidden_characters_of_a_server_are_marks(panel: ToolsPanel) -> None:
    odd = ToolServer(id="o", name="od\u202ed<b>x</b>")
    panel.set_tools((definition_of(odd, ServerTool(name="\u202ename"), "name"),))
    panel.select(0)
    card = panel.editor.origin
    assert "\u202e" not in card.origin.text + card.mapped.text()
    tip = str(panel.model.data(panel.model.index_of(0), Qt.ItemDataRole.ToolTipRole))
    assert "\u202e" not in tip


def test_ten_thousand_tools_never_hold_the_window(qtbot: QtBot, panel: ToolsPanel) -> None:
    server = ToolServer(id="h", name="hostile")
    listed = [READ.model_copy(update={"name": f"tool.{n}", "description": f"Does {n}."}) for n in range(10_000)]
    panel.model.fold("hostile", folded=True)
    tools = arriving((), server, listed, {}, enabled=False)
    longest = 0.0
    panel.set_tools((*TOOLS, *tools))
    standings = Standings()
    standings.put([Seen("hostile", "h", "ready", listed=by_name(listed), accepted=by_name(listed))])
    for _ in standings.sweep(panel.tools):
        began = perf_counter()
        QApplication.processEvents()
        longest = max(longest, perf_counter() - began)
    panel.show_standings(standings)
    assert standings.attention("hostile") == ""
    panel.list.scrollTo(panel.model.index_of("hostile"))
    place = panel.list.visualRect(panel.model.index_of("hostile"))
    QTest.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=place.topLeft() + QPoint(16, 14))
    assert len(panel.model.rows) > 10_000
    assert panel.model.group_words("hostile").startswith("0 of 10,000 on")
    assert longest < 0.5, "seconds; a benchmark holds it to less"


def test_a_state_that_nobody_has_looked_at_is_not_absent() -> None:
    standings = Standings()
    assert standings.server("files").state == ""
    standings.put([])
    assert standings.server("files").state == ABSENT
