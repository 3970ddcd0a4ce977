"""How much memory the tapes of exchanges may take: asked in a small dialog, remembered, and put into force.

What is let go, and when, is the engine's business.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, QSettings, Qt, Signal
from PySide6.QtWidgets import QComboBox, QDialog, QDialogButtonBox, QLabel, QVBoxLayout, QWidget

from playground.engine.tapes import DEFAULT_LIMIT
from playground.engine.workspace import Workspace
from playground.ui.loop import ask, spawn

KEY = "tape_limit"  # among the settings; bytes
MIB = 1024 * 1024
LEAST, MOST = 1, 1024 * 1024  # MiB; a setting outside is somebody's slip, and the default is taken
OFFERED = (16, 64, 256, 1024, 4096)  # MiB
SAYS = (
    "What went over the wire is kept while the program runs, up to this much for each experiment. Above it the bodies "
    "of the oldest exchanges are let go; their times, headers and the conversation stay."
)


class TapeLimit(QObject):
    """Puts the remembered limit into force at the start. ``open`` asks for another one; ``changed`` says it is set."""

    changed = Signal()

    def __init__(self, window: QWidget, workspace: Workspace, settings: QSettings) -> None:
        super().__init__(window)
        self._window = window
        self._workspace = workspace
        self._settings = settings
        workspace.set_tape_limit(_remembered(settings))

    def open(self) -> None:
        """Ask how much is to be kept."""
        spawn(self._ask(), name="tape limit")

    async def _ask(self) -> None:
        dialog = TapeLimitDialog(self._workspace, self._window)
        if await ask(dialog):
            self._settings.setValue(KEY, dialog.limit)
            self._workspace.set_tape_limit(dialog.limit)
            self.changed.emit()
        dialog.deleteLater()


class TapeLimitDialog(QDialog):
    """``limit`` is what is chosen, in bytes."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Memory for what went over the wire")
        says = QLabel(SAYS)
        says.setWordWrap(True)
        self.choice = QComboBox()
        self.choice.setProperty("kind", "field")
        self.choice.setAccessibleName("Memory for each experiment")
        offered = sorted({*(count * MIB for count in OFFERED), workspace.tape_limit})
        for limit in offered:
            self.choice.addItem(_words(limit), limit)
        self.choice.setCurrentIndex(offered.index(workspace.tape_limit))
        taken = QLabel(f"The experiment you look at takes {_words(workspace.current.exchanges.bytes)} now.")
        taken.setTextFormat(Qt.TextFormat.PlainText)
        taken.setProperty("kind", "small")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 12)
        column.setSpacing(10)
        for widget in (says, self.choice, taken, buttons):
            column.addWidget(widget)
        self.setMinimumWidth(420)

    @property
    def limit(self) -> int:
        """What is chosen, in bytes."""
        return int(self.choice.currentData())


def _remembered(settings: QSettings) -> int:
    try:
        limit = int(str(settings.value(KEY, DEFAULT_LIMIT)))
    except ValueError:
        return DEFAULT_LIMIT
    return limit if LEAST * MIB <= limit <= MOST * MIB else DEFAULT_LIMIT


def _words(count: int) -> str:
    """Bytes for people who choose between sizes."""
    if count < MIB:
        return f"{count / 1024:.0f} KiB"
    mib = count / MIB
    if mib < 1024:
        return f"{mib:.0f} MiB" if mib >= 10 or mib == int(mib) else f"{mib:.1f} MiB"
    return f"{mib / 1024:.0f} GiB"
