"""Which API is used, and the question before it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import RUN, Action

if TYPE_CHECKING:
    from playground.ui.features.protocols.control import ProtocolControl

ACTIONS: tuple[Action[ProtocolControl], ...] = (
    Action("run.protocol", "Switch API", lambda it: it.speak_next(), RUN, 310, "Ctrl+Shift+M", synonyms="protocol"),
)
