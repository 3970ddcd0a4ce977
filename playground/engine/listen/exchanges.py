"""One exchange of another program, while it is under way and afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from playground.engine.listen.pauses import Pause
from playground.gateway.tape import Exchange


class Stage(StrEnum):
    """How far an exchange is."""

    RECEIVING = "receiving"  # the body of the request
    REQUEST_PAUSED = "request paused"
    SENT = "sent"  # to the gateway, which has not answered yet
    ANSWERING = "answering"
    ANSWER_HELD = "answer held"  # received for a breakpoint; the program gets it at once when it is released
    ANSWER_PAUSED = "answer paused"
    ENDED = "ended"


class EndedBy(StrEnum):
    """The side that ended an exchange."""

    UPSTREAM = "gateway"  # its answer is whole, or its connection broke
    PROGRAM = "program"  # it closed the connection before the answer was whole
    LISTENER = "listener"  # Listen was stopped, or it answered itself


@dataclass(frozen=True, slots=True)
class Summary:
    """The row of an exchange in the list and in the index of a recording.

    ``started_at`` is Unix time in seconds, ``first`` (of content) and ``duration`` are seconds since the start. Token
    counts are None if the gateway sent none; ``cost`` is in US dollars, None if a price is unknown. ``extends`` is the
    number of the earlier exchange of the session whose messages this one begins with (0: none); ``common`` counts the
    leading messages that both share, ``broken_at`` is the position of the first message that differs from the earlier
    one (None: none differs).
    """

    number: int
    id: str
    started_at: float
    method: str
    path: str
    protocol: str = ""
    program: str = ""
    session: str = ""
    agent: str = ""
    retry: int = 0
    model: str = ""
    served_model: str = ""
    tools: tuple[str, ...] = ()
    messages: int = 0
    calls: tuple[str, ...] = ()
    status: int | None = None
    failure: str = ""
    first: float | None = None
    duration: float | None = None
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    finish: str = ""
    ended_by: str = ""
    changes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    extends: int = 0
    common: int = 0
    broken_at: int | None = None


@dataclass(slots=True)
class Listened:
    """One exchange of another program, which grows while it is under way.

    ``exchange`` is its tape, without secrets: the request as sent to the gateway, and the answer as received from it
    or, where it got no request, as made here.
    ``program`` is a name from the User-Agent. ``session`` and ``agent`` are ids from headers of programs that send
    them, else empty. ``retry`` is the number of earlier tries that the program counts. ``changes`` says in words what a
    person changed. ``original_request`` and ``sent_answer`` are bodies without secrets, if a person changed them: of
    the request as the program sent it, and of the answer as the program got it. ``keep_alives`` counts comments that
    Listen itself added while an answer was held. ``path`` is that of the program, without secrets. ``summary`` is
    made when the request is known, and again at the end.
    """

    number: int
    exchange: Exchange
    program: str = ""
    session: str = ""
    agent: str = ""
    retry: int = 0
    stage: Stage = Stage.RECEIVING
    ended_by: EndedBy | None = None
    pause: Pause | None = None
    changes: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    original_request: bytes = b""
    sent_answer: bytes = b""
    keep_alives: int = 0
    path: str = ""
    summary: Summary | None = None
