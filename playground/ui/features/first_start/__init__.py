"""The first start: samples, and the guide through a first experiment."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from playground.ui.features.action import HELP, SAMPLES, Action
from playground.ui.features.conversation import samples

if TYPE_CHECKING:
    from playground.ui.features.first_start.control import FirstStartControl


def _open(sample: samples.Sample, it: FirstStartControl) -> None:
    it.open(sample)


ACTIONS: tuple[Action[FirstStartControl], ...] = (
    *(
        Action(sample.action, f"Sample: {sample.title}", SAMPLES, place, partial(_open, sample))
        for place, sample in enumerate(samples.SAMPLES)
    ),
    Action("help.guide", "Guided first experiment", HELP, 120, lambda it: it.start_guide()),
)
