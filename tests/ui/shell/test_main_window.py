"""The window: every action does something, every control has a name, the layout is remembered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QSettings, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QScrollBar,
    QTabBar,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.gateways import Gateways
from playground.engine.gateways.profiles import ProfileStore
from playground.engine.gateways.secrets import Keys
from playground.engine.library.workspace import Workspace
from playground.ui.features.action import MENUS, key_text
from playground.ui.features.protocols.control import ProtocolSwitch
from playground.ui.shell.actions import ACTIONS, FLOAT_INSPECTOR, FLOAT_LIST, FLOAT_SIDE
from playground.ui.shell.docks import INSPECTOR_SHARE
from playground.ui.shell.main_window import MainWindow
from playground.ui.shell.window_actions import WindowActions
from playground.ui.widgets.theme import Theme
from tests.engine.conftest import no_keyring


def _no_demo() -> str:
    raise OSError("nothing is to be asked here")


FLOATS = {FLOAT_LIST: "left_dock", FLOAT_SIDE: "right_dock", FLOAT_INSPECTOR: "bottom_dock"}


class WindowParts:
    """A window on a workspace of its own, its actions connected, nothing started."""

    def __init__(self, folder: Path) -> None:
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        self.settings = QSettings(str(folder / "w.ini"), QSettings.Format.IniFormat)
        self.gateways = Gateways(ProfileStore(folder / "gateways.json"), Keys(backend=no_keyring), _no_demo)
        self.workspace = Workspace(self.gateways)
        self.window = MainWindow(self.workspace, self.settings)
        self.theme = Theme(application, "light")
        self.actions = WindowActions(self.window, self.workspace, self.theme, self.settings, prompts=())


@pytest.fixture
def parts(qtbot: QtBot, tmp_path: Path) -> Iterator[WindowParts]:
    parts = WindowParts(tmp_path)
    parts.window.show()
    qtbot.waitExposed(parts.window)
    yield parts
    parts.window.let_close()
    parts.window.close()
    parts.window.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # or every later style is worked out for it, too
    parts.theme.choose("light")


# Actions


def test_actions_have_unique_names_and_places() -> None:
    for keys in ([row.id for row in ACTIONS], [row.text for row in ACTIONS]):
        assert len(set(keys)) == len(ACTIONS)
    places = [(row.menu.partition("/")[0], row.position) for row in ACTIONS if row.menu]
    assert len(set(places)) == len(places)
    assert {menu for menu, _ in places} == set(MENUS)
    for row in ACTIONS:
        assert len(row.text.split()) <= 3 or row.id == "settings.enter", row.text


def read_menu(menu: QMenu) -> list[str]:
    return [action.text() for action in menu.actions() if action.isVisible() and not action.isSeparator()]


def list_menus(parts: WindowParts) -> dict[str, list[str]]:
    menus = [menu for menu in parts.window.menu.findChildren(QMenu) if menu.menuAction().isVisible() and menu.title()]
    return {menu.title(): read_menu(menu) for menu in menus}


def test_menus_are_short_and_offer_no_item_twice(parts: WindowParts) -> None:
    assert read_menu(parts.window.menu) == ["File", "Edit", "Run", "View", "Tools", "Help"]
    menus = list_menus(parts)
    assert all(len(items) <= 12 for items in menus.values()), menus
    parts.window.bar.gateways.aboutToShow.emit()
    items = [item for items in menus.values() for item in items] + read_menu(parts.window.bar.gateways)
    assert sorted(items) == sorted(set(items))


def test_actions_of_a_page_are_offered_on_that_page_only(parts: WindowParts) -> None:
    lane = parts.window.action("compare.add")
    pause = parts.window.action("evaluate.pause")
    assert not lane.isEnabled()
    assert not pause.isEnabled()
    assert "Compare" not in read_menu(parts.window.menu)
    parts.window.show_page("Compare")
    assert lane.isEnabled()
    assert read_menu(parts.window.menu).index("Compare") == MENUS.index("Compare")
    parts.window.show_page("Evaluate")
    assert pause.isEnabled()
    assert not lane.isEnabled()
    assert "Compare" not in read_menu(parts.window.menu)


def test_shortcuts_are_unique_and_no_bare_letters(parts: WindowParts) -> None:
    rows: dict[str, str] = {}
    for row in ACTIONS:
        displayed = parts.window.action(row.id).shortcuts()
        assert len(displayed) == len(row.keys.split())
        for sequence in displayed:
            text = sequence.toString(QKeySequence.SequenceFormat.PortableText)
            assert text, row
            assert text not in rows, (row.id, rows.get(text))
            assert len(text) > 1, "a bare letter"
            rows[text] = row.id
        assert bool(key_text(row)) is bool(row.keys)
    assert {"Ctrl+N", "Ctrl+K", "Ctrl+,", "Ctrl+L", "Ctrl+B", "Ctrl+J", "Alt+Up", "F1", "Ctrl+0", "Esc"} <= set(rows)


# Names


def interactive(window: QWidget) -> list[QWidget]:
    kinds = (
        QAbstractButton,
        QAbstractItemView,
        QAbstractSpinBox,
        QAbstractSlider,
        QComboBox,
        QHeaderView,
        QLineEdit,
        QPlainTextEdit,
        QTabBar,
        QTextEdit,
    )
    results: list[QWidget] = []
    for widget in window.findChildren(QWidget):
        own = widget.objectName().startswith("qt_") or isinstance(widget, QScrollBar | QHeaderView)
        inside = isinstance(widget.parent(), QAbstractSpinBox | QComboBox) or isinstance(
            widget.parentWidget(), QLineEdit | QTabBar
        )
        later = isinstance(widget.parent(), ProtocolSwitch)  # its buttons get their words when it has something to say
        if isinstance(widget, kinds) and widget.window() is window and not (own or inside or later):
            results.append(widget)
    return results


def test_controls_have_accessible_names(parts: WindowParts, qtbot: QtBot) -> None:
    session = parts.workspace.current
    session.turns.add_turn(make_turn(Role.USER, "hello"))
    session.turns.add_turn(make_turn(Role.ASSISTANT, "```py\nx = 1\n```"))
    qtbot.waitUntil(lambda: len(interactive(parts.window)) > 40)
    nameless = [
        f"{type(widget).__name__} in {type(widget.parent()).__name__}"
        for widget in interactive(parts.window)
        if not (widget.accessibleName() or (isinstance(widget, QAbstractButton) and widget.text().strip()))
    ]
    assert sorted(set(nameless)) == []


# Layout


def test_panel_is_floated_and_docked_by_its_action(parts: WindowParts, qtbot: QtBot) -> None:
    for spec, name in FLOATS.items():
        dock, action = getattr(parts.window, name), parts.window.action(spec.id)
        dock.hide()
        action.trigger()
        assert (dock.isFloating(), dock.isVisible(), action.isChecked()) == (True, True, True)
    parts.window.remember_layout()
    restored = MainWindow(parts.workspace, parts.settings)
    qtbot.addWidget(restored)
    restored.show()
    for spec, name in FLOATS.items():
        assert getattr(restored, name).isFloating()
        assert restored.action(spec.id).isChecked()
        dock, action = getattr(parts.window, name), parts.window.action(spec.id)
        action.trigger()
        assert (dock.isFloating(), dock.isVisible(), action.isChecked()) == (False, True, False)
        dock.setFloating(True)
        assert action.isChecked()
        dock.setFloating(False)
    restored.let_close()


def test_layout_is_restored_and_can_be_reset(parts: WindowParts, qtbot: QtBot) -> None:
    parts.window.left_dock.hide()
    parts.window.resize(1100, 700)
    parts.window.remember_layout()
    restored = MainWindow(parts.workspace, parts.settings)
    qtbot.addWidget(restored)
    assert restored.left_dock.isHidden()
    assert not restored.right_dock.isHidden()
    restored.reset_layout()
    assert not restored.left_dock.isHidden()
    restored.let_close()


def widths(window: MainWindow) -> tuple[int, int]:
    return window.left_dock.width(), window.right_dock.width()


def test_side_panels_open_over_the_conversation_in_a_narrow_window(parts: WindowParts, qtbot: QtBot) -> None:
    window, left_dock, right = parts.window, parts.window.left_dock, parts.window.right_dock
    assert widths(window) == (240, 340)
    window.resize(960, 600)
    qtbot.waitUntil(lambda: left_dock.isHidden() and right.isHidden())
    assert not window.action("view.experiments").isChecked()
    qtbot.waitUntil(lambda: window.pane.width() == window.width())
    centre = window.pane.size()
    window.action("view.tools").trigger()
    qtbot.waitUntil(right.isVisible)
    assert window.pane.size() == centre, "the panel lies over it"
    assert right.geometry().right() == window.width() - 1
    QTest.keyClick(window.side.tabs, Qt.Key.Key_Escape)
    assert right.isHidden()
    window.action("view.experiments").trigger()
    qtbot.waitUntil(left_dock.isVisible)
    QTest.mouseClick(window.composer, Qt.MouseButton.LeftButton)
    assert left_dock.isHidden(), "a click outside closes it"
    window.remember_layout()
    restored = MainWindow(parts.workspace, parts.settings)
    qtbot.addWidget(restored)
    restored.resize(960, 600)
    restored.show()
    qtbot.waitUntil(lambda: restored.left_dock.isHidden() and restored.bottom_dock.isHidden())
    for each in (window, restored):
        each.resize(1440, 900)
        assert not each.left_dock.isHidden()
        assert widths(each) == (240, 340)
    restored.let_close()


def test_inspector_has_a_share_of_the_height_for_each_page(parts: WindowParts, qtbot: QtBot) -> None:
    window, bottom = parts.window, parts.window.bottom_dock
    height = window.pane.height() + bottom.height()
    assert abs(bottom.height() / height - INSPECTOR_SHARE) < 0.02
    window.show_page("Compare")
    assert bottom.isHidden()
    bottom.show()
    window.resizeDocks([bottom], [200], Qt.Orientation.Vertical)
    qtbot.waitUntil(lambda: abs(bottom.height() - 200) < 2)
    window.show_page("Conversation")
    qtbot.waitUntil(lambda: abs(bottom.height() / height - INSPECTOR_SHARE) < 0.02)
    window.remember_layout()
    restored = MainWindow(parts.workspace, parts.settings)
    qtbot.addWidget(restored)
    restored.show()
    restored.show_page("Compare")
    displayed = restored.bottom_dock
    qtbot.waitUntil(
        lambda: abs(displayed.height() / (restored.pane.height() + displayed.height()) - 200 / height) < 0.02
    )
    restored.let_close()


def test_inspector_opened_in_a_low_window_has_its_share_of_the_height(parts: WindowParts, qtbot: QtBot) -> None:
    window = MainWindow(parts.workspace, parts.settings)
    qtbot.addWidget(window)
    window.resize(960, 600)
    window.show()
    qtbot.waitUntil(window.bottom_dock.isHidden)
    window.bottom_dock.show()
    qtbot.waitUntil(lambda: window.bottom_dock.height() > 180)
    window.let_close()


def test_window_without_content_gives_no_control_the_focus(parts: WindowParts, qtbot: QtBot) -> None:
    window = MainWindow(None, parts.settings)
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    assert window.focusWidget() is window
    window.let_close()


def test_maximised_inspector_is_restored_with_another_page(parts: WindowParts, qtbot: QtBot) -> None:
    window, bottom = parts.window, parts.window.bottom_dock
    height, width = bottom.height(), window.left_dock.width()
    window.inspector.maximise_button.click()
    qtbot.waitUntil(lambda: not window.pane.isVisible())
    window.show_page("Evaluate")
    qtbot.waitUntil(window.pane.isVisible)
    window.show_page("Conversation")
    qtbot.waitUntil(lambda: abs(bottom.height() - height) < 10 and abs(window.left_dock.width() - width) < 10)
    window.inspector.maximise_button.click()
    bottom.hide()
    qtbot.waitUntil(window.pane.isVisible)


def test_floating_inspector_leaves_the_composer_free(parts: WindowParts, qtbot: QtBot) -> None:
    window = parts.window
    window.action("view.float_inspector").trigger()
    qtbot.waitUntil(window.bottom_dock.isVisible)
    top = window.pane.mapToGlobal(window.pane.rect().topLeft()).y()
    assert window.bottom_dock.frameGeometry().top() - top < 60
    assert window.bottom_dock.geometry().bottom() < window.composer.mapToGlobal(window.composer.rect().topLeft()).y()


def test_tab_key_follows_the_screen(parts: WindowParts, qtbot: QtBot) -> None:
    window = parts.window
    places = [window.bar, window.left_dock, window.pane, window.bottom_dock, window.right_dock]
    window.bar.pages.buttons[0].setFocus()
    visited: list[QWidget] = []
    for _ in range(200):
        focus = window.focusWidget()
        assert focus is not None
        assert not focus.visibleRegion().isEmpty(), f"{focus} is in view"
        visited.append(next(place for place in places if place.isAncestorOf(focus)))
        window.focusNextPrevChild(True)
        if window.bar.isAncestorOf(window.focusWidget()) and visited[-1] is places[-1]:
            break
    assert list(dict.fromkeys(visited)) == places


def test_notice_moves_neither_messages_nor_composer(parts: WindowParts, qtbot: QtBot) -> None:
    pane = parts.window.pane
    places = pane.composer.geometry(), pane.seen.geometry()
    pane.notice.offer("The gateway is saved. " * 20, ("Check gateway", lambda: None), ("Undo", lambda: None))
    qtbot.waitUntil(pane.notice.isVisible)
    assert (pane.composer.geometry(), pane.seen.geometry()) == places
    assert pane.seen.geometry().contains(pane.notice.geometry())
    pane.notice.buttons[1].setFocus()
    QTest.keyClick(pane.notice.buttons[1], Qt.Key.Key_Tab)
    focus = parts.window.focusWidget()
    assert focus is not None
    assert focus.accessibleName() == "Dismiss this notice"


def test_text_size_and_scheme_are_saved(parts: WindowParts) -> None:
    parts.window.action("view.larger").trigger()
    assert float(str(parts.settings.value("zoom"))) == parts.window.pane.view.zoom > 1
    parts.window.action("view.normal").trigger()
    assert parts.window.pane.view.zoom == 1
    parts.window.action("theme.dark").trigger()
    assert parts.settings.value("theme") == "dark"
    checked = [name for name in ("system", "light", "dark") if parts.window.action(f"theme.{name}").isChecked()]
    assert checked == ["dark"]


def test_window_opens_no_larger_than_the_screen(parts: WindowParts) -> None:
    window, room = parts.window, parts.window.screen().availableSize()
    window.resize(5000, 4000)
    window.fit_screen()
    assert window.width() <= max(room.width(), window.minimumWidth())
    assert window.height() <= max(room.height() - 30, window.minimumHeight()), "a title bar has room above it"
    window.resize(1000, 600)
    window.fit_screen()
    assert (window.width(), window.height()) == (1000, 600)
