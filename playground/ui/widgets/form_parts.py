"""Small parts of windows with their looks: labels that never read foreign text as rich text, buttons,
lines, a seconds field.
"""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, QRegularExpression, QSize, Qt
from PySide6.QtGui import QIntValidator, QRegularExpressionValidator, QResizeEvent
from PySide6.QtWidgets import QDialog, QFrame, QLabel, QLineEdit, QPushButton, QSizePolicy, QToolButton, QWidget

from playground.ui.widgets.icons import icon
from playground.ui.widgets.plain_text import one_line_of, show_hidden, tip

FIELD_HEIGHT = 29  # pixels; a label beside a field is as high, so that their texts stand on one line
BUTTON_SIDE = 12  # pixels from a button's edge to its text, border included
W = TypeVar("W", bound=QWidget)


def styled(widget: W, kind: str) -> W:
    """A widget that is being made, with that look of the style sheet."""
    widget.setProperty("kind", kind)
    return widget


def look(widget: QWidget, kind: str, name: str = "kind") -> None:
    """Set the style property of a widget and let the style take notice, if it changed.

    What has not been dressed yet will be, by itself. The first frame asks no widget for its style: Python's names for
    all of Qt's styles take as long to make as a tenth of it.
    """
    if widget.property(name) == kind:
        return
    widget.setProperty(name, kind)
    if widget.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def thin_line() -> QFrame:
    """A horizontal line, one pixel high."""
    return styled(QFrame(), "line")


def thin_upright() -> QFrame:
    """A vertical line, one pixel wide."""
    line = styled(QFrame(), "upright-line")
    line.setFixedWidth(1)
    return line


def text_label(text: str = "", kind: str = "", *, wrap: bool = False) -> QLabel:
    """A label in plain text format; ``kind`` is a look of the style sheet. With ``wrap`` it is as wide as it may be."""
    if not wrap:
        return styled(QLabel(text, textFormat=Qt.TextFormat.PlainText), kind)
    label = paragraph(text, kind)
    policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    policy.setHeightForWidth(True)
    label.setSizePolicy(policy)
    return label


def paragraph(text: str = "", kind: str = "") -> QLabel:
    """A label in plain text format of as many lines as it takes; its width is the usual one of its words."""
    return styled(QLabel(text, textFormat=Qt.TextFormat.PlainText, wordWrap=True), kind)


def say(label: QLabel, text: str, kind: str | None = None) -> None:
    """Show ``text`` in the label, or hide the label when there is nothing to say."""
    label.setText(show_hidden(text))
    if kind is not None:
        look(label, kind)
    label.setVisible(bool(text))


def quiet_button(text: str, name: str, symbol: str = "") -> QToolButton:
    """A button without a frame; ``name`` is what assistive technology calls it, and its tooltip."""
    button = styled(QToolButton(), "quiet")
    button.setText(text)
    if symbol:
        button.setIcon(icon(symbol, "muted" if text else None))
        button.setIconSize(QSize(16, 16))
    if text and symbol:
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    button.setAccessibleName(name)
    button.setToolTip(tip(name))
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button


def push_button(text: str, kind: str = "") -> QPushButton:
    """A button that Enter in a field never presses."""
    return styled(QPushButton(text, autoDefault=False), kind)


def press_default_button(field: QWidget) -> bool:
    """Press the default button of the dialog around a field, for Ctrl+Enter in a text of several lines.

    Return whether there is one that is enabled.
    """
    dialog = field.window()
    buttons = dialog.findChildren(QPushButton) if isinstance(dialog, QDialog) else []
    button = next((button for button in buttons if button.isDefault() and button.isEnabled()), None)
    if button is not None:
        button.click()
    return button is not None


class OfferButton(QPushButton):
    """A push button whose text gives way in the middle instead of making the form wider."""

    def __init__(self) -> None:
        super().__init__()
        self.setAutoDefault(False)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._whole = ""

    def set_offer(self, words: str, url: str) -> None:
        """Offer ``url``; the tooltip and the accessible name have all of it."""
        self._whole = f"{words} {url}"
        self.setAccessibleName(self._whole)
        self.setToolTip(tip(url))
        self._elide()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        wide = self.fontMetrics().horizontalAdvance(one_line_of(self._whole)) + 2 * BUTTON_SIDE + 4
        return QSize(wide, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(80, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        room = max(self.width() - 2 * BUTTON_SIDE, 40)
        elided = self.fontMetrics().elidedText(one_line_of(self._whole), Qt.TextElideMode.ElideMiddle, room)
        self.setText(elided.replace("&", "&&"))


class SecondsEdit(QLineEdit):
    """Seconds as a number; empty, "off" or 0 is off."""

    def __init__(self, name: str, what: str) -> None:
        super().__init__()
        self.setValidator(QRegularExpressionValidator(QRegularExpression(r"off?|o|\d{0,6}([.,]\d{0,3})?"), self))
        self.setPlaceholderText("off")
        self.setAccessibleName(name)
        self.setAccessibleDescription(what)
        self.setToolTip(tip(f"{what} Leave it empty to switch it off."))

    def seconds(self) -> float | None:
        """The value; None when off."""
        try:
            return float(self.text().replace(",", ".")) or None
        except ValueError:
            return None

    def set_seconds(self, seconds: float | None) -> None:
        """Show a value; None is off."""
        self.setText(f"{seconds:.3f}".rstrip("0").rstrip(".") if seconds else "")


class WholeEdit(QLineEdit):
    """A whole number from ``low`` to ``high``; what is out of range cannot be typed, empty is ``start``."""

    def __init__(self, name: str, what: str, low: int, high: int, start: int) -> None:
        super().__init__()
        self._low = low
        self._start = start
        self.setValidator(QIntValidator(0, high, self))
        self.setPlaceholderText(str(start))
        self.setAccessibleName(name)
        self.setAccessibleDescription(what)
        self.setToolTip(tip(what))

    def number(self) -> int:
        """The value."""
        text = self.text().strip()
        return max(int(text), self._low) if text.isdecimal() else self._start

    def set_number(self, number: int) -> None:
        """Show a value."""
        self.setText(str(number))


class _WheelGuard(QObject):
    """Lets the wheel scroll the form instead of changing whatever happens to pass under the pointer."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return False


def keep_from_wheel(field: QWidget) -> None:
    """Have the wheel scroll past a field that has not the focus."""
    field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    field.installEventFilter(_WheelGuard(field))
