"""The lanes as columns of an export: what is said above and below each."""

from __future__ import annotations

from collections.abc import Callable

from playground.domain.costs import PriceLookup
from playground.engine.compare.figures import best, figures_of
from playground.engine.compare.lanes import Lanes
from playground.engine.compare.words import difference_words
from playground.engine.files.export.lanes import Column
from playground.engine.session.snapshot import lane_snapshot


def columns_of(lanes: Lanes, entered: PriceLookup, gateway: Callable[[str], str]) -> list[Column]:
    """A column for each lane. ``entered`` are prices that a person entered, ``gateway`` gives the name of one."""
    measured = [figures_of(lane, entered) for lane in lanes.all]
    return [
        Column(lanes.title(lane), tuple(difference_words(lane, gateway)), (*found.words, *first), lane_snapshot(lane))
        for lane, found, first in zip(lanes.all, measured, best(measured), strict=True)
    ]
