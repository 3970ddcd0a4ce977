"""What was found of one gateway and model: a line for each check and protocol. Frozen values, kept and compared.

What a gateway said stands in them as foreign text, cut to a length; whoever writes it somewhere takes secrets out.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from pydantic import Field

from playground.domain.adaptations import Adaptation
from playground.domain.prices import Price
from playground.domain.transcript import new_id
from playground.domain.values import Value

FORMAT: Final = 1  # the version of a report in a file
_LATEST: Final = 4_102_444_800.0  # Unix seconds of the year 2100: what is no time cannot be shown as one


class Verdict(StrEnum):
    """What one line comes to."""

    WORKS = "works"
    DEVIATES = "deviates"  # it works, and departs from the specification
    REFUSED = "refused"  # an error told that it is not taken
    UNSUPPORTED = "unsupported"  # it is passed over, or there is no such endpoint
    WRONG = "wrong"  # the answer is not what the protocol says
    FAILED = "failed"  # no answer came
    UNTOLD = "untold"  # what came does not tell
    SKIPPED = "skipped"  # nothing was asked

    @property
    def words(self) -> str:
        """For people."""
        return _WORDS[self]

    @property
    def fine(self) -> bool:
        """Whether it can be relied on."""
        return self in (Verdict.WORKS, Verdict.DEVIATES)


_WORDS: Final = {
    Verdict.WORKS: "works",
    Verdict.DEVIATES: "works with deviations",
    Verdict.REFUSED: "refused",
    Verdict.UNSUPPORTED: "not supported",
    Verdict.WRONG: "wrong",
    Verdict.FAILED: "no answer",
    Verdict.UNTOLD: "could not be told",
    Verdict.SKIPPED: "skipped",
}
#: Verdicts that say nothing of what the gateway can do: a change to or from one of them is none.
_SILENT: Final = frozenset({Verdict.UNTOLD, Verdict.SKIPPED})


class Departure(Value):
    """One deviation from the specification: its code, a note, the section that says otherwise, empty for none."""

    code: str
    note: str
    section: str = ""


class Line(Value):
    """What came of one check over one protocol, which is empty where it is about none.

    ``words`` say it in a sentence. ``without`` are fields that were refused and left out, or sent as something else.
    ``seconds`` is to the end of the answer, ``first`` to its first token; ``exchanges`` are the ids of the exchanges
    that show it, the last one last.
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
        """Which line of a report it is."""
        return self.check, self.protocol


class Report(Value):
    """One series. ``begun`` and ``ended`` are Unix time, ``stopped`` says that a person ended it early.

    ``gateway`` is its name at that time, ``profile_id`` the id of its settings. ``learnt`` are the rules with which
    what was refused went through. ``unkept`` are the exchanges that were too large to be kept with it.
    """

    id: str = Field(default_factory=new_id)
    version: int = FORMAT
    app: str = ""
    gateway: str
    profile_id: str = ""
    base_url: str = ""
    model: str
    begun: float = Field(ge=0, le=_LATEST, allow_inf_nan=False)
    ended: float = Field(default=0.0, ge=0, le=_LATEST, allow_inf_nan=False)
    stopped: bool = False
    price: Price | None = None
    lines: tuple[Line, ...] = ()
    learnt: tuple[Adaptation, ...] = ()
    unkept: tuple[str, ...] = ()

    def line(self, check: str, protocol: str = "") -> Line | None:
        """The line of a check; None where there is none."""
        return next((line for line in self.lines if line.key == (check, protocol)), None)

    def about_the_same(self, other: Report) -> bool:
        """Whether both are of one gateway and one model."""
        mine, its = (self.profile_id or self.base_url), (other.profile_id or other.base_url)
        return (mine, self.model) == (its, other.model)


class Change(Value):
    """A line that came out otherwise than in the report before."""

    line: Line
    before: Verdict


def changes(report: Report, before: Report) -> tuple[Change, ...]:
    """The lines of ``report`` whose verdict is another than in ``before``, where both tell anything."""
    found = []
    for line in report.lines:
        old = before.line(*line.key)
        if old is not None and old.verdict is not line.verdict and not {old.verdict, line.verdict} & _SILENT:
            found.append(Change(line=line, before=old.verdict))
    return tuple(found)


def counts(lines: Iterable[Line]) -> dict[Verdict, int]:
    """How many lines came to each verdict, those that occur."""
    all_of = [line.verdict for line in lines]
    return {verdict: count for verdict in Verdict if (count := all_of.count(verdict))}


def counted(lines: Iterable[Line]) -> str:
    """The same in words: ``14 works, 2 refused``."""
    return ", ".join(f"{count} {verdict.words}" for verdict, count in counts(lines).items())
