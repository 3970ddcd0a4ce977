"""Opens the window of gateway checks, and saves what a check has learnt about a gateway."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from playground.engine.gateway_check.report import ReportStore
from playground.ui.features.host import Control, Host
from playground.ui.widgets.loop import spawn

if TYPE_CHECKING:
    from playground.domain.adaptations import Adaptation
    from playground.engine.gateway_check.report import Report
    from playground.ui.features.gateway_check.window import CheckWindow


class CheckControl(Control):
    """Opens the window. ``keep_rules`` saves rules of a gateway by its id, and returns an error message or ""."""

    def __init__(self, host: Host, keep_rules: Callable[[str, tuple[Adaptation, ...]], Awaitable[str]]) -> None:
        super().__init__(host)
        self._keep_rules = keep_rules
        self._reports = ReportStore()
        self._window: CheckWindow | None = None

    def open_current(self) -> None:
        """Open the window for the current gateway and model."""
        settings = self._session.settings
        self.open_for(settings.profile_id, settings.model)

    def open_for(self, profile_id: str, model: str = "") -> None:
        """Open the window for a gateway; a check that is under way stays."""
        from playground.ui.features.gateway_check.window import CheckWindow

        if self._window is None:
            self._window = CheckWindow(self._workspace.gateways, self._reports, self._host.window)
            self._window.learnt_wanted.connect(self._keep)
        profile = self._workspace.gateways.get(profile_id)
        self._window.open_for(profile.id, model or profile.default_model)

    def _keep(self, report: Report) -> None:
        spawn(self._keep_learnt(report), name="keep rules")

    async def _keep_learnt(self, report: Report) -> None:
        problem = await self._keep_rules(report.profile_id, report.learnt)
        if self._window is not None:
            self._window.say_kept(problem)
