"""Opens samples, and "Try it now" with its guide."""

from __future__ import annotations

from collections.abc import Callable

from playground.engine.session.session import Session
from playground.ui.features.conversation.samples import FIRST, SAMPLES, Sample
from playground.ui.features.first_start.guide import Guide, GuideBar
from playground.ui.features.host import Control, Host


class FirstStartControl(Control):
    """``open_frames`` shows the timeline, ``show_evaluation`` the page of an evaluation or that of the conversation."""

    def __init__(
        self,
        host: Host,
        open_frames: Callable[[], None],
        show_evaluation: Callable[[bool], None],
        run_evaluation: Callable[[], None],
    ) -> None:
        super().__init__(host)
        self._show_evaluation, self._run_evaluation = show_evaluation, run_evaluation
        bar = GuideBar()
        host.pane.add_bar(bar)
        self.guide = Guide(bar, host.settings, open_frames)
        host.pane.welcome.try_asked.connect(self.try_it_now)
        host.pane.welcome.opened.connect(self._open_named)

    def show_session(self) -> None:
        """Tell the guide which experiment is in view."""
        self.guide.show_session(self._workspace.current)

    def try_it_now(self) -> None:
        """Open the first sample and run it, with hints the first time."""
        if self._run_first() and not self.guide.done:
            self.guide.begin(self._workspace.current)

    def start_guide(self) -> None:
        """Open the first sample, run it, and show the hints again."""
        if self._run_first():
            self.guide.begin(self._workspace.current)

    # Samples

    def open(self, sample: Sample) -> None:
        """Open a sample, ready to run, and show what it is for."""
        if self._load(sample):
            evaluates = self._workspace.current.settings.evaluation is not None
            self._say(sample.shows, "Run", self._run_evaluation if evaluates else self._host.pane.run)

    def _run_first(self) -> bool:
        if not self._load(FIRST):
            return False
        self._host.pane.run()
        return True

    def _load(self, sample: Sample) -> bool:
        """Open a sample as a new experiment. Return False and show the reason if its file cannot be read."""
        from playground.engine.library.opening_files import open_sample
        from playground.engine.requests.request_file import BadInputError

        session = self._workspace.new()
        try:
            open_sample(session, sample.path, sample.title if sample is not FIRST else "Weather in two cities")
        except BadInputError as error:
            self._say(f"The sample cannot be opened: {error}. Please install the application again.")
            return False
        self._accept_ours(session)
        self._host.show_session()
        self._show_evaluation(session.settings.evaluation is not None)
        return True

    def _accept_ours(self, session: Session) -> None:
        """Accept the tools of the demo server in a sample: they need no review."""
        if not any(tool.server for tool in session.settings.tools):
            return
        from playground.engine.tool_servers.registry import DEMO_ID, DEMO_NAME, ServerRegistryError
        from playground.engine.tool_servers.tools import as_offered

        ours = [as_offered(tool) for tool in session.settings.tools if tool.server == DEMO_NAME]
        try:
            self._workspace.tool_servers.book.accept(DEMO_ID, ours)
        except ServerRegistryError as error:
            self._say(str(error))

    def _open_named(self, action: str) -> None:
        self.open(next(sample for sample in SAMPLES if sample.action == action))
