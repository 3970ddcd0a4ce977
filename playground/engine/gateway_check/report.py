"""Reports of gateway checks: values with a line for each check and protocol, and the folder in which they are saved.

A report is the file ``ID.json``, its exchanges are ``ID.cassette.json``. A gateway's own words in a report are foreign
text of limited length; secrets are removed when a report is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import Field, ValidationError

from playground.domain.adaptations import Adaptation
from playground.domain.durations import duration_words
from playground.domain.encoding import encode
from playground.domain.hidden import escape_hidden, show_hidden
from playground.domain.prices import Price
from playground.domain.reasons import reason_of
from playground.domain.transcript import new_id
from playground.domain.values import Value
from playground.engine.files.export.page import STYLE, TAIL, escaped, head
from playground.engine.gateways.redaction import redactor_of
from playground.engine.gateways.secrets import Secret
from playground.engine.io.files import write_whole
from playground.gateway.redact import Redactor
from playground.protocols import PROTOCOLS
from playground.system.named_file import read_named

if TYPE_CHECKING:
    from playground.gateway.tape import Exchange

FORMAT: Final = 1  # the version of a report in a file
MAX_REPORTS: Final = 20  # of one model of one gateway; the oldest are deleted
LATEST_TIME: Final = 4_102_444_800.0  # Unix seconds of the year 2100; later times cannot be shown
_MAX_REPORT_BYTES: Final = 4 * 1024 * 1024
_MAX_FILES: Final = 2_000
_CASSETTE: Final = ".cassette.json"


class Verdict(StrEnum):
    """The result of one line."""

    WORKS = "works"
    DEVIATES = "deviates"  # it works, and departs from the specification
    REFUSED = "refused"  # an error reports that it is not accepted
    UNSUPPORTED = "unsupported"  # it is ignored, or there is no such endpoint
    WRONG = "wrong"  # the answer violates the protocol
    FAILED = "failed"  # there was no answer
    UNTOLD = "untold"  # the answer allows no conclusion
    SKIPPED = "skipped"  # nothing was asked

    @property
    def words(self) -> str:
        """The verdict for people."""
        return _WORDS[self]

    @property
    def fine(self) -> bool:
        """Return whether the feature can be relied on."""
        return self in (Verdict.WORKS, Verdict.DEVIATES)


_WORDS: Final = {
    Verdict.WORKS: "works",
    Verdict.DEVIATES: "works with deviations",
    Verdict.REFUSED: "refused",
    Verdict.UNSUPPORTED: "not supported",
    Verdict.WRONG: "wrong",
    Verdict.FAILED: "no answer",
    Verdict.UNTOLD: "inconclusive",
    Verdict.SKIPPED: "skipped",
}
#: Verdicts that allow no conclusion about the gateway; a change to or from one of them is not reported.
_INCONCLUSIVE: Final = frozenset({Verdict.UNTOLD, Verdict.SKIPPED})


class Departure(Value):
    """A deviation from the specification: its code, a note, and the section of the specification, empty for none."""

    code: str
    note: str
    section: str = ""


class Line(Value):
    """The result of one check over one protocol, which is empty for checks that are about none.

    ``words`` explain the verdict in a sentence. ``without`` are refused fields that were left out or adapted.
    ``seconds`` is the time to the end of the answer, ``first`` to its first token; ``exchanges`` are the ids of the
    exchanges that prove the verdict, the last one last.
    """

    check: str
    title: str
    protocol: str = ""
    verdict: Verdict
    words: str = ""
    deviations: tuple[Departure, ...] = ()
    without: tuple[str, ...] = ()
    seconds: float | None = None
    first: float | None = None
    prompt: int | None = None
    completion: int | None = None
    exchanges: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the line in a report."""
        return self.check, self.protocol


class Report(Value):
    """One series of checks. ``begun`` and ``ended`` are Unix times; ``stopped``: a person ended it early.

    ``gateway`` is the gateway's name at that time, ``profile_id`` the id of its settings. ``learnt`` are rules with
    which refused requests were accepted. ``unkept`` are exchanges that were too large to be saved.
    """

    id: str = Field(default_factory=new_id)
    version: int = FORMAT
    app: str = ""
    gateway: str
    profile_id: str = ""
    base_url: str = ""
    model: str
    begun: float = Field(ge=0, le=LATEST_TIME, allow_inf_nan=False)
    ended: float = Field(default=0.0, ge=0, le=LATEST_TIME, allow_inf_nan=False)
    stopped: bool = False
    price: Price | None = None
    lines: tuple[Line, ...] = ()
    learnt: tuple[Adaptation, ...] = ()
    unkept: tuple[str, ...] = ()

    @property
    def start_time(self) -> datetime:
        """The beginning of the series, in UTC."""
        return datetime.fromtimestamp(min(max(self.begun, 0.0), LATEST_TIME), UTC)

    def line(self, check: str, protocol: str = "") -> Line | None:
        """Return the line of a check, or None."""
        return next((line for line in self.lines if line.key == (check, protocol)), None)

    def has_target_of(self, report: Report) -> bool:
        """Return whether both reports are about the same gateway and model."""
        return (self.profile_id or self.base_url, self.model) == (report.profile_id or report.base_url, report.model)


class Change(Value):
    """A line with another verdict than in an earlier report."""

    line: Line
    before: Verdict


