"""The card of a variant: its letter, name and differences."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFont, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QCheckBox, QSizePolicy, QVBoxLayout, QWidget

from playground.engine.session.variants import letter_of
from playground.ui.features.evaluate.colours import colour_name, colour_of
from playground.ui.widgets.card_frame import CardFrame
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import say, styled, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import discard, in_column, in_row
from playground.ui.widgets.mark_label import MarkLabel
from playground.ui.widgets.plain_text import shown_name
from playground.ui.widgets.theme import tokens


class _Difference(QWidget):
    """A difference: the setting and its value."""

    def __init__(self) -> None:
        super().__init__()
        self._what = text_label("", "muted")
        self._value = styled(MarkLabel(), "difference")
        self._value.setMinimumWidth(30)
        self._value.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        in_row(self._what, self._value, 1, parent=self, margins=0, spacing=6)

    def show_words(self, what: str, value: str) -> None:
        self._what.setText(shown_name(what))
        self._value.setText(shown_name(value))


class VariantCard(CardFrame):
    """The card of a variant; with ``as_set`` that of the current settings, with a box to include them.

    ``more_asked`` carries the position of its menu. A double click and Enter emit ``edit_asked``.
    """

    edit_asked = Signal()
    more_asked = Signal(QPoint)
    part_set = Signal(bool)

    def __init__(self, *, as_set: bool = False) -> None:
        super().__init__()
        self._as_set = as_set
        self._place: int | None = None
        self._shown: object = None
        self._letter = ElidedLabel("Letter")
        bold = QFont(self._letter.font())
        bold.setWeight(QFont.Weight.DemiBold)
        self._letter.setFont(bold)
        self.name = ElidedLabel("Variant", elide=Qt.TextElideMode.ElideRight)
        self.include = QCheckBox("Include")
        self.include.setToolTip("Include the current settings, and compare the variants with them")
        self.include.clicked.connect(self.part_set)
        self.more = IconButton("more", "More about this variant")
        self.more.clicked.connect(self._ask_more)
        self.lines: list[_Difference] = []
        self._column = QVBoxLayout()
        self._column.setSpacing(2)
        self._words = text_label("", "small", wrap=True)
        self._problem = text_label("", "flag-error", wrap=True)
        head = in_row(self._letter, (self.name, 1), self.include, self.more, spacing=8)
        in_column(head, self._column, self._words, self._problem, parent=self, margins=(14, 7, 8, 9), spacing=3)
        self.include.setVisible(as_set)
        self.more.setVisible(not as_set)
        if not as_set:
            self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def stripe(self) -> str:
        return tokens().line if self._place is None else colour_of(self._place)

    def show_variant(
        self, place: int | None, name: str, words: Sequence[tuple[str, str]], otherwise: str, problem: str = ""
    ) -> None:
        """``place`` gives the letter, None: it is not asked. ``otherwise`` is shown without differences."""
        texts = (place, name, tuple(words), otherwise, problem)
        if texts == self._shown:
            return
        self._shown, self._place = texts, place
        letter = letter_of(place) if place is not None else ""
        self._letter.set_text(letter)
        self._letter.set_colour(colour_name(place) if place is not None else "muted")
        self._letter.setVisible(bool(letter))
        self.name.set_text(shown_name(name))
        self.include.setChecked(place is not None)
        while len(self.lines) < len(words):
            line = _Difference()
            self.lines.append(line)
            self._column.addWidget(line)
        spare = self.lines[len(words) :]
        del self.lines[len(words) :]
        discard(self._column, *spare)
        for line, difference in zip(self.lines, words, strict=True):
            line.show_words(*difference)
        say(self._words, "" if words else otherwise)
        say(self._problem, problem)
        description = ", ".join(f"{what} {value}" for what, value in words) or otherwise
        self.setAccessibleName(shown_name(" ".join(filter(None, ("Variant", letter, name)))) + f": {description}")
        self.update()

    def _ask_more(self) -> None:
        self.more_asked.emit(self.more.mapToGlobal(QPoint(0, self.more.height())))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if not self._as_set:
            self.more_asked.emit(event.globalPos())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if not self._as_set:
            self.edit_asked.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not self._as_set:
            self.edit_asked.emit()
        else:
            super().keyPressEvent(event)
