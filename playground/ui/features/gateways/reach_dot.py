"""The dot next to a gateway's name, which shows its state by colour and shape."""

from __future__ import annotations

from typing import Final

from PySide6.QtGui import QIcon

from playground.engine.gateways.reach import Reach
from playground.ui.widgets.state_dot import state_dot

_STATES: Final = {Reach.OK: "ready", Reach.UNREACHED: "failed", Reach.UNKNOWN: "unknown"}


def dot(reach: Reach) -> QIcon:
    """Return the icon for a state.

    Reached: a green disc. No connection: a red ring with a stroke. No request yet: a grey ring. A state that needs
    attention, such as a missing or refused key: half a disc.
    """
    return state_dot(_STATES.get(reach, "starting"))
