"""The small controls of a parameter row.

Without the focus, each ignores the wheel so that the panel scrolls. Each emits ``cleared`` when Delete resets it to
the default.
"""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QSlider,
    QStyle,
    QStyleOptionSlider,
    QWidget,
)

from playground.domain.hidden import LONGEST_NAME
from playground.ui.widgets.form_parts import look, styled

DEFAULT = "default"
FIELD_WIDTH = 68
FIELD_ROOM = 20  # pixels around the text: padding, border, cursor
LINE_ROOM = FIELD_ROOM + 6  # for a placeholder that is not shortened
ARROW_ROOM = 22
NOT_SENT = "default (not sent)"


class ValueField(QLineEdit):
    """A line edit as wide as its text, within limits, that shows "default" in grey while empty."""

    cleared = Signal()
    stepped = Signal(int)

    def __init__(self, parent: QWidget | None = None, *, widest: int = 148, room: int = FIELD_ROOM) -> None:
        super().__init__(parent)
        self._widest, self._room = widest, room
        self.setProperty("kind", "field")
        self.setPlaceholderText(DEFAULT)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.textChanged.connect(self._grow)

    def sizeHint(self) -> QSize:
        text = self.text() or self.placeholderText()
        width = self.fontMetrics().horizontalAdvance(text) + self._room
        return QSize(min(max(width, FIELD_WIDTH), self._widest), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(FIELD_WIDTH, self.sizeHint().height())

    def _grow(self) -> None:
        self.updateGeometry()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {
            Qt.Key.Key_Up: 1,
            Qt.Key.Key_Down: -1,
            Qt.Key.Key_PageUp: 10,
            Qt.Key.Key_PageDown: -10,
        }
        if event.key() == Qt.Key.Key_Delete and not event.modifiers() and self._nothing_to_delete():
            self.cleared.emit()
        elif event.key() in steps and not event.modifiers():
            self.stepped.emit(steps[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def _nothing_to_delete(self) -> bool:
        """Return whether Delete would remove nothing, or everything."""
        if self.hasSelectedText():
            return self.selectedText() == self.text()
        return self.cursorPosition() == len(self.text())


class CompactCombo(QComboBox):
    """A combo box as wide as its text, within limits in pixels; without the focus, the wheel scrolls the panel."""

    def __init__(self, narrowest: int = 84, widest: int = 178, room: int = 44) -> None:
        super().__init__()
        self._narrowest, self._widest, self._room = narrowest, widest, room
        self.setProperty("kind", "field")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.currentTextChanged.connect(self.updateGeometry)

    def setAccessibleName(self, name: str) -> None:
        """Name the box and the field in it, which has the focus of an editable one."""
        super().setAccessibleName(name)
        line: QLineEdit | None = self.lineEdit()
        if line is not None:
            line.setAccessibleName(name)

    def sizeHint(self) -> QSize:
        line: QLineEdit | None = self.lineEdit()
        text = self.currentText() or (line.placeholderText() if line is not None else "")
        width = self.fontMetrics().horizontalAdvance(text) + self._room
        return QSize(min(max(width, self._narrowest), self._widest), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(self._narrowest, self.sizeHint().height())

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class ChoiceField(CompactCombo):
    """A combo box of suggestions that takes any text. ``picked`` carries the text, or None for the default."""

    picked = Signal(object)

    def __init__(self, default: str = NOT_SENT) -> None:
        self._default = default
        super().__init__(FIELD_WIDTH, 172, FIELD_ROOM + ARROW_ROOM)
        self.setEditable(True)
        self._line = styled(ValueField(), "inner")
        self._line.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setLineEdit(self._line)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setCompleter(None)  # type: ignore[arg-type]  # None switches completion off, as Qt documents
        self._line.textEdited.connect(self._emit_text)
        self._line.textChanged.connect(self.updateGeometry)
        self._line.cleared.connect(self._clear)
        self._line.stepped.connect(self._step)
        self.activated.connect(self._activated)

    def set_choices(self, choices: tuple[str, ...]) -> None:
        """Offer ``choices``; the text in the field and its cursor stay."""
        if self.count() and choices == self.choices():
            return
        text, position = self.currentText(), self._line.cursorPosition()
        self.clear()
        self.addItem(self._default)
        self.addItems(list(choices))
        self.show_text(text)
        self._line.setCursorPosition(position)
        widest = max(self.fontMetrics().horizontalAdvance(self.itemText(i)[:LONGEST_NAME]) for i in range(self.count()))
        self.view().setMinimumWidth(widest + 28)

    def choices(self) -> tuple[str, ...]:
        """Return the choices, without the default."""
        return tuple(self.itemText(i) for i in range(1, self.count()))

    def show_text(self, text: str) -> None:
        """Show a choice or any other text; empty shows the grey default."""
        index = self.findText(text, Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchCaseSensitive) if text else -1
        self.setCurrentIndex(index if index > 0 else -1)
        if self.currentText() != text:
            self.setEditText(text)
        self._line.setCursorPosition(0)

    def _emit_text(self, text: str) -> None:
        self.picked.emit(text or None)

    def _activated(self, index: int) -> None:
        if index <= 0:
            self._clear()
        else:
            self.picked.emit(self.itemText(index))

    def _clear(self) -> None:
        self.show_text("")
        self.picked.emit(None)

    def _step(self, steps: int) -> None:
        """Select the next or previous suggestion."""
        if abs(steps) == 1 and self.count() > 1:
            index = min(max(max(self.currentIndex(), 0) - steps, 1), self.count() - 1)
            self.setCurrentIndex(index)
            self._activated(index)


class QuietSlider(QSlider):
    """A slider that jumps to a click. ``moved`` carries the new step, even if it is unchanged."""

    moved = Signal(int)
    cleared = Signal()

    def __init__(self, steps: int, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setRange(0, max(steps, 1))
        self.setPageStep(max(steps // 10, 1))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFixedHeight(14)
        self._showing = False
        self.valueChanged.connect(self._changed)

    def show_step(self, step: int, is_set: bool) -> None:
        """Show a step without a signal; unset sliders have no handle."""
        self._showing = True
        self.setValue(step)
        self._showing = False
        look(self, "" if is_set else "unset")

    def _changed(self, value: int) -> None:
        if not self._showing:
            self.moved.emit(value)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            option = QStyleOptionSlider()
            self.initStyleOption(option)
            handle = self.style().subControlRect(
                QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderHandle, self
            )
            unset = self.property("kind") == "unset"
            if unset or not handle.contains(event.position().toPoint()):
                room = self.width() - handle.width()
                x = int(event.position().x()) - handle.width() // 2
                before = self.value()
                self.setValue(QStyle.sliderValueFromPosition(self.minimum(), self.maximum(), x, room))
                if self.value() == before:
                    self.moved.emit(before)
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.cleared.emit()
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class SwitchPill(QPushButton):
    """A button for on, off or default. The first click sets it, and further clicks toggle it."""

    switched = Signal(bool)
    cleared = Signal()

    def __init__(self, start: bool = True, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._start = start
        self._state: bool | None = None
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self._clicked)
        self.show_state(None)

    @property
    def state(self) -> bool | None:
        """True, False, or None for default."""
        return self._state

    def show_state(self, state: bool | None, text: str = "") -> None:
        """Show a state without a signal; ``text`` represents a value that is not a boolean."""
        self._state = state
        self.setText(text or {None: DEFAULT, True: "on", False: "off"}[state])
        look(self, "pill-on" if state else "pill")
        look(self, "true" if state is None and not text else "false", "unset")
        self.updateGeometry()

    def _clicked(self) -> None:
        self.show_state(self._start if self._state is None else not self._state)
        self.switched.emit(self._state)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.cleared.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)
