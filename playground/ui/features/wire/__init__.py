"""The wire and the conversation, tied: frames of a turn and turns of frames, one exchange against another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import VIEW, Action

if TYPE_CHECKING:
    from playground.ui.features.wire.control import WireControl

ACTIONS: tuple[Action[WireControl], ...] = (
    Action("wire.timeline", "Timeline of the exchange", VIEW, 300, lambda it: it.open_timeline(), ("Ctrl+T",)),
    Action("wire.frames", "Frames of the selection", VIEW, 310, lambda it: it.show_selection(), ("Ctrl+E",)),
    Action("wire.lint", "Deviations from the specification", VIEW, 320, lambda it: it.open_lint()),
    Action("wire.diff", "Exchange against another one", VIEW, 330, lambda it: it.open_diff(), ("Ctrl+Shift+E",)),
)
