"""The parts of a plot: axes, shapes, and spots that lead to an answer.

Numbers are in units of the axes. ``place`` picks a colour and the shape of dots: those of the letter with that number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from playground.engine.evaluation.resolved import EvalVariant
from playground.engine.session.plan import Case

#: An answer, or where it would be: its case, column and repeat.
Target: TypeAlias = tuple[Case, EvalVariant, int]


class Axis(NamedTuple):
    """An axis from ``low`` to ``high``, with the labels of its ``ticks``."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]] = ()
    title: str = ""
    lines: bool = False  # whether a line is drawn through the plot at each tick


class Dots(NamedTuple):
    """Points of one colour and shape; ``faint`` ones are small and let others shine through."""

    place: int
    xs: Sequence[float]
    ys: Sequence[float]
    faint: bool = False


class Line(NamedTuple):
    """From point to point; a ``place`` below 0 is the colour of text."""

    place: int
    xs: Sequence[float]
    ys: Sequence[float]
    width: float = 2


class Band(NamedTuple):
    """The area between two lines."""

    place: int
    xs: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]


class Box(NamedTuple):
    """A rectangle; ``share``, from 0 to 1, is how much of its colour it has."""

    x0: float
    x1: float
    y0: float
    y1: float
    place: int
    share: float = 1.0


class Words(NamedTuple):
    """A text at a point: centred on it, or from it to the right; ``up`` are pixels above it. ``on``: the share of the
    box behind it."""

    text: str
    x: float
    y: float
    up: int = 0
    left: bool = False
    muted: bool = False
    on: float = 0.0


class Spot(NamedTuple):
    """A place in a plot, a rectangle or a point, with words for it and where it leads."""

    x0: float
    x1: float
    y0: float
    y1: float
    words: str
    target: Target | None


@dataclass(frozen=True)
class Scene:
    """All of a plot. ``height`` is how many pixels are enough for what is in it, without its axes."""

    x: Axis
    y: Axis
    height: int
    dots: Sequence[Dots] = ()
    lines: Sequence[Line] = ()
    bands: Sequence[Band] = ()
    boxes: Sequence[Box] = ()
    words: Sequence[Words] = ()
    spots: Sequence[Spot] = ()


class Row(NamedTuple):
    """A row of the table behind a plot."""

    cells: tuple[str, ...]
    target: Target | None


@dataclass(frozen=True)
class Plot:
    """A plot that is ready to be drawn: ``kind`` tells it from the others of the page."""

    kind: str
    title: str
    subtitle: str
    scene: Scene
    header: tuple[str, ...]
    rows: Sequence[Row] = field(default=())
