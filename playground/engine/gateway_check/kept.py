"""Reports that were made, in a folder of our own: a file each, and beside it the exchanges that show what it says.

A report is ``ID.json``, its exchanges ``ID.cassette.json``. Methods block for small files. No secret is in any of them.
A file that cannot be read is left where it is and told of.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from playground.domain.encoding import encode
from playground.domain.hidden import escape_hidden
from playground.domain.reasons import reason_of
from playground.engine.gateway_check.report import FORMAT, Report
from playground.engine.gateways.known_secrets import redactor_of
from playground.engine.gateways.secrets import Secret
from playground.engine.io.whole_file import write_whole
from playground.named_file import read_named

if TYPE_CHECKING:
    from playground.gateway.tape import Exchange

MOST: Final = 20  # reports of one model of one gateway that are kept: the oldest make room
_LARGEST: Final = 4 * 1024 * 1024  # bytes of a report
_MOST_FILES: Final = 2_000  # that are looked at
_TAPE: Final = ".cassette.json"


class KeptError(Exception):
    """A report cannot be kept or read; the text says why."""


def default_folder() -> Path:
    """Where they are kept: a folder beside the experiments."""
    from platformdirs import user_data_path

    return user_data_path("gateway-playground", appauthor=False) / "checks"


def write_report(report: Report, known: Iterable[Secret]) -> str:
    """A report as JSON; ``docs/check-report.md`` says what stands where. No secret is in it, and nothing unseen."""
    text = json.dumps(encode(report), ensure_ascii=False, indent=2)
    return escape_hidden(redactor_of(known).text(text)) + "\n"


def read_report(text: str) -> Report:
    """The reverse. Raises KeptError."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise KeptError(f"it is not JSON: {str(error)[:200]}") from None
    try:
        report = Report.model_validate(content)
    except ValidationError as error:
        raise KeptError(reason_of(error)) from None
    if report.version > FORMAT:
        raise KeptError(f"it has version {report.version}; only {FORMAT} is known here")
    return report


class KeptReports:
    """Those in ``folder``. ``messages`` say which could not be read."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()
        self.messages: list[str] = []

    def load(self) -> tuple[Report, ...]:
        """All that can be read, the newest first."""
        found: list[Report] = []
        self.messages = []
        for path in self._paths():
            try:
                found.append(read_report(read_named(path, _LARGEST).decode("utf-8")))
            except (KeptError, UnicodeDecodeError) as error:
                self.messages.append(f"The report in {path} could not be read: {error}.")
            except OSError as error:
                self.messages.append(f"The report in {path} could not be read: {error.strerror or error}.")
        return tuple(sorted(found, key=lambda report: -report.begun))

    def _paths(self) -> list[Path]:
        try:
            names = sorted(path for path in self.folder.iterdir() if path.suffix == ".json")
        except OSError:  # there is none yet
            return []
        return [path for path in names if not path.name.endswith(_TAPE)][-_MOST_FILES:]

    def save(self, report: Report, exchanges: Sequence[Exchange], known: Iterable[Secret]) -> None:
        """Keep a report with what went over the wire for it. Raises KeptError."""
        from playground.engine.cassettes.cassette import CassetteError, write

        known = known if isinstance(known, tuple) else tuple(known)
        try:
            write_whole(
                self._place(report), write_report(report, known).encode("utf-8", "backslashreplace"), private=True
            )
            if exchanges:
                title = f"Check of {report.gateway}, {report.model}"
                write_whole(self._tape(report), write(exchanges, title, known), private=True)
        except OSError as error:
            raise KeptError(f"The report could not be kept in {self.folder}: {error.strerror or error}.") from None
        except CassetteError as error:
            raise KeptError(f"The report is kept without its frames: {error}") from None
        self._make_room(report)

    def exchanges(self, report: Report) -> tuple[Exchange, ...]:
        """What went over the wire for a report; empty where that was not kept. Raises KeptError."""
        from playground.engine.cassettes.cassette import CassetteError, open_file

        if not self._tape(report).exists():
            return ()
        try:
            return open_file(self._tape(report)).exchanges
        except CassetteError as error:
            raise KeptError(str(error)) from None

    def delete(self, report: Report) -> None:
        """Let it go, with its frames. Raises KeptError."""
        try:
            for path in (self._place(report), self._tape(report)):
                path.unlink(missing_ok=True)
        except OSError as error:
            raise KeptError(f"The report could not be deleted: {error.strerror or error}.") from None

    def _make_room(self, report: Report) -> None:
        same = [one for one in self.load() if one.about_the_same(report)]
        for old in same[MOST:]:
            with suppress(KeptError):  # it is tried again after the next one
                self.delete(old)

    def _place(self, report: Report) -> Path:
        return self.folder / f"{_name(report)}.json"

    def _tape(self, report: Report) -> Path:
        return self.folder / f"{_name(report)}{_TAPE}"


def _name(report: Report) -> str:
    """A name that sorts by time; of an id from a file only what can stand in a name."""
    stamp = datetime.fromtimestamp(min(max(report.begun, 0.0), 2.5e11), UTC).strftime("%Y%m%dT%H%M%S")
    return f"{stamp}-{''.join(filter(str.isalnum, report.id))[:40]}"


def before(report: Report, others: Iterable[Report]) -> Report | None:
    """The last one about the same gateway and model that was made before ``report``."""
    older = [one for one in others if one.about_the_same(report) and one.begun < report.begun and one.id != report.id]
    return max(older, key=lambda one: one.begun, default=None)