def changes(report: Report, earlier: Report) -> tuple[Change, ...]:
    """Return the lines of ``report`` with another verdict than in ``earlier``, if both are conclusive."""
    result = []
    for line in report.lines:
        old = earlier.line(*line.key)
        if old is not None and old.verdict is not line.verdict and not {old.verdict, line.verdict} & _INCONCLUSIVE:
            result.append(Change(line=line, before=old.verdict))
    return tuple(result)


def count_words(lines: Iterable[Line]) -> str:
    """Return the number of lines by verdict: ``14 works, 2 refused``."""
    verdicts = [line.verdict for line in lines]
    return ", ".join(f"{count} {verdict.words}" for verdict in Verdict if (count := verdicts.count(verdict)))


def previous_report(report: Report, reports: Iterable[Report]) -> Report | None:
    """Return the last report about the same gateway and model before ``report``."""
    earlier = [item for item in reports if item.has_target_of(report) and item.begun < report.begun]
    return max((item for item in earlier if item.id != report.id), key=lambda item: item.begun, default=None)


# ---- files -----------------------------------------------------------------------------------------------------------


class ReportError(Exception):
    """A report cannot be saved or read; the text is the reason."""


def default_folder() -> Path:
    """Return the folder of reports, next to the experiments."""
    from platformdirs import user_data_path

    return user_data_path("gateway-playground", appauthor=False) / "checks"


def write_report(report: Report, secrets: Iterable[Secret]) -> str:
    """Return a report as JSON (``docs/gateway-check.md``), without secrets and with hidden characters escaped."""
    text = json.dumps(encode(report), ensure_ascii=False, indent=2)
    return escape_hidden(redactor_of(secrets).text(text)) + "\n"


def read_report(text: str) -> Report:
    """Return the report in a JSON text. Raises ReportError."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"it is not JSON: {str(error)[:200]}") from None
    try:
        report = Report.model_validate(content)
    except ValidationError as error:
        raise ReportError(reason_of(error)) from None
    if report.version > FORMAT:
        raise ReportError(f"it has version {report.version}; only {FORMAT} is known here")
    return report


class ReportStore:
    """The reports in ``folder``. Methods block for small files; ``messages`` lists the unreadable ones."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()
        self.messages: list[str] = []

    def load(self) -> tuple[Report, ...]:
        """Return all readable reports, the newest first."""
        reports: list[Report] = []
        self.messages = []
        for path in self._paths():
            try:
                reports.append(read_report(read_named(path, _MAX_REPORT_BYTES).decode("utf-8")))
            except (ReportError, UnicodeDecodeError) as error:
                self.messages.append(f"The report in {path} could not be read: {error}.")
            except OSError as error:
                self.messages.append(f"The report in {path} could not be read: {error.strerror or error}.")
        return tuple(sorted(reports, key=lambda report: -report.begun))

    def _paths(self) -> list[Path]:
        try:
            paths = sorted(path for path in self.folder.iterdir() if path.suffix == ".json")
        except OSError:  # there is no folder yet
            return []
        return [path for path in paths if not path.name.endswith(_CASSETTE)][-_MAX_FILES:]

    def save(self, report: Report, exchanges: Sequence[Exchange], secrets: Iterable[Secret]) -> None:
        """Save a report with its exchanges, and delete the oldest ones of the same target. Raises ReportError."""
        from playground.engine.cassettes.cassette import CassetteError, write

        secrets = tuple(secrets)
        data = write_report(report, secrets).encode("utf-8", "backslashreplace")
        try:
            write_whole(self._path(report), data, private=True)
            if exchanges:
                title = f"Check of {report.gateway}, {report.model}"
                write_whole(self._path(report, _CASSETTE), write(exchanges, title, secrets), private=True)
        except OSError as error:
            raise ReportError(f"The report could not be kept in {self.folder}: {error.strerror or error}.") from None
        except CassetteError as error:
            raise ReportError(f"The report is kept without its frames: {error}") from None
        for old in [item for item in self.load() if item.has_target_of(report)][MAX_REPORTS:]:
            with suppress(ReportError):  # the next save tries again
                self.delete(old)

    def exchanges(self, report: Report) -> tuple[Exchange, ...]:
        """Return the saved exchanges of a report, none if there are none. Raises ReportError."""
        from playground.engine.cassettes.cassette import CassetteError, open_file

        path = self._path(report, _CASSETTE)
        if not path.exists():
            return ()
        try:
            return open_file(path).exchanges
        except CassetteError as error:
            raise ReportError(str(error)) from None

    def delete(self, report: Report) -> None:
        """Delete a report and its exchanges. Raises ReportError."""
        try:
            for ending in (".json", _CASSETTE):
                self._path(report, ending).unlink(missing_ok=True)
        except OSError as error:
            raise ReportError(f"The report could not be deleted: {error.strerror or error}.") from None

    def _path(self, report: Report, ending: str = ".json") -> Path:
        """Return a file's path: names sort by time, and hold only letters and digits of the id."""
        report_id = "".join(filter(str.isalnum, report.id))[:40]
        return self.folder / f"{report.start_time:%Y%m%dT%H%M%S}-{report_id}{ending}"


# ---- export ----------------------------------------------------------------------------------------------------------


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
        out += ["", f"## {plain(title)}", "", "| Check | Verdict | Result | Time |", "|:--|:--|:--|--:|"]
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
        top = "<tr><th>Check</th><th>Verdict</th><th>Result</th><th>Time</th></tr>"
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
