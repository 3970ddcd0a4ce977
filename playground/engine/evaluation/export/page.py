"""An evaluation as one HTML page that needs nothing else and can do nothing: words, tables, pictures, and the plan.

The pictures are drawn here, as SVG in the page: each has a title, axes with units, and a table that says the same. What
tells columns apart is their letter, never a colour alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from html import escape
from typing import Final

from playground.domain.durations import span
from playground.domain.encoding import encode
from playground.domain.hidden import show_hidden
from playground.engine.evaluation.answering import Answer
from playground.engine.evaluation.export.rows import Fetch
from playground.engine.evaluation.results import Cell, ColumnResult, Rate, Results
from playground.engine.evaluation.scales import marks
from playground.engine.files.export.page import STYLE, TAIL, escaped, head
from playground.jsonkit.texts import cut

_MORE: Final = """
main { max-width: 1180px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { border: 1px solid var(--line); padding: 4px 8px; text-align: left; vertical-align: top; }
th { color: var(--muted); font-weight: 600; }
td.number { text-align: right; white-space: nowrap; }
.wide { overflow-x: auto; }
.good { color: #157a45; } .bad { color: var(--error); }
svg { max-width: 100%; height: auto; } svg text { fill: var(--text); font: 12px system-ui, sans-serif; }
svg .axis { stroke: var(--line); } svg .mark { fill: var(--link); } svg .band { stroke: var(--link); stroke-width: 3; }
svg .muted { fill: var(--muted); }
svg.sign { width: 12px; height: 12px; margin-right: 3px; fill: none; stroke: currentColor; stroke-width: 1.8; }
"""
_LEFT, _RIGHT, _ROW = 170, 720, 34  # of a picture, in its own units
#: What became of an answer: its words, its colour, its shape.
_SIGNS: Final = {
    words: (words, kind, path)
    for words, kind, path in (
        ("passed", "good", "M2 6l3 3 5-6"),
        ("failed", "bad", "M2 2l8 8M10 2l-8 8"),
        ("failed to answer", "bad", "M6 2v5M6 9v1"),
        ("not judged", "facts", "M2 6h8"),
        ("not asked", "facts", "M6 2a4 4 0 1 0 .1 0z"),
    )
}
_MOST_DOTS: Final = 2_000
_LONGEST: Final = 4_000  # characters of an answer


async def to_page(results: Results, fetch: Fetch, *, title: str = "", seconds: float | None = None) -> str:
    """The whole page. ``seconds`` is how long it took."""
    inquiry = results.inquiry
    columns = results.columns
    named = title or "Evaluation"
    plan = inquiry.plan
    counts = f"{len(inquiry.cases)} cases × {len(inquiry.columns)} variants × {plan.repeats} repeats"
    facts = [counts, f"{sum(one.answered for one in columns)} answers", f"seed {plan.seed}"]
    facts += [span(round(seconds, 1))] if seconds else []
    out = [head(escaped(named), STYLE + _MORE), f"<header><h1>{escaped(named)}</h1>"]
    out.append(f'<p class="facts">{escaped(" · ".join(facts))}</p></header>\n')
    out.append(_section("What can be told", _words(results)))
    out.append(_section("Variants", _variants(columns)))
    out.append(_section("Pass rate", _rates(columns)))
    for name, what, unit in (("seconds", "Time to the last token", "s"), ("tokens", "Tokens", "tokens")):
        if picture := _dots(results, name, unit):
            out.append(_section(what, picture))
    if plan.checks:
        out.append(_section("Checks", _checks(results)))
    out.append(_section("Cases", _cases(results)))
    out.append(_section("Answers that failed", await _failed(results, fetch)))
    text = json.dumps(encode(plan), ensure_ascii=False, indent=2)
    out.append(_section("Plan", f"<details><summary>as JSON</summary>{_pre(text)}</details>"))
    out.append(TAIL)
    return "".join(out).encode("utf-8", "replace").decode()


def _pre(text: str) -> str:
    return f"<pre>{escape(show_hidden(text))}</pre>"


def _section(title: str, inner: str) -> str:
    return f"<section><h2>{escaped(title)}</h2>{inner}</section>\n"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Cells are HTML; ``numbers`` are the columns that stand at the right."""
    top = "".join(f"<th>{escaped(name)}</th>" for name in header)

    def cell(at: int, text: str) -> str:
        return f'<td class="number">{text}</td>' if at in numbers else f"<td>{text}</td>"

    body = "".join("<tr>" + "".join(cell(at, one) for at, one in enumerate(row)) + "</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{top}</tr>{body}</table></div>'


def _words(results: Results) -> str:
    found = results.comparisons()
    if not found:
        return "<p>There is one variant: nothing is compared.</p>"
    items = "".join(f"<li>{escaped(one.words)}</li>" for one in found)
    note = "In pairs on the same cases; exact McNemar for passing, a bootstrap over cases for figures; all corrected"
    return f'<ul>{items}</ul><p class="facts">{note} together (Holm).</p>'


def _variants(columns: Sequence[ColumnResult]) -> str:
    header = ("Variant", "Model", "Passed", "95 % interval", "Score", "Failed", "Not judged", "s (median)", "s (95 %)")
    rows = [
        (
            escaped(one.column.title),
            escaped(one.column.settings.model),
            f"{one.rate.passed} of {one.rate.judged}",
            escaped(one.rate.words),
            f"{one.score:.2f}" if one.score is not None else "",
            str(one.failed),
            str(one.not_judged),
            _number(one.medians.get("seconds")),
            _number(one.high.get("seconds")),
        )
        for one in columns
    ]
    return _table(header, rows, range(2, 9))


def _number(value: float | None) -> str:
    return f"{value:.2f}" if value is not None else ""


# ---- pictures --------------------------------------------------------------------------------------------------------


def _picture(rows: int, inner: str, label: str) -> str:
    height = rows * _ROW + 40
    return f'<svg viewBox="0 0 760 {height}" role="img" aria-label="{escaped(label)}">{inner}</svg>'


def _axis(rows: int, ticks: Sequence[tuple[float, str]]) -> str:
    bottom = rows * _ROW + 8
    return "".join(
        f'<line class="axis" x1="{x:.1f}" y1="4" x2="{x:.1f}" y2="{bottom}"/>'
        f'<text class="muted" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{escaped(words)}</text>'
        for x, words in ticks
    )


def _rates(columns: Sequence[ColumnResult]) -> str:
    def at(share: float) -> float:
        return _LEFT + share * (_RIGHT - _LEFT)

    ticks = [(at(part / 4), f"{25 * part}{' %' if part == 4 else ''}") for part in range(5)]
    out = [_axis(len(columns), ticks)]
    for place, one in enumerate(columns):
        y = place * _ROW + 24
        out.append(f'<text x="4" y="{y + 4}">{escaped(cut(one.column.title, 24))}</text>')
        out.append(_rate(one.rate, y, at))
    words = "; ".join(f"{one.column.title}: {one.rate.words}" for one in columns)
    note = '<p class="facts">share of answers that pass every check; 95 % Wilson interval, repeats of a case counted'
    return f"{note} as alike as they are</p>{_picture(len(columns), ''.join(out), words)}"


def _rate(rate: Rate, y: int, at: Callable[[float], float]) -> str:
    if rate.share is None:
        return f'<text class="muted" x="{at(0)}" y="{y + 4}">not judged</text>'
    low, high, middle = at(rate.interval.low), at(rate.interval.high), at(rate.share)
    return (
        f'<line class="band" x1="{low:.1f}" y1="{y}" x2="{high:.1f}" y2="{y}"/>'
        f'<circle class="mark" cx="{middle:.1f}" cy="{y}" r="5"/>'
        f'<text x="{middle:.1f}" y="{y - 9}" text-anchor="middle">{escaped(f"{100 * rate.share:.0f} %")}</text>'
    )


def _dots(results: Results, name: str, unit: str) -> str:
    """Each answer a dot, a line at the median; empty where nobody knows that figure."""
    found: list[tuple[str, list[float]]] = []
    for column in results.inquiry.columns:
        cells = (results.cell(case, column) for case in results.inquiry.cases)
        answers = (one for cell in cells for one in cell.answers if one is not None and not one.failure)
        values = [value for one in answers if (value := getattr(one.figures, name)) is not None]
        found.append((column.title, values))
    most = max((value for _, values in found for value in values), default=0.0)
    if not most:
        return ""

    steps = marks(most)
    end = steps[-1]

    def at(value: float) -> float:
        return _LEFT + value / end * (_RIGHT - _LEFT)

    ticks = [(at(value), f"{value:g}{f' {unit}' if value == end else ''}") for value in steps]
    out = [_axis(len(found), ticks)]
    for place, (title, values) in enumerate(found):
        y = place * _ROW + 22
        out.append(f'<text x="4" y="{y + 4}">{escaped(cut(title, 24))}</text>')
        every = max(1, len(found) * len(values) // _MOST_DOTS)
        for number, value in enumerate(sorted(values)[::every]):
            shift = (number * 7 % 5 - 2) * 3
            out.append(f'<circle class="mark" opacity="0.5" cx="{at(value):.1f}" cy="{y + shift}" r="2.5"/>')
        if values:
            middle = at(sorted(values)[len(values) // 2])
            line = f'<line stroke="currentColor" stroke-width="2" x1="{middle:.1f}" y1="{y - 12}"'
            out.append(f'{line} x2="{middle:.1f}" y2="{y + 12}"/>')
    note = '<p class="facts">each dot an answer, the line the median</p>'
    return note + _picture(len(found), "".join(out), f"{name} of each answer")


# ---- tables ----------------------------------------------------------------------------------------------------------


def _checks(results: Results) -> str:
    rows = [
        (escaped(one.title), escaped(cut(one.words, 200)), escaped(one.rate.words), str(one.not_judged))
        for one in results.checks()
    ]
    return _table(("Check", "Asks for", "Passed", "Not judged"), rows, (3,))


def _cases(results: Results) -> str:
    columns = results.inquiry.columns
    rows = [
        [
            f"{escaped(results.inquiry.title(case))}<br><span class='facts'>{escaped(cut(case.expected, 80))}</span>",
            *(_cell(results, results.cell(case, column)) for column in columns),
        ]
        for case in results.inquiry.cases
    ]
    return _table(["Case", *(column.title for column in columns)], rows)


def _cell(results: Results, cell: Cell) -> str:
    pairs = zip(cell.answers, cell.marks, strict=True)
    marks = "".join(_sign(*_SIGNS[_came(answer, mark)]) for answer, mark in pairs)
    first = next((one.gist for one in cell.answers if one is not None and one.gist), "")
    return f"{marks}<br>{escaped(cut(first, 120))}"


def _came(answer: Answer | None, mark: bool | None) -> str:
    if answer is None:
        return "not asked"
    if answer.failure:
        return "failed to answer"
    return "not judged" if mark is None else "passed" if mark else "failed"


def _sign(words: str, kind: str, path: str) -> str:
    """A small picture that says what its label says, in shape as well as in colour."""
    return f'<svg class="sign {kind}" viewBox="0 0 12 12" role="img" aria-label="{words}"><path d="{path}"/></svg>'


async def _failed(results: Results, fetch: Fetch) -> str:
    out = []
    for case in results.inquiry.cases:
        for column in results.inquiry.columns:
            cell = results.cell(case, column)
            for answer, mark in zip(cell.answers, cell.marks, strict=True):
                if answer is None or not (answer.failure or mark is False):
                    continue
                title = f"{results.inquiry.title(case)} · {column.title} · repeat {answer.repeat}"
                said = [
                    f"<li class='bad'>{escaped(f'{check.title}: {verdict.reason}')}</li>"
                    for check, verdict in results.verdicts(case, answer)
                    if verdict is not None and verdict.passed is False
                ]
                said += [f"<li class='bad'>{escaped(answer.failure)}</li>"] if answer.failure else []
                turns = (await fetch(answer)).turns
                text = "\n\n".join(turn.text for turn in turns if turn.outcome is not None and turn.text)
                inner = f"<ul>{''.join(said)}</ul>{_pre(cut(text, _LONGEST))}"
                out.append(f"<details><summary>{escaped(title)}</summary>{inner}</details>")
    return "".join(out) or "<p>None.</p>"
