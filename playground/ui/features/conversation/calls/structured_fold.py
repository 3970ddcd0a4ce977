"""The structured content of a server's answer: one line with its verdict that opens to the JSON.

The verdict was made in a separate process when the answer arrived; nothing is validated here.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QWidget

from playground.domain.served import weight
from playground.domain.tool_servers import ServerAnswer
from playground.jsonkit.foreign import write
from playground.jsonkit.problems import unchecked
from playground.jsonkit.values import JSON, JSONObject
from playground.ui.features.conversation.calls.call_text import argument_lines, is_laid_out, json_lines
from playground.ui.features.conversation.caps import LINES
from playground.ui.features.conversation.text_view import TextView
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.mark_label import Chip
from playground.ui.widgets.plain_text import few_lines_of, tip

CAPTION: Final = "Structured content"
FITS, MISFITS, UNKNOWN = "Valid", "Does not match its schema", "No schema"
NOT_CHECKED: Final = "Not checked"
COSTLY: Final = unchecked("").message
LONGEST: Final = 200_000  # characters of JSON that are serialised before the user opens or copies it


class StructuredFold(QWidget):
    """Structured content in one line that opens to its JSON; `use` makes its text the result."""

    height_changed = Signal()

    def __init__(self, use: Callable[[str], None]) -> None:
        super().__init__()
        self._use = use
        self._value: JSON = None
        self._text: str | None = None  # None if the content is too large to be serialised here
        self._open = self._drawn = False
        self.head = styled(QPushButton(CAPTION), "heading")
        self.head.clicked.connect(self._toggle)
        self.verdict = Chip()
        self.problems = text_label("", "flag-error", wrap=True)
        self.take = styled(QPushButton("Use as result"), "quiet")
        self.take.setToolTip("Replace the text by this JSON; nothing is sent")
        self.take.clicked.connect(self._use_as_result)
        self.copy = IconButton("copy", "Copy the structured content", size=14)
        self.copy.clicked.connect(self._copy)
        self.view: TextView | None = None  # created when it is first opened
        row = QWidget()
        flow = FlowLayout(row)
        for widget in (self.head, self.verdict, self.take, self.copy):
            flow.addWidget(widget)
        self._column = in_column(row, self.problems, of=self, margins=0, spacing=2)
        self.hide()

    def show_content(self, served: ServerAnswer, schema: JSONObject | None, *, takes: bool) -> None:
        """Show the structured content of an answer; ``takes`` offers to use it as the result."""
        has_content = served.structured is not None
        if self._value is not served.structured:
            self._value, self._drawn = served.structured, False
            self._text = write(served.structured) if weight(served.structured, LONGEST) <= LONGEST else None
        self.take.setVisible(takes and has_content and self._text is not None)
        self.copy.setVisible(has_content)
        self.head.setEnabled(has_content)
        words = "\n".join(served.problems)
        costly = words.startswith(COSTLY)
        if words:
            self.verdict.say(NOT_CHECKED if costly else MISFITS, "chip" if costly else "chip-error")
        elif schema is None:
            self.verdict.say(UNKNOWN)
        else:
            self.verdict.say(FITS, "chip-ok")
        self.verdict.setToolTip(tip(words))
        self.problems.setText(few_lines_of(words))
        self.problems.setVisible(bool(words))
        self.setVisible(has_content or bool(words))
        self._open = self._open and has_content
        self._refresh()

    @property
    def is_open(self) -> bool:
        """True while the JSON is shown."""
        return self._open

    def _toggle(self) -> None:
        self._open = not self._open
        self._refresh()

    def _refresh(self) -> None:
        self.head.setIcon(icon("chevron-down" if self._open else "chevron-right", "muted"))
        self.head.setAccessibleName(f"{CAPTION}, {self.verdict.text()}, {'shown' if self._open else 'folded'}")
        if self._open and self.view is None:
            self.view = TextView(mode="raw")
            self.view.setAccessibleName(CAPTION)
            self.view.height_changed.connect(self.height_changed)
            self._column.addWidget(self.view)
        if self.view is not None:
            self.view.setVisible(self._open)
            if self._open and not self._drawn:
                self._draw(self.view)
        self.height_changed.emit()

    def _draw(self, view: TextView) -> None:
        self._drawn = True
        if self._text is None:
            first = [line for _, line in islice(json_lines(self._value), LINES)]
            view.set_text("\n".join([*first, "… Copy has all of it."]))
        elif is_laid_out(self._text):
            view.set_lines(self._text, argument_lines(self._text, []))
        else:
            view.set_text(self._text)

    def _use_as_result(self) -> None:
        if self._text is not None:
            self._use(self._text)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text if self._text is not None else write(self._value))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._value is not None:
            self._refresh()
