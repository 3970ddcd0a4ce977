"""A window that starts a program with the address of Listen in its variables, and shows its output and its end."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from PySide6.QtCore import QProcess, QProcessEnvironment, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QTextCursor
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QLineEdit, QPlainTextEdit, QWidget

from playground.domain.durations import duration_words
from playground.ui.features.listen.paste import IS_WINDOWS, ProgramVariables
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.dialogs import ask_folder, fit_to_window
from playground.ui.widgets.form_parts import keep_from_wheel, push_button, say, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.theme import code_font

SIZE: Final = 680, 560  # pixels
MOST_OUTPUT: Final = 5_000  # lines that are kept
MOST_PIECE: Final = 100_000  # characters of one read that are shown
KILL_AFTER_MS: Final = 3_000  # after a polite request to end
VARIABLES_HEIGHT: Final = 96
ABOUT: Final = (
    "The program runs on this computer with your full permissions. It gets the variables below in addition to those of "
    "this app; no other program gets them. It ends with this app at the latest. The secret of the address is hidden."
)
CONFIRM: Final = "Confirm and start"
NOT_FOUND: Final = "There is no program “{name}” in the search path or the folder."


class ProgramDialog(QDialog):
    """The window. ``choices`` are the variables of known programs; the chosen ones are set for the program alone.

    ``confirmed`` carries the command line of each start. ``ended`` is emitted after the window was closed and the
    program has ended.
    """

    confirmed = Signal(str)
    ended = Signal()

    def __init__(self, choices: Sequence[ProgramVariables], command: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("listenProgram")
        self.setWindowTitle("Start a program")
        self.setModal(False)
        self._choices = choices
        self._home = str(Path.home())
        self._started_at = 0.0
        self._process = QProcess(self)
        self._process.setProcessChannelMode(QProcess.ProcessChannelMode.MergedChannels)
        if not IS_WINDOWS:
            parameters = QProcess.UnixProcessParameters()
            parameters.flags = QProcess.UnixProcessFlag.CreateNewSession
            self._process.setUnixProcessParameters(parameters)
        self.about = text_label(ABOUT, "muted", wrap=True)
        self.command = styled(QLineEdit(command), "field")
        self.command.setAccessibleName("Command line")
        self.command.setPlaceholderText("claude -p “Hello”")
        self.command.setFont(code_font())
        self.folder = styled(QLineEdit(), "field")
        self.folder.setAccessibleName("Working folder")
        self.folder.setPlaceholderText(self._home)
        choose = push_button("Choose…")
        choose.setAccessibleName("Choose the working folder")
        self.variables = CodeEditor(read_only=True, json=False)
        self.variables.setAccessibleName("Variables")
        self.variables.setFixedHeight(VARIABLES_HEIGHT)
        self.program = styled(QComboBox(), "field")
        self.program.setAccessibleName("Variables of")
        self.program.addItems([choice.program for choice in choices])
        keep_from_wheel(self.program)
        self.program.currentIndexChanged.connect(self._show_variables)
        self.output = styled(QPlainTextEdit(), "code")
        self.output.setAccessibleName("Output of the program")
        self.output.setReadOnly(True)
        self.output.setMaximumBlockCount(MOST_OUTPUT)
        self.output.setFont(code_font())
        self.output.setPlaceholderText("The output of the program appears here.")
        self.state = text_label("", "muted", wrap=True)
        self.state.setObjectName("programState")
        self.ends_with_window = QCheckBox("End it when this window closes")
        self.ends_with_window.setChecked(True)
        self.start = push_button(CONFIRM, "primary")
        self.stop = push_button("End program", "danger")
        close = push_button("Close")
        in_column(
            self.about,
            text_label("Command line", "group"),
            self.command,
            in_row(text_label("Folder", "group"), (self.folder, 1), choose, spacing=8),
            in_row(text_label("Variables of", "group"), (self.program, 1), spacing=8),
            self.variables,
            text_label("Output", "group"),
            (self.output, 1),
            self.state,
            in_row(self.ends_with_window, 1, close, self.stop, self.start, spacing=8),
            parent=self,
            margins=(18, 14, 18, 14),
            spacing=8,
        )
        fit_to_window(self, *SIZE)
        self._process.readyRead.connect(self._read)
        self._process.started.connect(self._show)
        self._process.finished.connect(self._finished)
        self._process.errorOccurred.connect(self._failed)
        self.command.textChanged.connect(self._show)
        self.command.returnPressed.connect(self.run)
        self.start.clicked.connect(self.run)
        self.stop.clicked.connect(self.end)
        choose.clicked.connect(lambda: spawn(self._ask_folder(), name="choose a folder", owner=self))
        close.clicked.connect(self.close)
        self._kill_timer = QTimer(self, singleShot=True, interval=KILL_AFTER_MS)
        self._kill_timer.timeout.connect(self._kill)
        self.command.setFocus()
        say(self.state, "")
        self._show_variables(0)
        self._show()

    def _show_variables(self, index: int) -> None:
        displayed = self._choices[index].displayed.items()
        self.variables.show_text("\n".join(f"{name}={value}" for name, value in displayed))

    @property
    def running(self) -> bool:
        """Return whether the program runs."""
        return self._process.state() is not QProcess.ProcessState.NotRunning

    def run(self) -> None:
        """Start the program."""
        words = QProcess.splitCommand(self.command.text())
        if self.running or not words:
            return
        folder = self.folder.text().strip() or self._home
        environment = QProcessEnvironment.systemEnvironment()
        for name, value in self._choices[self.program.currentIndex()].values.items():
            environment.insert(name, value)
        program = shutil.which(words[0], path=environment.value("PATH")) or shutil.which(words[0], path=folder)
        if program is None:
            say(self.state, NOT_FOUND.format(name=words[0]), "error")
            return
        self.output.clear()
        self._process.setProcessEnvironment(environment)
        self._process.setWorkingDirectory(folder)
        self._started_at = time.monotonic()
        self.confirmed.emit(self.command.text())
        self._process.start(program, words[1:])

    def end(self) -> None:
        """Ask the program to end, and end it by force if it does not."""
        if self.running:
            self._send_signal("SIGTERM")
            self._kill_timer.start()

    def end_now(self) -> None:
        """End the program by force; called when the app closes."""
        if self.running:
            self._kill()
            self._process.waitForFinished(KILL_AFTER_MS)

    def _kill(self) -> None:
        self._send_signal("SIGKILL")

    def _send_signal(self, name: str) -> None:
        """Send a signal to the program and the programs it started; on Windows, which has none, to it alone."""
        number = getattr(signal, name, None)
        if IS_WINDOWS or number is None:
            self._process.kill()
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.processId(), number)  # the session that it was started in

    def _read(self) -> None:
        text = bytes(self._process.readAll().data()).decode("utf-8", "replace")
        bar = self.output.verticalScrollBar()
        at_end = bar.value() >= bar.maximum()
        cursor = QTextCursor(self.output.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(show_hidden(text[-MOST_PIECE:].replace("\r\n", "\n").replace("\r", "\n")))
        if at_end:
            bar.setValue(bar.maximum())

    def _finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._kill_timer.stop()
        self._read()
        after = duration_words(time.monotonic() - self._started_at)
        is_normal = status is QProcess.ExitStatus.NormalExit
        if not self.isVisible():
            self.ended.emit()
            return
        words = f"Ended with exit code {code} after {after}." if is_normal else f"Ended by a signal after {after}."
        self._show()
        say(self.state, words, "muted" if is_normal and code == 0 else "error")

    def _failed(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._show()
            say(self.state, f"The program could not be started: {self._process.errorString()}", "error")

    def _show(self) -> None:
        running = self.running
        self.start.setVisible(not running)
        self.stop.setVisible(running)
        self.start.setEnabled(bool(self.command.text().strip()))
        for field in (self.command, self.folder):
            field.setReadOnly(running)
        if running:
            say(self.state, f"Running, process {self._process.processId()}.", "muted")

    async def _ask_folder(self) -> None:
        folder = await ask_folder(self, "Working folder", self.folder.text() or self._home)
        if folder is not None:
            self.folder.setText(str(folder))

    def closeEvent(self, event: QCloseEvent) -> None:
        """Hide while the program goes on; it is ended if the person wants it."""
        if self.running and self.ends_with_window.isChecked():
            self.end()
        super().closeEvent(event)
        if not self.running:
            self.ended.emit()
