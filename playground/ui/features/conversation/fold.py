"""Texts that are folded to one line: reasoning, and members that the program does not know."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QLayout, QPushButton, QSizePolicy, QWidget

from playground.domain.accumulator import GrowingPart
from playground.domain.parts import Reasoning
from playground.engine.inspect.unknown_members import Beside
from playground.jsonkit.foreign import write
from playground.jsonkit.layout import indented
from playground.jsonkit.nesting import approximate_size
from playground.ui.features.conversation.part_view import PartContext, PartView, Searched
from playground.ui.features.conversation.rows import REDACTED, beside_text
from playground.ui.features.conversation.text_view import TextView
from playground.ui.widgets import figures
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.theme import tokens

ARROW = 44  # pixels of the head that its icon and its margins take
GAP = 4
MIN_HEAD = 120  # pixels
EXCERPT = 300  # characters of reasoning looked at for the folded line
LAID_OUT = 200_000  # characters of members that are copied a line each; more are copied in one line
SAYS = "This program does not know what these members mean. They are kept as they came: {fate}."
SAYS_OF_ANSWER = "The answer came with these members. They are kept as they came: {fate}."
SIZES = " Long texts and lists are shown by their beginning; Copy and the raw answer have all of it."


class Fold(QFrame):
    """A line that opens to a text. The text is written into its view when the fold first opens.

    `open_controls` stand next to the line while the fold is open. `head_row` replaces the row of the line and them.
    """

    height_changed = Signal()

    def __init__(
        self,
        *open_controls: QWidget,
        mode: str = "raw",
        zoom: float = 1.0,
        muted: bool = True,
        margins: int | tuple[int, int, int, int] = 0,
        head: QPushButton | None = None,
        head_row: QWidget | QLayout | None = None,
    ) -> None:
        super().__init__()
        self._words = self._name = ""
        self._elide = Qt.TextElideMode.ElideRight
        self._open = False
        self._unread: list[str] = []  # text that is not in the view yet
        self._controls = open_controls
        self.head = head or styled(QPushButton(), "heading")
        if head is None:
            self.head.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.head.clicked.connect(lambda: self.set_open(not self.is_open))
        self.text_view = TextView(mode=mode, muted=muted, zoom=zoom)
        self.text_view.height_changed.connect(self.height_changed)
        row = head_row or in_row((self.head, 1), *open_controls, margins=0, spacing=GAP)
        self._column = in_column(row, self.text_view, of=self, margins=margins, spacing=2)

    @property
    def is_open(self) -> bool:
        """Return whether the text is shown."""
        return self._open

    @property
    def source(self) -> str:
        """The whole text, drawn or not."""
        return self.text_view.source + "".join(self._unread)

    @property
    def unread(self) -> bool:
        """Return whether there is text that is not in the text view yet."""
        return bool(self._unread)

    def set_open(self, is_open: bool) -> None:
        """Show or hide the text."""
        self._open = is_open
        self.refresh()

    def unfold(self) -> None:
        """Show the text."""
        if not self.is_open:
            self.set_open(True)

    def set_source(self, text: str) -> None:
        """Replace the text."""
        if text != self.source:
            self.text_view.set_text("")
            self._unread = [text] if text else []

    def set_words(self, words: str, name: str = "") -> None:
        """Set the words of the line, and the name that screen readers say before "shown" or "folded"."""
        self._words, self._name = words, name or words

    def draw_text(self) -> None:
        """Put the unread text into the view."""
        self.text_view.append("".join(self._unread))
        self._unread = []

    def refresh(self) -> None:
        """Show the current state."""
        is_open = self.is_open
        if is_open and self._unread:
            self.draw_text()
        self.text_view.setVisible(is_open)
        for control in self._controls:
            control.setVisible(is_open)
        self.head.setIcon(icon("chevron-down" if is_open else "chevron-right", "muted"))
        self.head.setAccessibleName(f"{self._name}, {'shown' if is_open else 'folded'}")
        self._show_words()
        self._column.activate()  # at once: Qt would tell the card only in the next turn of the event loop
        self.height_changed.emit()

    def _show_words(self) -> None:
        if self.head.sizePolicy().horizontalPolicy() != QSizePolicy.Policy.Ignored:
            self.head.setText(self._words)
            return
        margins = self._column.contentsMargins()
        used = ARROW + margins.left() + margins.right()
        used += sum(control.sizeHint().width() + GAP for control in self._controls if self.is_open)
        room = max(self.contentsRect().width() - used, MIN_HEAD)
        self.head.setText(self.head.fontMetrics().elidedText(self._words, self._elide, room))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_words()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_column"):
            self.refresh()


class ReasoningView(Fold, PartView[Reasoning]):
    """Reasoning: open while it streams, folded to one line when the answer starts. A choice by hand stays."""

    def __init__(self, zoom: float = 1.0) -> None:
        super().__init__(mode="markdown", zoom=zoom, margins=(6, 3, 10, 3))
        self.text_view.setAccessibleName("Reasoning")
        self._chosen = False  # open or folded by hand
        self._drawn = 0
        self._state: tuple[bool, str] | None = None
        self._start = ""  # the first characters, for the folded line
        self._show_state(live=False, facts="")

    @classmethod
    def make(cls, context: PartContext, mode: str) -> ReasoningView:
        view = cls(context.zoom)
        view.text_view.link_clicked.connect(context.commands.link_asked)
        view.height_changed.connect(context.frame.height_changed)
        return view

    def show_part(self, part: Reasoning) -> None:
        text = part.text or REDACTED
        if text != self.source:
            self.set_source(text)
            self._start, self._state = text[:EXCERPT], None
        self._show_state(live=False, facts=figures.reasoning_line(self.context.turn, part))

    def draw_growing_part(self, part: GrowingPart, seconds: str | None) -> None:
        if fresh := part.fragments[self._drawn :]:
            self._unread += fresh
            self._drawn = len(part.fragments)
            self._state = None
            if len(self._start) < EXCERPT:
                self._start = (self._start + "".join(fresh))[:EXCERPT]
        self._show_state(live=seconds is not None, facts=seconds or "")

    def texts(self) -> Sequence[Searched]:
        return ((self.text_view, self),)

    def set_open(self, is_open: bool) -> None:
        self._chosen = True
        super().set_open(is_open)

    def _show_state(self, *, live: bool, facts: str) -> None:
        """Show whether more reasoning arrives, and its duration and size in words."""
        if self._state != (live, facts):
            self._state = live, facts
            if not self._chosen:
                self._open = live
            self.refresh()

    def refresh(self) -> None:
        live, facts = self._state or (False, "")
        words = f"Reasoning{'…' if live else ''}{f' · {facts}' if facts else ''}"
        excerpt = "" if self.is_open else " ".join(self._start.split())
        self.set_words(f"{words} — {excerpt}" if excerpt else words, "Reasoning")
        self.head.setToolTip("Fold" if self.is_open else "Show the reasoning")
        super().refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens().reasoning_background))
        painter.drawRoundedRect(self.rect(), 6, 6)


class MembersFold(Fold, PartView[Beside]):
    """Unknown members of a call, a text or an answer: a line that opens to their JSON."""

    def __init__(self, zoom: float = 1.0) -> None:
        self.copy = IconButton("copy", "Copy these members as JSON, all of it", size=14)
        self.copy.clicked.connect(self._copy)
        super().__init__(self.copy, zoom=zoom)
        self._elide = Qt.TextElideMode.ElideMiddle
        self._shown: Beside | None = None
        self.text_view.setAccessibleName("Unknown members")

    @classmethod
    def make(cls, context: PartContext, mode: str) -> MembersFold:
        fold = cls(context.zoom)
        fold.height_changed.connect(context.frame.height_changed)
        return fold

    def show_part(self, part: Beside) -> None:
        """Show other members; the fold keeps its state."""
        if part == self._shown:
            return
        self._shown = part
        self.set_source(beside_text(part))
        says = SAYS_OF_ANSWER if part.of == "message" else SAYS
        self.head.setToolTip(tip(f"{says.format(fate=part.fate)}{SIZES}"))
        self.set_words(show_hidden(f"{part.title}: {part.names} · {part.fate}"))
        self.refresh()

    def texts(self) -> Sequence[Searched]:
        return ((self.text_view, self),)

    def _copy(self) -> None:
        if self._shown is not None:
            members = self._shown.members
            few = approximate_size(members, LAID_OUT) <= LAID_OUT
            QGuiApplication.clipboard().setText(indented(members) if few else write(members))
