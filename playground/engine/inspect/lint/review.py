"""All there is to say of one exchange: what the decoder noted, what the rules find, and what could not be judged.

The work is done in small steps, so that a window can go on; while an answer is on its way only the decoder speaks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from playground.domain.errors import FailureKind
from playground.engine.inspect.frames import FrameIndex
from playground.engine.inspect.lint.case import Case
from playground.engine.inspect.lint.rules import RULES
from playground.protocols.protocol import get_protocol

MOST = 100  # findings of one rule

NOTHING_CAME = "No answer came: there is nothing to judge."
STOPPED = "The answer was stopped: what would have followed was not seen."
LET_GO = "The bytes of this answer were dropped to save memory: nothing can be judged any more."
NOT_READ = "The answer is larger than the limit that is set: the rest of it was not seen."
AFTER_FINISH = (
    "It was read no further than its finish reason: whether usage and an end would have followed was not seen."
)
BROKE_OFF = "The connection broke off: what would have followed was not seen."
TOO_LATE = "The answer was given up because it took too long: what would have followed was not seen."
OUR_FAULT = "A mistake of this application ended the reading: what followed was not seen."
ERROR_INSIDE = "An error ended the answer: what would have followed was not seen."
NOT_WHOLE = "The answer is not whole: content of its end, such as usage, is not judged."
UNREADABLE = "The answer cannot be read as one of the protocol that was asked: no more of it is judged."
UNKNOWN_REQUEST = "The request cannot be read, so the answer is not compared with it."

_UNSEEN = {
    FailureKind.HTTP: NOT_WHOLE,
    FailureKind.INTERNAL: OUR_FAULT,
    FailureKind.TOO_LARGE: NOT_READ,
    FailureKind.TIMEOUT_FIRST: TOO_LATE,
    FailureKind.TIMEOUT_IDLE: TOO_LATE,
    FailureKind.TIMEOUT_TOTAL: TOO_LATE,
    FailureKind.STREAM: ERROR_INSIDE,
    FailureKind.CUT_OFF: NOT_WHOLE,
    FailureKind.DECODE: UNREADABLE,
    FailureKind.OTHER_PROTOCOL: UNREADABLE,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One deviation. ``frame`` is the number of the frame that shows it, None for status and headers.

    ``rule`` is what is expected instead; ``section`` is that of the specification, empty where only common practice
    says so.
    """

    code: str
    note: str
    frame: int | None
    section: str
    rule: str


class Review:
    """The review of the exchange of ``index``: its ``findings`` by frame, those of status and headers first.

    ``unseen`` says in sentences what could not be judged, empty where all of the answer was; ``seen`` is whether there
    was anything to judge. ``judged``: the rules were applied, which ``read_findings`` does once the exchange has ended.
    """

    def __init__(self, index: FrameIndex) -> None:
        self.findings: tuple[Finding, ...] = ()
        self.unseen = ""
        self.seen = False
        self.judged = False
        self._index = index

    def read_findings(self) -> None:
        """Read the findings of the frames so far; of an exchange that has ended, apply the rules once."""
        if self.judged:
            return
        self.findings = tuple(self._noted())
        if not self._index.closed:
            return
        case = Case(self._index)
        case.read_exchange()
        findings = [*self.findings]
        for rule in RULES:
            if (says := rule.says(case.exchange.protocol)) is not None:
                findings += [Finding(rule.code, *seen, *says) for seen in islice(rule.find(case), MOST)]
        self.findings = tuple(sorted(findings, key=lambda finding: -1 if finding.frame is None else finding.frame))
        self.unseen = " ".join(filter(None, (_unseen(case), _unknown(case))))
        self.seen = case.exchange.status is not None and not case.exchange.dropped
        self.judged = True

    def _noted(self) -> Iterator[Finding]:
        for frame, notes in self._index.deviations.items():
            protocol = self._index.exchange.protocol
            expected, judged = get_protocol(protocol).expected, {rule.code for rule in RULES if rule.says(protocol)}
            for code, note in notes:
                if code in judged:  # the rule names the frame of what is odd, the decoder notes it at the end
                    continue
                yield Finding(code, note, frame, *expected.noted.get(code, expected.noted_else))


def findings(index: FrameIndex) -> tuple[Finding, ...]:
    """The deviations of an answer, at once."""
    review = Review(index)
    review.read_findings()
    return review.findings


def _unseen(case: Case) -> str:
    """Return a sentence on the part of the answer that was not seen; empty if all was."""
    exchange, failure = case.exchange, case.index.failure
    if exchange.dropped:
        return LET_GO
    if exchange.status is None:
        return NOTHING_CAME
    if failure is not None:
        complete = exchange.complete and failure.kind in (FailureKind.HTTP, FailureKind.EMPTY, FailureKind.NO_BODY)
        redirected = failure.kind is FailureKind.REDIRECT  # its body is no answer
        return "" if complete or redirected else _UNSEEN.get(failure.kind, BROKE_OFF)
    if exchange.complete:
        return ""
    return AFTER_FINISH if case.index.finish else STOPPED


def _unknown(case: Case) -> str:
    return UNKNOWN_REQUEST if case.is_answer and not case.request.readable else ""
