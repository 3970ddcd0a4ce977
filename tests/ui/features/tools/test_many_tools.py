"""The list of many tools: groups, search, switches and menu."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from playground.domain.tools import ToolDefinition
from playground.ui.features.tools.panel import ToolsPanel
from playground.ui.features.tools.tool_list import group_switch_rect
from tests.ui.conftest import ShowWidget

BOTH = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


def make(number: int, group: str = "", **more: object) -> ToolDefinition:
    schema = {"type": "object", "properties": {"id": {"type": "string", "description": "Which"}}}
    fields = {"name": f"tool_{number}", "description": f"Does {number}.", "parameters": schema, "group": group}
    return ToolDefinition.model_validate({**fields, **more})


FIFTY = tuple(make(number, ("", "Mail", "Files")[number % 3]) for number in range(50))


@pytest.fixture
def panel(show_widget: ShowWidget) -> ToolsPanel:
    panel = ToolsPanel()
    panel.set_tools(FIFTY)
    return show_widget(panel, 340, 900)


def read_rows(panel: ToolsPanel) -> list[str]:
    """Return the rows of the list, headers in brackets."""
    return [f"[{entry}]" if isinstance(entry, str) else panel.tools[entry].name for entry in panel.model.rows]


def index(panel: ToolsPanel, entry: int | str) -> QModelIndex:
    result = panel.model.index_of(entry)
    assert result.isValid()
    return result


def texts(menu: QMenu) -> list[str]:
    return [action.text().split("\t")[0] for action in menu.actions() if not action.isSeparator()]


def test_groups_have_headers_that_fold(panel: ToolsPanel) -> None:
    displayed = read_rows(panel)
    assert [row for row in displayed if row.startswith("[")] == ["[]", "[Mail]", "[Files]"]
    assert len(displayed) == 53
    panel.list.setFocus()
    panel.list.setCurrentIndex(index(panel, "Mail"))
    edited = panel.selected
    QTest.keyClick(panel.list, Qt.Key.Key_Left)
    assert len(read_rows(panel)) == 53 - 17
    assert panel.list.current_group == "Mail"
    assert panel.selected == edited, "the editor keeps its tool while a header has the focus"
    QTest.keyClick(panel.list, Qt.Key.Key_Right)
    assert len(read_rows(panel)) == 53
    place = panel.list.visualRect(index(panel, ""))
    QTest.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=place.topLeft() + QPoint(16, 14))
    assert read_rows(panel)[:2] == ["[]", "[Mail]"]


def test_search_filters_the_list(panel: ToolsPanel) -> None:
    panel.model.fold("Mail", folded=True)
    panel.head.search.setFocus()
    QTest.keyClicks(panel.head.search, "tool_1 mail")
    assert read_rows(panel) == ["[Mail]", "tool_1", "tool_10", "tool_13", "tool_16", "tool_19"]
    QTest.keyClick(panel.head.search, Qt.Key.Key_Down)
    assert panel.focusWidget() is panel.list
    QTest.keyClick(panel.head.search, Qt.Key.Key_Escape)
    assert len(read_rows(panel)) == 53 - 17
    panel.set_tools(FIFTY[:3])
    assert not panel.head.search.isVisible()


def test_all_and_groups_are_switched(qtbot: QtBot, panel: ToolsPanel) -> None:
    panel.check_now()
    assert panel.head.summary.text().startswith("50 of 50 on · ≈ ")
    with qtbot.waitSignal(panel.changed) as caught:
        QTest.mouseClick(panel.head.all_button, Qt.MouseButton.LeftButton)
    assert not any(tool.enabled for tool in caught.args[0])
    panel.check_now()
    assert panel.head.summary.text() == "0 of 50 on · ≈ 0 tokens"
    assert panel.head.all_button.text() == "All on"
    panel.list.scrollTo(index(panel, "Files"))
    place = group_switch_rect(panel.list.visualRect(index(panel, "Files")))
    QTest.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=place.center())
    assert {tool.group for tool in panel.tools if tool.enabled} == {"Files"}
    assert panel.model.group_words("Files") == "16 of 16 on"
    panel.head.search.setText("tool_1 mail")
    QTest.mouseClick(panel.head.all_button, Qt.MouseButton.LeftButton)
    assert sum(tool.enabled for tool in panel.tools) == 16 + 5, "under a search only what it leaves"


def test_several_are_switched_moved_copied_and_deleted_together(panel: ToolsPanel) -> None:
    panel.set_tools(FIFTY[:6:3] + FIFTY[9:13:3])  # four without a group
    panel.select(0)
    QTest.keyClick(panel.list, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert panel.chosen == [0, 1]
    QTest.keyClick(panel.list, Qt.Key.Key_Down, BOTH)
    assert [tool.name for tool in panel.tools] == ["tool_9", "tool_0", "tool_3", "tool_12"]
    assert panel.chosen == [1, 2]
    panel.list.delegate.toggled.emit(1)
    assert [tool.enabled for tool in panel.tools] == [True, False, False, True]
    QTest.keyClick(panel.list, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert [tool.name for tool in panel.tools][3:5] == ["tool_0_copy", "tool_3_copy"]
    QTest.keyClick(panel.list, Qt.Key.Key_Delete)
    assert panel.undo_text.text() == "Deleted 2 tools"
    assert [tool.name for tool in panel.tools] == ["tool_9", "tool_0", "tool_3", "tool_12"]
    panel.undo_delete()
    assert [tool.name for tool in panel.tools][3:5] == ["tool_0_copy", "tool_3_copy"]
    assert panel.chosen == [3, 4]


def test_menu_has_the_actions_of_the_selection(panel: ToolsPanel) -> None:
    panel.select(0)
    panel.menu.fill()
    message = texts(panel.menu)
    for expected in ("Duplicate the tool", "Move up", "Switch the tool off", "Move to group", "Delete the tool"):
        assert expected in message
    panel.list.setCurrentIndex(index(panel, "Mail"))
    panel.menu.fill()
    assert "Delete 17 tools" in texts(panel.menu)
    groups = next(action.menu() for action in panel.menu.actions() if action.text() == "Move to group")
    assert isinstance(groups, QMenu)
    next(action for action in groups.actions() if action.text() == "Files").trigger()
    assert sum(tool.group == "Files" for tool in panel.tools) == 33
    copy = next(action.menu() for action in panel.menu.actions() if action.text() == "Copy as JSON")
    assert isinstance(copy, QMenu)


def test_hidden_characters_of_names_are_marked(panel: ToolsPanel) -> None:
    panel.set_tools((make(0, "a\u202eb", name="x\u202ey"), make(1)))
    assert panel.model.data(index(panel, 0)) == "x‹U+202E›y"
    assert panel.model.data(index(panel, "a\u202eb")) == "a‹U+202E›b"


def test_dropped_tool_joins_the_group_and_a_group_is_renamed(qtbot: QtBot, panel: ToolsPanel) -> None:
    panel.set_tools((make(0, "A"), make(1, "A"), make(2, "B")))
    data = panel.model.mimeData([index(panel, 0)])
    with qtbot.waitSignal(panel.changed):
        assert not panel.model.dropMimeData(data, Qt.DropAction.MoveAction, -1, -1, index(panel, "B"))
    assert [(tool.name, tool.group) for tool in panel.tools] == [("tool_1", "A"), ("tool_0", "B"), ("tool_2", "B")]
    with qtbot.waitSignal(panel.changed):
        panel.model.setData(index(panel, "B"), "Mine")
    assert [tool.group for tool in panel.tools] == ["A", "Mine", "Mine"]
