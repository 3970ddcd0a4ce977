"""Unknown members of a call, a text or an answer: a line that opens to their JSON."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from playground.engine.inspect.unknown_members import Beside
from playground.jsonkit.foreign import write
from playground.jsonkit.layout import indented
from playground.jsonkit.nesting import approximate_size
from playground.ui.features.conversation.shown_parts import beside_text
from playground.ui.features.conversation.text_view import TextView
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import show_hidden, tip

ARROW = 28  # pixels of the line that its icon and its margins take
GAP = 4
LAID_OUT = 200_000  # characters of members that are copied a line each; more are copied in one line
SAYS = "This program does not know what these members mean. They are kept as they came: {fate}."
SAYS_OF_ANSWER = "The answer came with these members. They are kept as they came: {fate}."
SIZES = " Long texts and lists are shown by their beginning; Copy and the raw answer have all of it."


class MembersFold(QWidget):
    """A fold whose JSON is written when it is opened. Has the same methods as ``ReasoningView``."""

    height_changed = Signal()

    def __init__(self, *, zoom: float = 1.0) -> None:
        super().__init__()
        self._shown: Beside | None = None
        self._source: str | None = None
        self._open = False
        self.unread = True  # whether the text is not in the text view yet
        self.head = styled(QPushButton(), "heading")
        self.head.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.head.clicked.connect(self._toggle)
        self.copy = IconButton("copy", "Copy these members as JSON, all of it", size=14)
        self.copy.clicked.connect(self._copy)
        self.text_view = TextView(mode="raw", muted=True, zoom=zoom)
        self.text_view.setAccessibleName("Unknown members")
        self.text_view.height_changed.connect(self.height_changed)
        row = in_row((self.head, 1), self.copy, margins=0, spacing=GAP)
        in_column(row, self.text_view, of=self, margins=0, spacing=2)
        self._refresh()

    def show_members(self, members: Beside) -> None:
        """Show other members; the fold keeps its state."""
        if members != self._shown:
            self._shown, self._source = members, None
            self.unread = True
            self._refresh()

    @property
    def source(self) -> str:
        """The text shown in the open fold."""
        if self._source is None:
            self._source = beside_text(self._shown) if self._shown is not None else ""
        return self._source

    @property
    def is_open(self) -> bool:
        """Return whether the text is shown."""
        return self._open

    def unfold(self) -> None:
        """Show the text."""
        if not self._open:
            self._toggle()

    def _toggle(self) -> None:
        self._open = not self._open
        self._refresh()

    def _refresh(self) -> None:
        if self._open and self.unread:
            self.text_view.set_text(self.source)
            self.unread = False
        self.text_view.setVisible(self._open)
        self.copy.setVisible(self._open)
        self.head.setIcon(icon("chevron-down" if self._open else "chevron-right", "muted"))
        says = SAYS_OF_ANSWER if self._shown is not None and self._shown.of == "message" else SAYS
        words = says.format(fate=self._shown.fate) if self._shown is not None else ""
        self.head.setToolTip(tip(f"{words}{SIZES}"))
        self.head.setAccessibleName(f"{self._words()}, {'shown' if self._open else 'folded'}")
        self._word_head()
        self.height_changed.emit()

    def _words(self) -> str:
        members = self._shown
        return show_hidden(f"{members.title}: {members.names} · {members.fate}") if members is not None else ""

    def _word_head(self) -> None:
        used = ARROW + (self.copy.sizeHint().width() + GAP if self._open else 0)
        room = max(self.contentsRect().width() - used, 120)
        self.head.setText(self.head.fontMetrics().elidedText(self._words(), Qt.TextElideMode.ElideMiddle, room))

    def _copy(self) -> None:
        if self._shown is not None:
            members = self._shown.members
            few = approximate_size(members, LAID_OUT) <= LAID_OUT  # a second would go by while many values are laid out
            QGuiApplication.clipboard().setText(indented(members) if few else write(members))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._word_head()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._refresh()
