"""Says calmly that something went wrong: what, that one can go on, and the report to hand on. Opens nothing itself."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from playground.ui.widgets.copy_button import CopyButton
from playground.ui.widgets.form_parts import push_button, say, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.theme import code_font

GO_ON = "Your text is still there, and you can go on working. If it happens again, restart the app."
AFTER = "Saved experiments are in the list. If it happens again, the report helps to find the cause."
NEW_COPY = "Your data was not changed. If it happens again, reinstall the app or send this report."
HOLDS = "The report contains names of functions, files and lines. It contains no text of yours, no answer and no key."


class CrashDialog(QDialog):
    """``words`` is a sentence, ``text`` the report. ``folder`` is where it was written down.

    ``ended``: it was the last session. ``starting``: this one could not begin.
    """

    folder_asked = Signal(str)

    def __init__(
        self,
        words: str,
        text: str,
        folder: Path,
        parent: QWidget | None,
        *,
        ended: bool = False,
        starting: bool = False,
    ) -> None:
        super().__init__(parent)
        self._text = text
        self._folder = folder
        self.setWindowTitle("The last session ended unexpectedly" if ended else "Something went wrong")
        advice = NEW_COPY if starting else AFTER if ended else GO_ON
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumSize(440, 300)
        self.resize(620, 420)
        self.heading = text_label(words, "title", wrap=True)
        self.repeats = text_label(kind="warning", wrap=True)
        self.repeats.hide()
        self.report = styled(QPlainTextEdit(text, readOnly=True), "code")
        self.report.setFont(code_font())
        self.report.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.report.setTabChangesFocus(True)
        self.report.setAccessibleName("Report")
        self.copy_button = CopyButton("Copy report")
        self.copy_button.clicked.connect(self._copy)
        self.folder_button = push_button("Open folder")
        self.folder_button.setToolTip("The folder that holds the log")
        self.folder_button.clicked.connect(self._open_folder)
        self.continue_button = push_button("Close" if ended or starting else "Continue", "primary")
        self.continue_button.setDefault(True)
        self.continue_button.clicked.connect(self.accept)
        buttons = in_row(self.copy_button, self.folder_button, 1, self.continue_button, spacing=8)
        in_column(
            self.heading,
            text_label(advice, wrap=True),
            self.repeats,
            (self.report, 1),
            text_label(HOLDS, "small", wrap=True),
            buttons,
            parent=self,
            margins=(24, 20, 24, 16),
            spacing=12,
        )
        self.continue_button.setFocus()

    def count(self, again: int) -> None:
        """Say how many errors came since."""
        say(self.repeats, f"{again} more {'error' if again == 1 else 'errors'} since; see the log." if again else "")

    def _copy(self) -> None:
        self.copy_button.copy(self._text)

    def _open_folder(self) -> None:
        self.folder_asked.emit(str(self._folder))


def open_folder(folder: str) -> None:
    """Show a folder in the system's file manager."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(folder))
