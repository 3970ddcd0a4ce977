"""A list at the left and the detail of its selected entry at the right: the body of dialogs that manage lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from PySide6.QtCore import QSettings, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFrame,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from playground.ui.widgets.form_parts import quiet_button, say, styled, text_label, thin_line, thin_upright
from playground.ui.widgets.layouts import in_column, in_pages, in_row
from playground.ui.widgets.notice_bar import Choice, NoticeBar
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.row_delegate import ROW, Row, RowDelegate, Words
from playground.ui.widgets.search_field import SearchField
from playground.ui.widgets.segments import Segments

SIDE_WIDTH: Final = 232  # pixels
LONG_LIST: Final = 12  # entries; longer lists have a search field
ID: Final = Qt.ItemDataRole.UserRole
#: The commands on the list: object name, text, name, icon.
COMMANDS: Final = {
    "add": ("New", "New {} (Ctrl+N)", "plus"),
    "up": ("", "Move up (Alt+Up)", "up"),
    "down": ("", "Move down (Alt+Down)", "down"),
    "duplicate": ("", "Duplicate this {} (Ctrl+D)", "copy"),
    "remove": ("", "Delete this {} (Delete)", "delete"),
}


class ListEntry(NamedTuple):
    """A row of the list. ``state`` is that of the dot before the title; ``words`` are searched and not shown."""

    id: str
    title: str
    line: str = ""
    state: str | None = None
    words: str = ""


class EntryList(QListWidget):
    """A list of entries. ``selected`` carries the id of the entry that a person selected.

    Delete, Ctrl+D, Alt+Up and Alt+Down press the buttons of ``commands``; F2 renames in a list with ``editable``
    entries; Enter emits ``entered``.
    """

    selected = Signal(str)
    entered = Signal()
    renamed = Signal(str, str)
    command_pressed = Signal(str)

    def __init__(self, name: str, *, editable: bool = False) -> None:
        super().__init__()
        self._entries: tuple[ListEntry, ...] = ()
        self._editable = editable
        self.setAccessibleName(name)
        self.setItemDelegate(RowDelegate(self))
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.currentRowChanged.connect(lambda: self.selected.emit(self.current_id))
        self.itemChanged.connect(self._rename_item)
        self.itemDoubleClicked.connect(self.entered)

    def show_entries(self, entries: Iterable[ListEntry], current: str) -> None:
        """Show the entries and select the one with the id ``current``, without a signal."""
        self.blockSignals(True)
        entries = tuple(entries)
        while self.count() > len(entries):
            self.takeItem(self.count() - 1)
        while self.count() < len(entries):
            self.addItem(QListWidgetItem())
        for number, entry in enumerate(entries):
            item = self.item(number)
            if number >= len(self._entries) or self._entries[number] != entry:
                title, line = show_hidden(entry.title), show_hidden(entry.line)
                item.setText(title)
                item.setData(ROW, Row(Words(title, "text"), Words(line), dot=entry.state))
                item.setData(ID, entry.id)
                item.setData(Qt.ItemDataRole.AccessibleTextRole, ", ".join(filter(None, (title, line))))
                item.setToolTip(tip(entry.title) if len(entry.title) > 24 else "")
                if self._editable:
                    item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
        self._entries = entries
        self.setCurrentRow(next((row for row, entry in enumerate(entries) if entry.id == current), -1))
        self.blockSignals(False)
        self.viewport().update()

    @property
    def current_id(self) -> str:
        """The id of the selected entry; empty without a selection."""
        row = self.currentRow()
        return self._entries[row].id if 0 <= row < len(self._entries) else ""

    def rename_current(self) -> None:
        """Edit the title of the selected entry in its row."""
        if (item := self.currentItem()) is not None:
            self.setFocus()
            self.editItem(item)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, modifiers = Qt.Key(event.key()), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        with_alt = {Qt.Key.Key_Up: "up", Qt.Key.Key_Down: "down"}
        plain = {Qt.Key.Key_Delete: "remove", Qt.Key.Key_Backspace: "remove"}
        if self.state() == QAbstractItemView.State.EditingState:
            super().keyPressEvent(event)
        elif modifiers == Qt.KeyboardModifier.AltModifier and key in with_alt:
            self.command_pressed.emit(with_alt[key])
        elif modifiers == Qt.KeyboardModifier.ControlModifier and key == Qt.Key.Key_D:
            self.command_pressed.emit("duplicate")
        elif modifiers == Qt.KeyboardModifier.NoModifier and key in plain:
            self.command_pressed.emit(plain[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current_id:
            self.entered.emit()
        else:
            super().keyPressEvent(event)

    def _rename_item(self, item: QListWidgetItem) -> None:
        entry, title = self._entries[self.row(item)], item.text().strip()
        if title != show_hidden(entry.title):
            self.renamed.emit(entry.id, title)


class ListDetail(QWidget):
    """The list with its commands, and pages of the selected entry with messages and buttons below.

    ``noun`` names an entry, ``commands`` are some of ``COMMANDS``. Several ``pages`` have a row to switch between
    them; ``empty`` is the text while nothing is selected. ``head`` is above the pages, ``foot`` below the messages.
    """

    selected = Signal(str)
    entered = Signal()
    added = Signal()
    duplicated = Signal()
    removed = Signal()
    moved = Signal(str, int)  # by this number of rows
    page_shown = Signal(int)

    def __init__(
        self,
        title: str,
        noun: str,
        pages: Mapping[str, QWidget],
        commands: Sequence[str],
        *,
        parent: QWidget,
        extra: Sequence[QWidget] = (),
        head: QWidget | None = None,
        foot: QWidget | None = None,
        buttons: Sequence[QWidget | int] = (),
        empty: str = "",
        editable: bool = False,
    ) -> None:
        super().__init__(parent)
        self._entries: tuple[ListEntry, ...] = ()
        self._current = ""
        # Widgets are made in the order of the focus: search, list, commands, pages, buttons.
        side = styled(QFrame(self), "surface")
        side.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self.search = SearchField(f"Search {title.lower()}", parent=side)
        self.search.hide()
        self.list = EntryList(title, editable=editable)
        self.list.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        heading = text_label(title, "group")
        heading.setContentsMargins(8, 0, 0, 0)
        self._no_match = text_label("No matches", "muted")
        self._no_match.setContentsMargins(8, 0, 0, 0)
        self._no_match.hide()
        self.buttons = {name: self._command_button(name, noun) for name in commands}
        ordered = [self.buttons[name] for name in commands if name != "add"]
        row = in_row(*([self.buttons["add"]] if "add" in self.buttons else []), *extra, 1, *ordered, spacing=2)
        column = in_column(
            heading, self.search, self._no_match, (self.list, 1), row, parent=side, margins=(8, 12, 8, 12), spacing=8
        )
        column.addStrut(SIDE_WIDTH - 16)  # without the margins; wider only for the commands
        right = QWidget(self)
        self.tabs = Segments(tuple(pages), f"Page of the {noun}")
        self.tabs.setVisible(len(pages) > 1)
        self.pages = in_pages(*pages.values(), parent=right)
        self.unselected = empty_words(empty)
        self.pages.addWidget(self.unselected)
        self.notice = NoticeBar()
        self.message = text_label(kind="small", wrap=True)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.message.hide()
        top = in_column(*([head] if head is not None else []), spacing=0)
        if len(pages) > 1:
            top.addLayout(in_row(self.tabs, 1, margins=(24, 0, 24, 8)))
            top.addWidget(thin_line())
        messages = in_column(
            self.notice,
            self.message,
            *([foot] if foot is not None else []),
            margins=(24, 0, 24, 0),
            spacing=6,
        )
        displayed = in_column(top, (self.pages, 1), thin_line(), spacing=0)
        foot_row = in_row(*buttons, margins=(24, 0, 24, 0), spacing=8)
        in_column((displayed, 1), messages, foot_row, parent=right, margins=(0, 0, 0, 12), spacing=12)
        in_row(side, thin_upright(), (right, 1), parent=self, margins=0, spacing=0)
        self.search.textChanged.connect(self._filter)
        self.search.results_asked.connect(self.list.setFocus)
        self.list.selected.connect(self.selected)
        self.list.entered.connect(self.entered)
        self.list.command_pressed.connect(self._press)
        self.tabs.chosen.connect(self.show_page)
        if "add" in self.buttons:
            shortcut = QShortcut(QKeySequence(QKeySequence.StandardKey.New), self)
            shortcut.activated.connect(partial(self._press, "add"))

    def show_entries(self, entries: Iterable[ListEntry], current: str) -> None:
        """Show the entries that match the search, and select one without a signal."""
        self._entries, self._current = tuple(entries), current
        self.search.setVisible(len(self._entries) > LONG_LIST or bool(self.search.text()))
        self._show_matches()

    def set_enabled(self, *, selected: bool, changeable: bool = True) -> None:
        """Enable the commands for the state of the selected entry; ``changeable`` allows copies and removal."""
        row, last = self.list.currentRow(), self.list.count() - 1
        searching = bool(self.search.text())
        enabled = {
            "up": selected and row > 0 and not searching,
            "down": selected and 0 <= row < last and not searching,
            "duplicate": selected and changeable,
            "remove": selected and changeable,
        }
        for name, button in self.buttons.items():
            button.setEnabled(enabled.get(name, True))

    def show_page(self, page: int) -> None:
        """Show a page of the selected entry; -1 shows that none is selected."""
        if page >= 0:
            self.tabs.set_index(page)
        self.pages.setCurrentIndex(page if page >= 0 else self.pages.count() - 1)
        self.page_shown.emit(page)

    def show_message(self, words: str, kind: str = "small") -> None:
        """Show a message above the buttons."""
        say(self.message, words, kind)
        self.message.setAccessibleName(words)

    def ask(self, words: str, *answers: Choice) -> None:
        """Ask in the notice bar, and focus the first answer."""
        self.notice.offer(words, *answers)
        self.notice.buttons[0].setFocus()

    def _command_button(self, name: str, noun: str) -> QToolButton:
        text, says, symbol = COMMANDS[name]
        button = quiet_button(text, says.format(noun), symbol)
        button.clicked.connect(partial(self._run, name))
        return button

    def _press(self, name: str) -> None:
        if name in self.buttons and self.buttons[name].isEnabled():
            self._run(name)

    def _run(self, name: str, _checked: bool = False) -> None:
        if name in ("up", "down"):
            self.moved.emit(self.list.current_id, -1 if name == "up" else 1)
        else:
            {"add": self.added, "duplicate": self.duplicated, "remove": self.removed}[name].emit()

    def _filter(self) -> None:
        before = self._current
        self._show_matches()
        if self.list.current_id != before:
            self.selected.emit(self.list.current_id)

    def _show_matches(self) -> None:
        words = self.search.text().casefold().split()
        matches = [entry for entry in self._entries if _matches(entry, words)]
        if words:  # titles that begin with the search text come first
            matches.sort(key=lambda entry: not entry.title.casefold().startswith(words[0]))
        ids = [entry.id for entry in matches]
        current = self._current if self._current in ids or not words else ids[0] if ids else ""
        self.list.show_entries(matches, current)
        self._no_match.setVisible(bool(words) and not matches)


def _matches(entry: ListEntry, words: Sequence[str]) -> bool:
    text = f"{entry.title} {entry.line} {entry.words}".casefold()
    return all(word in text for word in words)


def remember_size(dialog: QDialog, settings: QSettings) -> None:
    """Give a new dialog its last size, within its window, and save the size when it closes."""
    if dialog.property("remembersSize"):
        return
    dialog.setProperty("remembersSize", True)
    key, parent = f"dialogs/{dialog.objectName()}", dialog.parentWidget()
    saved = settings.value(key)
    size = saved if isinstance(saved, QSize) else dialog.size()
    dialog.resize(size.boundedTo(parent.window().size() - QSize(40, 40)) if parent is not None else size)
    dialog.finished.connect(lambda _result: settings.setValue(key, dialog.size()))
