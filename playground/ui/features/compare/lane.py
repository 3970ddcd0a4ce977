"""Column of a lane: its head, its turns, its metrics. The turns are drawn by the view of the conversation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QFont, QMouseEvent
from PySide6.QtWidgets import QApplication, QCheckBox, QFrame, QMenu, QSizePolicy, QWidget

from playground.engine.compare.differences import Differences
from playground.engine.requests.protocol_conversion import DOUBTFUL
from playground.jsonkit.texts import cut, quantity
from playground.ui.features.conversation.measures import BELOW
from playground.ui.features.conversation.transcript_pane import TranscriptPane
from playground.ui.features.conversation.turn_card import TurnCard
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import BUTTON_SIDE, look, push_button, quiet_button, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.mark_label import MarkLabel
from playground.ui.widgets.model_picker import ModelPicker
from playground.ui.widgets.plain_text import show_hidden, tip

if TYPE_CHECKING:
    from playground.engine.requests.protocol_conversion import Loss

MIN_WIDTH = 420  # pixels; turns, code and the fields of a call stay readable at this width
MIN_MODEL = 110  # pixels
MAX_FIELDS = 6  # of the request, in a tooltip
HEAD_LOSSES, TOOLTIP_LOSSES = 2, 12  # numbers of losses in the head and in its tooltip
MAX_LOSS = 120  # characters of a loss
LINE = 10  # pixels; controls closer than this share a line

REASON = Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.TabFocusReason  # backward, forward
#: Entries of the menu: action, label, and whether the first lane has it; None is a separator.
ENTRIES: tuple[tuple[str, str, bool] | None, ...] = (
    ("system", "System message…", False),
    ("preset", "Save as preset…", True),
    ("copy", "Copy to another lane", True),
    None,
    ("again", "Regenerate here", True),
    ("all_again", "Regenerate in all lanes", True),
    ("timeline", "Timeline", True),
    ("go_on", "Continue here", False),
    None,
    ("name", "Name…", False),
    ("left", "Move left", False),
    ("right", "Move right", False),
    ("close", "Close", False),
)


class LaneColumn(QFrame):
    """Head, turns and metrics of a lane. The first lane cannot be named, moved or closed.

    ``turns`` is the widget in the middle, whose turns ``pane`` shows. ``menus`` apply to the focused lane; they come
    first in the menu of the column.
    """

    chosen = Signal()  # the lane takes the focus
    ticked = Signal(bool)
    action_requested = Signal(str)  # an entry of the menu, or "settings", "stop", "request"

    def __init__(
        self, parent: QWidget, pane: TranscriptPane, turns: QWidget, menus: Sequence[QMenu], *, first: bool
    ) -> None:
        super().__init__(parent)
        self.setObjectName("lane")
        self.pane = pane
        self._first = first
        self.setMinimumWidth(MIN_WIDTH)
        self.tick = QCheckBox()
        self.tick.setToolTip("Messages go to this lane")
        self.tick.toggled.connect(self.ticked)
        self.name = ElidedLabel("Lane", colour="text")
        self.name.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        bold = QFont(self.name.font())
        bold.setWeight(QFont.Weight.DemiBold)
        self.name.setFont(bold)
        self.model = ModelPicker(MIN_MODEL)
        self.count = quiet_button("0 set", "What is set in this lane: show it in the panel", "settings")
        self.count.clicked.connect(partial(self._request_action, "settings"))
        more = quiet_button("", "More about this lane", "more")
        more.setMenu(self._menu(more, menus))
        more.setPopupMode(more.ToolButtonPopupMode.InstantPopup)
        self.words = text_label("", "small", wrap=True)
        self.losses = text_label("", "warning", wrap=True)
        self.losses.hide()
        self.head = QFrame(self)
        self.head.setProperty("kind", "surface")
        self.head.installEventFilter(self)
        row = in_row(self.tick, self.name, (self.model, 1000), self.model.unlisted, 1, self.count, more, spacing=6)
        in_column(row, self.words, self.losses, parent=self.head, margins=(12, 6, 8, 6), spacing=2)
        bar = [in_row((pane.calls.bar, 1), margins=BELOW)] if first else []  # other panes contain their own bar
        column = in_column(self.head, (turns, 1), *bar, parent=self, margins=0, spacing=0)
        self.figures = text_label("", "small", wrap=True)
        self.best = styled(MarkLabel(wraps=True), "small")
        self.best.set_mark("check", "ok")
        self.stop = push_button("Stop this lane", "quiet")
        self.timeline = push_button("Timeline", "quiet")
        self.timeline.setToolTip("Show the events of the answer in the inspector")
        self.go_on = push_button("Continue here", "quiet")
        self.go_on.setToolTip("Make this lane the conversation. The conversation becomes this lane.")
        self.request = push_button("", "quiet")
        self.left_out = text_label("", "small", wrap=True)
        buttons = self.timeline, self.stop, self.go_on
        for name, button in (("timeline", self.timeline), ("stop", self.stop), ("go_on", self.go_on)):
            button.clicked.connect(partial(self._request_action, name))
        self.request.clicked.connect(partial(self._request_action, "request"))
        self.foot = QFrame(self)
        self.foot.setProperty("kind", "surface")
        self.foot.setMinimumHeight(self.go_on.sizeHint().height() + 6)  # the same height without a visible button
        metrics_row, request_row = in_row((self.figures, 1), *buttons, spacing=6), in_row(self.request, 1)
        for label in (self.figures, self.best, self.left_out):  # aligned with the text of the button
            margins = label.contentsMargins()
            label.setContentsMargins(margins.left() + BUTTON_SIDE, 0, 0, 0)
        in_column(
            metrics_row,
            self.best,
            request_row,
            self.left_out,
            parent=self.foot,
            margins=(12 - BUTTON_SIDE, 3, 8, 3),
            spacing=2,
        )
        for name, part in (
            ("laneHead", self.head),
            ("laneSettings", self.words),
            ("laneLosses", self.losses),
            ("laneMetrics", self.figures),
            ("laneBest", self.best),
            ("laneRequest", self.request),
        ):
            part.setObjectName(name)
        self.show_differences(None)
        column.addWidget(self.foot)

    def _menu(self, parent: QWidget, menus: Sequence[QMenu]) -> QMenu:
        menu = QMenu(parent)
        menu.aboutToShow.connect(self.chosen)  # some clicks do not move the focus
        for submenu in menus:
            menu.addMenu(submenu)
        for entry in ENTRIES:
            if entry is None:
                menu.addSeparator()
            elif entry[2] or not self._first:
                menu.addAction(entry[1]).triggered.connect(partial(self._request_action, entry[0]))
        return menu

    def _request_action(self, name: str, _checked: bool = False) -> None:
        self.action_requested.emit(name)

    def show_head(self, title: str, model: str, words: Sequence[str], count: int, *, ticked: bool) -> None:
        """Show the title and the model of the lane; ``words`` name its gateway and its own settings.

        ``count`` is the number of parameters that are set.
        """
        self.name.set_text(show_hidden(title))
        if model != self.model.shown:
            self.model.show_model(model)
            self.model.setToolTip(tip(model))
        self.model.setAccessibleName(f"Model of lane {title}")
        self.words.setText(show_hidden(" · ".join(words)))
        self.count.setText(f"{count} set")
        self.tick.blockSignals(True)
        self.tick.setChecked(ticked)
        self.tick.blockSignals(False)
        self.tick.setAccessibleName(f"Messages go to lane {title}")
        self.setAccessibleName(f"Lane {title}")
        if not self._first:
            self.pane.view.setAccessibleName(f"Messages of lane {title}")

    def show_losses(self, losses: Sequence[Loss]) -> None:
        """Show which parts of the next request the lane's protocol cannot carry, else those it may take differently."""
        certain = [loss for loss in losses if loss.kind != DOUBTFUL]
        shown = certain or losses
        count, words = len(shown), "cannot go as they are" if certain else "may be taken differently"
        summary = f"{count} things {words}" if count > 1 else f"1 thing {words.replace('they are', 'it is')}"
        self.losses.setVisible(bool(count))
        self.losses.setText(show_hidden(f"{summary}: {_listed(shown, HEAD_LOSSES, '; ')}") if count else "")
        self.losses.setToolTip(tip(_listed(losses, TOOLTIP_LOSSES, "\n")))

    def show_figures(self, words: Sequence[str], best: Sequence[str], *, running: bool, waiting: bool) -> None:
        """Show the metrics of the last answer, the ones in which the lane is best, and the buttons that apply."""
        self.figures.setText(show_hidden(" · ".join(words)))
        self.best.setText(" · ".join(best))
        self.best.setVisible(bool(best))
        self.stop.setVisible(running)
        self.timeline.setVisible(waiting)
        self.go_on.setVisible(not running and not waiting and not self._first)

    def show_differences(self, differences: Differences | None) -> None:
        """Show in how many fields the last request differs from lane A's, and what was not compared."""
        fields = differences.fields if differences is not None else None
        count = len(fields or ())
        words = f"{quantity(count, 'field')} of the request differ{'s' * (count == 1)}"
        self.request.setText(words if count else "the request is lane A's")
        details = [*(fields or ())[:MAX_FIELDS], *([f"and {count - MAX_FIELDS:,} more"] if count > MAX_FIELDS else [])]
        self.request.setToolTip(tip("\n".join([*details, "Show how it differs from lane A's, in the inspector"])))
        self.request.setVisible(fields is not None)
        left_out = differences.left_out if differences is not None else ()
        self.left_out.setText(" ".join(left_out))
        self.left_out.setVisible(bool(left_out))

    @property
    def stops(self) -> list[QWidget]:
        """Tab stops of the lane in visual order: head, view, cards, foot.

        Cards are created when they scroll into view, so Qt's own tab order jumps between lanes.
        """
        parts = [part for part in self.findChildren(QWidget) if part.isVisible() and part.isEnabled() and is_stop(part)]
        return sorted(parts, key=self._place)

    def _place(self, part: QWidget) -> tuple[int, int, int]:
        position = part.mapTo(self, QPoint(0, 0))
        if self.head.isAncestorOf(part) or self.foot.isAncestorOf(part):
            return 0 if self.head.isAncestorOf(part) else 3, 0, position.x()
        if part is self.pane.view:
            return 1, 0, 0
        line = position.y() if isinstance(part, TurnCard) else position.y() + part.height() // 2
        return 2, line // LINE, position.x()

    def focusNextPrevChild(self, next: bool) -> bool:
        focus = QApplication.focusWidget()
        if focus is None or not focus.isVisible():  # The focused control, and maybe others, are being deleted.
            return super().focusNextPrevChild(next)
        stops = self.stops
        index = stops.index(focus) + (1 if next else -1) if focus in stops else -1
        if not 0 <= index < len(stops):
            return super().focusNextPrevChild(next)
        stops[index].setFocus(REASON[next])
        return True

    def show_chosen(self, chosen: bool) -> None:
        """Highlight the head if keys, panels and the inspector apply to this lane."""
        look(self.head, "chosen" if chosen else "surface")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonPress:
            self.chosen.emit()
        return super().eventFilter(watched, event)


def is_stop(part: QWidget) -> bool:
    """Return whether the tab key stops at a widget."""
    return bool(part.focusPolicy() & Qt.FocusPolicy.TabFocus) and part.focusProxy() is None


def next_outside(focus: QWidget, area: QWidget, *, forward: bool) -> QWidget | None:
    """Return the tab stop after or before ``focus`` that is outside ``area``, or None."""
    candidate = focus.nextInFocusChain() if forward else focus.previousInFocusChain()
    while candidate is not None and candidate is not focus:
        if candidate.isVisible() and candidate.isEnabled() and is_stop(candidate) and not area.isAncestorOf(candidate):
            return candidate
        candidate = candidate.nextInFocusChain() if forward else candidate.previousInFocusChain()
    return None


def _listed(losses: Sequence[Loss], most: int, between: str) -> str:
    more = [f"and {len(losses) - most:,} more"] if len(losses) > most else []
    return between.join([*(cut(str(loss), MAX_LOSS) for loss in losses[:most]), *more])
