"""Pages of the preferences: appearance and Enter key, tool servers, keyboard shortcuts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QFormLayout,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from playground.ui.features.action import Action, key_text
from playground.ui.widgets.form_parts import paragraph, push_button, styled
from playground.ui.widgets.layouts import Gap, in_column, in_row
from playground.ui.widgets.search_field import SearchField
from playground.ui.widgets.segments import Segments

FindAction = Callable[[str], QAction]
ROW_HEIGHT = 24  # pixels

#: The ids of the actions that choose a colour scheme.
SCHEMES: Final = {"theme.system": "Match system", "theme.light": "Light", "theme.dark": "Dark"}
SIZES: Final = {"view.smaller": "Smaller", "view.normal": "Normal", "view.larger": "Larger"}
#: Keys that no action has, and what they do everywhere.
COMMON_KEYS: Final = (
    ("Close the list, editor or dialog in front", "Esc"),
    ("Accept a one-line field, press the focused button", "Enter"),
    ("Send or save a text of several lines", "Ctrl+Enter"),
    ("Undo typing in a field; elsewhere, undo the last change", "Ctrl+Z"),
    ("Change text size", "Ctrl+wheel"),
)


class GeneralPage(QWidget):
    """Colour scheme, text size and Enter key: controls of actions of the window."""

    def __init__(self, action: FindAction, zoom: Callable[[], float]) -> None:
        super().__init__()
        self._zoom = zoom
        self._schemes = [action(name) for name in SCHEMES]
        self._scheme = Segments(tuple(SCHEMES.values()), "Colour scheme", tall=True)
        self._scheme.chosen.connect(lambda index: self._schemes[index].trigger())
        self._size = paragraph()
        sizes = [push_button(words) for words in SIZES.values()]
        for button, name in zip(sizes, SIZES, strict=True):
            button.setAccessibleName(f"{button.text()} text")
            button.clicked.connect(partial(self._resize, action(name)))
        self._enter_action = action("settings.enter")
        self._enter = QCheckBox(self._enter_action.text())
        self._enter.toggled.connect(self._set_enter)
        form = QFormLayout()
        form.setSpacing(10)
        form.addRow("Colour scheme", self._scheme)
        form.addRow("Text size", in_row(*sizes, self._size, 1, spacing=8))
        in_column(
            paragraph("Appearance", "group"),
            form,
            Gap(12),
            paragraph("Enter key", "group"),
            (self._enter, 0, Qt.AlignmentFlag.AlignLeft),
            paragraph("If on, Ctrl+Enter makes a new line. If off, Ctrl+Enter runs.", "muted"),
            1,
            parent=self,
            margins=0,
            spacing=8,
        )
        for changed in (*self._schemes, self._enter_action):
            changed.changed.connect(self._show)
        self._show()

    def event(self, event: QEvent) -> bool:
        """Show the text size again when the window becomes active: the wheel changes it in the main window."""
        if event.type() == QEvent.Type.WindowActivate:
            self._show()
        return super().event(event)

    def _show(self) -> None:
        self._scheme.set_index(next((n for n, action in enumerate(self._schemes) if action.isChecked()), 0))
        self._size.setText(f"{self._zoom():.0%}")
        self._enter.setChecked(self._enter_action.isChecked())

    def _set_enter(self, on: bool) -> None:
        if self._enter_action.isChecked() != on:
            self._enter_action.trigger()

    def _resize(self, action: QAction, _checked: bool = False) -> None:
        action.trigger()
        self._show()


class ToolServersPage(QWidget):
    """The way to the window of tool servers."""

    def __init__(self, action: FindAction) -> None:
        super().__init__()
        buttons = []
        for words, name in (("Manage tool servers…", "tools.servers"), ("Import…", "tools.servers.import")):
            button = push_button(words)
            button.clicked.connect(action(name).trigger)
            buttons.append(button)
        in_column(
            paragraph("Tool servers", "group"),
            paragraph(
                "Tool servers answer tool calls of models (Model Context Protocol). They have a window of their own: "
                "commands, addresses, approval, log and sign-in.",
                "muted",
            ),
            in_row(*buttons, 1, spacing=8),
            1,
            parent=self,
            margins=0,
            spacing=8,
        )


class ShortcutsPage(QWidget):
    """All keyboard shortcuts by menu, with a search. The list is for reading: no key in it runs a command."""

    def __init__(self, rows: Iterable[Action[Any]]) -> None:
        super().__init__()
        self.search = SearchField("Search shortcuts")
        self.tree = styled(QTreeWidget(), "rows")
        self.tree.setAccessibleName("Keyboard shortcuts")
        self.tree.setHeaderLabels(["Command", "Shortcut"])
        self.tree.setRootIsDecorated(False)
        self.tree.setItemsExpandable(False)
        self.tree.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.tree.setMinimumHeight(300)
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.none = paragraph("No shortcuts found", "muted")
        groups: dict[str, list[tuple[str, str, str]]] = {}
        for row in rows:
            if row.keys:
                group = row.menu.partition("/")[0] or "Other"
                groups.setdefault(group, []).append((row.text, key_text(row), row.synonyms))
        groups["Everywhere"] = [(text, keys, "") for text, keys in COMMON_KEYS]
        for group, shortcuts in groups.items():
            parent = QTreeWidgetItem(self.tree, [group])
            parent.setFlags(Qt.ItemFlag.ItemIsEnabled)
            font = parent.font(0)
            font.setBold(True)
            parent.setFont(0, font)
            parent.setSizeHint(0, QSize(0, ROW_HEIGHT))
            for text, keys, synonyms in shortcuts:
                item = QTreeWidgetItem(parent, [text, keys])
                item.setSizeHint(0, QSize(0, ROW_HEIGHT))
                item.setData(0, Qt.ItemDataRole.UserRole, f"{text} {keys} {synonyms} {group}".casefold())
        self.tree.expandAll()
        in_column(self.search, self.none, (self.tree, 1), parent=self, margins=0, spacing=8)
        self.search.textChanged.connect(self._filter)
        self.search.results_asked.connect(self.tree.setFocus)
        self._filter("")

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        count = 0
        for parent in (self.tree.topLevelItem(n) for n in range(self.tree.topLevelItemCount())):
            if parent is None:
                continue
            items = [item for n in range(parent.childCount()) if (item := parent.child(n)) is not None]
            for item in items:
                item.setHidden(not all(word in item.data(0, Qt.ItemDataRole.UserRole) for word in words))
            visible = sum(not item.isHidden() for item in items)
            parent.setHidden(not visible)
            count += visible
        self.none.setVisible(not count)
