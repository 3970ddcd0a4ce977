"""The exchange that is shown, ``POST /v1/chat/completions  200  2.91 s``, as a button with a menu of all exchanges."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from playground.ui.features.inspector.view import ExchangeView, describe_exchange
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import look, styled, text_label
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.plain_text import show_hidden, tip

MAX_CHOICES = 30
SPACING, EDGE = 8, 6
ARROW = 20  # pixels for the style's menu arrow
MIN_PATH = 70  # pixels; below, the path is hidden


class StatusButton(QToolButton):
    """Method, path, status and duration of an exchange; ``exchange_chosen`` carries the id of another one."""

    exchange_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._exchange: ExchangeView | None = None
        self.setObjectName("exchangeStatus")
        styled(self, "quiet").setProperty("arrow", True)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Exchange: none")
        self.setMenu(QMenu(self))
        self.menu().aboutToShow.connect(self._fill_menu)
        self.path = ElidedLabel()
        self.path.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.status, self.duration = text_label(""), text_label("", "muted")
        self._row = in_row(
            self.path, self.status, self.duration, parent=self, margins=(EDGE, 0, ARROW, 0), spacing=SPACING
        )
        for label in (self.path, self.status, self.duration):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def show_exchange(self, view: ExchangeView | None, *, unsent: bool = False) -> None:
        """Show this exchange, or hide the button. ``unsent``: the last run sent nothing; the menu has the exchanges."""
        self._exchange = view
        self.setHidden(view is None)
        if view is None:
            return
        if unsent:
            self.path.set_text("")
            self.duration.setText("")
            self.status.setText("not sent")
            look(self.status, "error")
            self.setToolTip(tip("The last run sent nothing."))
            self.setAccessibleName("Exchange: not sent")
            self.updateGeometry()
            self._fit()
            return
        exchange = view.exchange
        word, kind = _state(view)
        duration = "" if exchange.ended is None else f"{exchange.ended:.2f} s"
        self.path.set_text(show_hidden(f"{exchange.method} {view.path}"))
        self.status.setText(word)
        look(self.status, kind)
        self.duration.setText(duration)
        facts = [exchange.url, f"{exchange.status or ''} {exchange.reason}".strip(), word, duration, view.error]
        self.setToolTip(tip("\n".join(fact for fact in facts if fact)))
        self.setAccessibleName(show_hidden(f"Exchange: {exchange.method} {view.path}, {word}, {duration}"))
        self.setAccessibleDescription("Opens a list of the exchanges of this experiment.")
        self.updateGeometry()
        self._fit()

    def sizeHint(self) -> QSize:
        return QSize(self._width_of_figures() + SPACING + self.path.sizeHint().width(), self._height())

    def minimumSizeHint(self) -> QSize:
        return QSize(EDGE + self.status.sizeHint().width() + ARROW, self._height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _height(self) -> int:
        return self.fontMetrics().height() + 2 * EDGE

    def _width_of_figures(self) -> int:
        duration = self.duration.sizeHint().width() + SPACING if self.duration.text() else 0
        return self.minimumSizeHint().width() + duration

    def _fit(self) -> None:
        """Hide the path, then the duration, where the room is short. The tooltip has all of it."""
        figures = self._width_of_figures()
        self.path.setVisible(self.width() >= figures + SPACING + MIN_PATH)
        self.duration.setVisible(bool(self.duration.text()) and self.width() >= figures)

    def _fill_menu(self) -> None:
        self.menu().clear()
        if self._exchange is None:
            return
        for number, exchange in reversed(self._exchange.choices[-MAX_CHOICES:]):
            action = self.menu().addAction(describe_exchange(number, exchange).replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(exchange.id == self._exchange.id)
            action.triggered.connect(partial(self._choose, exchange.id))

    def _choose(self, exchange_id: str, _checked: bool = False) -> None:
        self.exchange_chosen.emit(exchange_id)


def _state(view: ExchangeView) -> tuple[str, str]:
    """Return the state of an exchange in a word or two, and the look of its label."""
    exchange = view.exchange
    if exchange.status is None:
        if exchange.failure is not None:
            return "failed", "error"
        return ("waiting", "muted") if exchange.ended is None else ("no response", "warning")
    kind = "ok" if exchange.status < 300 else "warning" if exchange.status < 400 else "error"
    if exchange.failure is not None and exchange.status < 300:
        return f"{exchange.status} · interrupted", "error"
    if exchange.ended is not None and not exchange.complete and kind == "ok":
        return f"{exchange.status} · incomplete", "warning"
    return (f"{exchange.status} · running" if exchange.ended is None else str(exchange.status)), kind
