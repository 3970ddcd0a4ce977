"""A body as text: laid out or as received, capped for the view, with the whole of it in an editor or a file."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QWidget

from playground.ui.features.inspector.excerpt import excerpt
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.elided_label import CountLabel
from playground.ui.widgets.form_parts import paragraph, push_button
from playground.ui.widgets.layouts import in_column, in_pages, in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.plain_text import few_lines_of, show_hidden
from playground.ui.widgets.save_text import open_in_editor, save_as


class BodyPane(QWidget):
    """``name`` is what assistive technology calls the text."""

    def __init__(self, name: str, empty: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._body = b""
        self._name = name
        self.text = CodeEditor(read_only=True)
        self.text.setAccessibleName(name)
        self.error = paragraph("", "error")
        self.error.setContentsMargins(12, 4, 12, 4)
        self.empty = empty_words(empty)
        self.note = CountLabel("Shown")
        open_button, save_button = push_button("Open in editor", "link"), push_button("Save…", "link")
        self._cap = QWidget()
        in_row((self.note, 1), open_button, save_button, parent=self._cap, margins=(12, 2, 12, 2), spacing=8)
        page = QWidget()
        in_column((self.text, 1), self._cap, parent=page, margins=0, spacing=0)
        self._pages = in_pages(self.empty, page)
        in_column(self.error, (self._pages, 1), parent=self, margins=0, spacing=0)
        open_button.clicked.connect(self._open_in_editor)
        save_button.clicked.connect(self._save)
        self.show_error("")
        self.show_empty(empty)

    @property
    def whole_text(self) -> str:
        """All of the body, exactly as it is."""
        return self._body.decode("utf-8", errors="replace")

    def start_at_top(self) -> None:
        """Forget the place that was scrolled to: another body follows."""
        self.text.setPlainText("")

    def show_body(self, body: bytes, *, laid_out: bool) -> None:
        """Show a body, or as much of it as is quickly shown."""
        self._body = body
        part = excerpt(body, laid_out=laid_out)
        self.text.show_text(part.text)
        self.note.set_count(part.note)
        self._cap.setVisible(bool(part.note))
        self._pages.setCurrentIndex(1)

    def show_empty(self, words: str) -> None:
        """Show a sentence instead of a body."""
        self._body = b""
        self.empty.setText(show_hidden(words))
        self._pages.setCurrentIndex(0)

    def show_error(self, text: str) -> None:
        """Show what went wrong above the body; nothing for an empty text."""
        self.error.setText(few_lines_of(text))
        self.error.setVisible(bool(text))

    def _suffix(self) -> str:
        return "json" if self._body[:64].lstrip()[:1] in (b"{", b"[") else "txt"

    def _file_name(self) -> str:
        return f"{self._name.lower().replace(' ', '-')}.{self._suffix()}"

    def _open_in_editor(self) -> None:
        if problem := open_in_editor(self.whole_text, self._file_name()):
            self.note.say(problem)

    def _save(self) -> None:
        title, make = f"Save the {self._name.lower()}", partial(str, self.whole_text)
        work = save_as(self, title, self._file_name(), self._suffix(), make, (), self.note.say)
        spawn(work, name="save a body")
