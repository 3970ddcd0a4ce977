"""The Servers page: every message to and from tool servers in a list, and beside it the one that is chosen.

It reads the tape and never changes it. A hidden page does no work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from PySide6.QtCore import QItemSelection, QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QLineEdit, QMenu, QPushButton, QTableView, QToolButton, QWidget

from playground.domain.tool_servers import call_of
from playground.engine.tool_servers.tape import Entry, ServerTape
from playground.ui.features.inspector.body_pane import BodyPane
from playground.ui.features.server_tape.model import AT, DATA, NAME, SERVER, TOOK, TapeModel
from playground.ui.features.server_tape.words import about
from playground.ui.widgets.elided_label import CountLabel, ElidedLabel
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column, in_pages, in_row, split
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.page_parts import empty_words, look_like_rows, set_row_height
from playground.ui.widgets.plain_text import one_line_of, short_title, show_hidden, tip
from playground.ui.widgets.save_text import save_as
from playground.ui.widgets.segments import Segments

EMPTY: Final = "No messages yet. What is said to tool servers, and what they say, stands here with its time."
NO_MATCH: Final = "No message matches what is looked for."
NONE_CHOSEN: Final = "Choose a message to read it."
ROW_HEIGHT: Final = 20
WIDTHS: Final = (92, 110, 210, 66)
TIGHT: Final = (92, 80, 140, 60)
NARROW: Final = 560  # pixels of the list below which the columns are tight
NARROWEST: Final = 330  # pixels below which there are but a message's server, its name and what it took
LEAST_DATA: Final = 90
LEAST_LIST: Final = 170
READ_MS: Final = 50  # between two readings of the tape
MOST_LISTED: Final = 60  # servers or methods in a menu
PRETTY: Final = 0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be seen of the tape; empty for everything."""

    words: str = ""
    server: str = ""
    method: str = ""
    errors: bool = False
    call: tuple[str, str] | None = None

    @property
    def everything(self) -> bool:
        """Whether nothing is left out."""
        return self == Wanted()

    def fits(self, entry: Entry) -> bool:
        """Whether a frame is to be seen."""
        if (self.server and entry.server != self.server) or (self.method and entry.method != self.method):
            return False
        if self.errors and not entry.frame.error:
            return False
        if self.call is not None and (not entry.call or call_of(entry.call) != self.call):
            return False
        return not self.words or any(
            self.words in text.lower() for text in (entry.frame.text, entry.frame.notice, entry.method, entry.server)
        )


class TapeTable(QTableView):
    """Rows of one height, made only where they are seen; Ctrl+C copies."""

    copy_asked = Signal()

    def __init__(self, model: TapeModel) -> None:
        super().__init__()
        self.setModel(model)
        self.setAccessibleName("Messages of tool servers")
        self.setAccessibleDescription("Arrow keys choose a message. Ctrl+C copies the chosen ones as lines of JSON.")
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        look_like_rows(self)
        set_row_height(self, ROW_HEIGHT)
        self.horizontalHeader().setMinimumSectionSize(30)
        self._one_server = False

    @property
    def at_end(self) -> bool:
        """Whether its end is in view."""
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum()

    def hide_server(self, one: bool) -> None:
        """There is but one server: its name in each row says nothing."""
        if one != self._one_server:
            self._one_server = one
            self.fit()

    def fit(self) -> None:
        """What is said takes the room there is; where that is little, the table is wider than the view."""
        header, room = self.horizontalHeader(), self.viewport().width()
        for column, width in enumerate(TIGHT if room < NARROW else WIDTHS):
            header.resizeSection(column, width)
        self.setColumnHidden(SERVER, self._one_server)
        for column in (AT, DATA):
            self.setColumnHidden(column, room < NARROWEST)
        last = NAME if room < NARROWEST else DATA
        shown = (column for column in (AT, SERVER, NAME, TOOK) if column != last and not self.isColumnHidden(column))
        header.resizeSection(last, max(LEAST_DATA, room - sum(map(header.sectionSize, shown))))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_asked.emit()
        else:
            super().keyPressEvent(event)


