"""Lines to paste into a known program, with the address of Listen, until the first request arrives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from playground.ui.features.listen import texts
from playground.ui.features.listen.paste import PasteLines
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.copy_button import CopyButton
from playground.ui.widgets.form_parts import keep_from_wheel, push_button, say, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.scroll_page import ScrollPage

WIDEST: Final = 640  # pixels of the column
BOX_HEIGHT: Final = 150
SHORTENED: Final = "The secret of the address is hidden here. Copy has it."


class ConnectView(ScrollPage):
    """The page. ``start_asked`` asks to start a program, ``list_asked`` to show the requests."""

    start_asked = Signal()
    list_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("listenConnect")
        self._programs: tuple[PasteLines, ...] = ()
        column = self.fill(16)
        content = QWidget()
        content.setMaximumWidth(WIDEST)
        self.heading = text_label(texts.WAITING, "heading", wrap=True)
        self.words = text_label(texts.PASTE, "muted", wrap=True)
        self.program = styled(QComboBox(), "field")
        self.program.setAccessibleName("Program")
        keep_from_wheel(self.program)
        self.lines = CodeEditor(read_only=True, json=False)
        self.lines.setAccessibleName("Lines to paste")
        self.lines.setFixedHeight(BOX_HEIGHT)
        self.note = text_label("", "muted", wrap=True)
        self.copy = CopyButton("Copy", "primary")
        self.copy.setAccessibleName("Copy the lines")
        self.start = push_button("Start a program…")
        self.start.setToolTip("Run a command line with these settings, for it alone")
        self.back = push_button("Show requests")
        in_column(
            self.heading,
            self.words,
            in_row((self.program, 1), spacing=8),
            self.lines,
            text_label(SHORTENED, "small", wrap=True),
            self.note,
            in_row(self.copy, self.start, self.back, 1, spacing=8),
            parent=content,
            margins=(0, 24, 0, 16),
            spacing=12,
        )
        row = in_row((content, 100), margins=0)
        row.setAlignment(content, Qt.AlignmentFlag.AlignTop)
        row.insertStretch(0, 1)
        row.addStretch(1)
        column.addLayout(row)
        column.addStretch(1)
        self.program.currentIndexChanged.connect(self._show_program)
        self.copy.clicked.connect(self._copy)
        self.start.clicked.connect(self.start_asked)
        self.back.clicked.connect(self.list_asked)

    def show_programs(self, programs: Sequence[PasteLines], *, has_requests: bool) -> None:
        """Show the lines of each program; ``has_requests`` tells whether a request has arrived."""
        chosen = self.program.currentText()
        self._programs = tuple(programs)
        self.program.blockSignals(True)
        self.program.clear()
        self.program.addItems([entry.program for entry in programs])
        self.program.setCurrentIndex(max(self.program.findText(chosen), 0))
        self.program.blockSignals(False)
        self.heading.setText("Connect a program" if has_requests else texts.WAITING)
        self.back.setVisible(has_requests)
        self._show_program(self.program.currentIndex())

    def _show_program(self, index: int) -> None:
        entry = self._programs[index] if 0 <= index < len(self._programs) else None
        self.lines.show_text(entry.displayed if entry is not None else "")
        say(self.note, entry.note if entry is not None else "", "muted")

    def _copy(self) -> None:
        index = self.program.currentIndex()
        if 0 <= index < len(self._programs):
            self.copy.copy(self._programs[index].copied)
