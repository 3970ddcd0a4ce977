"""Small parts of forms with their style: plain-text labels, buttons, lines, and fields for numbers."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QDialog, QFrame, QLabel, QPushButton, QSizePolicy, QToolButton, QWidget

from playground.ui.widgets.icons import icon
from playground.ui.widgets.plain_text import one_line_of, show_hidden, tip

FIELD_HEIGHT = 29  # pixels; a label next to a field is as high, so that their texts are aligned
BUTTON_SIDE = 12  # pixels from a button's edge to its text, border included
W = TypeVar("W", bound=QWidget)


def styled(widget: W, kind: str) -> W:
    """Set the style kind of a new widget and return the widget."""
    widget.setProperty("kind", kind)
    return widget


def look(widget: QWidget, kind: str, name: str = "kind") -> None:
    """Set a style property of a widget, and apply the style again if the property changed.

    Qt polishes a new widget itself. Nothing asks a widget for its style before the first frame, because loading
    PySide's style classes delays it noticeably.
    """
    if widget.property(name) == kind:
        return
    widget.setProperty(name, kind)
    if widget.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def thin_line() -> QFrame:
    """Create a horizontal line, one pixel high."""
    return styled(QFrame(), "line")


def thin_upright() -> QFrame:
    """Create a vertical line, one pixel wide."""
    line = styled(QFrame(), "upright-line")
    line.setFixedWidth(1)
    return line


def text_label(text: str = "", kind: str = "", *, wrap: bool = False) -> QLabel:
    """Create a label in plain text format with a style kind. With ``wrap`` it takes all available width."""
    if not wrap:
        return styled(QLabel(text, textFormat=Qt.TextFormat.PlainText), kind)
    label = paragraph(text, kind)
    policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    policy.setHeightForWidth(True)
    label.setSizePolicy(policy)
    return label


def paragraph(text: str = "", kind: str = "") -> QLabel:
    """Create a word-wrapped label in plain text format, of the width that Qt prefers for its text."""
    return styled(QLabel(text, textFormat=Qt.TextFormat.PlainText, wordWrap=True), kind)


def say(label: QLabel, text: str, kind: str | None = None) -> None:
    """Show ``text`` in the label, or hide the label if the text is empty."""
    label.setText(show_hidden(text))
    if kind is not None:
        look(label, kind)
    label.setVisible(bool(text))


def quiet_button(text: str, name: str, symbol: str = "") -> QToolButton:
    """Create a button without a frame; ``name`` is its accessible name and its tooltip."""
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
    """Create a button that Enter in a field never presses."""
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
    """A push button whose text is elided in the middle instead of making the form wider."""

    def __init__(self) -> None:
        super().__init__()
        self.setAutoDefault(False)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._full_text = ""

    def set_offer(self, words: str, url: str) -> None:
        """Offer ``url``; the accessible name has the full text."""
        self._full_text = f"{words} {url}"
        self.setAccessibleName(self._full_text)
        self.setToolTip(tip(url))
        self._elide()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        width = self.fontMetrics().horizontalAdvance(one_line_of(self._full_text)) + 2 * BUTTON_SIDE + 4
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(80, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        room = max(self.width() - 2 * BUTTON_SIDE, 40)
        elided = self.fontMetrics().elidedText(one_line_of(self._full_text), Qt.TextElideMode.ElideMiddle, room)
        self.setText(elided.replace("&", "&&"))


class _WheelGuard(QObject):
    """Event filter that lets the wheel scroll the form instead of changing the field under the pointer."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return False


def keep_from_wheel(field: QWidget) -> None:
    """Ignore the wheel over a field without the focus, so that the form scrolls."""
    field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    field.installEventFilter(_WheelGuard(field))
