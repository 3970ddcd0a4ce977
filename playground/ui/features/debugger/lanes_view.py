"""The lanes of a fork side by side, while they run and afterwards. Nothing here is cleared by an error or a stop.

It reads everything from ``session.debugger.forks`` and the transcript, and tells commands to them.
"""

from __future__ import annotations

import time
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, QTimer
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QWidget,
)

from playground.domain.debugging import Answer
from playground.domain.parts import ToolCall
from playground.engine.session.changes import Change, TurnGrew
from playground.engine.session.debugger import Fork
from playground.engine.session.session import Session
from playground.engine.session.tool_loop import ToolLoopEnd
from playground.ui.features.debugger.lane_column import COLUMN, LaneColumn
from playground.ui.features.debugger.lane_report import report
from playground.ui.features.debugger.rule_words import one_line
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.plain_text import shown_name
from playground.ui.widgets.session_window import SessionWindow
from playground.ui.widgets.theme import code_font

DRAW_MS, CLOCK_MS = 50, 200
OUTCOME = 3  # the grid's row that takes the room there is
WIDE, TALL = 1040, 620
NONE_YET = (
    "No call was forked yet.\n\nA fork answers one tool call in two to five ways at once; each answer runs on as a "
    "branch of its own, and here their outcomes stand side by side. Begin with “Compare several answers…” at a call."
)


class LanesView(SessionWindow):
    """``show_fork`` chooses one of the forks; the newest at first."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(session, parent)
        self.setWindowTitle("Forks")
        self._fork: Fork | None = None
        self.columns: list[LaneColumn] = []
        self.picker = QComboBox()
        self.picker.setAccessibleName("Fork")
        self.name = text_label("", "heading")
        self.arguments = ElidedLabel("Arguments", elide=Qt.TextElideMode.ElideRight)
        self.arguments.setFont(code_font())
        self.base = styled(QComboBox(), "field")
        self.base.setAccessibleName("Mark differences from")
        self.legend = text_label("Underlined, ≠: not in that lane.", "small")
        self.stop_button = QPushButton("Stop all", autoDefault=False)
        self._grid = QGridLayout()
        self._inner = QWidget()
        self._pages = QStackedWidget()
        self._arrange()
        self.picker.activated.connect(self._picked)
        self.base.activated.connect(self._refresh)
        self.stop_button.clicked.connect(self.stop_all)
        self._draw = Throttle(self._refresh, self, interval=DRAW_MS)
        self._clock = QTimer(self, interval=CLOCK_MS)
        self._clock.timeout.connect(self._refresh)
        self.show_fork(None)

    @property
    def fork(self) -> Fork | None:
        """The fork shown; None while there is none."""
        return self._fork

    def show_fork(self, fork: Fork | None) -> None:
        """Show a fork; None for the newest."""
        forks = self._session.debugger.forks
        if fork is None:
            fork = forks[-1] if forks else None
        if fork is not self._fork or (fork is not None and not self.columns):
            self._fork = fork
            self._build()
        self._refresh()

    def stop_all(self) -> None:
        """End every lane of this fork."""
        for lane in self._fork.loops if self._fork is not None else ():
            lane.stop()

    # Building

    def _arrange(self) -> None:
        top = in_row(self.picker, self.name, (self.arguments, 1), self.stop_button, margins=(14, 10, 14, 8), spacing=8)
        marks = text_label("Mark differences from", "muted")
        marks.setBuddy(self.base)
        below = in_row(marks, self.base, self.legend, 1, margins=(14, 0, 14, 8), spacing=8)
        self._grid.setContentsMargins(14, 0, 14, 12)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(0)
        self._grid.setRowStretch(OUTCOME, 1)
        self._inner.setLayout(self._grid)
        area = QScrollArea()
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(self._inner)
        lanes = QWidget()
        in_column(top, below, (area, 1), of=lanes, margins=0, spacing=0)
        empty = styled(QLabel(NONE_YET, alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True), "muted")
        empty.setContentsMargins(60, 20, 60, 20)
        self._pages.addWidget(empty)
        self._pages.addWidget(lanes)
        in_column(self._pages, of=self, margins=0)
        self.fit_into_window(WIDE, TALL)

    def _build(self) -> None:
        """Columns for the lanes of the fork shown."""
        for at in range(self._grid.columnCount()):
            self._grid.setColumnStretch(at, 0)
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for column in self.columns:
            column.deleteLater()
        self.columns = []
        lanes = self._fork.loops if self._fork is not None else ()
        self.base.clear()
        self.base.addItem("none", -1)
        for number, lane in enumerate(lanes):
            column = LaneColumn(number + 1, lane.answer or Answer(), self._inner)
            column.place(self._grid, number)
            column.stop_asked.connect(lane.stop)
            column.show_asked.connect(partial(self._show_branch, number))
            self.columns.append(column)
            self.base.addItem(f"lane {number + 1}", number)
        self.base.setCurrentIndex(1 if lanes else 0)
        call = self._call()
        self.name.setText(shown_name(call.name) if call else "")
        self.arguments.set_text(one_line(call.arguments, 2000) if call else "")
        self._inner.setMinimumWidth(len(lanes) * (COLUMN + 10) + 18)

    def _call(self) -> ToolCall | None:
        fork = self._fork
        turn = self._session.transcript.turns.get(fork.turn_id) if fork is not None else None
        return next((call for call in turn.calls if fork and call.id == fork.call_id), None) if turn else None

    def _fill_picker(self) -> None:
        forks = self._session.debugger.forks
        words = [_fork_words(number, fork) for number, fork in enumerate(forks, 1)]
        if words != [self.picker.itemText(at) for at in range(self.picker.count())]:
            with QSignalBlocker(self.picker):
                self.picker.clear()
                self.picker.addItems(words)
        if self._fork in forks:
            self.picker.setCurrentIndex(forks.index(self._fork))
        self.picker.setVisible(len(forks) > 1)

    # Following

    def _session_changed(self) -> None:
        self._fork = None
        self._build()
        self.show_fork(None)

    def _changed(self, change: Change) -> None:
        if not isinstance(change, TurnGrew) or self.isVisible():
            self._draw.poke()

    def _refresh(self, *_: object) -> None:
        fork = self._fork
        if fork is None and self._session.debugger.forks:
            self.show_fork(None)
            return
        self._pages.setCurrentIndex(0 if fork is None else 1)
        self._fill_picker()
        if fork is None:
            self._clock.stop()
            return
        reports = [report(self._session, fork, lane) for lane in fork.loops]
        base = self.base.currentData()
        for number, (column, now) in enumerate(zip(self.columns, reports, strict=True)):
            compared = reports[base] if base not in (None, -1, number) else None
            column.show_report(now, compared)
        self.legend.setVisible(base not in (None, -1))
        running = any(lane.ending is ToolLoopEnd.RUNNING for lane in fork.loops)
        self.stop_button.setVisible(running)
        if not running:
            self._clock.stop()
        elif not self._clock.isActive():
            self._clock.start()

    # Doing

    def _picked(self, at: int) -> None:
        self.show_fork(self._session.debugger.forks[at])

    def _show_branch(self, number: int) -> None:
        if self._fork is not None:
            root = self._fork.loops[number].root
            if root in self._session.transcript.turns:
                self._session.turns.select_alternative(root)


def _fork_words(number: int, fork: Fork) -> str:
    at = time.strftime("%H:%M:%S", time.localtime(fork.at))
    return f"Fork {number} · {len(fork.loops)} lanes · {at}"
