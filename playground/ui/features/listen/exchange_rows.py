"""The rows of the list of exchanges: filter, groups by program and session, and the texts of the cells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Final

from playground.domain.durations import duration_words
from playground.domain.prices import money
from playground.engine.listen.exchanges import Stage, Summary
from playground.engine.requests.protocol_info import TITLES
from playground.jsonkit.texts import quantity
from playground.ui.widgets.plain_text import one_line_of, shown_name

MOST_TEXT: Final = 300  # characters of a cell
FAILED_STATUS: Final = 400
DOLLAR: Final = "$"
PAUSED: Final = (Stage.REQUEST_PAUSED, Stage.ANSWER_PAUSED)
#: Words for an exchange that is under way.
STAGES: Final = {
    Stage.RECEIVING: "Receiving request…",
    Stage.REQUEST_PAUSED: "Paused: request",
    Stage.SENT: "Waiting for gateway…",
    Stage.ANSWERING: "Receiving answer…",
    Stage.ANSWER_HELD: "Answer held…",
    Stage.ANSWER_PAUSED: "Paused: answer",
}


class Column(IntEnum):
    """The columns of the list, from left to right."""

    TIME = 0
    MODEL = 1
    API = 2
    MESSAGES = 3
    TOKENS = 4
    DURATION = 5
    COST = 6
    RETRY = 7
    STATE = 8


HEADERS: Final = {
    Column.TIME: ("Time", "Arrival of the request"),
    Column.MODEL: ("Model", "Requested model; another served model in the tooltip"),
    Column.API: ("API", "The API of the path; empty for a path that is passed on without being understood"),
    Column.MESSAGES: ("Messages", "Messages of the request, and how many are new since an earlier request"),
    Column.TOKENS: ("Tokens", "Input tokens, of these from the cache, and output tokens"),
    Column.DURATION: ("Duration", "Until the end of the answer"),
    Column.COST: ("Cost", "By the prices of the gateway"),
    Column.RETRY: ("Retry", "Earlier attempts that the program counted"),
    Column.STATE: ("Result", "Reason for the end, or what is under way; edits by you"),
}


class Kind(IntEnum):
    """The filters of the list, in the order of their segments."""

    ALL = 0
    FAILED = 1
    PAUSED = 2
    EDITED = 3


KIND_TITLES: Final = ("All", "Failed", "Paused", "Edited")


@dataclass(frozen=True, slots=True)
class ExchangeRow:
    """One exchange in the list. ``stage`` is None for one of a recording."""

    summary: Summary
    stage: Stage | None = None

    @property
    def is_paused(self) -> bool:
        """Return whether it waits for a decision."""
        return self.stage in PAUSED

    @property
    def is_under_way(self) -> bool:
        """Return whether it has not ended."""
        return self.stage not in (None, Stage.ENDED)

    @property
    def is_failed(self) -> bool:
        """Return whether it ended with an error."""
        summary = self.summary
        return bool(summary.failure) or (summary.status is not None and summary.status >= FAILED_STATUS)

    @property
    def group(self) -> tuple[str, str]:
        """The program and its session."""
        return self.summary.program, self.summary.session


@dataclass(frozen=True, slots=True)
class Filter:
    """The rows to show; ``words`` are lower-case words that all have to occur."""

    words: tuple[str, ...] = ()
    kind: Kind = Kind.ALL

    def fits(self, row: ExchangeRow) -> bool:
        """Return whether a row passes."""
        match self.kind:
            case Kind.FAILED if not row.is_failed:
                return False
            case Kind.PAUSED if not row.is_paused:
                return False
            case Kind.EDITED if not row.summary.changes:
                return False
            case _:
                pass
        if not self.words:
            return True
        text = _searched_text(row.summary)
        return all(word in text for word in self.words)


def filter_of(text: str, kind: Kind) -> Filter:
    """Return the filter for a typed search and a kind."""
    return Filter(tuple(text.lower().split()), kind)


def _searched_text(summary: Summary) -> str:
    fields: Iterable[str] = (
        f"#{summary.number}",
        summary.method,
        summary.path,
        summary.program,
        summary.session,
        summary.agent,
        summary.model,
        summary.served_model,
        summary.finish,
        summary.failure,
        str(summary.status or ""),
        *summary.tools,
        *summary.calls,
        *summary.changes,
        *summary.notes,
    )
    return "\n".join(fields).lower()


def group_title(program: str, session: str, rows: int) -> str:
    """Return the heading of a group of rows."""
    name = _one_line(shown_name(program)) or "Unknown program"
    session_words = f" · session {_one_line(shown_name(session))}" if session else ""
    return f"{name}{session_words} · {count_words(rows)}"


def count_words(count: int) -> str:
    """Return a number of requests in words."""
    return quantity(count, "request")


def cell_text(row: ExchangeRow, column: int) -> str:
    """Return the text of a cell, with hidden characters as marks."""
    summary = row.summary
    match column:
        case Column.TIME:
            return datetime.fromtimestamp(summary.started_at).astimezone().strftime("%H:%M:%S")
        case Column.MODEL:
            text = summary.model or f"{summary.method} {summary.path}"
        case Column.API:
            text = TITLES[summary.protocol].removesuffix(" API") if summary.protocol in TITLES else ""
        case Column.MESSAGES:
            text = _messages(summary)
        case Column.TOKENS:
            text = _tokens(summary)
        case Column.DURATION:
            text = duration_words(summary.duration) if summary.duration is not None else ""
        case Column.COST:
            text = money(summary.cost, DOLLAR) if summary.cost is not None else ""
        case Column.RETRY:
            text = f"{summary.retry}" if summary.retry else ""
        case _:
            text = state_words(row)
    return _one_line(text[:MOST_TEXT])


def _one_line(text: str) -> str:
    """Return a text without line breaks, with hidden characters as marks."""
    return one_line_of(" ".join(text.split("\n")))


def cell_tip(row: ExchangeRow, column: int) -> str:
    """Return the tooltip of a cell."""
    summary = row.summary
    match column:
        case Column.MODEL:
            served = summary.served_model and summary.served_model != summary.model
            lines = [f"#{summary.number} · {summary.method} {summary.path}", summary.model]
            return "\n".join(filter(None, [*lines, f"Served by {summary.served_model}" if served else ""]))
        case Column.MESSAGES:
            return prefix_words(summary)
        case Column.DURATION:
            return f"First content after {duration_words(summary.first)}" if summary.first is not None else ""
        case Column.STATE:
            return "\n".join([state_words(row), *summary.changes, *summary.notes])
        case _:
            return cell_text(row, column)


def state_words(row: ExchangeRow) -> str:
    """Return the result of an exchange, or what is under way, and the edits by a person."""
    summary = row.summary
    if row.stage is not None and row.stage in STAGES:
        result = STAGES[row.stage]
    elif summary.failure:
        result = f"{summary.status or 'Failed'}: {summary.failure}"
    elif summary.status is not None and summary.status >= FAILED_STATUS:
        result = f"Failed ({summary.status})"
    else:
        result = summary.finish or (f"{summary.status}" if summary.status else "")
    if summary.calls and not row.is_failed:
        result = f"{result} · {', '.join(summary.calls)}" if result else ", ".join(summary.calls)
    edits = f"Edited: {'; '.join(summary.changes)}" if summary.changes else ""
    return " · ".join(filter(None, (result, edits)))


def _messages(summary: Summary) -> str:
    if not summary.messages:
        return ""
    if summary.broken_at is not None:
        return f"{summary.messages:,}, differs from {summary.broken_at + 1:,}"
    new = summary.messages - summary.common
    return f"{summary.messages:,} (+{new:,})" if summary.extends else f"{summary.messages:,}"


def prefix_words(summary: Summary) -> str:
    """Return how the messages of a request relate to an earlier request of the session."""
    if not summary.messages:
        return ""
    words = f"{quantity(summary.messages, 'message')}."
    if summary.broken_at is not None:
        return f"{words} Message {summary.broken_at + 1:,} differs from the earlier request: its cache ends there."
    if summary.extends:
        first = "The first is that" if summary.common == 1 else f"The first {summary.common:,} are those"
        return f"{words} {first} of request #{summary.extends}."
    return f"{words} No earlier request of the session begins with them."


def _tokens(summary: Summary) -> str:
    if summary.input_tokens is None and summary.output_tokens is None:
        return ""
    cached = f" ({summary.cached_tokens:,} cached)" if summary.cached_tokens else ""
    sent = f"{summary.input_tokens:,}{cached} in" if summary.input_tokens is not None else ""
    received = f"{summary.output_tokens:,} out" if summary.output_tokens is not None else ""
    return " · ".join(filter(None, (sent, received)))
