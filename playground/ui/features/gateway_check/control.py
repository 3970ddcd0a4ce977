"""Check this gateway, in the main window: opens the window of checks, and keeps for a gateway what was learnt of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from playground.domain.adaptations import with_rule
from playground.engine.gateway_check.kept import KeptReports
from playground.engine.gateways.profiles import ProfileError
from playground.ui.features.host import Control, Host
from playground.ui.widgets.loop import spawn

if TYPE_CHECKING:
    from playground.engine.gateway_check.report import Report
    from playground.ui.features.gateway_check.window import CheckWindow


class CheckControl(Control):
    """``changed``: a gateway in the list is different."""

    changed = Signal()

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._kept = KeptReports()
        self._window: CheckWindow | None = None

    def open_current(self) -> None:
        """The gateway and the model in use."""
        settings = self._session.settings
        self.open_for(settings.profile_id, settings.model)

    def open_for(self, profile_id: str, model: str = "") -> None:
        """That gateway; a series that is under way goes on being shown."""
        from playground.ui.features.gateway_check.window import CheckWindow

        if self._window is None:
            self._window = CheckWindow(self._workspace.gateways, self._kept, self._host.window)
            self._window.learnt_wanted.connect(self._keep)
        profile = self._workspace.gateways.get(profile_id)
        self._window.open_for(profile.id, model or profile.default_model)

    def _keep(self, report: Report) -> None:
        spawn(self._keep_learnt(report), name="keep what was learnt")

    async def _keep_learnt(self, report: Report) -> None:
        gateways, window = self._workspace.gateways, self._window
        profile = gateways.get(report.profile_id)
        rules = profile.adaptations
        for rule in report.learnt:
            rules = with_rule(rules, rule)
        try:
            await asyncio.to_thread(gateways.update, profile.model_copy(update={"adaptations": rules}))
        except ProfileError as error:
            words = str(error)
        else:
            words = f"Kept for {profile.name}: it stands in its settings, where it can be changed."
            self.changed.emit()
        if window is not None:
            window.say_kept(words)