class TapePage(QWidget):
    """``call_asked`` carries the ids of the turn and the call that a message belongs to."""

    call_asked = Signal(str, str)

    def __init__(self, tape: ServerTape, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tape = tape
        self._wanted = Wanted()
        self.setObjectName("serverMessagesPage")
        self._read_to = 0  # the number of the last frame that was looked at
        self._again = False  # something else is wanted: from the beginning
        self._chosen: Entry | None = None
        self._to_choose = 0
        self.model = TapeModel(tape, self)
        self.throttle = Throttle(self._read, self, READ_MS)
        self._build()
        self.table.selectionModel().selectionChanged.connect(self._choice_changed)
        self.table.customContextMenuRequested.connect(self._menu)
        self.table.copy_asked.connect(self._copy)
        self.finder.textChanged.connect(self._find)
        self.destroyed.connect(tape.subscribe(self._came))
        self._show_what()
        self._show_chosen()

    def _build(self) -> None:
        self.finder = QLineEdit(placeholderText="Find in messages", clearButtonEnabled=True)
        self.finder.setProperty("kind", "field")
        self.finder.setAccessibleName("Find in the messages of tool servers")
        self.finder.setMaximumWidth(260)
        self.servers = self._chooser("All servers", "Show one server's messages", self._fill_servers)
        self.methods = self._chooser("All messages", "Show messages of one kind", self._fill_methods)
        self.one_call = styled(QPushButton("Messages of one call  ×"), "quiet")
        self.one_call.setAccessibleName("Show the messages of all calls again")
        self.one_call.setToolTip(tip("Show the messages of all calls again"))
        self.one_call.clicked.connect(self._all_calls)
        self.count = CountLabel("Messages")
        self.more = self._chooser("Export", "Export the messages that are shown, or let go of them", self._fill_export)
        self.table = TapeTable(self.model)
        self.switch = Segments(("Pretty", "Raw"), "How the message is shown")
        self.switch.chosen.connect(self._show_chosen)
        self.detail = BodyPane(self.switch, "Message", NONE_CHOSEN)
        self.detail.bound_lifted.connect(self._show_chosen)
        self.partner = styled(QPushButton("Answer"), "quiet")
        self.partner.clicked.connect(self._go_to_partner)
        self.to_call = IconButton("tool", "Show the call in the conversation")
        self.to_call.clicked.connect(self._ask_call)
        self.facts = ElidedLabel("What the chosen message is", elide=Qt.TextElideMode.ElideRight)
        beside = self._beside = QWidget()
        facts = in_row((self.facts, 1), self.partner, self.to_call, margins=(12, 4, 8, 0), spacing=4)
        in_column(facts, (self.detail, 1), of=beside, margins=0, spacing=0)
        self.table.setMinimumWidth(LEAST_LIST)
        self.empty = empty_words(EMPTY)
        self._stack = in_pages(self.empty, split(self.table, beside, sizes=[600, 420], thin=True))
        bar = in_row((self.finder, 2), self.servers, self.methods, self.one_call, margins=(12, 4, 12, 4), spacing=8)
        bar.addWidget(self.count, 3)
        bar.addWidget(self.more)
        in_column(bar, (self._stack, 1), of=self, margins=0, spacing=0)

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

    # What is asked for

    @property
    def wanted(self) -> Wanted:
        """What is shown of the tape."""
        return self._wanted

    def show_only(self, wanted: Wanted) -> None:
        """Show that part of the tape."""
        if wanted == self._wanted:
            return
        self._wanted = wanted
        self._again = True
        self._show_what()
        self.throttle.cancel()
        self._read()

    def show_call(self, turn_id: str, call_id: str) -> bool:
        """Show what belongs to a call; False where there is nothing."""
        found = self._tape.of_call(turn_id, call_id)
        if not found:
            return False
        self.finder.clear()
        self.show_only(Wanted(call=(turn_id, call_id)))
        self.choose(found[0].number)
        return True

    def choose(self, number: int) -> None:
        """Choose a frame, as soon as it has a row."""
        row = self.model.row_of(number)
        if row < 0:
            self._to_choose = number
            return
        self._to_choose = 0
        self.table.selectRow(row)
        self.table.scrollTo(self.model.index(row, 0))

    def finish(self) -> None:
        """Read the tape now if it has changed."""
        self.throttle.flush()

    def _find(self, words: str) -> None:
        self._wanted = replace(self._wanted, words=words.lower() if words.strip() else "")
        self._again = True
        self.throttle.poke()

    def _all_calls(self) -> None:
        self.show_only(replace(self._wanted, call=None))

    def _show_what(self) -> None:
        wanted = self._wanted
        self.servers.setText(short_title(wanted.server) if wanted.server else "All servers")
        kind = ("Errors" if wanted.errors else "") or short_title(wanted.method)
        self.methods.setText(kind or "All messages")
        self.one_call.setVisible(wanted.call is not None)
        self.servers.setVisible(wanted.call is None or bool(wanted.server))  # a call is of one server
        self.methods.setVisible(wanted.call is None or bool(kind))
        self._say_how_many()

    def _fill_servers(self, menu: QMenu) -> None:
        menu.addAction("All servers").triggered.connect(partial(self._want_server, ""))
        menu.addSeparator()
        for name in self._tape.servers[:MOST_LISTED]:
            menu.addAction(_entry(name)).triggered.connect(partial(self._want_server, name))

    def _fill_methods(self, menu: QMenu) -> None:
        menu.addAction("All messages").triggered.connect(partial(self._want_kind, ""))
        menu.addAction("Errors").triggered.connect(partial(self._want_kind, "", errors=True))
        menu.addSeparator()
        methods = self._tape.methods
        for name in methods[:MOST_LISTED]:
            menu.addAction(_entry(name)).triggered.connect(partial(self._want_kind, name))
        if len(methods) > MOST_LISTED:
            menu.addAction(f"{len(methods) - MOST_LISTED:,} more: find them by name").setEnabled(False)

    def _want_server(self, name: str, _checked: bool = False) -> None:
        self.show_only(replace(self._wanted, server=name))

    def _want_kind(self, method: str, _checked: bool = False, *, errors: bool = False) -> None:
        self.show_only(replace(self._wanted, method=method, errors=errors))

    def _fill_export(self, menu: QMenu) -> None:
        rows = bool(self.model.rows)
        for words, do in (("Save as lines of JSON…", self._export), ("Copy as lines of JSON", self._copy_all)):
            action = menu.addAction(words)
            action.setEnabled(rows)
            action.triggered.connect(do)
        menu.addSeparator()
        server = self._wanted.server
        words = f"Let go of the messages of {_entry(server)}" if server else "Let go of all messages"
        menu.addAction(words).triggered.connect(partial(self._tape.clear, server))

    # What came

    def _came(self) -> None:
        if self.isVisible():
            self.throttle.poke()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.throttle.poke()

    def _read(self) -> None:
        """Remove the rows of dropped frames and append those of new frames that pass the filter."""
        follow = self.table.at_end and not self.table.selectionModel().hasSelection()
        if self._again:
            self._again, self._read_to = False, 0
            self.model.start_again()
            follow = self._chosen is None
            if self._chosen is not None:
                self._to_choose = self._to_choose or self._chosen.number
        self._drop_gone()
        entries = list(self._tape.after(self._read_to))
        if entries:
            self._read_to = entries[-1].number
            self.model.add([entry for entry in entries if self._wanted.fits(entry)])
        self._shown(follow)

    def _drop_gone(self) -> None:
        bar = self.table.verticalScrollBar()
        at_end, place = self.table.at_end, bar.value()
        if (count := self.model.drop_gone()) and not at_end:
            bar.setValue(place - count * ROW_HEIGHT)  # what is read stays where it is
        if self._chosen is not None and not self._tape.holds(self._chosen):
            self._chosen = None
            self._show_chosen()

    def _shown(self, follow: bool) -> None:
        rows = bool(self.model.rows)
        self.empty.setText(EMPTY if self._wanted.everything else NO_MATCH)
        self._stack.setCurrentIndex(1 if rows else 0)
        self.table.hide_server(len(self._tape.servers) < 2 or bool(self._wanted.server))
        self._say_how_many()
        if self._to_choose:
            self.choose(self._to_choose)
        elif follow:
            self.table.scrollToBottom()

    def _say_how_many(self) -> None:
        shown, there = len(self.model.rows), len(self._tape)
        words = f"{shown:,} message{'s' * (shown != 1)}" if shown == there else f"{shown:,} of {there:,} messages"
        if lost := self._tape.lost:
            words += f" · {lost:,} older ones let go"
        self.count.set_count(words if there or lost else "")

    # The one that is chosen

    def _choice_changed(self, _chosen: QItemSelection, _before: QItemSelection) -> None:
        rows = self._rows()
        entry = rows[0] if rows else None
        if entry is not self._chosen and (entry is not None or not self._again):
            self._chosen = entry
            self.detail.bound_again()
            self._show_chosen()

    def _rows(self) -> list[Entry]:
        rows = sorted({index.row() for index in self.table.selectionModel().selectedRows()})
        return [self.model.rows[row] for row in rows]

    def _show_chosen(self, _index: int = 0) -> None:
        entry = self._chosen
        self._beside.setVisible(entry is not None)
        if entry is None:
            self.detail.show_nothing(NONE_CHOSEN)
            return
        text = self._tape.text(entry)
        body = text.encode("utf-8", "replace")
        self.detail.show_body(body, laid_out=self.switch.index == PRETTY and bool(entry.frame.text))
        self.facts.set_text(about(entry))
        self.partner.setText("Its request" if entry.request else "Its answer")
        self.partner.setVisible(self._tape.partner(entry) is not None)
        self.to_call.setVisible(bool(entry.call) and call_of(entry.call) is not None)

    def _go_to_partner(self) -> None:
        partner = self._tape.partner(self._chosen) if self._chosen is not None else None
        if partner is None:
            return
        if self.model.row_of(partner.number) < 0:  # what is looked for leaves it out
            self.finder.clear()
            self.show_only(Wanted())
        self.choose(partner.number)

    def _ask_call(self) -> None:
        found = call_of(self._chosen.call) if self._chosen is not None else None
        if found is not None:
            self.call_asked.emit(*found)

    # Copies

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText("".join(self._tape.lines(self._rows())))

    def _copy_all(self) -> None:
        QGuiApplication.clipboard().setText("".join(self._tape.lines(self.model.rows)))

    def _copy_text(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(self._tape.text(entry) for entry in self._rows()))

    def _export(self) -> None:
        entries = tuple(self.model.rows)
        title = f"Save {len(entries):,} message{'s' * (len(entries) != 1)} as lines of JSON"
        work = save_as(self, title, "tool-servers.jsonl", "jsonl", partial(_lines, self._tape, entries), (), self._say)
        spawn(work, name="export messages of tool servers")

    def _say(self, words: str) -> None:
        self.count.say(show_hidden(words))

    def _menu(self, at: QPoint) -> None:
        index = self.table.indexAt(at)
        if not index.isValid():
            return
        entry = self.model.rows[index.row()]
        menu = QMenu(self.table)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        call = call_of(entry.call) if entry.call else None
        if call is not None:
            menu.addAction("Show the call in the conversation").triggered.connect(self._ask_call)
            menu.addAction("Only messages of this call").triggered.connect(partial(self._only, Wanted(call=call)))
        if self._tape.partner(entry) is not None:
            menu.addAction("Go to " + self.partner.text().lower()).triggered.connect(self._go_to_partner)
        if entry.method:
            menu.addAction(f"Only {_entry(entry.method)}").triggered.connect(partial(self._want_kind, entry.method))
        menu.addAction(f"Only {_entry(entry.server)}").triggered.connect(partial(self._want_server, entry.server))
        menu.addSeparator()
        menu.addAction("Copy the message").triggered.connect(self._copy_text)
        menu.addAction("Copy as lines of JSON").triggered.connect(self._copy)
        menu.popup(self.table.viewport().mapToGlobal(at))

    def _only(self, wanted: Wanted) -> None:
        self.finder.clear()
        self.show_only(wanted)


def _refill(menu: QMenu, fill: Callable[[QMenu], None]) -> None:
    menu.clear()
    fill(menu)


def _entry(name: str) -> str:
    """A name in a menu, where an ampersand would be a key."""
    return one_line_of(short_title(name)).replace("&", "&&")


def _lines(tape: ServerTape, entries: Sequence[Entry]) -> str:
    return "".join(tape.lines(entries))
