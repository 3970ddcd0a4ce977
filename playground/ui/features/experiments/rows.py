"""The rows of the list of experiments: headings, experiments, and the words in which something was found. No Qt."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from playground.engine.library.experiment_summary import ExperimentSummary
from playground.engine.library.store import Passage, SearchResult
from playground.ui.widgets.plain_text import show_prose

LEAD = 26  # letters left before the first word found: a line of a narrow list, which shows two
TITLE_LEAD = 40  # the same for a title: most are seen whole
SHOWN = 500  # rows of a list, until somebody asks for more
_FIELDS = {"reasoning": "Reasoning: ", "arguments": "Call: "}


@dataclass(frozen=True, slots=True)
class Heading:
    """A day, or what the rows below are."""

    text: str

    @property
    def key(self) -> str:
        """What makes it the same row in two lists."""
        return f"heading {self.text}"


@dataclass(frozen=True, slots=True)
class Line:
    """One experiment. ``marks`` are what was found in its title, as (start, end)."""

    experiment: ExperimentSummary
    title: str
    marks: tuple[tuple[int, int], ...] = ()

    @property
    def key(self) -> str:
        """What makes it the same row in two lists."""
        return f"line {self.experiment.id}"


@dataclass(frozen=True, slots=True)
class Hit:
    """Words of one turn in which something was found, safe to show, with the places of what was found."""

    experiment_id: str
    turn_id: str
    text: str
    marks: tuple[tuple[int, int], ...]
    number: int

    @property
    def key(self) -> str:
        """What makes it the same row in two lists."""
        return f"hit {self.experiment_id} {self.number}"


@dataclass(frozen=True, slots=True)
class More:
    """So many experiments are not listed; whoever goes to it sees some of them."""

    count: int

    @property
    def text(self) -> str:
        """What it says."""
        return f"{self.count:,} more: show {'the next ones' if self.count > SHOWN else 'them'}"

    @property
    def key(self) -> str:
        """What makes it the same row in two lists."""
        return "more"


Row = Heading | Line | Hit | More


def rows_of(
    experiments: Iterable[ExperimentSummary], now: float | None = None, most: int = SHOWN, current: str = ""
) -> list[Row]:
    """The list without a search: what is pinned, then by days, newest first.

    ``most`` are listed, and the ``current`` one wherever it stands; the others are counted.
    """
    pinned: list[Row] = []
    rest: list[Row] = []
    heading, since, others = "", float("inf"), 0
    moment = time.time() if now is None else now
    for experiment in experiments:
        if len(pinned if experiment.pinned else rest) >= most and experiment.id != current:
            others += 1
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
    return [*rows, More(others)] if others else rows


def rows_found(found: Sequence[SearchResult], most: int = SHOWN) -> list[Row]:
    """What a search found: experiments, each with the words around what was found.

    Of more than make about ``most`` rows the others are counted.
    """
    count = len(found)
    out: list[Row] = [Heading(f"{count:,} experiment{'s' * (count != 1)} found" if count else "Nothing found")]
    for listed, one in enumerate(found):
        if len(out) > most:
            return [*out, More(count - listed)]
        named = next((passage for passage in one.passages if passage.field == "title"), None)
        title, marks = _from_first(*_shown(named), TITLE_LEAD) if named is not None else ("", ())
        out.append(Line(one.experiment, title, marks) if title else _line(one.experiment))
        begins = named.text.rstrip("…") if named is not None else ""
        hits = [passage for passage in one.passages if passage.turn_id and not (begins and _repeats(passage, begins))]
        for number, passage in enumerate(hits):
            text, places = _from_first(*_shown(passage, _FIELDS.get(passage.field, "")))
            out.append(Hit(one.experiment.id, passage.turn_id, text, places, number))
    return out


def _repeats(passage: Passage, title: str) -> bool:
    """Whether a hit is the very words that the title is made of."""
    return passage.field == "text" and passage.text.startswith(title) and passage.marks[-1][1] <= len(title)


def _line(experiment: ExperimentSummary) -> Line:
    return Line(experiment, show_prose(experiment.title))


def _shown(passage: Passage, before: str = "") -> tuple[str, tuple[tuple[int, int], ...]]:
    """The passage with hidden characters made visible, and where the marks are then."""
    text, marks, at = before, [], 0
    for start, end in passage.marks:
        text += show_prose(passage.text[at:start])
        begin = len(text)
        text += show_prose(passage.text[start:end])
        marks.append((begin, len(text)))
        at = end
    return text + show_prose(passage.text[at:]), tuple(marks)


def _from_first(
    text: str, marks: tuple[tuple[int, int], ...], lead: int = LEAD
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Without what stands far before the first mark, more than ``lead`` letters."""
    first = marks[0][0] if marks else 0
    if first <= lead + 8:
        return text, marks
    space = text.find(" ", first - lead, first)
    cut = space + 1 if space >= 0 else first - lead
    return "…" + text[cut:], tuple((start - cut + 1, end - cut + 1) for start, end in marks)


def day_name(moment: float, now: float | None = None) -> str:
    """The heading for a Unix time: Today, Yesterday, or the date."""
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
    """The Unix time at which the day of ``moment`` began here."""
    day = _day(moment)
    return time.mktime((day.year, day.month, day.day, 0, 0, 0, 0, 0, -1))
