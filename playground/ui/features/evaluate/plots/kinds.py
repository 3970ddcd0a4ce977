"""The plots of an evaluation: each class makes one plot of the results, or none if they have no such data.

Plots are computed in a worker thread; the window only draws them. A plot with too many rows shows those with the lowest
pass rate, and says so.
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

MOST_ROWS: Final = 40  # of a plot: more are not readable
MOST_TILES: Final = 26  # columns of a map
MOST_DOTS: Final = 20_000
MOST_ANSWERS: Final = 12
ROW, TILE = 40, 24  # pixels
_NAMED: Final = 22  # characters of a name beside an axis
_PERCENT: Final = tuple((part / 4, f"{25 * part}{' %' if part == 4 else ''}") for part in range(5))


class By(StrEnum):
    """The meaning of a row of a plot."""

    VARIANT = "by variant"
    CASE = "by case"
    CHECK = "by check"


class _Group(NamedTuple):
    """A row of a plot.

    ``place`` selects its colour and shape, ``target`` is the answer that a click opens.
    """

    name: str
    place: int
    cells: Sequence[Cell]
    rate: Rate
    target: Target | None


@dataclass(frozen=True)
class PlotData:
    """The data of all plots: a copy of the results, and the selected cell."""

    results: Results
    findings: Findings
    by: By
    cell: Cell | None

    @property
    def columns(self) -> tuple[EvalVariant, ...]:
        """The variants of the evaluation."""
        return self.results.resolved.columns

    @cached_property
    def cells(self) -> list[list[Cell]]:
        """The cells of each variant, in the order of the cases."""
        return [[self.results.cell(case, column) for case in self.results.resolved.cases] for column in self.columns]

    @cached_property
    def titles(self) -> dict[str, str]:
        """The titles of the cases by their ids."""
        return {case.id: show_hidden(self.results.resolved.title(case)) for case in self.results.resolved.cases}

    @cached_property
    def by_variant(self) -> list[_Group]:
        """The rows of a plot by variant."""
        return [
            _Group(show_hidden(entry.column.label), place, cells, entry.rate, first_to_inspect(cells))
            for place, (entry, cells) in enumerate(zip(self.findings.columns, self.cells, strict=True))
        ]

    @cached_property
    def by_case(self) -> list[_Group]:
        """The rows of a plot by case, the lowest pass rate first."""
        rows = zip(*self.cells, strict=True) if self.cells else iter(())
        groups = [
            _Group(self.titles[cells[0].case.id], 0, cells, _rate_of(cells), first_to_inspect(cells)) for cells in rows
        ]
        return sorted(groups, key=_pass_share)

    @cached_property
    def groups(self) -> list[_Group]:
        """The rows of plots of metrics."""
        return self.by_case if self.by is By.CASE else self.by_variant

    def answer_title(self, target: Target) -> str:
        """Return the title of an answer: its case, variant and repeat."""
        case, column, repeat = target
        times = f" · {repeat} of {self.results.resolved.plan.repeats}" if self.results.resolved.plan.repeats > 1 else ""
        return f"{self.titles[case.id]} · {column.letter}{times}"


def first_to_inspect(cells: Sequence[Cell]) -> Target | None:
    """Return the answer to look at first: the first that failed a check, else the first there is."""
    first: Target | None = None
    for cell in cells:
        for place, (answer, mark) in enumerate(zip(cell.answers, cell.marks, strict=True)):
            if mark is False:
                return cell.case, cell.column, place + 1
            if answer is not None and first is None:
                first = cell.case, cell.column, place + 1
    return first


def _rate_of(cells: Sequence[Cell]) -> Rate:
    """Return the pass rate of one case: each answer counts."""
    marks = [mark for cell in cells for mark in cell.marks if mark is not None]
    return Rate(sum(marks), len(marks), wilson(sum(marks), len(marks)) if marks else Interval(0.0, 1.0))


def _pass_share(group: _Group) -> float:
    return 2.0 if group.rate.share is None else group.rate.share


def _rows(names: Sequence[str]) -> Axis:
    ticks = [(-float(place), cut(name, _NAMED)) for place, name in enumerate(names)]
    return Axis(0.6 - len(names), 0.6, ticks)


def _omitted_note(groups: Sequence[object], what: str) -> str:
    return f"; the {MOST_ROWS} of {len(groups):,} {what} that pass least" if len(groups) > MOST_ROWS else ""


def _drawn(groups: list[_Group]) -> list[_Group]:
    """Return the groups to draw; the table has all of them."""
    return groups if len(groups) <= MOST_ROWS else sorted(groups, key=_pass_share)[:MOST_ROWS]


class _Kind(ABC):
    """Makes one plot."""

    kind: str

    @abstractmethod
    def plot(self, data: PlotData) -> Plot | None:
        """Return the plot, or None without data for it."""


class PassRate(_Kind):
    """The share that passed, with its interval: a row a variant, a case or a check."""

    kind = "rate"

    def plot(self, data: PlotData) -> Plot | None:
        groups = data.by_case if data.by is By.CASE else data.by_variant
        what = "cases" if data.by is By.CASE else "variants"
        if data.by is By.CHECK:
            groups, what = _by_check(data), "checks"
        groups = [group for group in groups if group.rate.judged]
        if not groups:
            return None
        dots, lines, words, spots = [], [], [], []
        for place, group in enumerate(_drawn(groups)):
            y, share, low, high = -float(place), group.rate.share or 0.0, *group.rate.interval
            lines.append(Line(group.place, (low, high), (y, y), 3))
            dots.append(Dots(group.place, (share,), (y,)))
            words.append(Words(f"{100 * share:.0f} %", share, y, up=8))
            spots.append(Spot(low, high, y, y, f"{group.name}: {group.rate.words}", group.target))
        names = [group.name for group in _drawn(groups)]
        x = Axis(-0.05, 1.09, _PERCENT, lines=True)  # there is room for the words of 0 and of 100 %
        scene = Scene(x, _rows(names), ROW * len(names), dots, lines, words=words, spots=spots)
        measure = (
            "share of answers that pass the check" if data.by is By.CHECK else "share of answers that pass every check"
        )
        rows = [
            Row((group.name, f"{group.rate.passed:,}", f"{group.rate.judged:,}", *_percents(group.rate)), group.target)
            for group in groups
        ]
        header = (what[:-1].capitalize(), "Passed", "Judged", "Rate", "95 % from", "to")
        subtitle = f"{measure}; 95 % Wilson interval{_omitted_note(groups, what)}"
        return Plot(self.kind, "Pass rate", subtitle, scene, header, rows)


def _by_check(data: PlotData) -> list[_Group]:
    groups = []
    for place, check in enumerate(data.findings.checks):
        name = show_hidden(f"{check.title} {check.words}".strip())
        groups.append(_Group(name, 0, (), check.rate, _failing_check(data, place)))
    return groups


def _failing_check(data: PlotData, place: int) -> Target | None:
    for cells in data.cells:
        for cell in cells:
            keyed = data.results.resolved.plan_checks(cell.case)[place]
            for answer in cell.answers:
                verdict = answer.verdicts.get(keyed.key) if answer is not None and keyed is not None else None
                if answer is not None and verdict is not None and verdict.passed is False:
                    return cell.case, cell.column, answer.repeat
    return None


def _percents(rate: Rate) -> tuple[str, str, str]:
    low, high = rate.interval
    return f"{100 * (rate.share or 0):.1f} %", f"{100 * low:.1f} %", f"{100 * high:.1f} %"


class Spread(_Kind):
    """A metric of each answer as a dot, with the median: seconds, tokens or cost."""

    def __init__(self, name: str, what: str, unit: str) -> None:
        self.kind = self._name = name
        self._what, self._unit = what, unit

    def plot(self, data: PlotData) -> Plot | None:
        unit = self._unit if self._name != "price" else _currency(data)
        drawable = [(group, list(self._points(group, unit))) for group in data.groups]
        drawable = [(group, points) for group, points in drawable if points]
        total = sum(len(points) for _, points in drawable)
        most = max((value for _, points in drawable for value, _ in points), default=0.0)
        if not most > 0:
            return None
        names = (
            {group.name for group in _drawn([group for group, _ in drawable])} if len(drawable) > MOST_ROWS else None
        )
        drawn = [entry for entry in drawable if names is None or entry[0].name in names][:MOST_ROWS]
        every = max(1, -(-sum(len(points) for _, points in drawn) // MOST_DOTS))
        dots, lines, spots = [], [], []
        for place, (group, points) in enumerate(drawn):
            middle = median([value for value, _ in points])
            xs = [value for value, _ in points[::every]]
            ys = [-place + ((number * 0.618034) % 1 - 0.5) * 0.5 for number in range(len(xs))]
            dots.append(Dots(group.place, xs, ys, faint=True))
            lines.append(Line(-1, (middle, middle), (-place - 0.34, -place + 0.34), 2))
            for x, y, (value, target) in zip(xs, ys, points[::every], strict=True):
                spots.append(Spot(x, x, y, y, f"{data.answer_title(target)}: {_amount(value, unit)}", target))
        steps = axis_marks(most)
        ticks = [(step, f"{step:,g}{f' {unit}' if step == steps[-1] and unit == 's' else ''}") for step in steps]
        across = Axis(-0.02 * steps[-1], 1.02 * steps[-1], ticks, "" if unit == "s" else unit, lines=True)
        scene = Scene(across, _rows([group.name for group, _ in drawn]), ROW * len(drawn), dots, lines, spots=spots)
        what = "cases" if data.by is By.CASE else "variants"
        note = f"each dot an answer, the bar the median{_omitted_note(drawable, what)}"
        note += f"; every {every}th answer of {total:,}" if every > 1 else ""
        header = (what[:-1].capitalize(), "Answers", "Median", "95 % are below", "Lowest", "Highest")
        rows = [_spread_row(group, [value for value, _ in points], unit) for group, points in drawable]
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
    return Row((group.name, f"{len(values):,}", *(_amount(value, unit) for value in figures)), group.target)


def _amount(value: float, unit: str) -> str:
    words = f"{value:,.0f}" if value >= 1_000 or (float(value).is_integer() and unit == "tokens") else f"{value:.3g}"
    return f"{words} {unit}".rstrip()


def _currency(data: PlotData) -> str:
    """Return the currency of most answers."""
    counts = Counter(
        answer.metrics.currency
        for cells in data.cells
        for cell in cells
        for answer in cell.answers
        if answer is not None and answer.metrics.price is not None
    )
    return counts.most_common(1)[0][0] if counts else ""


class Sweep(_Kind):
    """The pass rate along a parameter with its band, or over two of them as a map."""

    kind = "sweep"

    def plot(self, data: PlotData) -> Plot | None:
        places = list(range(len(data.columns)))
        parameters = axes(data.columns)
        if (
            not parameters and data.columns and data.columns[0].variant is None
        ):  # the current settings may lack the parameters
            places = places[1:]
            parameters = axes(data.columns[1:])
        groups = [data.by_variant[place] for place in places]
        judged = [place for place, group in enumerate(groups) if group.rate.judged]
        if not parameters or len(judged) < 2:
            return None
        names = list(parameters)
        values = [tuple(float(_number(parameters[name][place])) for name in names) for place in judged]
        drawn = [groups[place] for place in judged]
        header = (*(_title(name) for name in names), "Variant", "Passed", "Judged", "Rate", "95 % from", "to")
        rows = [
            Row(
                (
                    *(f"{value:g}" for value in point),
                    group.name,
                    f"{group.rate.passed:,}",
                    f"{group.rate.judged:,}",
                    *_percents(group.rate),
                ),
                group.target,
            )
            for point, group in zip(values, drawn, strict=True)
        ]
        title = f"{' and '.join(map(_title, names))} sweep"
        if len(names) == 1:
            note, scene = "pass rate; band: 95 %", _sweep_line(_title(names[0]), [value[0] for value in values], drawn)
        else:
            note = "pass rate of each pair of values"
            scene = _sweep_map(_title(names[0]), _title(names[1]), values, drawn)
        return Plot(self.kind, title, note, scene, header, rows)


def _number(value: JSON) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _sweep_line(name: str, values: Sequence[float], groups: Sequence[_Group]) -> Scene:
    both = sorted(zip(values, groups, strict=True), key=lambda pair: pair[0])
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
    xs, ys = (sorted({point[side] for point in values}) for side in (0, 1))
    boxes, words, spots = [], [], []
    for (first, second), group in zip(values, groups, strict=True):
        x, y, share = float(xs.index(first)), float(ys.index(second)), group.rate.share or 0.0
        box = Box(x - 0.48, x + 0.48, y - 0.46, y + 0.46, 0, share)
        boxes.append(box)
        words.append(Words(f"{100 * share:.0f}", x, y, on=share))
        spots.append(Spot(box.x0, box.x1, box.y0, box.y1, f"{group.name}: {group.rate.words}", group.target))
    x_axis = Axis(
        -0.5, len(xs) - 0.5, [(float(place), f"{value:g}") for place, value in enumerate(xs)], f"{across}; in %"
    )
    y_axis = Axis(-0.5, len(ys) - 0.5, [(float(place), f"{value:g}") for place, value in enumerate(ys)], up)
    return Scene(x_axis, y_axis, max(TILE * len(ys), 160), boxes=boxes, words=words, spots=spots)


class AnswerCounts(_Kind):
    """The different answers of the selected cell, and how often each came."""

    kind = "came"

    def plot(self, data: PlotData) -> Plot | None:
        cell = data.cell
        answers = [answer for answer in cell.answers if answer is not None] if cell is not None else []
        if cell is None or not answers:
            return None
        counts = Counter(map(_preview, answers)).most_common()
        first = {_preview(answer): answer.repeat for answer in reversed(answers)}
        boxes, words, spots = [], [], []
        most = counts[0][1]
        for place, (preview, count) in enumerate(counts[:MOST_ANSWERS]):
            y, target = -float(place), (cell.case, cell.column, first[preview])
            share = f"{count} · {100 * count / len(answers):.0f} %"
            boxes.append(Box(0, count, y - 0.32, y - 0.02, data.columns.index(cell.column)))
            words += [Words(f"“{cut(preview, 60)}”", 0, y, up=4, left=True)]
            words += [Words(f"  {share}", count, y - 0.17, left=True, muted=True)]
            spots.append(Spot(0, count, y - 0.34, y + 0.4, f"{preview}\n{share}", target))
        more = len(counts) - MOST_ANSWERS
        note = f"{data.titles[cell.case.id]} · {cell.column.letter}, {len(answers)} of {len(cell.answers)} repeats"
        note += f"; and {more} others, once or more each" if more > 0 else ""
        x = Axis(0, most * 1.25, title="answers")
        height = ROW * len(spots)
        scene = Scene(x, Axis(0.4 - len(spots), 0.6), height, boxes=boxes, words=words, spots=spots)
        rows = [
            Row((preview, str(count), f"{100 * count / len(answers):.1f} %"), (cell.case, cell.column, first[preview]))
            for preview, count in counts
        ]
        return Plot(self.kind, "Answers", note, scene, ("Answer", "Times", "Share"), rows)


def _preview(answer: Answer) -> str:
    return show_hidden(answer.preview or answer.failure) or "nothing"


class Matrix(_Kind):
    """Cases × variants as a map: the share of repeats that passed, as a colour and as a number."""

    kind = "map"

    def plot(self, data: PlotData) -> Plot | None:
        columns = data.columns[:MOST_TILES]
        groups = [group for group in data.by_case if group.target is not None]
        if not groups or len(data.columns) < 2:
            return None
        drawn = groups[:MOST_ROWS]
        boxes, words, spots = [], [], []
        for place, group in enumerate(drawn):
            for column_place, cell in enumerate(group.cells[: len(columns)]):
                rate = _rate_of([cell])
                x, y, share = float(column_place), -float(place), rate.share or 0.0
                box = Box(x - 0.48, x + 0.48, y - 0.46, y + 0.46, 0, share)
                boxes.append(box)
                words.append(Words(_tile(cell, rate), x, y, on=share, muted=not rate.judged))
                tip = f"{group.name} · {cell.column.label}: {_of_cell(cell, rate)}"
                spots.append(Spot(box.x0, box.x1, box.y0, box.y1, tip, first_to_inspect([cell])))
        x_axis = Axis(
            -0.5,
            len(columns) - 0.5,
            [(float(column_place), column.letter) for column_place, column in enumerate(columns)],
            "variants",
        )
        y_axis = _rows([group.name for group in drawn])
        scene = Scene(x_axis, y_axis, TILE * len(drawn), boxes=boxes, words=words, spots=spots)
        omitted = len(data.columns) - len(columns)
        note = f"repeats that passed, in %{_omitted_note(groups, 'cases')}"
        note += f"; the first {len(columns)} of {len(data.columns)} variants" if omitted else ""
        header = ("Case", *(column.label for column in data.columns))
        rows = [
            Row((group.name, *(_of_cell(cell, _rate_of([cell])) for cell in group.cells)), group.target)
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
    if any(answer is not None and answer.failure for answer in cell.answers):
        return "failed to answer"
    return "not judged" if any(cell.answers) else "not asked"


#: In the order of the page.
KINDS: Final[tuple[_Kind, ...]] = (
    PassRate(),
    *(Spread(name, what, unit) for name, what, unit in METRICS),
    Sweep(),
    AnswerCounts(),
    Matrix(),
)


def plots(data: PlotData) -> list[Plot]:
    """Return all plots for which there is data."""
    return [plot for kind in KINDS if (plot := kind.plot(data)) is not None]


def chosen_plot(data: PlotData) -> Plot | None:
    """Return the plot of the selected cell, if it has answers."""
    return AnswerCounts().plot(data)


def cell_at(results: Results, case: Case | None, column: EvalVariant | None) -> Cell | None:
    """Return the cell of a case in a column, if both are given."""
    return results.cell(case, column) if case is not None and column is not None else None
