"""Strip of chips above the columns: state and metrics of every lane, also of those out of sight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QFrame

from playground.domain.transcript import Ending
from playground.engine.session.changes import RunState
from playground.engine.session.session import Session
from playground.engine.session.variants import MOST_LANES
from playground.ui.widgets.form_parts import ElidedButton, styled
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.plain_text import show_hidden, tip

MIN_CHIP = 60  # pixels


class LaneState(NamedTuple):
    """The content of a chip: the letter, the full title and model, a sign with its colour, and metrics in words."""

    letter: str
    title: str
    model: str
    sign: tuple[str, str]
    words: tuple[str, ...]


class LaneStrip(QFrame):
    """A chip for each lane. ``chosen`` carries the index of the lane of a chip that was clicked."""

    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        styled(self, "surface").setObjectName("laneStrip")
        self.setAccessibleName("All lanes")
        self.chips = [ElidedButton("pill", least=MIN_CHIP) for _ in range(MOST_LANES)]
        for index, chip in enumerate(self.chips):
            chip.setCheckable(True)
            chip.clicked.connect(lambda _checked, index=index: self.chosen.emit(index))
        in_row(*((chip, 1) for chip in self.chips), parent=self, margins=(12, 5, 12, 5), spacing=6)

    def show_lanes(self, states: Sequence[LaneState], front: int) -> None:
        """Show the lanes from left to right; ``front`` is the index of the focused one."""
        for index, chip in enumerate(self.chips):
            chip.setVisible(index < len(states))
            chip.setChecked(index == front)
        for chip, state in zip(self.chips, states, strict=False):
            chip.setIcon(icon(*state.sign) if state.sign[0] else QIcon())
            short = " · ".join(word.removeprefix("first token ") for word in state.words)
            words = show_hidden(f"{state.letter}  {short}")
            if words != chip.full_text:
                chip.set_full_text(words)
            full = " · ".join(state.words) or "no answer yet"
            about = show_hidden(f"Lane {state.title}, {state.model or 'no model'}: {full}")
            chip.setAccessibleName(about)
            chip.setToolTip(tip(about))


def lane_sign(lane: Session) -> tuple[str, str]:
    """Return the icon and the colour for the state of a lane; an empty name for a lane without an answer."""
    if lane.state is not RunState.IDLE:
        return "run", "accent"
    if lane.debugger.paused:
        return "pause", "tool"
    outcome = next((turn.outcome for turn in reversed(lane.transcript.path) if turn.outcome is not None), None)
    if outcome is None:
        return "", ""
    if outcome.ending is Ending.FAILED:
        return "error", "error"
    return ("check", "ok") if outcome.is_complete else ("warning", "tool")
