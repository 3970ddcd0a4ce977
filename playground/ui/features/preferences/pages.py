"""Pages of the preferences: appearance and Enter key, tool servers, keyboard shortcuts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Annotated, Any, Final

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from playground.domain.hints import setting
from playground.domain.values import Value
from playground.ui.features.action import Action, key_text
from playground.ui.widgets.form_parts import paragraph, push_button, styled
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.rows.form import Form, form_for
from playground.ui.widgets.search_field import SearchField

FindAction = Callable[[str], QAction]
ROW_HEIGHT = 24  # pixels

#: The ids of the actions that choose a colour scheme.
SCHEMES: Final = {"theme.system": "Match system", "theme.light": "Light", "theme.dark": "Dark"}
ENTER: Final = "settings.enter"
SIZES: Final = {"view.smaller": "Smaller", "view.normal": "Normal", "view.larger": "Larger"}
#: Keys that no action has, and what they do everywhere.
COMMON_KEYS: Final = (
    ("Close the list, editor or dialog in front", "Esc"),
    ("Accept a one-line field, press the focused button", "Enter"),
    ("Send or save a text of several lines", "Ctrl+Enter"),
    ("Undo typing in a field; elsewhere, undo the last change", "Ctrl+Z"),
    ("Change text size", "Ctrl+wheel"),
)


class GeneralPreferences(Value):
    """Appearance and the Enter key: the states of actions of the window."""

    scheme: Annotated[
        str, setting("Colour scheme", group="Appearance", editor="segments", choices=tuple(SCHEMES.items()))
    ] = next(iter(SCHEMES))
    zoom: Annotated[float, setting("Text size", group="Appearance")] = 1.0
    enter_runs: Annotated[
        bool, setting("Press Enter to run", group="Enter key", help="Ctrl+Enter makes a new line.")
    ] = False


class TextSize(QWidget):
    """Buttons for the text size, and the size in percent."""

    def __init__(self, resize: Callable[[str], None]) -> None:
        super().__init__()
        self._percent = paragraph()
        buttons = []
        for action_id, words in SIZES.items():
            button = push_button(words)
            button.setAccessibleName(f"{words} text")
            button.clicked.connect(partial(resize, action_id))
            buttons.append(button)
        in_row(*buttons, self._percent, 1, parent=self, margins=0, spacing=8)
        self.setFocusProxy(buttons[0])

    def show_zoom(self, zoom: float) -> None:
        """Show the text size; 1 is the normal one."""
        self._percent.setText(f"{zoom:.0%}")


class GeneralPage(QWidget):
    """Colour scheme, text size and Enter key: the form of actions of the window."""

    def __init__(self, action: FindAction, zoom: Callable[[], float]) -> None:
        super().__init__()
        self._zoom = zoom
        self._action = action
        self._size = TextSize(self._resize)
        self.form: Form[GeneralPreferences] = form_for(GeneralPreferences, {"zoom": self._size})
        self.form.changed.connect(self._apply)
        in_column(self.form, 1, parent=self, margins=0)
        for name in (*SCHEMES, ENTER):
            action(name).changed.connect(self._show)
        self._show()

    def event(self, event: QEvent) -> bool:
        """Show the text size again when the window becomes active: the wheel changes it in the main window."""
        if event.type() == QEvent.Type.WindowActivate:
            self._show()
        return super().event(event)

    def _preferences(self) -> GeneralPreferences:
        scheme = next((name for name in SCHEMES if self._action(name).isChecked()), next(iter(SCHEMES)))
        return GeneralPreferences(scheme=scheme, zoom=self._zoom(), enter_runs=self._action(ENTER).isChecked())

    def _show(self) -> None:
        preferences = self._preferences()
        self.form.set_value(preferences)
        self._size.show_zoom(preferences.zoom)

    def _apply(self, preferences: GeneralPreferences, _errors: dict[str, str]) -> None:
        before = self._preferences()
        if preferences.scheme != before.scheme:
            self._action(preferences.scheme).trigger()
        if preferences.enter_runs != before.enter_runs:
            self._action(ENTER).trigger()

    def _resize(self, action_id: str, _checked: bool = False) -> None:
        self._action(action_id).trigger()
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
