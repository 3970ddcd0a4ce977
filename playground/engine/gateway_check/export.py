"""A report as a file to take away: JSON, Markdown, or one HTML page that needs nothing else and can do nothing.

What a gateway said is foreign: made plain for Markdown, escaped for HTML. No secret is in any of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import partial
from typing import Final

from playground.domain.durations import duration_words
from playground.domain.hidden import show_hidden
from playground.engine.files.export.page import STYLE, TAIL, escaped, head
from playground.engine.gateway_check.kept import write_report
from playground.engine.gateway_check.report import Line, Report, changes, counted
from playground.engine.gateways.known_secrets import redactor_of
from playground.engine.gateways.secrets import Secret
from playground.gateway.redact import Redactor
from playground.protocols import PROTOCOLS

_MARKS: Final = re.compile(r"([\\`*_{}\[\]<>|#])")
_MORE: Final = """
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
_FORM: Final = "%Y-%m-%d %H:%M UTC"


def day(at: float) -> str:
    """The day of a report as it is said in a sentence, in local time."""
    return datetime.fromtimestamp(at, UTC).astimezone().strftime("%Y-%m-%d")


def changed(report: Report, before: Report) -> tuple[str, ...]:
    """What came out otherwise than in the report before, a sentence each."""
    return tuple(
        f"{name(one.line)}: {one.before.words} on {day(before.begun)}, {one.line.verdict.words} now"
        for one in changes(report, before)
    )


def name(line: Line) -> str:
    """A line's title with its protocol."""
    return f"{line.title} ({PROTOCOLS.get(line.protocol, line.protocol)})" if line.protocol else line.title


def groups(report: Report) -> list[tuple[str, list[Line]]]:
    """The lines by protocol with the heading of each, those that are about none first."""
    order = list(dict.fromkeys(("", *PROTOCOLS, *(line.protocol for line in report.lines))))
    found = [(protocol, [line for line in report.lines if line.protocol == protocol]) for protocol in order]
    return [(PROTOCOLS.get(key, key) if key else "In any protocol", lines) for key, lines in found if lines]


def _facts(report: Report) -> list[tuple[str, str]]:
    when = datetime.fromtimestamp(min(max(report.begun, 0.0), 2.5e11), UTC).strftime(_FORM)
    found = [("Gateway", report.gateway), ("Base URL", report.base_url), ("Model", report.model), ("Checked", when)]
    found += [("By", report.app)] if report.app else []
    return [*found, ("Found", counted(report.lines) + (", then stopped" if report.stopped else ""))]


def about(line: Line) -> str:
    """The sentence of a line with what was left out."""
    return f"Without {', '.join(line.without)}: {line.words}" if line.without else line.words


def _notes(line: Line) -> list[str]:
    sections = ((one.note, f" (section {one.section})" if one.section else "") for one in line.deviations)
    return [note + section for note, section in sections]


def to_json(report: Report, _before: Report | None, known: Iterable[Secret]) -> str:
    """As it is kept."""
    return write_report(report, known)


def to_markdown(report: Report, before: Report | None, known: Iterable[Secret]) -> str:
    """Tables that GitHub and most others draw."""
    plain = partial(_plain, redactor_of(known))
    out = [f"# Check of {plain(report.gateway)}", ""]
    out += [f"- {title}: {plain(value)}" for title, value in _facts(report)]
    if before is not None and (words := changed(report, before)):
        out += ["", "## Changed", "", *(f"- {plain(one)}" for one in words)]
    for title, lines in groups(report):
        out += ["", f"## {plain(title)}", "", "| Check | Verdict | What came | Time |", "|:--|:--|:--|--:|"]
        for line in lines:
            cell = "<br>".join(map(plain, (about(line), *_notes(line))))
            seconds = duration_words(line.seconds) if line.seconds is not None else ""
            out.append(f"| {plain(line.title)} | {line.verdict.words} | {cell} | {seconds} |")
    return "\n".join(out) + "\n"


def _plain(redactor: Redactor, text: str) -> str:
    """Foreign text in one line of Markdown, with nothing in it that marks anything up.

    Secrets are taken out before: with a stroke between its letters no key is known again.
    """
    return _MARKS.sub(r"\\\1", " ".join(show_hidden(redactor.text(text)).split()))


def to_page(report: Report, before: Report | None, known: Iterable[Secret]) -> str:
    """The whole page."""
    title = f"Check of {report.gateway}"
    out = [head(escaped(title), STYLE + _MORE), f"<header><h1>{escaped(title)}</h1>"]
    facts = " · ".join(f"{what}: {value}" for what, value in _facts(report))
    out.append(f'<p class="facts">{escaped(facts)}</p></header>\n')
    if before is not None and (words := changed(report, before)):
        items = "".join(f"<li>{escaped(one)}</li>" for one in words)
        out.append(f"<section><h2>Changed</h2><ul>{items}</ul></section>\n")
    for heading, lines in groups(report):
        rows = "".join(map(_row, lines))
        top = "<tr><th>Check</th><th>Verdict</th><th>What came</th><th>Time</th></tr>"
        out.append(f"<section><h2>{escaped(heading)}</h2><table>{top}{rows}</table></section>\n")
    out.append(TAIL)
    return redactor_of(known).text("".join(out)).encode("utf-8", "replace").decode()


def _row(line: Line) -> str:
    notes = "".join(f"<li>{escaped(note)}</li>" for note in _notes(line))
    below = f'<ul class="notes">{notes}</ul>' if notes else ""
    seconds = duration_words(line.seconds) if line.seconds is not None else ""
    verdict = f'<td class="{line.verdict.value}">{escaped(line.verdict.words)}</td>'
    return f"<tr><td>{escaped(line.title)}</td>{verdict}<td>{escaped(about(line))}{below}</td><td>{seconds}</td></tr>"


#: How a report is written, by the ending of the file.
FORMATS: Final[dict[str, Callable[[Report, Report | None, Iterable[Secret]], str]]] = {
    "json": to_json,
    "md": to_markdown,
    "html": to_page,
}
