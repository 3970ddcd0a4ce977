"""One line on an exchange: ``POST /v1/chat/completions  200  2.91 s``, and a menu to look at another one."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from playground.ui.features.inspector.exchange_words import asked, exchange_words
from playground.ui.features.inspector.view import ExchangeView
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import look, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.plain_text import show_hidden, tip

OFFERED = 30  # exchanges that the menu lists
SPACING = 8
WAITING = "waiting"
SHORTEST = "no answer"  # the widest of the words that are said where there is little room


class StatusLine(QWidget):
    """Method and path, the status in its colour and always as a number or a word, and the time it took.

    ``exchange_asked`` carries the id of another exchange; ``changed`` says that the line takes more or less room.
    """

    exchange_asked = Signal(str)
    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._exchange: ExchangeView | None = None
        self._figures = True
        self._word = ""
        self.path = ElidedLabel(align=Qt.AlignmentFlag.AlignRight)
        self.path.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.status = QLabel()
        self.time = text_label("", "muted")
        self.others = IconButton("chevron-down", "Look at another exchange", size=12)
        self.others.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = QMenu(self.others)
        self.others.setMenu(self.menu)
        self.others.hide()
        self.menu.aboutToShow.connect(self._fill)
        row = in_row(1, (self.path, 1000), of=self, margins=0, spacing=SPACING)
        for label in (self.status, self.time):
            label.setTextFormat(Qt.TextFormat.PlainText)
            row.addWidget(label)
        row.addWidget(self.others)

    def minimumSizeHint(self) -> QSize:
        """Whoever shows it decides, by ``show_as_much``."""
        return QSize(0, super().minimumSizeHint().height())

    def show_exchange(self, exchange: ExchangeView | None) -> None:
        """Say which exchange is shown; None clears the line."""
        before = self._exchange is None, self._word, self.time.text(), self.others.isHidden()
        self._exchange = exchange
        if exchange is None:
            self.path.set_text("")
            self._word = ""
            self.status.setText("")
            self.time.setText("")
            self.others.hide()
            self.setToolTip("")
        else:
            self.path.set_text(show_hidden(f"{exchange.method} {exchange.path}"))
            word, kind = _state(exchange)
            self._word = word
            self.status.setText(word if self._figures else _short(word))
            look(self.status, kind)
            self.time.setText("" if exchange.duration is None else f"{exchange.duration:.2f} s")
            self.time.setVisible(exchange.duration is not None and self._figures)
            self.others.setVisible(len(asked(exchange.others())) > 1)
            told = [exchange.url, f"{exchange.status or ''} {exchange.reason}".strip(), word, self.time.text()]
            self.setToolTip(tip("\n".join(line for line in [*told, exchange.error] if line)))
        if before != (exchange is None, self._word, self.time.text(), self.others.isHidden()):
            self.changed.emit()

    def least(self, *, figures: bool = True) -> int:
        """Pixels that the line takes without the path; without ``figures`` always the same, so that nothing jumps."""
        metrics = self.fontMetrics()
        words = [self._word, self.time.text()] if figures else [SHORTEST]
        wide = [metrics.horizontalAdvance(word) + SPACING for word in words if word]
        if not self.others.isHidden() or not figures:
            wide.append(self.others.sizeHint().width() + SPACING)
        return sum(wide)

    def show_as_much(self, *, path: bool, figures: bool) -> None:
        """What there is room for; the tooltip has all of it."""
        self._figures = figures
        self.status.setText(self._word if figures else _short(self._word))
        self.path.setVisible(path)
        self.time.setVisible(figures and bool(self.time.text()))

    def _fill(self) -> None:
        """The exchanges of the experiment, the last one first."""
        self.menu.clear()
        exchange = self._exchange
        if exchange is None:
            return
        for number, one in reversed(asked(exchange.others())[-OFFERED:]):
            action = self.menu.addAction(exchange_words(number, one).replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(one.id == exchange.key)
            action.triggered.connect(partial(self._asked, one.id))

    def _asked(self, exchange_id: str, _checked: bool = False) -> None:
        self.exchange_asked.emit(exchange_id)


def _short(word: str) -> str:
    """The first of two words; the tooltip has both."""
    return "…" if word == WAITING else word.partition(" · ")[0]


def _state(exchange: ExchangeView) -> tuple[str, str]:
    """The word for how it stands, and its colour."""
    if exchange.status is None:
        if exchange.error:
            return "failed", "error"
        return (WAITING, "muted") if exchange.duration is None else ("no answer", "warning")  # as for "not whole"
    kind = "ok" if exchange.status < 300 else "warning" if exchange.status < 400 else "error"
    if exchange.error and exchange.status < 300:
        return f"{exchange.status} · broken off", "error"
    if exchange.duration is not None and not exchange.complete and kind == "ok":
        return f"{exchange.status} · not whole", "warning"  # stopped, or the application ended
    return (f"{exchange.status} · running" if exchange.duration is None else str(exchange.status)), kind
