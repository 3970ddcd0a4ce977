"""The first start: samples, and the guide through a first experiment."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from playground.ui.features.action import FILE, HELP, Action
from playground.ui.features.conversation import samples

if TYPE_CHECKING:
    from playground.ui.features.first_start.control import FirstStartControl


def _open(sample: samples.Sample, it: FirstStartControl) -> None:
    it.open(sample)


ACTIONS: tuple[Action[FirstStartControl], ...] = (
    *(
        Action(sample.action, f"Sample: {sample.title}", partial(_open, sample), f"{FILE}/Open sample", 130 + n)
        for n, sample in enumerate(samples.SAMPLES)
    ),
    Action("help.guide", "Start guide", lambda it: it.start_guide(), HELP, 200, synonyms="tour first experiment"),
)
