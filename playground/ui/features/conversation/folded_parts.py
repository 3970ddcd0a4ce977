"""Folded parts of a turn: reasoning, and members that the program does not know."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPaintEvent

from playground.domain.accumulator import GrowingPart
from playground.domain.parts import Reasoning
from playground.engine.inspect.hosted_items import HostedItem, generated_picture
from playground.engine.inspect.unknown_members import UnknownMembers
from playground.jsonkit.foreign import write
from playground.jsonkit.layout import indented
from playground.jsonkit.nesting import approximate_size
from playground.ui.features.conversation.commands import TurnCommands
from playground.ui.features.conversation.fold import Fold
from playground.ui.features.conversation.image_view import TURN_THUMB, Thumb
from playground.ui.features.conversation.part_view import PartContext, PartView, Searched
from playground.ui.features.conversation.rows import REDACTED, hosted_text, unknown_members_text
from playground.ui.widgets import figures
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.theme import tokens

EXCERPT = 300  # characters of reasoning looked at for the folded line
LAID_OUT = 200_000  # characters of members that are copied a line each; more are copied in one line
SAYS = "This program does not know what these members mean. They are kept as they came: {fate}."
SAYS_OF_ANSWER = "The answer came with these members. They are kept as they came: {fate}."
SIZES = " Long texts and lists are shown by their beginning; Copy and the raw answer have all of it."


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


class MembersFold(Fold, PartView[UnknownMembers]):
    """Unknown members of a call, a text or an answer: a line that opens to their JSON."""

    def __init__(self, zoom: float = 1.0) -> None:
        self.copy = IconButton("copy", "Copy these members as JSON, all of it", size=14)
        self.copy.clicked.connect(self._copy)
        super().__init__(self.copy, zoom=zoom)
        self._elide = Qt.TextElideMode.ElideMiddle
        self._shown: UnknownMembers | None = None
        self.text_view.setAccessibleName("Unknown members")

    @classmethod
    def make(cls, context: PartContext, mode: str) -> MembersFold:
        fold = cls(context.zoom)
        fold.height_changed.connect(context.frame.height_changed)
        return fold

    def show_part(self, part: UnknownMembers) -> None:
        """Show other members; the fold keeps its state."""
        if part == self._shown:
            return
        self._shown = part
        self.set_source(unknown_members_text(part))
        says = SAYS_OF_ANSWER if part.owner == "message" else SAYS
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


class HostedFold(Fold, PartView[HostedItem]):
    """An item that the gateway ran itself: its kind, state and subject in a line that opens to its JSON.

    A generated image is below the line, open or folded.
    """

    def __init__(self, zoom: float = 1.0) -> None:
        self.copy = IconButton("copy", "Copy this item as JSON", size=14)
        self.copy.clicked.connect(self._copy)
        super().__init__(self.copy, zoom=zoom, margins=(6, 3, 10, 3))
        self._item: HostedItem | None = None
        self.text_view.setAccessibleName("Item of the gateway")
        self.picture = Thumb(TURN_THUMB)
        self.picture.setAccessibleName("Generated image")
        self.picture.decoded.connect(self.height_changed)
        self.picture.hide()
        self._column.insertWidget(1, self.picture)

    @classmethod
    def make(cls, context: PartContext, mode: str) -> HostedFold:
        fold = cls(context.zoom)
        fold.height_changed.connect(context.frame.height_changed)
        fold.picture.clicked.connect(lambda: fold._open_picture(context.commands))
        return fold

    def show_part(self, part: HostedItem) -> None:
        """Show another item; the fold keeps its state."""
        if part == self._item:
            return
        self._item = part
        picture = generated_picture(part)
        if picture is not None:
            self.picture.show_image(picture)
        self.picture.setVisible(picture is not None)
        self.set_source(hosted_text(part))
        self.head.setToolTip("The gateway ran this itself. It is kept, and sent back whole.")
        self.set_words(show_hidden(f"{part.title} — {part.subject}" if part.subject else part.title), part.title)
        self.refresh()

    def texts(self) -> Sequence[Searched]:
        return ((self.text_view, self),)

    def _open_picture(self, commands: TurnCommands) -> None:
        """Show the image large, unless it cannot be read."""
        picture = generated_picture(self._item) if self._item is not None else None
        if picture is not None and not self.picture.problem:
            commands.open_image(picture)

    def _copy(self) -> None:
        if self._item is not None:
            QGuiApplication.clipboard().setText(indented(self._item.value))
