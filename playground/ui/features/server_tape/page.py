"""The messages of tool servers in a list, and the selected one next to it. A hidden page does no work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from PySide6.QtCore import QItemSelection, QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QWidget

from playground.domain.tool_servers import call_of
from playground.engine.tool_servers.tape import Entry, ServerTape
from playground.jsonkit.texts import quantity
from playground.ui.features.inspector.body_pane import BodyPane
from playground.ui.features.server_tape.model import CONTENT, NAME, SERVER, TIME, TapeModel, summary_of
from playground.ui.widgets.copy_button import CopyButton
from playground.ui.widgets.elided_label import CountLabel, ElidedLabel
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column, in_pages, in_row, split
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.page_parts import RowsTable, empty_words
from playground.ui.widgets.plain_text import one_line_of, short_title, show_hidden, tip
from playground.ui.widgets.save_text import save_as
from playground.ui.widgets.search_field import SearchField
from playground.ui.widgets.segments import Segments

ABOUT_TABLE: Final = "Arrow keys select a message. Ctrl+C copies the selected ones as lines of JSON."
EMPTY: Final = "Tool server messages appear here."
NO_MATCH: Final = "No matching messages."
NONE_SELECTED: Final = "Select a message to read it."
ROW_HEIGHT: Final = 20
WIDTHS: Final = (92, 110, 210, 66)
TIGHT: Final = (92, 80, 140, 60)
NARROW: Final = 560  # pixels of the list below which the columns are tight
NARROWEST: Final = 330  # pixels below which only server, name and duration are shown
MIN_CONTENT: Final = 90
MIN_LIST: Final = 170
READ_MS: Final = 50  # between two readings of the tape
MAX_LISTED: Final = 60  # servers or methods in a menu
PRETTY: Final = 0


@dataclass(frozen=True, slots=True)
class Filter:
    """The messages to show; empty for all."""

    words: str = ""
    server: str = ""
    method: str = ""
    errors: bool = False
    call: tuple[str, str] | None = None

    @property
    def everything(self) -> bool:
        """Return whether it hides nothing."""
        return self == Filter()

    def fits(self, entry: Entry) -> bool:
        """Return whether a message passes."""
        if (self.server and entry.server != self.server) or (self.method and entry.method != self.method):
            return False
        if self.errors and not entry.frame.error:
            return False
        if self.call is not None and (not entry.call or call_of(entry.call) != self.call):
            return False
        return not self.words or any(
            self.words in text.lower() for text in (entry.frame.text, entry.frame.notice, entry.method, entry.server)
        )


class TapeTable(RowsTable):
    """The messages; how many columns there are depends on the width."""

    def __init__(self, model: TapeModel) -> None:
        self._server_hidden = False
        super().__init__(model, "Messages of tool servers", ABOUT_TABLE, ROW_HEIGHT)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)

    @property
    def at_end(self) -> bool:
        """Return whether the last row is in view."""
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum()

    def hide_server(self, hidden: bool) -> None:
        """Hide the column of the server, where there is only one."""
        if hidden != self._server_hidden:
            self._server_hidden = hidden
            self.fit()

    def fit(self) -> None:
        """Give the last column the rest of the width."""
        room = self.viewport().width()
        self.set_widths(TIGHT if room < NARROW else WIDTHS)
        self.setColumnHidden(SERVER, self._server_hidden)
        for column in (TIME, CONTENT):
            self.setColumnHidden(column, room < NARROWEST)
        self.give_rest(NAME if room < NARROWEST else CONTENT, MIN_CONTENT)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()


class TapePage(QWidget):
    """``call_asked`` carries the ids of the turn and the call that a message belongs to."""

    call_asked = Signal(str, str)

    def __init__(self, tape: ServerTape, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tape = tape
        self._filter = Filter()
        self.setObjectName("serverMessagesPage")
        self._read_to = 0  # the number of the last entry that was read
        self._reset = False  # the filter changed: read the tape from its beginning
        self._chosen: Entry | None = None
        self._pending_choice = 0
        self.model = TapeModel(tape, self)
        self.throttle = Throttle(self._read, self, READ_MS)
        self._build()
        self.table.selectionModel().selectionChanged.connect(self._choice_changed)
        self.table.customContextMenuRequested.connect(self._menu)
        self.table.copy_asked.connect(self._copy)
        self.finder.textChanged.connect(self._find)
        self.finder.results_asked.connect(self.table.setFocus)
        self.destroyed.connect(tape.subscribe(self._tape_changed))
        self._show_filter()
        self._show_chosen()

    def _build(self) -> None:
        self.finder = styled(SearchField("Find in messages", "Find in the messages of tool servers"), "field")
        self.finder.setMaximumWidth(260)
        self.servers = self._chooser("All servers", "Show one server's messages", self._fill_servers)
        self.methods = self._chooser("All messages", "Show messages of one kind", self._fill_methods)
        self.one_call = styled(QPushButton("Messages of one call  ×"), "quiet")
        self.one_call.setAccessibleName("Show the messages of all calls")
        self.one_call.setToolTip(tip("Show the messages of all calls"))
        self.one_call.clicked.connect(self._all_calls)
        self.count = CountLabel("Messages")
        self.more = self._chooser("Export", "Export or delete the listed messages", self._fill_export)
        self.table = TapeTable(self.model)
        self.switch = Segments(("Pretty", "Raw"), "How the message is shown")
        self.switch.chosen.connect(self._show_chosen)
        self.detail = BodyPane("Message", NONE_SELECTED)
        self.copy_button = CopyButton("Copy", "quiet")
        self.copy_button.setAccessibleName("Copy the message")
        self.copy_button.clicked.connect(lambda: self.copy_button.copy(self.detail.whole_text))
        self.partner = styled(QPushButton("Answer"), "quiet")
        self.partner.clicked.connect(self._go_to_partner)
        self.to_call = IconButton("tool", "Show the call in the conversation")
        self.to_call.clicked.connect(self._ask_call)
        self.facts = ElidedLabel("Selected message", elide=Qt.TextElideMode.ElideRight)
        self._detail_page = QWidget()
        facts = in_row((self.facts, 1), self.partner, self.to_call, margins=(12, 4, 8, 0), spacing=4)
        detail_bar = in_row(self.switch, 1, self.copy_button, margins=(12, 4, 8, 4))
        in_column(facts, detail_bar, (self.detail, 1), parent=self._detail_page, margins=0, spacing=0)
        self.table.setMinimumWidth(MIN_LIST)
        self.empty = empty_words(EMPTY)
        self._stack = in_pages(self.empty, split(self.table, self._detail_page, sizes=[600, 420], thin=True))
        bar = in_row((self.finder, 2), self.servers, self.methods, self.one_call, margins=(12, 4, 12, 4), spacing=8)
        bar.addWidget(self.count, 3)
        bar.addWidget(self.more)
        in_column(bar, (self._stack, 1), parent=self, margins=0, spacing=0)

    def _chooser(self, words: str, says: str, fill: Callable[[QMenu], None]) -> QToolButton:
        button = styled(QToolButton(), "quiet")
        button.setText(words)
        button.setProperty("arrow", True)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setAccessibleName(says)
        menu = QMenu(button)
        menu.aboutToShow.connect(partial(_refill, menu, fill))
        button.setMenu(menu)
        return button

    # Filters

    @property
    def filter(self) -> Filter:
        """The messages that are shown."""
        return self._filter

    def show_only(self, filter: Filter) -> None:
        """Filter the messages."""
        if filter == self._filter:
            return
        self._filter = filter
        self._reset = True
        self._show_filter()
        self.throttle.cancel()
        self._read()

    def show_call(self, turn_id: str, call_id: str) -> bool:
        """Show the messages of a call. Return whether there are any."""
        entries = self._tape.of_call(turn_id, call_id)
        if not entries:
            return False
        self.finder.clear()
        self.show_only(Filter(call=(turn_id, call_id)))
        self.choose(entries[0].number)
        return True

    def choose(self, number: int) -> None:
        """Select an entry, as soon as it has a row."""
        row = self.model.row_of(number)
        if row < 0:
            self._pending_choice = number
            return
        self._pending_choice = 0
        self.table.selectRow(row)
        self.table.scrollTo(self.model.index(row, 0))

    def finish(self) -> None:
        """Read the tape now if it changed."""
        self.throttle.flush()

    def _find(self, words: str) -> None:
        self._filter = replace(self._filter, words=words.lower() if words.strip() else "")
        self._reset = True
        self.throttle.poke()

    def _all_calls(self) -> None:
        self.show_only(replace(self._filter, call=None))

    def _show_filter(self) -> None:
        filter = self._filter
        self.servers.setText(short_title(filter.server) if filter.server else "All servers")
        kind = ("Errors" if filter.errors else "") or short_title(filter.method)
        self.methods.setText(kind or "All messages")
        self.one_call.setVisible(filter.call is not None)
        self.servers.setVisible(filter.call is None or bool(filter.server))  # a call is of one server
        self.methods.setVisible(filter.call is None or bool(kind))
        self._show_count()

    def _fill_servers(self, menu: QMenu) -> None:
        menu.addAction("All servers").triggered.connect(partial(self._want_server, ""))
        menu.addSeparator()
        for name in self._tape.servers[:MAX_LISTED]:
            menu.addAction(_entry(name)).triggered.connect(partial(self._want_server, name))

    def _fill_methods(self, menu: QMenu) -> None:
        menu.addAction("All messages").triggered.connect(partial(self._want_kind, ""))
        menu.addAction("Errors").triggered.connect(partial(self._want_kind, "", errors=True))
        menu.addSeparator()
        methods = self._tape.methods
        for name in methods[:MAX_LISTED]:
            menu.addAction(_entry(name)).triggered.connect(partial(self._want_kind, name))
        if len(methods) > MAX_LISTED:
            menu.addAction(f"{len(methods) - MAX_LISTED:,} more: use Find").setEnabled(False)

    def _want_server(self, name: str, _checked: bool = False) -> None:
        self.show_only(replace(self._filter, server=name))

    def _want_kind(self, method: str, _checked: bool = False, *, errors: bool = False) -> None:
        self.show_only(replace(self._filter, method=method, errors=errors))

    def _fill_export(self, menu: QMenu) -> None:
        rows = bool(self.model.rows)
        for words, do in (("Save as lines of JSON…", self._export), ("Copy as lines of JSON", self._copy_all)):
            action = menu.addAction(words)
            action.setEnabled(rows)
            action.triggered.connect(do)
        menu.addSeparator()
        server = self._filter.server
        words = f"Delete the messages of {_entry(server)}" if server else "Delete all messages"
        menu.addAction(words).triggered.connect(partial(self._tape.clear, server))

    # Reading the tape

    def _tape_changed(self) -> None:
        if self.isVisible():
            self.throttle.poke()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.throttle.poke()

    def _read(self) -> None:
        """Remove the rows of dropped frames and append those of new frames that pass the filter."""
        follow = self.table.at_end and not self.table.selectionModel().hasSelection()
        if self._reset:
            self._reset, self._read_to = False, 0
            self.model.reset()
            follow = self._chosen is None
            if self._chosen is not None:
                self._pending_choice = self._pending_choice or self._chosen.number
        self._remove_dropped()
        entries = list(self._tape.after(self._read_to))
        if entries:
            self._read_to = entries[-1].number
            self.model.add([entry for entry in entries if self._filter.fits(entry)])
        self._show_rows(follow)

    def _remove_dropped(self) -> None:
        bar = self.table.verticalScrollBar()
        at_end, place = self.table.at_end, bar.value()
        if (count := self.model.remove_dropped()) and not at_end:
            bar.setValue(place - count * ROW_HEIGHT)  # what a person reads stays in its place
        if self._chosen is not None and not self._tape.holds(self._chosen):
            self._chosen = None
            self._show_chosen()

    def _show_rows(self, follow: bool) -> None:
        rows = bool(self.model.rows)
        self.empty.setText(EMPTY if self._filter.everything else NO_MATCH)
        self._stack.setCurrentIndex(1 if rows else 0)
        self.table.hide_server(len(self._tape.servers) < 2 or bool(self._filter.server))
        self._show_count()
        if self._pending_choice:
            self.choose(self._pending_choice)
        elif follow:
            self.table.scrollToBottom()

    def _show_count(self) -> None:
        listed, total = len(self.model.rows), len(self._tape)
        words = quantity(listed, "message") if listed == total else f"{listed:,} of {total:,} messages"
        if lost := self._tape.lost:
            words += f" · {lost:,} older ones deleted"
        self.count.set_count(words if total or lost else "")

    # The selected message

    def _choice_changed(self, _chosen: QItemSelection, _before: QItemSelection) -> None:
        rows = self._rows()
        entry = rows[0] if rows else None
        if entry is not self._chosen and (entry is not None or not self._reset):
            self._chosen = entry
            self.detail.start_at_top()
            self._show_chosen()

    def _rows(self) -> list[Entry]:
        rows = sorted({index.row() for index in self.table.selectionModel().selectedRows()})
        return [self.model.rows[row] for row in rows]

    def _show_chosen(self, _index: int = 0) -> None:
        entry = self._chosen
        self._detail_page.setVisible(entry is not None)
        if entry is None:
            self.detail.show_empty(NONE_SELECTED)
            return
        text = self._tape.text(entry)
        body = text.encode("utf-8", "replace")
        self.detail.show_body(body, laid_out=self.switch.index == PRETTY and bool(entry.frame.text))
        self.facts.set_text(summary_of(entry))
        self.partner.setText("Its request" if entry.request else "Its answer")
        self.partner.setVisible(self._tape.partner(entry) is not None)
        self.to_call.setVisible(bool(entry.call) and call_of(entry.call) is not None)

    def _go_to_partner(self) -> None:
        partner = self._tape.partner(self._chosen) if self._chosen is not None else None
        if partner is None:
            return
        if self.model.row_of(partner.number) < 0:  # the filter hides it
            self.finder.clear()
            self.show_only(Filter())
        self.choose(partner.number)

    def _ask_call(self) -> None:
        call = call_of(self._chosen.call) if self._chosen is not None else None
        if call is not None:
            self.call_asked.emit(*call)

    # Copies

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText("".join(self._tape.lines(self._rows())))

    def _copy_all(self) -> None:
        QGuiApplication.clipboard().setText("".join(self._tape.lines(self.model.rows)))

    def _copy_text(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(self._tape.text(entry) for entry in self._rows()))

    def _export(self) -> None:
        entries = tuple(self.model.rows)
        title = f"Save {quantity(len(entries), 'message')} as lines of JSON"
        work = save_as(self, title, "tool-servers.jsonl", "jsonl", partial(_lines, self._tape, entries), (), self._say)
        spawn(work, name="export messages of tool servers")

    def _say(self, words: str) -> None:
        self.count.say(show_hidden(words))

    def _menu(self, position: QPoint) -> None:
        index = self.table.indexAt(position)
        if not index.isValid():
            return
        entry = self.model.rows[index.row()]
        menu = QMenu(self.table)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        call = call_of(entry.call) if entry.call else None
        if call is not None:
            menu.addAction("Show the call in the conversation").triggered.connect(self._ask_call)
            menu.addAction("Only messages of this call").triggered.connect(partial(self._only, Filter(call=call)))
        if self._tape.partner(entry) is not None:
            menu.addAction("Go to " + self.partner.text().lower()).triggered.connect(self._go_to_partner)
        if entry.method:
            menu.addAction(f"Only {_entry(entry.method)}").triggered.connect(partial(self._want_kind, entry.method))
        menu.addAction(f"Only {_entry(entry.server)}").triggered.connect(partial(self._want_server, entry.server))
        menu.addSeparator()
        menu.addAction("Copy the message").triggered.connect(self._copy_text)
        menu.addAction("Copy as lines of JSON").triggered.connect(self._copy)
        menu.popup(self.table.viewport().mapToGlobal(position))

    def _only(self, filter: Filter) -> None:
        self.finder.clear()
        self.show_only(filter)


def _refill(menu: QMenu, fill: Callable[[QMenu], None]) -> None:
    menu.clear()
    fill(menu)


def _entry(name: str) -> str:
    """Return a name for a menu, where an ampersand would mark a key."""
    return one_line_of(short_title(name)).replace("&", "&&")


def _lines(tape: ServerTape, entries: Sequence[Entry]) -> str:
    return "".join(tape.lines(entries))
