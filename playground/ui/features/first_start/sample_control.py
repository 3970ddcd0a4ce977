"""Opens samples in new experiments and says what each one shows."""

from __future__ import annotations

from PySide6.QtCore import QObject

from playground.ui.features.conversation.samples import FIRST, SAMPLES, Sample
from playground.ui.features.host import Host


class SampleControl(QObject):
    """One for each window."""

    def __init__(self, host: Host) -> None:
        super().__init__(host.window)
        self._host = host
        self._workspace = host.workspace
        host.pane.welcome.opened.connect(self._open_named)

    def open(self, sample: Sample) -> bool:
        """Open a sample, ready to run, and say what it shows. False when its file cannot be read; it is said, too."""
        notice = self._host.notice
        if not self._load(sample):
            return False
        notice.say(sample.shows, "Run", self._host.pane.run)
        return True

    def run_first(self) -> bool:
        """Open the first sample and run it. False when it cannot be read."""
        if not self._load(FIRST):
            return False
        self._host.pane.run()
        return True

    def _load(self, sample: Sample) -> bool:
        from playground.engine.headless.input import BadInputError
        from playground.engine.library.samples import open_sample

        session = self._workspace.new()
        try:
            open_sample(session, sample.path, sample.title if sample is not FIRST else "Weather in two cities")
        except BadInputError as error:
            self._host.notice.say(f"The sample cannot be opened: {error}. Please install the application again.")
            return False
        self._host.show_session()
        return True

    def _open_named(self, action: str) -> None:
        self.open(next(sample for sample in SAMPLES if sample.action == action))
