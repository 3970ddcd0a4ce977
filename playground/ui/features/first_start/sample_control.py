"""Opens samples in new experiments and says what each one shows."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from playground.engine.library.workspace import Workspace
from playground.ui.features.conversation.samples import FIRST, SAMPLES, Sample
from playground.ui.shell.main_window import MainWindow


class SampleControl(QObject):
    """``shown`` is called after a sample was opened: the window has another experiment to show then."""

    def __init__(self, window: MainWindow, workspace: Workspace, shown: Callable[[], None]) -> None:
        super().__init__(window)
        self._window = window
        self._workspace = workspace
        self._shown = shown
        window.pane.welcome.opened.connect(self._open_named)

    def open(self, sample: Sample) -> bool:
        """Open a sample, ready to run, and say what it shows. False when its file cannot be read; it is said, too."""
        notice = self._window.pane.notice
        if not self._load(sample):
            return False
        notice.say(sample.shows, "Run", self._window.pane.run)
        return True

    def run_first(self) -> bool:
        """Open the first sample and run it. False when it cannot be read."""
        if not self._load(FIRST):
            return False
        self._window.pane.run()
        return True

    def _load(self, sample: Sample) -> bool:
        from playground.engine.headless.input import BadInputError
        from playground.engine.library.samples import open_sample

        session = self._workspace.new()
        try:
            open_sample(session, sample.path, sample.title if sample is not FIRST else "Weather in two cities")
        except BadInputError as error:
            self._window.pane.notice.say(f"The sample cannot be opened: {error}. Please install the application again.")
            return False
        self._shown()
        return True

    def _open_named(self, action: str) -> None:
        self.open(next(sample for sample in SAMPLES if sample.action == action))
