"""Dialogs of the menus: names for screen readers, a size for small windows, and Escape. Names of the pages, too."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QWidget

from tests.flows.conftest import Person, flow
from tests.flows.test_debugger import pause

#: Cells of tables and trees may be empty.
CELLS = frozenset(
    {QAccessible.Role.Cell, QAccessible.Role.TreeItem, QAccessible.Role.ColumnHeader, QAccessible.Role.RowHeader}
)
DIALOGS = (
    *("settings.open", "help.keys", "help.updates", "settings.storage", "help.open", "help.about", "view.palette"),
    *("gateway.connect", "gateway.settings", "gateway.check", "run.price", "presets.save", "file.export"),
    *("file.import", "tools.servers", "tools.servers.import", "debug.rules", "debug.answers", "servers.prompts"),
    "listen.recordings",
)


def walk(interface: QAccessibleInterface | None, way: str = "") -> Iterator[tuple[str, QAccessibleInterface]]:
    """Yield the visible parts of an accessible tree, each with the names on the way to it."""
    if interface is None or interface.state().invisible:
        return
    way = f"{way}/{interface.role().name} {interface.text(QAccessible.Text.Name)!r}"
    yield way, interface
    for number in range(interface.childCount()):
        yield from walk(interface.child(number), way)


def controls_without_name(window: QWidget) -> list[str]:
    """Return the ways to the controls that take the focus and have no name."""
    parts = walk(QAccessible.queryAccessibleInterface(window))
    return [way for way, part in parts if _takes_focus(part) and not part.text(QAccessible.Text.Name).strip()]


def _takes_focus(part: QAccessibleInterface) -> bool:
    """Return whether a part takes the focus itself: a container may hand it on to a control in it."""
    widget = part.object()
    hands_on = isinstance(widget, QWidget) and widget.focusProxy() is not None
    return bool(part.state().focusable) and part.role() not in CELLS and not hands_on


@flow()
async def test_controls_of_the_pages_have_accessible_names(person: Person) -> None:
    await pause(person, "!calls=2 The weather in Lisbon and Oslo")
    assert controls_without_name(person.app.window) == []
    for page in ("compare.open", "evaluate.open", "listen.open"):
        await person.trigger(page)
        assert controls_without_name(person.app.window) == []


async def open_dialog(person: Person, action: str) -> QWidget:
    """Carry out an action and return the window that it opens."""
    await person.trigger(action)
    await person.until(lambda: len(person.windows) == 2, f"the dialog of {action}")
    return next(window for window in person.windows if window is not person.app.window)


@flow()
async def test_dialogs_in_a_small_window_fit_have_names_and_close_with_escape(person: Person) -> None:
    await pause(person, "!calls=2 The weather in Lisbon and Oslo")
    await person.do(lambda: person.app.window.resize(960, 600))
    nameless: dict[str, list[str]] = {}
    for action in DIALOGS:
        dialog = await open_dialog(person, action)
        assert dialog.size() == dialog.size().boundedTo(person.app.window.size()), action
        nameless[action] = controls_without_name(dialog)
        await person.do(lambda: QTest.keyClick(dialog.windowHandle(), Qt.Key.Key_Escape))  # noqa: B023 - it is awaited
        await person.until(lambda: person.windows == [person.app.window], f"the end of {action}")
    assert {action: ways for action, ways in nameless.items() if ways} == {}


@flow()
async def test_enter_in_the_pages_of_the_preferences_changes_nothing(person: Person) -> None:
    await person.trigger("theme.dark")
    preferences = await open_dialog(person, "settings.open")
    await person.do(lambda: QTest.keyClick(preferences.windowHandle(), Qt.Key.Key_Return))
    assert person.app.window.action("theme.dark").isChecked()


@flow()
async def test_empty_choice_of_the_reasoning_field_has_an_accessible_name(person: Person) -> None:
    combos = [combo for combo in person.app.window.findChildren(QComboBox) if combo.findText("thinking") >= 0]
    for combo in combos:
        index = combo.findText("")
        assert combo.itemData(index, Qt.ItemDataRole.AccessibleTextRole) == "as received"
    assert combos
