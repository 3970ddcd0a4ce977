"""Which protocol is spoken, and the question before it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import RUN, Action

if TYPE_CHECKING:
    from playground.ui.features.protocols.control import ProtocolControl

ACTIONS: tuple[Action[ProtocolControl], ...] = (
    Action("run.protocol", "Switch the protocol", RUN, 410, lambda it: it.speak_next(), ("Ctrl+Shift+M",)),
)
