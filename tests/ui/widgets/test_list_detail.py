"""The list with a detail page that dialogs share: search, keys, commands, messages, remembered size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.list_detail import SIDE_WIDTH, ListDetail, ListEntry, remember_size
from tests.ui.conftest import ShowWidget

COMMANDS = ("add", "up", "down", "duplicate", "remove")
ENTRIES = tuple(ListEntry(str(number), f"Entry {number}", f"host-{number}.example") for number in range(20))


class Body(ListDetail):
    """A body that records its signals by their names."""

    def __init__(self, parent: QDialog) -> None:
        self.emitted: list[object] = []
        super().__init__("Entries", "entry", {"Page": QLineEdit()}, COMMANDS, parent=parent, empty="Nothing")
        for name in ("selected", "moved"):
            getattr(self, name).connect(lambda *values, name=name: self.emitted.append((name, *values)))
        for name in ("added", "duplicated", "removed", "entered"):
            getattr(self, name).connect(lambda name=name: self.emitted.append(name))


@pytest.fixture
def body(qtbot: QtBot) -> Iterator[Body]:
    dialog = QDialog()
    qtbot.addWidget(dialog)
    body = Body(dialog)
    in_row(body, parent=dialog, margins=0)
    body.show_entries(ENTRIES, "3")
    body.set_enabled(selected=True)
    dialog.show()
    qtbot.waitExposed(dialog)
    body.list.setFocus()
    yield body
    dialog.hide()


def test_keys_press_the_commands_of_the_list(body: Body) -> None:
    for key, modifier in (
        (Qt.Key.Key_Down, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier),
        (Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier),
        (Qt.Key.Key_Delete, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier),
    ):
        QTest.keyClick(body.list, key, modifier)
    assert body.emitted == [("selected", "4"), ("moved", "4", 1), "duplicated", "removed", "entered"]
    body.emitted.clear()
    body.set_enabled(selected=True, changeable=False)
    QTest.keyClick(body.list, Qt.Key.Key_Delete)
    assert body.emitted == [], "a disabled command has no key"


def test_long_list_is_searched_and_escape_leaves_the_search_first(body: Body) -> None:
    assert body.search.isVisible()
    QTest.keyClicks(body.search, "host-1")
    assert [body.list.item(row).text() for row in range(body.list.count())] == [
        f"Entry {number}" for number in (1, *range(10, 20))
    ]
    assert body.emitted[-1] == ("selected", "1")
    QTest.keyClicks(body.search, " none")
    assert body.emitted[-1] == ("selected", "")
    QTest.keyClick(body.search, Qt.Key.Key_Escape)
    assert body.window().isVisible()
    assert body.list.count() == len(ENTRIES)
    QTest.keyClick(body.search, Qt.Key.Key_Down)
    assert body.window().focusWidget() is body.list


def test_short_list_has_no_search(body: Body) -> None:
    body.show_entries(ENTRIES[:3], "1")
    assert not body.search.isVisible()
    body.set_enabled(selected=True)
    assert body.buttons["up"].isEnabled()
    body.show_entries(ENTRIES[:3], "0")
    body.set_enabled(selected=True)
    assert not body.buttons["up"].isEnabled()


def test_size_of_a_dialog_is_remembered(qtbot: QtBot, tmp_path: Path) -> None:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    for size in (QSize(500, 400), QSize(640, 480)):
        dialog = QDialog()
        qtbot.addWidget(dialog)
        dialog.setObjectName("entriesDialog")
        dialog.resize(500, 400)
        remember_size(dialog, settings)
        assert dialog.size() == size
        dialog.resize(640, 480)
        dialog.reject()


def test_focus_goes_from_the_list_over_its_commands_to_the_page(body: Body) -> None:
    body.list.setCurrentRow(3)
    order: list[QWidget] = []
    widget: QWidget | None = body.list.nextInFocusChain()
    while widget is not None and widget is not body.list:
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible() and widget.isEnabled():
            order.append(widget)
        widget = widget.nextInFocusChain()
    commands = [body.buttons[name] for name in COMMANDS]
    assert order == [*commands, body.pages.currentWidget(), body.search]


def test_list_is_as_wide_as_its_commands_need(show_widget: ShowWidget) -> None:
    button = QPushButton("Import from another application…")
    pages = [{"Page": QLineEdit()} for _ in range(2)]
    dialogs = [QWidget() for _ in pages]
    usual = ListDetail("Entries", "entry", pages[0], COMMANDS, parent=dialogs[0])
    wider = ListDetail("Entries", "entry", pages[1], COMMANDS, parent=dialogs[1], extra=(button,))
    for body, dialog in zip((usual, wider), dialogs, strict=True):
        in_row(body, parent=dialog, margins=0)
        show_widget(dialog, 900, 400)
    assert usual.list.width() == SIDE_WIDTH - 16
    assert wider.list.width() > usual.list.width()
    assert button.width() >= button.sizeHint().width()
