"""The plots of an evaluation: each class makes one of what is known, or none where nothing of that kind is known.

They run beside the window's thread: all that is large is done here, and a plot that came out is only to be drawn. What
has more rows than can be read shows those that passed least, and says so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final, NamedTuple

from playground.domain.hidden import show_hidden
from playground.engine.evaluation.provider import Answer
from playground.engine.evaluation.resolved import EvalVariant
from playground.engine.evaluation.results import METRICS, Cell, Findings, Rate, Results
from playground.engine.evaluation.statistics import Interval, axis_marks, median, quantile, wilson
from playground.engine.evaluation.variants import axes
from playground.engine.session.plan import Case
from playground.jsonkit.texts import cut
from playground.jsonkit.values import JSON
from playground.ui.features.evaluate.plots.scene import (
    Axis,
    Band,
    Box,
    Dots,
    Line,
    Plot,
    Row,
    Scene,
    Spot,
    Target,
    Words,
)

MOST_ROWS: Final = 40  # of a plot, more are not read
MOST_TILES: Final = 26  # columns of a map
MOST_DOTS: Final = 20_000
MOST_CAME: Final = 12
ROW, TILE = 40, 24  # pixels
_NAMED: Final = 22  # characters of a name beside an axis
_PERCENT: Final = tuple((part / 4, f"{25 * part}{' %' if part == 4 else ''}") for part in range(5))


class By(StrEnum):
    """What a row of a plot stands for."""

    VARIANT = "by variant"
    CASE = "by case"
    CHECK = "by check"


class _Group(NamedTuple):
    """A row: what it is called, its colour and shape, its answers, where it leads."""

    name: str
    place: int
    cells: Sequence[Cell]
    rate: Rate
    target: Target | None


@dataclass(frozen=True)
class Known:
    """What plots are made of: ``results`` are a copy of their own; ``cell`` is the one that is chosen."""

    results: Results
    findings: Findings
    by: By
    cell: Cell | None

    @property
    def columns(self) -> tuple[EvalVariant, ...]:
        """Those of the plan."""
        return self.results.resolved.columns

    @cached_property
    def cells(self) -> list[list[Cell]]:
        """Of each column those of all cases."""
        return [[self.results.cell(case, column) for case in self.results.resolved.cases] for column in self.columns]

    @cached_property
    def titles(self) -> dict[str, str]:
        """What each case is called."""
        return {case.id: show_hidden(self.results.resolved.title(case)) for case in self.results.resolved.cases}

    @cached_property
    def by_variant(self) -> list[_Group]:
        """A group a column."""
        return [
            _Group(show_hidden(found.column.title), place, cells, found.rate, leading(cells))
            for place, (found, cells) in enumerate(zip(self.findings.columns, self.cells, strict=True))
        ]

    @cached_property
    def by_case(self) -> list[_Group]:
        """A group a case, those that passed least first."""
        rows = zip(*self.cells, strict=True) if self.cells else iter(())
        groups = [_Group(self.titles[cells[0].case.id], 0, cells, _plain(cells), leading(cells)) for cells in rows]
        return sorted(groups, key=_least)

    @cached_property
    def groups(self) -> list[_Group]:
        """The rows of what answers took."""
        return self.by_case if self.by is By.CASE else self.by_variant

    def said(self, target: Target) -> str:
        """Which answer that is."""
        case, column, repeat = target
        times = f" · {repeat} of {self.results.resolved.plan.repeats}" if self.results.resolved.plan.repeats > 1 else ""
        return f"{self.titles[case.id]} · {column.letter}{times}"


def leading(cells: Sequence[Cell]) -> Target | None:
    """The answer to look at first: one that failed a check, else one that failed, else any."""
    first: Target | None = None
    for cell in cells:
        for place, (answer, mark) in enumerate(zip(cell.answers, cell.marks, strict=True)):
            if mark is False:
                return cell.case, cell.column, place + 1
            if answer is not None and first is None:
                first = cell.case, cell.column, place + 1
    return first


def _plain(cells: Sequence[Cell]) -> Rate:
    """Of one case alone its answers are the unit."""
    known = [mark for cell in cells for mark in cell.marks if mark is not None]
    return Rate(sum(known), len(known), wilson(sum(known), len(known)) if known else Interval(0.0, 1.0))


def _least(group: _Group) -> float:
    return 2.0 if group.rate.share is None else group.rate.share


def _rows(names: Sequence[str]) -> Axis:
    ticks = [(-float(place), cut(name, _NAMED)) for place, name in enumerate(names)]
    return Axis(0.6 - len(names), 0.6, ticks)


def _left_out(groups: Sequence[object], what: str) -> str:
    return f"; the {MOST_ROWS} of {len(groups):,} {what} that pass least" if len(groups) > MOST_ROWS else ""


def _shown(groups: list[_Group]) -> list[_Group]:
    """Those that are drawn; the table has all of them."""
    return groups if len(groups) <= MOST_ROWS else sorted(groups, key=_least)[:MOST_ROWS]


class _Kind(ABC):
    """Makes one plot of what is known."""

    kind: str

    @abstractmethod
    def plot(self, known: Known) -> Plot | None:
        """The plot; None where there is nothing to show."""


class PassRate(_Kind):
    """The share that passed, with its interval: a row a variant, a case or a check."""

    kind = "rate"

    def plot(self, known: Known) -> Plot | None:
        groups = known.by_case if known.by is By.CASE else known.by_variant
        what = "cases" if known.by is By.CASE else "variants"
        if known.by is By.CHECK:
            groups, what = _by_check(known), "checks"
        groups = [group for group in groups if group.rate.judged]
        if not groups:
            return None
        dots, lines, words, spots = [], [], [], []
        for place, group in enumerate(_shown(groups)):
            y, share, low, high = -float(place), group.rate.share or 0.0, *group.rate.interval
            lines.append(Line(group.place, (low, high), (y, y), 3))
            dots.append(Dots(group.place, (share,), (y,)))
            words.append(Words(f"{100 * share:.0f} %", share, y, up=8))
            spots.append(Spot(low, high, y, y, f"{group.name}: {group.rate.words}", group.target))
        names = [group.name for group in _shown(groups)]
        x = Axis(-0.05, 1.09, _PERCENT, lines=True)  # there is room for the words of 0 and of 100 %
        scene = Scene(x, _rows(names), ROW * len(names), dots, lines, words=words, spots=spots)
        asked = "share of answers that pass it" if known.by is By.CHECK else "share of answers that pass every check"
        rows = [
            Row((one.name, f"{one.rate.passed:,}", f"{one.rate.judged:,}", *_percents(one.rate)), one.target)
            for one in groups
        ]
        header = (what[:-1].capitalize(), "Passed", "Judged", "Rate", "95 % from", "to")
        subtitle = f"{asked}; 95 % Wilson interval{_left_out(groups, what)}"
        return Plot(self.kind, "Pass rate", subtitle, scene, header, rows)


def _by_check(known: Known) -> list[_Group]:
    found = []
    for place, check in enumerate(known.findings.checks):
        name = show_hidden(f"{check.title} {check.words}".strip())
        found.append(_Group(name, 0, (), check.rate, _failing_check(known, place)))
    return found


def _failing_check(known: Known, place: int) -> Target | None:
    for cells in known.cells:
        for cell in cells:
            keyed = known.results.resolved.plan_checks(cell.case)[place]
            for answer in cell.answers:
                verdict = answer.verdicts.get(keyed.key) if answer is not None and keyed is not None else None
                if answer is not None and verdict is not None and verdict.passed is False:
                    return cell.case, cell.column, answer.repeat
    return None


def _percents(rate: Rate) -> tuple[str, str, str]:
    low, high = rate.interval
    return f"{100 * (rate.share or 0):.1f} %", f"{100 * low:.1f} %", f"{100 * high:.1f} %"


class Spread(_Kind):
    """What each answer took, a dot each, with the median: seconds, tokens, money."""

    def __init__(self, name: str, what: str, unit: str) -> None:
        self.kind = self._name = name
        self._what, self._unit = what, unit

    def plot(self, known: Known) -> Plot | None:
        unit = self._unit if self._name != "price" else _currency(known)
        found = [(group, list(self._points(group, unit))) for group in known.groups]
        found = [(group, points) for group, points in found if points]
        total = sum(len(points) for _, points in found)
        most = max((value for _, points in found for value, _ in points), default=0.0)
        if not most > 0:
            return None
        kept = {group.name for group in _shown([group for group, _ in found])} if len(found) > MOST_ROWS else None
        shown = [one for one in found if kept is None or one[0].name in kept][:MOST_ROWS]
        every = max(1, -(-sum(len(points) for _, points in shown) // MOST_DOTS))
        dots, lines, spots = [], [], []
        for place, (group, points) in enumerate(shown):
            middle = median([value for value, _ in points])
            xs = [value for value, _ in points[::every]]
            ys = [-place + ((number * 0.618034) % 1 - 0.5) * 0.5 for number in range(len(xs))]
            dots.append(Dots(group.place, xs, ys, faint=True))
            lines.append(Line(-1, (middle, middle), (-place - 0.34, -place + 0.34), 2))
            for x, y, (value, target) in zip(xs, ys, points[::every], strict=True):
                spots.append(Spot(x, x, y, y, f"{known.said(target)}: {_amount(value, unit)}", target))
        steps = axis_marks(most)
        ticks = [(step, f"{step:,g}{f' {unit}' if step == steps[-1] and unit == 's' else ''}") for step in steps]
        across = Axis(-0.02 * steps[-1], 1.02 * steps[-1], ticks, "" if unit == "s" else unit, lines=True)
        scene = Scene(across, _rows([group.name for group, _ in shown]), ROW * len(shown), dots, lines, spots=spots)
        what = "cases" if known.by is By.CASE else "variants"
        note = f"each dot an answer, the bar the median{_left_out(found, what)}"
        note += f"; every {every}th answer of {total:,}" if every > 1 else ""
        header = (what[:-1].capitalize(), "Answers", "Median", "95 % are below", "Lowest", "Highest")
        rows = [_spread_row(group, [value for value, _ in points], unit) for group, points in found]
        return Plot(self.kind, self._what.capitalize(), note, scene, header, rows)

    def _points(self, group: _Group, unit: str) -> Iterator[tuple[float, Target]]:
        for cell in group.cells:
            for place, answer in enumerate(cell.answers):
                if answer is None or answer.failure or (self._name == "price" and answer.metrics.currency != unit):
                    continue
                value = getattr(answer.metrics, self._name)
                if value is not None:
                    yield float(value), (cell.case, cell.column, place + 1)


def _spread_row(group: _Group, values: list[float], unit: str) -> Row:
    figures = (median(values), quantile(values, 0.95), min(values), max(values))
    return Row((group.name, f"{len(values):,}", *(_amount(one, unit) for one in figures)), group.target)


def _amount(value: float, unit: str) -> str:
    words = f"{value:,.0f}" if value >= 1_000 or (float(value).is_integer() and unit == "tokens") else f"{value:.3g}"
    return f"{words} {unit}".rstrip()


def _currency(known: Known) -> str:
    """The one that most answers were paid in."""
    found = Counter(
        one.metrics.currency
        for cells in known.cells
        for cell in cells
        for one in cell.answers
        if one is not None and one.metrics.price is not None
    )
    return found.most_common(1)[0][0] if found else ""


class Sweep(_Kind):
    """The pass rate along a parameter with its band, or over two of them as a map."""

    kind = "sweep"

    def plot(self, known: Known) -> Plot | None:
        places = list(range(len(known.columns)))
        found = axes(known.columns)
        if not found and known.columns and known.columns[0].variant is None:  # A as set may not have them
            places = places[1:]
            found = axes(known.columns[1:])
        groups = [known.by_variant[place] for place in places]
        judged = [place for place, group in enumerate(groups) if group.rate.judged]
        if not found or len(judged) < 2:
            return None
        names = list(found)
        values = [tuple(float(_number(found[name][place])) for name in names) for place in judged]
        taken = [groups[place] for place in judged]
        header = (*(_title(name) for name in names), "Variant", "Passed", "Judged", "Rate", "95 % from", "to")
        rows = [
            Row(
                (
                    *(f"{one:g}" for one in at),
                    group.name,
                    f"{group.rate.passed:,}",
                    f"{group.rate.judged:,}",
                    *_percents(group.rate),
                ),
                group.target,
            )
            for at, group in zip(values, taken, strict=True)
        ]
        title = f"{' and '.join(map(_title, names))} sweep"
        if len(names) == 1:
            note, scene = "pass rate; band: 95 %", _sweep_line(_title(names[0]), [one[0] for one in values], taken)
        else:
            note = "pass rate of each pair of values"
            scene = _sweep_map(_title(names[0]), _title(names[1]), values, taken)
        return Plot(self.kind, title, note, scene, header, rows)


def _number(value: JSON) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _sweep_line(name: str, values: Sequence[float], groups: Sequence[_Group]) -> Scene:
    both = sorted(zip(values, groups, strict=True), key=lambda one: one[0])
    xs = [value for value, _ in both]
    shares = [group.rate.share or 0.0 for _, group in both]
    lows, highs = ([group.rate.interval[side] for _, group in both] for side in (0, 1))
    room = (xs[-1] - xs[0]) * 0.03 or 1.0
    every = max(1, -(-len(xs) // 8))
    ticks = [(value, f"{value:g}") for value in dict.fromkeys(xs)][::every]
    spots = [
        Spot(x, x, y, y, f"{group.name}: {group.rate.words}", group.target)
        for x, y, (_, group) in zip(xs, shares, both, strict=True)
    ]
    return Scene(
        Axis(xs[0] - room, xs[-1] + room, ticks, name, lines=True),
        Axis(-0.03, 1.03, _PERCENT),
        220,
        dots=[Dots(0, xs, shares)],
        lines=[Line(0, xs, shares)],
        bands=[Band(0, xs, lows, highs)],
        spots=spots,
    )


def _sweep_map(across: str, up: str, values: Sequence[tuple[float, ...]], groups: Sequence[_Group]) -> Scene:
    xs, ys = (sorted({one[side] for one in values}) for side in (0, 1))
    boxes, words, spots = [], [], []
    for (first, second), group in zip(values, groups, strict=True):
        x, y, share = float(xs.index(first)), float(ys.index(second)), group.rate.share or 0.0
        box = Box(x - 0.48, x + 0.48, y - 0.46, y + 0.46, 0, share)
        boxes.append(box)
        words.append(Words(f"{100 * share:.0f}", x, y, on=share))
        spots.append(Spot(box.x0, box.x1, box.y0, box.y1, f"{group.name}: {group.rate.words}", group.target))
    x_axis = Axis(-0.5, len(xs) - 0.5, [(float(at), f"{value:g}") for at, value in enumerate(xs)], f"{across}; in %")
    y_axis = Axis(-0.5, len(ys) - 0.5, [(float(at), f"{value:g}") for at, value in enumerate(ys)], up)
    return Scene(x_axis, y_axis, max(TILE * len(ys), 160), boxes=boxes, words=words, spots=spots)


class Came(_Kind):
    """Which answers came to the chosen case in the chosen column, and how often each."""

    kind = "came"

    def plot(self, known: Known) -> Plot | None:
        cell = known.cell
        answers = [one for one in cell.answers if one is not None] if cell is not None else []
        if cell is None or not answers:
            return None
        counts = Counter(map(_gist, answers)).most_common()
        first = {_gist(one): one.repeat for one in reversed(answers)}
        boxes, words, spots = [], [], []
        most = counts[0][1]
        for place, (preview, count) in enumerate(counts[:MOST_CAME]):
            y, target = -float(place), (cell.case, cell.column, first[preview])
            share = f"{count} · {100 * count / len(answers):.0f} %"
            boxes.append(Box(0, count, y - 0.32, y - 0.02, known.columns.index(cell.column)))
            words += [Words(f"“{cut(preview, 60)}”", 0, y, up=4, left=True)]
            words += [Words(f"  {share}", count, y - 0.17, left=True, muted=True)]
            spots.append(Spot(0, count, y - 0.34, y + 0.4, f"{preview}\n{share}", target))
        more = len(counts) - MOST_CAME
        note = f"{known.titles[cell.case.id]} · {cell.column.letter}, {len(answers)} of {len(cell.answers)} repeats"
        note += f"; and {more} others, once or more each" if more > 0 else ""
        x = Axis(0, most * 1.25, title="answers")
        height = ROW * len(spots)
        scene = Scene(x, Axis(0.4 - len(spots), 0.6), height, boxes=boxes, words=words, spots=spots)
        rows = [
            Row((preview, str(count), f"{100 * count / len(answers):.1f} %"), (cell.case, cell.column, first[preview]))
            for preview, count in counts
        ]
        return Plot(self.kind, "Which answers came", note, scene, ("Answer", "Times", "Share"), rows)


def _gist(answer: Answer) -> str:
    return show_hidden(answer.preview or answer.failure) or "nothing"


class Matrix(_Kind):
    """Cases × variants as a map: the share of repeats that passed, as a colour and as a number."""

    kind = "map"

    def plot(self, known: Known) -> Plot | None:
        columns = known.columns[:MOST_TILES]
        groups = [group for group in known.by_case if group.target is not None]
        if not groups or len(known.columns) < 2:
            return None
        shown = groups[:MOST_ROWS]
        boxes, words, spots = [], [], []
        for place, group in enumerate(shown):
            for at, cell in enumerate(group.cells[: len(columns)]):
                rate = _plain([cell])
                x, y, share = float(at), -float(place), rate.share or 0.0
                box = Box(x - 0.48, x + 0.48, y - 0.46, y + 0.46, 0, share)
                boxes.append(box)
                words.append(Words(_tile(cell, rate), x, y, on=share, muted=not rate.judged))
                said = f"{group.name} · {cell.column.title}: {_of_cell(cell, rate)}"
                spots.append(Spot(box.x0, box.x1, box.y0, box.y1, said, leading([cell])))
        x_axis = Axis(-0.5, len(columns) - 0.5, [(float(at), one.letter) for at, one in enumerate(columns)], "variants")
        y_axis = _rows([group.name for group in shown])
        scene = Scene(x_axis, y_axis, TILE * len(shown), boxes=boxes, words=words, spots=spots)
        left = len(known.columns) - len(columns)
        note = f"repeats that passed, in %{_left_out(groups, 'cases')}"
        note += f"; the first {len(columns)} of {len(known.columns)} variants" if left else ""
        header = ("Case", *(column.title for column in known.columns))
        rows = [
            Row((group.name, *(_of_cell(cell, _plain([cell])) for cell in group.cells)), group.target)
            for group in groups
        ]
        return Plot(self.kind, "Cases × variants", note, scene, header, rows)


def _tile(cell: Cell, rate: Rate) -> str:
    if rate.share is not None:
        return f"{100 * rate.share:.0f}"
    return "–" if any(cell.answers) else ""


def _of_cell(cell: Cell, rate: Rate) -> str:
    if rate.judged:
        return f"{rate.passed} of {rate.judged} passed"
    if any(one is not None and one.failure for one in cell.answers):
        return "failed to answer"
    return "not judged" if any(cell.answers) else "not asked"


#: In the order in which they stand on the page.
KINDS: Final[tuple[_Kind, ...]] = (
    PassRate(),
    *(Spread(name, what, unit) for name, what, unit in METRICS),
    Sweep(),
    Came(),
    Matrix(),
)


def plots(known: Known) -> list[Plot]:
    """All that there is something to show of."""
    return [found for kind in KINDS if (found := kind.plot(known)) is not None]


def chosen_plot(known: Known) -> Plot | None:
    """What there is of the chosen cell alone."""
    return Came().plot(known)


def case_at(known: Results, case: Case | None, column: EvalVariant | None) -> Cell | None:
    """The cell of a case in a column, where both are of the plan."""
    return known.cell(case, column) if case is not None and column is not None else None
