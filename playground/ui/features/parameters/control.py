"""Shows the parameters of the current experiment and stores edits in it."""

from __future__ import annotations

from collections.abc import Callable

from playground.domain.parameters import Parameters
from playground.engine.requests.capability_warnings import limit_field, output_limit_words
from playground.engine.requests.view import parameter_notes
from playground.ui.features.host import Control, Host
from playground.ui.features.parameters.panel import ParameterPanel

OPEN_FOLDS = "parameters/open_folds"  # in the settings


class ParametersControl(Control):
    """``show`` brings the tab forward. Remembers which folds of the tab are open."""

    def __init__(self, host: Host, panel: ParameterPanel, show: Callable[[], None]) -> None:
        super().__init__(host)
        self._panel = panel
        self.show: Callable[[], None] = show
        panel.changed.connect(self._change)
        panel.fold_toggled.connect(self._remember_fold)
        for title in self._open_folds():
            panel.set_open(title, True)

    def show_session(self) -> None:
        """Show the parameters of the current experiment."""
        session = self._session
        flags, settings = parameter_notes(session), session.settings
        facts = self._workspace.gateways.facts(settings.profile_id, settings.model)
        words, above = output_limit_words(facts, settings.current)
        field = limit_field(settings.current)
        if above:
            flags[field] = "\n".join(filter(None, (flags.get(field, ""), words)))
        self._panel.set_value(settings.current, flags, {} if above else {field: words})
        self._panel.set_tool_names([tool.name for tool in session.settings.tools if tool.sendable])

    def _change(self, parameters: Parameters) -> None:
        self._session.set_parameters(parameters)

    def _open_folds(self) -> list[str]:
        stored = str(self._settings.value(OPEN_FOLDS, "") or "")
        return [title for title in stored.split("\n") if title]

    def _remember_fold(self, title: str, is_open: bool) -> None:
        titles = [name for name in self._open_folds() if name != title]
        self._settings.setValue(OPEN_FOLDS, "\n".join([*titles, title] if is_open else titles))
