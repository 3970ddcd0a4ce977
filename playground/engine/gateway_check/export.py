"""Export of a check report: JSON, Markdown, or one self-contained HTML page without scripts.

A gateway's own words are foreign: escaped in Markdown and HTML. No secret is in any export.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Final

from playground.domain.durations import duration_words
from playground.domain.hidden import show_hidden
from playground.engine.files.export.page import STYLE, TAIL, escaped, head
from playground.engine.gateway_check.report import Line, Report, changes, count_words, write_report
from playground.engine.gateways.known_secrets import redactor_of
from playground.engine.gateways.secrets import Secret
from playground.gateway.redact import Redactor
from playground.protocols import PROTOCOLS

_MARKUP: Final = re.compile(r"([\\`*_{}\[\]<>|#])")
_STYLE: Final = """
main { max-width: 1000px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { border: 1px solid var(--line); padding: 4px 8px; text-align: left; vertical-align: top;
  overflow-wrap: anywhere; }
td:nth-child(2) { white-space: nowrap; }
th { color: var(--muted); font-weight: 600; }
.works, .deviates { color: #157a45; } .refused, .wrong, .failed { color: var(--error); }
ul.notes { margin: 4px 0 0; padding-left: 18px; color: var(--muted); }
@media (prefers-color-scheme: dark) { .works, .deviates { color: #6dd49c; } }
"""


def _local_day(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).astimezone().strftime("%Y-%m-%d")


def change_words(report: Report, earlier: Report) -> tuple[str, ...]:
    """Return a sentence for each line with another verdict than in ``earlier``."""
    return tuple(
        f"{line_name(change.line)}: {change.before.words} on {_local_day(earlier.begun)}, "
        f"{change.line.verdict.words} now"
        for change in changes(report, earlier)
    )


def line_name(line: Line) -> str:
    """Return a line's title with its protocol."""
    return f"{line.title} ({PROTOCOLS.get(line.protocol, line.protocol)})" if line.protocol else line.title


def groups(report: Report, titles: Mapping[str, str] = PROTOCOLS) -> list[tuple[str, list[Line]]]:
    """Return headings and lines by protocol, first the lines that are about no protocol."""
    protocols = dict.fromkeys(("", *titles, *(line.protocol for line in report.lines)))
    grouped = [(name, [line for line in report.lines if line.protocol == name]) for name in protocols]
    return [(titles.get(name, name) or "In any protocol", lines) for name, lines in grouped if lines]


def line_words(line: Line) -> str:
    """Return the sentence of a line, with the fields that were left out."""
    return f"Without {', '.join(line.without)}: {line.words}" if line.without else line.words


def _facts(report: Report) -> list[tuple[str, str]]:
    return [
        ("Gateway", report.gateway),
        ("Base URL", report.base_url),
        ("Model", report.model),
        ("Checked", f"{report.start_time:%Y-%m-%d %H:%M} UTC"),
        *([("By", report.app)] if report.app else []),
        ("Found", count_words(report.lines) + (", then stopped" if report.stopped else "")),
    ]


def _notes(line: Line) -> list[str]:
    return [item.note + (f" (section {item.section})" if item.section else "") for item in line.deviations]


def _duration(line: Line) -> str:
    return duration_words(line.seconds) if line.seconds is not None else ""


def to_json(report: Report, _earlier: Report | None, secrets: Iterable[Secret]) -> str:
    """Return the report in its file format."""
    return write_report(report, secrets)


def to_markdown(report: Report, earlier: Report | None, secrets: Iterable[Secret]) -> str:
    """Return the report as Markdown with tables."""
    plain = partial(_plain, redactor_of(secrets))
    out = [f"# Check of {plain(report.gateway)}", ""]
    out += [f"- {title}: {plain(value)}" for title, value in _facts(report)]
    if earlier is not None and (sentences := change_words(report, earlier)):
        out += ["", "## Changed", "", *(f"- {plain(sentence)}" for sentence in sentences)]
    for title, lines in groups(report):
        out += ["", f"## {plain(title)}", "", "| Check | Verdict | What came | Time |", "|:--|:--|:--|--:|"]
        for line in lines:
            cell = "<br>".join(map(plain, (line_words(line), *_notes(line))))
            out.append(f"| {plain(line.title)} | {line.verdict.words} | {cell} | {_duration(line)} |")
    return "\n".join(out) + "\n"


def _plain(redactor: Redactor, text: str) -> str:
    """Return foreign text on one line of Markdown, its markup escaped.

    Secrets are removed first: escaping would make them unrecognisable.
    """
    return _MARKUP.sub(r"\\\1", " ".join(show_hidden(redactor.text(text)).split()))


def to_page(report: Report, earlier: Report | None, secrets: Iterable[Secret]) -> str:
    """Return the report as an HTML page."""
    title = f"Check of {report.gateway}"
    facts = " · ".join(f"{name}: {value}" for name, value in _facts(report))
    out = [head(escaped(title), STYLE + _STYLE), f"<header><h1>{escaped(title)}</h1>"]
    out.append(f'<p class="facts">{escaped(facts)}</p></header>\n')
    if earlier is not None and (sentences := change_words(report, earlier)):
        items = "".join(f"<li>{escaped(sentence)}</li>" for sentence in sentences)
        out.append(f"<section><h2>Changed</h2><ul>{items}</ul></section>\n")
    for heading, lines in groups(report):
        top = "<tr><th>Check</th><th>Verdict</th><th>What came</th><th>Time</th></tr>"
        rows = top + "".join(map(_row, lines))
        out.append(f"<section><h2>{escaped(heading)}</h2><table>{rows}</table></section>\n")
    out.append(TAIL)
    return redactor_of(secrets).text("".join(out)).encode("utf-8", "replace").decode()


def _row(line: Line) -> str:
    notes = "".join(f"<li>{escaped(note)}</li>" for note in _notes(line))
    below = f'<ul class="notes">{notes}</ul>' if notes else ""
    verdict = f'<td class="{line.verdict.value}">{escaped(line.verdict.words)}</td>'
    words = f"<td>{escaped(line_words(line))}{below}</td>"
    return f"<tr><td>{escaped(line.title)}</td>{verdict}{words}<td>{_duration(line)}</td></tr>"


#: The writer of each export format, by the ending of its files.
FORMATS: Final[dict[str, Callable[[Report, Report | None, Iterable[Secret]], str]]] = {
    "json": to_json,
    "md": to_markdown,
    "html": to_page,
}
