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


class LaneChip(QLabel):
    """Names the lane of Compare that a panel shows; the tooltip has the full title. Hidden outside Compare."""

    def __init__(self) -> None:
        super().__init__(textFormat=Qt.TextFormat.PlainText)
        styled(self, "chip-lane").setObjectName("laneChip")
        self.hide()

    def show_lane(self, title: str) -> None:
        """Show the letter at the beginning of the title of a lane; an empty title hides the chip."""
        self.setText(f"Lane {title[:1]}")
        self.setToolTip(tip(f"Lane {title}"))
        self.setAccessibleName(show_hidden(f"Lane {title}"))
        self.setVisible(bool(title))


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


class ElidedButton(QPushButton):
    """A push button of one line that is elided to fit; ``least`` is its smallest width in pixels."""

    def __init__(
        self, kind: str = "", *, least: int = 80, elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight
    ) -> None:
        super().__init__(autoDefault=False)
        styled(self, kind)
        self._least = least
        self._elide = elide
        self._full_text = ""
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    @property
    def full_text(self) -> str:
        """The text before it is elided."""
        return self._full_text

    def set_full_text(self, text: str) -> None:
        """Show ``text``, elided to fit."""
        self._full_text = one_line_of(text)
        self._fit()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Return the size for the full text."""
        hint, width = super().sizeHint(), self.fontMetrics().horizontalAdvance
        return QSize(hint.width() - width(self.text().replace("&&", "&")) + width(self._full_text) + 2, hint.height())

    def minimumSizeHint(self) -> QSize:
        hint = self.sizeHint()
        return QSize(min(self._least, hint.width()), hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        metrics = self.fontMetrics()
        missing = max(self.sizeHint().width() - self.width(), 0)
        elided = metrics.elidedText(
            self._full_text, self._elide, metrics.horizontalAdvance(self._full_text) + 2 - missing
        )
        self.setText(elided.replace("&", "&&"))


class OfferButton(ElidedButton):
    """A button that offers an address, elided in the middle."""

    def __init__(self) -> None:
        super().__init__(elide=Qt.TextElideMode.ElideMiddle)

    def set_offer(self, words: str, url: str) -> None:
        """Offer ``url``; the accessible name has the full text."""
        self.setAccessibleName(f"{words} {url}")
        self.setToolTip(tip(url))
        self.set_full_text(f"{words} {url}")


class ExperimentTitle(ElidedButton):
    """The title of the experiment in a tool bar; a click shows the list of experiments."""

    def __init__(self, most: int) -> None:
        super().__init__("title")
        self.setMaximumWidth(most)
        self.setToolTip("The experiment: show the list of all (Ctrl+B)")
        self.set_title("")

    def set_title(self, title: str) -> None:
        """Show the title of an experiment."""
        self.set_full_text(title)
        self.setAccessibleName(f"Experiment {self.full_text}: show the list of all")


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
