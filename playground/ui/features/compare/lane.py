"""One lane as a column: what it is above, its turns, what it took below. The turns are drawn as the conversation's."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QMenu, QSizePolicy, QWidget

from playground.engine.compare.words import AS_SET
from playground.engine.requests.protocol_conversion import Loss
from playground.ui.features.conversation.transcript_pane import TranscriptPane
from playground.ui.widgets.form_parts import look, push_button, quiet_button, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import show_hidden, tip

LEAST = 340  # pixels of width in which turns can be read
MOST_LOSSES = 6  # that a tooltip names


class LaneColumn(QFrame):
    """``turns`` stand in the middle; ``pane`` shows them. The first lane cannot be named, moved or closed."""

    chosen = Signal()  # it is to have the focus
    ticked = Signal(bool)
    settings_asked = Signal()
    name_asked = Signal()
    system_asked = Signal()
    copy_asked = Signal()
    moved = Signal(int)  # so many places to the right
    continue_asked = Signal()
    stop_asked = Signal()
    close_asked = Signal()

    def __init__(self, pane: TranscriptPane, turns: QWidget, *, first: bool) -> None:
        super().__init__()
        self.pane = pane
        self._first = first
        self.setMinimumWidth(LEAST)
        self.letter = text_label("", "heading")
        self.model = text_label("", "heading")
        self.model.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.tick = QCheckBox()
        self.tick.setToolTip("Messages go to this lane")
        self.tick.toggled.connect(self.ticked)
        self.count = quiet_button(AS_SET, "What is set otherwise here: show it in the panel", "settings")
        self.count.clicked.connect(self.settings_asked)
        more = quiet_button("", "More about this lane", "more")
        more.setMenu(self._menu(more))
        more.setPopupMode(more.ToolButtonPopupMode.InstantPopup)
        self.words = text_label("", "small", wrap=True)
        self.losses = text_label("", "warning", wrap=True)
        self.losses.hide()
        self.head = QFrame()
        self.head.setProperty("kind", "surface")
        self.head.installEventFilter(self)
        row = in_row(self.tick, self.letter, (self.model, 1), self.count, more, spacing=6)
        in_column(row, self.words, self.losses, of=self.head, margins=(12, 6, 8, 6), spacing=2)
        self.figures = text_label("", "small", wrap=True)
        self.stop = push_button("Stop this lane", "quiet")
        self.stop.clicked.connect(self.stop_asked)
        self.go_on = push_button("Continue here", "quiet")
        self.go_on.setToolTip("Make this lane the conversation. What is the conversation now takes its place here.")
        self.go_on.clicked.connect(self.continue_asked)
        self.foot = QFrame()
        self.foot.setProperty("kind", "surface")
        in_row((self.figures, 1), self.stop, self.go_on, of=self.foot, margins=(12, 3, 8, 3), spacing=6)
        column = in_column(self.head, (turns, 1), of=self, margins=0, spacing=0)
        if first:  # the others have it below their turns by themselves
            column.addLayout(in_row((pane.calls.bar, 1), margins=(8, 4, 8, 4)))
        column.addWidget(self.foot)

    def _menu(self, parent: QWidget) -> QMenu:
        menu = QMenu(parent)
        menu.addAction("Add a copy of this lane").triggered.connect(self.copy_asked)
        if not self._first:
            menu.addAction("Name…").triggered.connect(self.name_asked)
            menu.addAction("System turn…").triggered.connect(self.system_asked)
            menu.addSeparator()
            menu.addAction("Move left").triggered.connect(lambda: self.moved.emit(-1))
            menu.addAction("Move right").triggered.connect(lambda: self.moved.emit(1))
            menu.addSeparator()
            menu.addAction("Continue here").triggered.connect(self.continue_asked)
            menu.addAction("Close").triggered.connect(self.close_asked)
        return menu

    def show_head(self, title: str, model: str, words: Sequence[str], different: int, *, ticked: bool) -> None:
        """What the lane is: its letter and name, its model, what is set otherwise in words, and how much that is."""
        self.letter.setText(show_hidden(title))
        self.model.setText(show_hidden(model) or "no model")
        self.model.setToolTip(tip(model))
        self.words.setText(show_hidden(" · ".join(words)))
        self.count.setText(f"{different} set" if different else AS_SET)
        self.tick.blockSignals(True)
        self.tick.setChecked(ticked)
        self.tick.blockSignals(False)
        self.tick.setAccessibleName(f"Messages go to lane {title}")
        self.setAccessibleName(f"Lane {title}")

    def show_losses(self, losses: Sequence[Loss]) -> None:
        """What its protocol cannot carry of what would be sent next."""
        count = len(losses)
        self.losses.setVisible(bool(count))
        self.losses.setText(
            f"{count} thing{'s' * (count != 1)} of the conversation cannot go as they are" if count else ""
        )
        more = [f"and {count - MOST_LOSSES} more"] if count > MOST_LOSSES else []
        self.losses.setToolTip(tip("\n".join([*map(str, losses[:MOST_LOSSES]), *more])))

    def show_figures(self, words: Sequence[str], *, running: bool) -> None:
        """What the last question took here, and what can be done."""
        self.figures.setText(show_hidden(" · ".join(words)))
        self.stop.setVisible(running)
        self.go_on.setVisible(not running and not self._first)

    def show_chosen(self, chosen: bool) -> None:
        """Whether keys, panels and the inspector are about this lane."""
        look(self.head, "chosen" if chosen else "surface")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonPress:
            self.chosen.emit()
        return super().eventFilter(watched, event)
