"""The dot beside a gateway's name: what is known of it, by colour and by form."""

from __future__ import annotations

from typing import Final

from PySide6.QtGui import QIcon

from playground.engine.gateways.reach import Reach
from playground.ui.widgets.state_dot import state_dot

_STATES: Final = {Reach.OK: "ready", Reach.UNREACHED: "failed", Reach.UNKNOWN: "unknown"}


def dot(reach: Reach) -> QIcon:
    """Reached: a full green disc. No connection: a red ring with a stroke. Nothing asked: a grey ring.

    Whatever needs a look, such as a key that is missing or refused, is half a disc.
    """
    return state_dot(_STATES.get(reach, "starting"))
