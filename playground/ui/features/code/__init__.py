"""The request as code, and a request from pasted text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import FILE, RUN, Action

if TYPE_CHECKING:
    from playground.ui.features.code.control import CodeControl

ACTIONS: tuple[Action[CodeControl], ...] = (
    Action("experiment.import", "Import request…", lambda it: it.open_import(), FILE, 230, synonyms="curl paste"),
    Action(
        "run.code",
        "Get code",
        lambda it: it.open_code(),
        RUN,
        320,
        "Ctrl+Shift+C",
        synonyms="curl python javascript snippet",
    ),
)
