"""An evaluation as one static HTML page: words, tables, charts as inline SVG, and the plan.

Charts have a title, axes with units, and a text that says the same; letters tell variants apart, never a colour alone.
The template is ``resources/templates/evaluation.html.j2``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from playground.domain.durations import span
from playground.domain.encoding import encode
from playground.domain.hidden import show_hidden
from playground.engine.evaluation.export.rows import Export
from playground.engine.evaluation.provider import Answer
from playground.engine.evaluation.results import ColumnResult, Results, metric_values
from playground.engine.evaluation.statistics import axis_marks
from playground.engine.files.export.page import STYLE, TAIL, escaped, head
from playground.engine.gateways.redaction import redact
from playground.engine.io.files import render_template, resource_root
from playground.jsonkit.texts import cut
from playground.jsonkit.values import JSONObject

_LEFT, _RIGHT, _ROW_HEIGHT = 170, 720, 34  # of a chart, in its own units
#: Colour and shape of the outcomes of an answer.
_SIGNS: Final = {
    "passed": ("good", "M2 6l3 3 5-6"),
    "failed": ("bad", "M2 2l8 8M10 2l-8 8"),
    "failed to answer": ("bad", "M6 2v5M6 9v1"),
    "not judged": ("facts", "M2 6h8"),
    "not asked": ("facts", "M6 2a4 4 0 1 0 .1 0z"),
}
_MAX_DOTS: Final = 2_000  # of a chart
_ANSWER_LENGTH: Final = 4_000  # characters


@dataclass(frozen=True)
class _Row:
    """A row of a chart: x of a band from and to, of dots with a vertical shift, of a median, and of words."""

    title: str
    y: int
    dots: Sequence[tuple[str, int]] = ()
    band: tuple[str, str] | None = None
    median: str = ""
    words: tuple[str, str] | None = None


@dataclass(frozen=True)
class _Chart:
    label: str
    note: str
    ticks: Sequence[tuple[str, str]]
    rows: Sequence[_Row]
    radius: float
    opacity: float

    @property
    def bottom(self) -> int:
        return len(self.rows) * _ROW_HEIGHT + 8


async def to_page(source: Export) -> str:
    """Return the page."""
    results, resolved = source.results, source.results.resolved
    columns, plan = results.columns, resolved.plan
    title = resolved.base.title or "Evaluation"
    facts = [f"{len(resolved.cases)} cases × {len(resolved.columns)} variants × {plan.repeats} repeats"]
    facts += [f"{sum(column.answered for column in columns)} answers", f"seed {plan.seed}"]
    facts += [span(round(source.seconds, 1))] if source.seconds else []
    charts: list[tuple[str, _Chart]] = [("Pass rate", _rate_chart(columns))]
    for name, heading, unit in (("seconds", "Time to the last token", "s"), ("tokens", "Tokens", "tokens")):
        charts += [(heading, chart) for chart in _dot_chart(results, name, unit)]
    body = render_template(
        "evaluation.html.j2",
        lambda text: show_hidden(source.redactor.text(text)),
        title=title,
        facts=" · ".join(facts),
        comparisons=[comparison.words for comparison in results.comparisons()],
        variants=[_variant_row(column) for column in columns],
        charts=charts,
        checks=[(check.title, cut(check.words, 200), check.rate.words, check.not_judged) for check in results.checks()],
        columns=[column.title for column in resolved.columns],
        cases=_cases(results),
        failed=await _failed(source),
        plan=json.dumps(encode(plan), ensure_ascii=False, indent=2),
        signs=_SIGNS,
    )
    style = STYLE + (resource_root() / "templates" / "evaluation.css").read_text(encoding="utf-8")
    page = head(escaped(title), style) + body + TAIL
    return redact(page.encode("utf-8", "replace").decode(), source.redactor)


def _variant_row(result: ColumnResult) -> tuple[Any, ...]:
    seconds = [f"{values['seconds']:.2f}" if "seconds" in values else "" for values in (result.medians, result.high)]
    return (
        result.column.title,
        result.column.settings.model,
        f"{result.rate.passed} of {result.rate.judged}",
        result.rate.words,
        f"{result.score:.2f}" if result.score is not None else "",
        result.failed,
        result.not_judged,
        *seconds,
    )


def _scale(end: float) -> Callable[[float], str]:
    """Return a function from a value between 0 and ``end`` to its x in a chart."""
    return lambda value: f"{_LEFT + value / end * (_RIGHT - _LEFT):.1f}"


def _rate_chart(columns: Sequence[ColumnResult]) -> _Chart:
    x = _scale(1.0)
    rows = []
    for place, column in enumerate(columns):
        title, y, share = cut(column.column.title, 24), place * _ROW_HEIGHT + 24, column.rate.share
        if share is None:
            rows.append(_Row(title, y, words=(x(0.06), "not judged")))
        else:
            low, high = column.rate.interval
            rows.append(_Row(title, y, [(x(share), 0)], (x(low), x(high)), words=(x(share), f"{100 * share:.0f} %")))
    return _Chart(
        label="; ".join(f"{column.column.title}: {column.rate.words}" for column in columns),
        note=(
            "share of answers that pass every check; 95 % Wilson interval, repeats of a case counted as alike as they "
            "are"
        ),
        ticks=[(x(part / 4), f"{25 * part}{' %' if part == 4 else ''}") for part in range(5)],
        rows=rows,
        radius=5,
        opacity=1,
    )


def _dot_chart(results: Results, name: str, unit: str) -> list[_Chart]:
    """Return a chart with a dot for each answer and a line at the median; none if the metric is unknown."""
    columns, cases = results.resolved.columns, results.resolved.cases
    values = [
        metric_values((answer for case in cases for answer in results.cell(case, column).good), name)
        for column in columns
    ]
    most = max((value for numbers in values for value in numbers), default=0.0)
    if not most:
        return []
    marks = axis_marks(most)
    x = _scale(marks[-1])
    rows = []
    for place, (column, numbers) in enumerate(zip(columns, values, strict=True)):
        sample = numbers[:: max(1, len(columns) * len(numbers) // _MAX_DOTS)]
        dots = [(x(value), (number * 7 % 5 - 2) * 3) for number, value in enumerate(sample)]
        median = x(numbers[len(numbers) // 2]) if numbers else ""
        rows.append(_Row(cut(column.title, 24), place * _ROW_HEIGHT + 22, dots, median=median))
    ticks = [(x(mark), f"{mark:g}{f' {unit}' if mark == marks[-1] else ''}") for mark in marks]
    label, note = f"{name} of each answer", "each dot an answer, the line the median"
    return [_Chart(label, note, ticks, rows, radius=2.5, opacity=0.5)]


def _cases(results: Results) -> list[JSONObject]:
    cases: list[JSONObject] = []
    for case in results.resolved.cases:
        cells = []
        for column in results.resolved.columns:
            cell = results.cell(case, column)
            signs = [_outcome(answer, mark) for answer, mark in zip(cell.answers, cell.marks, strict=True)]
            preview = next((answer.preview for answer in cell.answers if answer is not None and answer.preview), "")
            cells.append({"signs": signs, "preview": cut(preview, 120)})
        cases.append({"title": results.resolved.title(case), "expected": cut(case.expected, 80), "cells": cells})
    return cases


def _outcome(answer: Answer | None, mark: bool | None) -> str:
    if answer is None:
        return "not asked"
    if answer.failure:
        return "failed to answer"
    return "not judged" if mark is None else "passed" if mark else "failed"


async def _failed(source: Export) -> list[JSONObject]:
    """Return title, reasons and text of each answer that failed, or failed a check."""
    failed: list[JSONObject] = []
    for cell, answer, mark in source.answers():
        if answer.failure or mark is False:
            reasons = source.results.failed_checks(cell.case, answer)
            turns = (await source.fetch(answer)).turns
            text = "\n\n".join(turn.text for turn in turns if turn.outcome is not None and turn.text)
            title = f"{source.results.resolved.title(cell.case)} · {cell.column.title} · repeat {answer.repeat}"
            reasons += [answer.failure] if answer.failure else []
            failed.append({"title": title, "reasons": reasons, "text": cut(text, _ANSWER_LENGTH)})
    return failed
