"""The first start in the window: samples, "Try it now" with its guide, and where the guide's hints lead."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QSettings

from playground.engine.library.workspace import Workspace
from playground.engine.session.session import Session
from playground.ui.features.conversation.samples import SAMPLES, Sample
from playground.ui.features.first_start.guide import Guide
from playground.ui.features.first_start.guide_bar import GuideBar
from playground.ui.features.first_start.sample_control import SampleControl
from playground.ui.shell.main_window import MainWindow


class FirstStartControl(QObject):
    """``shown`` is called after another experiment was opened; ``open_frames`` shows the timeline."""

    def __init__(
        self,
        window: MainWindow,
        workspace: Workspace,
        settings: QSettings,
        *,
        shown: Callable[[], None],
        open_frames: Callable[[], None],
    ) -> None:
        super().__init__(window)
        self._workspace = workspace
        self.samples = SampleControl(window, workspace, shown)
        bar = GuideBar()
        window.pane.add_bar(bar)
        self.guide = Guide(bar, settings, open_frames)
        window.pane.welcome.sample_asked.connect(self.try_it_now)

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What its actions do, by id."""
        opening: dict[str, Callable[[], None]] = {one.action: partial(_open, self.samples, one) for one in SAMPLES}
        return {**opening, "help.guide": self.start_guide}

    def show_session(self, session: Session) -> None:
        """Another experiment is looked at."""
        self.guide.show_session(session)

    def try_it_now(self) -> None:
        """Open the first sample and run it; the first time with hints."""
        if self.samples.run_first() and not self.guide.done:
            self.guide.begin(self._workspace.current)

    def start_guide(self) -> None:
        """The same with hints, also for one who has had them."""
        if self.samples.run_first():
            self.guide.begin(self._workspace.current)


def _open(samples: SampleControl, sample: Sample) -> None:
    samples.open(sample)
