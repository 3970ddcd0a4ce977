"""The first start in the window: samples, "Try it now" with its guide, and where the guide's hints lead."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from playground.ui.features.first_start.guide import Guide
from playground.ui.features.first_start.guide_bar import GuideBar
from playground.ui.features.first_start.sample_control import SampleControl
from playground.ui.features.host import Host


class FirstStartControl(QObject):
    """``open_frames`` shows the timeline."""

    def __init__(
        self,
        host: Host,
        open_frames: Callable[[], None],
    ) -> None:
        super().__init__(host.window)
        self._workspace = host.workspace
        self.samples = SampleControl(host)
        bar = GuideBar()
        host.pane.add_bar(bar)
        self.guide = Guide(bar, host.settings, open_frames)
        host.pane.welcome.sample_asked.connect(self.try_it_now)

    def show_session(self) -> None:
        """Another experiment is looked at."""
        self.guide.show_session(self._workspace.current)

    def try_it_now(self) -> None:
        """Open the first sample and run it; the first time with hints."""
        if self.samples.run_first() and not self.guide.done:
            self.guide.begin(self._workspace.current)

    def start_guide(self) -> None:
        """The same with hints, also for one who has had them."""
        if self.samples.run_first():
            self.guide.begin(self._workspace.current)
