"""The structured content of a server's answer: one line with its verdict that opens to the JSON.

The verdict was made in a separate process when the answer arrived; nothing is validated here.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QWidget

from playground.domain.served import weight
from playground.domain.tool_servers import ServerAnswer
from playground.jsonkit.foreign import write
from playground.jsonkit.problems import unchecked
from playground.jsonkit.values import JSON, JSONObject
from playground.ui.features.conversation.calls.call_text import argument_lines, is_laid_out, json_lines
from playground.ui.features.conversation.caps import LINES
from playground.ui.features.conversation.fold import Fold
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.mark_label import Chip
from playground.ui.widgets.plain_text import few_lines_of, tip

CAPTION: Final = "Structured content"
FITS, MISFITS, UNKNOWN = "Valid", "Does not match its schema", "No schema"
NOT_CHECKED: Final = "Not checked"
COSTLY: Final = unchecked("").message
LONGEST: Final = 200_000  # characters of JSON that are serialised before the user opens or copies it


class StructuredFold(Fold):
    """Structured content in one line that opens to its JSON; `use` makes its text the result."""

    def __init__(self, use: Callable[[str], None]) -> None:
        self._use = use
        self._value: JSON = None
        self._text: str | None = None  # None if the content is too large to be serialised here
        self.verdict = Chip()
        self.take = styled(QPushButton("Use as result"), "quiet")
        self.take.setToolTip("Replace the text by this JSON; nothing is sent")
        self.take.clicked.connect(self._use_as_result)
        self.copy = IconButton("copy", "Copy the structured content", size=14)
        self.copy.clicked.connect(self._copy)
        head, row = styled(QPushButton(CAPTION), "heading"), QWidget()
        flow = FlowLayout(row)
        for widget in (head, self.verdict, self.take, self.copy):
            flow.addWidget(widget)
        super().__init__(muted=False, head=head, head_row=row)
        self.problems = text_label("", "flag-error", wrap=True)
        self._column.insertWidget(1, self.problems)
        self.text_view.setAccessibleName(CAPTION)
        self.hide()

    def show_content(self, served: ServerAnswer, schema: JSONObject | None, *, takes: bool) -> None:
        """Show the structured content of an answer; ``takes`` offers to use it as the result."""
        has_content = served.structured is not None
        if self._value is not served.structured:
            self._value = served.structured
            self._text = write(served.structured) if weight(served.structured, LONGEST) <= LONGEST else None
            first = (line for _, line in islice(json_lines(self._value), LINES))
            self.set_source("\n".join([*first, "… Copy has all of it."]) if self._text is None else self._text)
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
        self.set_words(CAPTION, f"{CAPTION}, {self.verdict.text()}")
        self.set_open(self.is_open and has_content)

    def write_text(self) -> None:
        super().write_text()
        if self._text is not None and is_laid_out(self._text):
            self.text_view.set_lines(self._text, argument_lines(self._text, []))

    def _use_as_result(self) -> None:
        if self._text is not None:
            self._use(self._text)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text if self._text is not None else write(self._value))
