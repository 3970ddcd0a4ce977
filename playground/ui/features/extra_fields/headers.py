"""Extra headers of an experiment, a row each. What looks like a secret is refused."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Signal

from playground.engine.gateways.secrets import extra_header_problem, looks_secret, secret_in
from playground.jsonkit.values import JSON
from playground.ui.widgets.name_value import HeaderValue, row_problems
from playground.ui.widgets.value_table import ValueTable


@dataclass(frozen=True, slots=True)
class ExtraHeader(HeaderValue):
    """A header of an experiment, which is saved as plain text."""

    @property
    def problem(self) -> str:
        """The reason why this header is not sent; empty if it is."""
        return extra_header_problem(self.name, self.value)

    def repeated(self) -> str:
        """Return the problem of a header whose name is in an earlier row."""
        return f"“{self.name.strip()}” is set twice; the first one is sent."


class ExtraHeaders(ValueTable[ExtraHeader]):
    """``sent_changed`` gives the headers that can be sent.

    ``unsent_changed`` gives the others, a list of name and value each, to be stored with the experiment; without
    possible secrets and without values that have no name yet.
    """

    sent_changed = Signal(object)
    unsent_changed = Signal(object)

    def __init__(self) -> None:
        self._sent: dict[str, str] = {}
        self._unsent: list[list[str]] = []
        super().__init__(ExtraHeader, lockable=False)
        self.changed.connect(self._report)

    def show_headers(self, headers: dict[str, str], *, unsent: JSON = None, fresh: bool) -> None:
        """Show headers and the stored ``unsent`` ones. Rows being typed stay unless ``fresh``: another experiment's."""
        if not fresh and headers == self._sent:
            return
        self._sent, self._unsent = dict(headers), _pairs(unsent)
        self.set_rows(ExtraHeader(name, value) for name, value in (*headers.items(), *self._unsent))

    def _report(self) -> None:
        sent: dict[str, str] = {}
        unsent: list[list[str]] = []
        rows = self.rows()
        for row, problem in zip(rows, row_problems(rows), strict=True):
            name, value = row.name.strip(), row.value.strip()
            if name and not problem:
                sent[name] = value
            elif name and not looks_secret(name, value) and not secret_in([value]):
                unsent.append([name, value])
        if sent != self._sent:
            self._sent = sent
            self.sent_changed.emit(dict(sent))
        if unsent != self._unsent:
            self._unsent = unsent
            self.unsent_changed.emit(unsent)


def _pairs(unsent: JSON) -> list[list[str]]:
    """Return the stored rows, as read from a file."""
    rows = unsent if isinstance(unsent, list) else []
    return [
        [str(part) for part in row]
        for row in rows
        if isinstance(row, list) and len(row) == 2 and all(isinstance(part, str) for part in row)
    ]
