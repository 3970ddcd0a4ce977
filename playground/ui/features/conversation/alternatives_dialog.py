"""The alternatives of one turn side by side, each as it is in the conversation, also while they arrive.

There may be thousands: a page of them is seen, made one after the other as there is time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QPushButton, QScrollArea, QWidget

from playground.engine.session.changes import Change, PathChanged, TurnChanged, TurnGrew
from playground.engine.session.session import Session
from playground.ui.features.conversation.commands import Growth, TurnCommands
from playground.ui.features.conversation.parts_row import PartsRow
from playground.ui.features.conversation.rows import Row
from playground.ui.features.conversation.turn_card import TurnCard
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.slices import Slices

COLUMN = 300  # least width of a column
PAGE = 8  # columns that are seen at once


class AlternativesDialog(QDialog):
    """Follows the session until it is closed. "Use this one" makes one of them what the conversation goes on from."""

    def __init__(
        self,
        session: Session,
        turn_id: str,
        commands: TurnCommands,
        growing: Callable[[str], Growth | None],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Alternatives side by side")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._session = session
        self._commands = commands
        self._growing = growing
        self._parent_id = session.transcript.turns[turn_id].parent
        self._all = self._alternatives()
        self._first = self._all.index(turn_id) // PAGE * PAGE
        self._grown: set[str] = set()
        self._cards: dict[str, TurnCard] = {}
        self._columns = in_row(margins=0, spacing=10)
        inner = QWidget()
        inner.setLayout(self._columns)
        area = QScrollArea(widgetResizable=True)
        area.setWidget(inner)
        layout = in_column((area, 1), of=self, margins=10)
        self.row = PartsRow(self, "alternatives")
        self.row.asked.connect(self._step)
        layout.addWidget(self.row)
        self._making = Slices(self._make, self)
        self._draw = Throttle(self._draw_grown, self)
        self._cancel = session.subscribe(self._changed)
        self.finished.connect(self._closed)
        self._rebuild()
        window = parent.window()
        count = min(max(len(self._all), 2), PAGE)
        self.resize(min(count * 420, window.width() - 60), min(640, window.height() - 80))

    @property
    def cards(self) -> dict[str, TurnCard]:
        """The card of each alternative that is seen, by turn id."""
        return self._cards

    def _alternatives(self) -> tuple[str, ...]:
        transcript = self._session.transcript
        known = self._parent_id is None or self._parent_id in transcript.turns
        return transcript.children(self._parent_id) if known else ()

    def _row(self, turn_id: str) -> Row:
        turn = self._session.transcript.turns[turn_id]
        return Row(turn, (turn_id,), {}, turn_id in self._session.growing)  # nothing to step through here

    def _rebuild(self) -> None:
        self._all = self._alternatives()
        self._turn(self._first)

    def _step(self, where: str) -> None:
        last = (len(self._all) - 1) // PAGE * PAGE
        self._turn({"first": 0, "before": self._first - PAGE, "after": self._first + PAGE}.get(where, last))

    def _turn(self, first: int) -> None:
        """Show the page that begins with the alternative of that number."""
        self._first = max(min(first, (len(self._all) - 1) // PAGE * PAGE), 0)
        while self._columns.count():
            item = self._columns.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self._cards = {}
        self.row.say(self._first, self._first + PAGE, len(self._all))
        self._making.stop()
        self._making.poke()
        self._making.work()

    def _make(self) -> Iterator[None]:
        """The columns of the page, and then what is only begun of their texts, a little in each step."""
        for turn_id in self._all[self._first : self._first + PAGE]:
            self._columns.addWidget(self._column(turn_id), 1)
            self._grown.add(turn_id)
            self._draw.poke()
            yield
        for card in self._cards.values():
            while not card.whole:
                card.fill()
                yield

    def _column(self, turn_id: str) -> QWidget:
        column = QWidget()
        column.setMinimumWidth(COLUMN)
        card = TurnCard(
            self._row(turn_id), self._commands, self._session.settings.tools, zoom=1.0, parent=column, width=COLUMN
        )
        self._cards[turn_id] = card
        holder = QWidget()
        in_column(card, 1, of=holder, margins=(0, 0, 8, 0))
        area = QScrollArea(widgetResizable=True)
        area.setWidget(holder)
        use = QPushButton("Use this one")
        use.clicked.connect(partial(self._use, turn_id))
        in_column((use, 0, Qt.AlignmentFlag.AlignLeft), (area, 1), of=column, margins=0)
        return column

    def _use(self, turn_id: str) -> None:
        self._commands.select_alternative(turn_id)
        self.accept()

    def _changed(self, change: Change) -> None:
        match change:
            case TurnGrew(turn_id) if turn_id in self._cards:
                self._grown.add(turn_id)
                self._draw.poke()
            case TurnChanged(turn_id) if turn_id in self._cards:
                self._cards[turn_id].show_row(self._row(turn_id), self._session.settings.tools)
            case PathChanged() if self._alternatives() != self._all:
                self._rebuild()
            case _:
                pass

    def _draw_grown(self) -> None:
        grown, self._grown = self._grown, set()
        for turn_id in grown:
            state, card = self._growing(turn_id), self._cards.get(turn_id)
            if state is not None and card is not None:
                card.draw_growth(state)

    def _closed(self) -> None:
        self._cancel()
        self._making.stop()
