"""A body as text, with a bar above it: what is shown, how much of it, and a way to copy all of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QAbstractButton, QPushButton, QStackedWidget, QWidget

from playground.ui.features.conversation import large
from playground.ui.features.conversation.large import MeasuredText, Part
from playground.ui.features.inspector.excerpt import LINES_AT_MOST, Excerpt, excerpt
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.copy_button import CopyButton
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.figures import size
from playground.ui.widgets.form_parts import paragraph, styled
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.plain_text import few_lines_of, show_hidden, tip
from playground.ui.widgets.segments import Segments

if TYPE_CHECKING:
    from playground.ui.features.conversation.fold_row import FoldRow

ASIDE = 512 * 1024  # bytes from which on a body is laid out on another thread
ALL_ASIDE = 32 * 1024  # bytes of one of which all is to be shown
ALL_AT_ONCE = 200 * 1024  # characters that are all shown at once, where they are not too many lines


class BodyPane(QWidget):
    """``show_body`` shows bytes; never more than a bounded excerpt until a person asks for all.

    ``shown`` says that it has come into view. Other ways to show a body are made in ``pages``.
    """

    bound_lifted = Signal()
    shown = Signal()

    def __init__(self, switch: Segments, says: str, empty: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.switch = switch
        self._body = b""
        self._whole: Callable[[], str] | None = None
        self._everything = False
        self._aside: _Aside | None = None  # what is laid out on another thread, or was
        self._all = MeasuredText()
        self._part = Part(0, 0)
        self.row: FoldRow | None = None
        self.text = CodeEditor(read_only=True)
        self.text.setAccessibleName(says)
        self.note = ElidedLabel()
        self.all_button = styled(QPushButton("Show all"), "quiet")
        self.copy_button = CopyButton("Copy", "quiet")
        self.copy_button.setAccessibleName(f"Copy the {says.lower()}")
        self.copy_button.setToolTip(tip("Copy the whole body, exactly as it is"))
        self.error = paragraph("", "error")
        self.error.setContentsMargins(12, 4, 12, 4)
        self.error.hide()
        self.empty = empty_words(empty)
        bar = in_row(switch, (self.note, 1), self.all_button, self.copy_button, margins=(12, 4, 12, 4), spacing=8)
        self._bar = bar
        column = in_column(bar, self.error, of=self, margins=0, spacing=0)
        self.pages = QStackedWidget(self)
        column.addWidget(self.pages, 1)
        self.pages.addWidget(self.empty)
        self._page = QWidget(self.pages)
        self._below = in_column((self.text, 1), of=self._page, margins=0, spacing=0)
        self.pages.addWidget(self._page)
        self.all_button.clicked.connect(self._lift)
        self.copy_button.clicked.connect(self.copy_all)
        self.show_nothing()

    @property
    def everything(self) -> bool:
        """Whether a person asked for the whole body."""
        return self._everything

    def bound_again(self) -> None:
        """Show another body: only an excerpt of it, from its start."""
        self._everything = False
        self._fold()
        self.text.setPlainText("")

    def show_body(
        self, body: bytes, *, laid_out: bool, events: bool = False, about: str = "", live: bool = False
    ) -> None:
        """Show a body, or what of it fits; ``about`` is said in the bar. Less fits while it is ``live``."""
        self._body, self._whole = body, None
        self.copy_button.setVisible(bool(body))
        self.pages.setCurrentWidget(self._page)
        aside = len(body) > ALL_ASIDE if self._everything else laid_out and not events and len(body) > ASIDE
        if aside:
            self._show_aside(_Aside(body, laid_out, events, self._everything), about)
            return
        self._fold()
        self._show(excerpt(body, laid_out=laid_out, events=events, everything=self._everything, live=live), about)

    def _show(self, part: Excerpt, about: str) -> None:
        self.text.show_text(part.text)
        said = [show_hidden(about)] if about else []
        if not part.whole:
            said.append(_what_is_left_out(part))
        self.note.set_text("   ".join(said))
        self.all_button.setVisible(not part.whole)

    def _show_aside(self, wanted: _Aside, about: str) -> None:
        """Show a large body when it is laid out; the same one is so once."""
        if self._aside is not None and self._aside.same(wanted):
            self._aside.about = about
            if self._aside.part is not None:
                self._shown_aside(self._aside)
            return
        self._fold()
        self._aside = wanted
        wanted.about = about
        self.note.set_text(show_hidden(about))
        self.all_button.hide()
        spawn(self._lay_out_aside(wanted), name="lay out a body")

    async def _lay_out_aside(self, wanted: _Aside) -> None:
        how = {"laid_out": wanted.laid_out, "events": wanted.events, "everything": wanted.everything}
        wanted.part = await asyncio.to_thread(partial(excerpt, wanted.body, **how))
        if self._aside is wanted:
            self._shown_aside(wanted)

    def _shown_aside(self, aside: _Aside) -> None:
        part = aside.part
        if part is None:
            return
        if not aside.everything or _is_short(part.text):
            self._show(part, aside.about)
            return
        self.note.set_text(show_hidden(aside.about))
        self.all_button.hide()
        if self._all.text is not part.text:
            self._show_part_by_part(part.text)

    def _show_part_by_part(self, text: str) -> None:
        """All of a large body, looked at part by part, as large texts of turns are."""
        if self.row is None:
            from playground.ui.features.conversation.fold_row import FoldRow

            self.row = FoldRow(lambda: self._all, self._page)
            self.row.setContentsMargins(12, 4, 12, 4)
            self.row.copy.hide()  # the bar copies the body as it is
            self.row.save.hide()
            self.row.asked.connect(self._step)
            self._below.addWidget(self.row)
        self._all = MeasuredText(text)
        self.row.show()
        self._show_part(large.part_from(text, 0))

    def _show_part(self, part: Part) -> None:
        self._part = part
        self.text.setPlainText("")  # another part begins at its beginning
        self.text.show_text(self._all.text[part.start : part.stop])
        if self.row is not None:
            self.row.say(part, opened=True)

    def _step(self, where: str) -> None:
        text = self._all.text
        match where:
            case "before":
                self._show_part(large.before(text, self._part) or self._part)
            case "after":
                self._show_part(large.after(text, self._part) or self._part)
            case "last":
                self._show_part(large.last(text))
            case _:
                self.bound_again()
                self.bound_lifted.emit()

    def _fold(self) -> None:
        """Nothing is shown part by part any more."""
        self._aside, self._all = None, MeasuredText()
        if self.row is not None:
            self.row.hide()

    def add_button(self, button: QAbstractButton) -> None:
        """A button of one's own before Copy."""
        self._bar.insertWidget(self._bar.count() - 1, button)

    def add_page(self, page: QWidget) -> None:
        """Another way to show a body; see ``show_page``."""
        self.pages.addWidget(page)

    def show_page(self, page: QWidget, body: bytes, about: str = "", whole: Callable[[], str] | None = None) -> None:
        """Show a page that was added; Copy gives ``body``, or what ``whole`` writes on another thread."""
        self._body, self._whole = body, whole
        self.note.set_text(show_hidden(about))
        self.all_button.hide()
        self.copy_button.setVisible(bool(body))
        self.pages.setCurrentWidget(page)

    def show_error(self, text: str) -> None:
        """Say what went wrong above the body; empty takes it away."""
        self.error.setText(few_lines_of(text))
        self.error.setVisible(bool(text))

    def show_nothing(self, instead: str = "") -> None:
        """No body: the empty state, or a text in its place."""
        self._body, self._whole = b"", None
        if instead:
            self.empty.setText(instead)
        self.note.set_text("")
        self.all_button.hide()
        self.copy_button.hide()
        self.pages.setCurrentWidget(self.empty)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.shown.emit()

    def copy_all(self) -> None:
        """Put the whole body on the clipboard, not only what is shown."""
        if self._whole is not None:
            spawn(self._copy_whole(self._whole), name="copy a body")
            return
        self.copy_button.copy(self._body.decode("utf-8", errors="replace"))

    async def _copy_whole(self, whole: Callable[[], str]) -> None:
        self.copy_button.copy(await asyncio.to_thread(whole))

    def _lift(self) -> None:
        self._everything = True
        self.bound_lifted.emit()


@dataclass
class _Aside:
    """A body that is laid out on another thread; ``part`` is what came of it, ``about`` what is said of it."""

    body: bytes
    laid_out: bool
    events: bool
    everything: bool
    about: str = ""
    part: Excerpt | None = None

    def same(self, other: _Aside) -> bool:
        """Whether the same is to be shown in the same way."""
        how = (self.laid_out, self.events, self.everything)
        return how == (other.laid_out, other.events, other.everything) and self.body == other.body


def _is_short(text: str) -> bool:
    """Whether a text is quickly shown whole."""
    return len(text) <= ALL_AT_ONCE and text.count("\n") <= LINES_AT_MOST


def _what_is_left_out(part: Excerpt) -> str:
    if part.shown >= part.total:
        return f"Long texts are shortened; {size(part.total)} in all."
    return f"The {'last' if part.from_end else 'first'} {size(part.shown)} of {size(part.total)}."
