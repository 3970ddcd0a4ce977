"""Rows of the list of experiments: headings, experiments, and passages with matches. Independent of Qt."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from playground.engine.library.experiment_summary import ExperimentSummary
from playground.engine.library.store import Passage, SearchResult
from playground.jsonkit.texts import quantity
from playground.ui.widgets.plain_text import show_prose

MAX_LEAD = 26  # characters before the first match: one of the two lines of a passage in a narrow list
MAX_TITLE_LEAD = 40  # characters before the first match in a title: most titles are complete
SHOWN = 500  # rows of a list until the user asks for more
_FIELDS = {"reasoning": "Reasoning: ", "arguments": "Call: "}


@dataclass(frozen=True, slots=True)
class Heading:
    """Heading of the rows below: a day, or a title such as Pinned."""

    text: str

    @property
    def key(self) -> str:
        """Identity of the row across updates of the list."""
        return f"heading {self.text}"


@dataclass(frozen=True, slots=True)
class Line:
    """Row of an experiment. ``marks`` are the matches in its title, as (start, end)."""

    experiment: ExperimentSummary
    title: str
    marks: tuple[tuple[int, int], ...] = ()

    @property
    def key(self) -> str:
        """Identity of the row across updates of the list."""
        return f"line {self.experiment.id}"


@dataclass(frozen=True, slots=True)
class Hit:
    """Passage of a turn with the places of the matches, and with hidden characters made visible."""

    experiment_id: str
    turn_id: str
    text: str
    marks: tuple[tuple[int, int], ...]
    number: int

    @property
    def key(self) -> str:
        """Identity of the row across updates of the list."""
        return f"hit {self.experiment_id} {self.number}"


@dataclass(frozen=True, slots=True)
class More:
    """Row for the number of experiments that are not listed; opening it lists more of them."""

    count: int

    @property
    def text(self) -> str:
        """The label of the row."""
        return f"{self.count:,} more: show {'the next ones' if self.count > SHOWN else 'them'}"

    @property
    def key(self) -> str:
        """Identity of the row across updates of the list."""
        return "more"


Row = Heading | Line | Hit | More


def rows_of(
    experiments: Iterable[ExperimentSummary], now: float | None = None, most: int = SHOWN, current: str = ""
) -> list[Row]:
    """Return the rows without a search: pinned experiments, then the others by days, newest first.

    At most ``most`` pinned and ``most`` other rows are listed, and always the ``current`` experiment; ``More`` counts
    the rest.
    """
    pinned: list[Row] = []
    rest: list[Row] = []
    heading, since, hidden_count = "", float("inf"), 0
    moment = time.time() if now is None else now
    for experiment in experiments:
        if len(pinned if experiment.pinned else rest) >= most and experiment.id != current:
            hidden_count += 1
            continue
        if experiment.pinned:
            pinned.append(_line(experiment))
            continue
        if not heading or experiment.created_at < since:
            since = _midnight(experiment.created_at)
            if (day := day_name(experiment.created_at, moment)) != heading:
                heading = day
                rest.append(Heading(day))
        rest.append(_line(experiment))
    rows = [Heading("Pinned"), *pinned, *rest] if pinned else rest
    return [*rows, More(hidden_count)] if hidden_count else rows


def rows_found(results: Sequence[SearchResult], most: int = SHOWN) -> list[Row]:
    """Return the rows of search results: experiments, each followed by its passages with matches.

    After about ``most`` rows, ``More`` counts the remaining experiments.
    """
    count = len(results)
    rows: list[Row] = [Heading(f"{quantity(count, 'experiment')} found" if count else "Nothing found")]
    for index, result in enumerate(results):
        if len(rows) > most:
            return [*rows, More(count - index)]
        title_passage = next((passage for passage in result.passages if passage.field == "title"), None)
        title, marks = (
            _trim_start(*_visible_passage(title_passage), MAX_TITLE_LEAD) if title_passage is not None else ("", ())
        )
        rows.append(Line(result.experiment, title, marks) if title else _line(result.experiment))
        title_start = title_passage.text.rstrip("…") if title_passage is not None else ""
        hits = [
            passage
            for passage in result.passages
            if passage.turn_id and not (title_start and _repeats(passage, title_start))
        ]
        for number, passage in enumerate(hits):
            text, places = _trim_start(*_visible_passage(passage, _FIELDS.get(passage.field, "")))
            rows.append(Hit(result.experiment.id, passage.turn_id, text, places, number))
    return rows


def _repeats(passage: Passage, title: str) -> bool:
    """Return whether a passage repeats the text that the title was made from."""
    return passage.field == "text" and passage.text.startswith(title) and passage.marks[-1][1] <= len(title)


def _line(experiment: ExperimentSummary) -> Line:
    return Line(experiment, show_prose(experiment.title))


def _visible_passage(passage: Passage, prefix: str = "") -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the text of a passage with hidden characters made visible, and its marks."""
    text, marks, position = prefix, [], 0
    for start, end in passage.marks:
        text += show_prose(passage.text[position:start])
        mark_start = len(text)
        text += show_prose(passage.text[start:end])
        marks.append((mark_start, len(text)))
        position = end
    return text + show_prose(passage.text[position:]), tuple(marks)


def _trim_start(
    text: str, marks: tuple[tuple[int, int], ...], lead: int = MAX_LEAD
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Cut a text off more than about ``lead`` characters before the first mark, and move the marks."""
    first = marks[0][0] if marks else 0
    if first <= lead + 8:
        return text, marks
    space = text.find(" ", first - lead, first)
    cut = space + 1 if space >= 0 else first - lead
    return "…" + text[cut:], tuple((start - cut + 1, end - cut + 1) for start, end in marks)


def day_name(moment: float, now: float | None = None) -> str:
    """Return the heading for a Unix time: Today, Yesterday, or the date."""
    then = _day(moment)
    today = _day(now if now is not None else time.time())
    days = (today - then).days
    if days <= 0:
        return "Today"
    if days == 1:
        return "Yesterday"
    return f"{then.day} {then:%B}" if then.year == today.year else f"{then.day} {then:%B %Y}"


def _day(moment: float) -> date:
    return datetime.fromtimestamp(moment).astimezone().date()


def _midnight(moment: float) -> float:
    """Return the Unix time at which the local day of ``moment`` began."""
    day = _day(moment)
    return time.mktime((day.year, day.month, day.day, 0, 0, 0, 0, 0, -1))
