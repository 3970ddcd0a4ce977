"""All calls of an experiment as a list, and the loop of the path as spans of time. Looks only; changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from playground.domain.parts import ToolCall, ToolResult
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Transcript, Turn
from playground.engine.io.spreadsheet import csv_text, json_text
from playground.engine.session.call_notes import CHECKING, CallVerdict
from playground.jsonkit.values import JSON

if TYPE_CHECKING:
    from playground.engine.inspect.timeline import Served
    from playground.engine.session.session import Exchange, Session
    from playground.engine.tool_servers.tape import ServerTape

SHORT = 80  # characters
LATE = 5.0  # seconds after its end that still belong to a short exchange
_COLUMNS = (
    "turn",
    "tool",
    "arguments",
    "received",
    "verdict",
    "answered",
    "error",
    "result",
    "forming_s",
    "answer_s",
    "on_path",
    "call_id",
)


@dataclass(frozen=True, slots=True)
class CallEntry:
    """A call and one answer it got, or none. Several answers on several branches make several entries.

    ``turn_number`` counts on the branch from 1. ``answered`` says by whom ("you", "table", ...), "someone" where that
    is not known, "" while it waits. ``result_turn_id`` is the turn to show for this answer. ``formed`` is the time from
    its first fragment to its last, ``seconds`` that from the complete call to the answer; None where unknown.
    """

    turn_number: int
    turn_id: str
    call: ToolCall
    verdict: CallVerdict
    on_path: bool
    result: ToolResult | None = None
    result_turn_id: str | None = None
    formed: float | None = None

    @property
    def short(self) -> str:
        """The arguments in one line."""
        return shortened(self.call.arguments)

    @property
    def answered(self) -> str:
        """How it was answered."""
        return (self.result.by or "someone") if self.result is not None else ""

    @property
    def seconds(self) -> float | None:
        """From the complete call to the answer."""
        return self.result.seconds if self.result is not None else None

    @property
    def edited(self) -> bool:
        """Whether a person changed the arguments."""
        return self.call.received is not None


def shortened(text: str, most: int = SHORT) -> str:
    """``text`` in one line of at most that many characters."""
    line = " ".join(text[: most * 4].split())
    return line if len(line) <= most and len(text) <= most * 4 else line[: most - 1].rstrip() + "…"


class CallIndex:
    """The calls of one session, read again and again: ``entries`` of turns that stayed are the same objects."""

    def __init__(self, session: Session) -> None:
        self.entries: list[CallEntry] = []
        self._session = session
        self._known: dict[str, _Read] = {}

    def update_entries(self) -> Iterator[None]:
        """Bring ``entries`` up to date in small steps; given up half-way, they are as they were."""
        session = self._session
        transcript, growing, tools = session.transcript, frozenset(session.growing), session.settings.tools
        on_path = {turn.id for turn in transcript.path}
        depths: dict[str, int] = {}
        known: dict[str, _Read] = {}
        entries: list[CallEntry] = []
        for turn in transcript.turns.values():
            yield
            number = _depth(transcript, turn.id, depths)
            if turn.id in growing or not turn.calls:
                continue
            found = _answers(transcript, turn.id, on_path)
            answers = [found.get(call.id, []) for call in turn.calls]
            places = [[(key, id(result), key in on_path) for key, result in given] for given in answers]
            about = number, turn.id in on_path, places
            before = self._known.get(turn.id)
            stale = before is None or before.turn is not turn or before.tools is not tools or before.about != about
            if before is None or stale or any(entry.verdict is CHECKING for entry in before.entries):
                made: list[CallEntry] = []
                for at, given in enumerate(answers):
                    made += self._entries(turn, at, given, number, on_path)
                    yield
                before = _Read(turn, tools, about, made)
            known[turn.id] = before
            entries += before.entries
        self._known, self.entries = known, entries

    def _entries(
        self, turn: Turn, at: int, answers: list[tuple[str, ToolResult]], number: int, on_path: set[str]
    ) -> list[CallEntry]:
        call = turn.calls[at]
        times = turn.outcome.call_times if turn.outcome is not None else ()
        verdict = self._session.debugger.verdict(call, cut=turn.truncated and call is turn.parts[-1])
        formed = times[at][1] - times[at][0] if at < len(times) else None
        if not answers:
            return [CallEntry(number, turn.id, call, verdict, turn.id in on_path, formed=formed)]
        return [
            CallEntry(number, turn.id, call, verdict, key in on_path, result, key, formed) for key, result in answers
        ]


@dataclass(frozen=True, slots=True)
class _Read:
    """The entries of one turn, and all that they were made from."""

    turn: Turn
    tools: tuple[ToolDefinition, ...]
    about: object
    entries: list[CallEntry]


def _depth(transcript: Transcript, turn_id: str, known: dict[str, int]) -> int:
    """The place of a turn on its branch, from 1."""
    trail: list[str] = []
    at: str | None = turn_id
    while at is not None and at not in known:
        trail.append(at)
        at = transcript.turns[at].parent
    depth = known[at] if at is not None else 0
    for key in reversed(trail):
        depth += 1
        known[key] = depth
    return depth


def _answers(transcript: Transcript, turn_id: str, on_path: set[str]) -> dict[str, list[tuple[str, ToolResult]]]:
    """By the id of a call its different answers, the one on the path first; a copy on another branch is the same."""
    found: dict[str, dict[tuple[str, bool, str], tuple[str, ToolResult]]] = {}
    todo = list(transcript.children(turn_id))
    for key in todo:  # which becomes longer
        turn = transcript.turns[key]
        if turn.role is not Role.TOOL:
            continue
        todo += transcript.children(turn.id)
        for result in turn.results:
            what = (result.text, result.is_error, result.by)
            answers = found.setdefault(result.call_id, {})
            if what not in answers or turn.id in on_path:
                answers[what] = (turn.id, result)
    return {
        call_id: sorted(answers.values(), key=lambda answer: answer[0] not in on_path)
        for call_id, answers in found.items()
    }


def calls_json(entries: Iterable[CallEntry]) -> str:
    """The list as JSON."""
    return json_text([_exported(entry) for entry in entries])


def calls_csv(entries: Iterable[CallEntry]) -> str:
    """The list as CSV."""
    values = (_exported(entry) for entry in entries)
    return csv_text(_COLUMNS, ([value[name] for name in _COLUMNS] for value in values))


def _exported(entry: CallEntry) -> dict[str, JSON]:
    call, result = entry.call, entry.result
    values = (
        entry.turn_number,
        call.name,
        call.arguments,
        call.received,
        entry.verdict.code.value,
        entry.answered,
        result.is_error if result is not None else None,
        result.text if result is not None else None,
        entry.formed,
        entry.seconds,
        entry.on_path,
        call.id,
    )
    return dict(zip(_COLUMNS, values, strict=True))


# The picture of the loop


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time, in seconds since the first request; gaps between spans are real time.

    ``kind`` is "request" (sent, nothing back yet), "reasoning", "text", "call" (its arguments arrive), "result" (it is
    waited for) or "server" (a tool server works at it); ``row`` counts calls beside one another. ``ok`` is False for
    what failed, broke off or is an error.
    """

    kind: str
    turn_id: str
    call_id: str
    label: str
    start: float
    end: float
    ok: bool = True
    row: int = 0


def sequence(session: Session, tape: ServerTape | None = None) -> list[Span]:
    """The spans of the path, in order of their start; turns that were not received have none.

    ``tape`` has what was said with tool servers, where any were spoken with.
    """
    return sorted((span for spans in read_sequence(session, tape) for span in spans), key=lambda span: span.start)


def read_sequence(session: Session, tape: ServerTape | None = None) -> Iterator[list[Span]]:
    """The same a turn at a time, each turn's spans as they come."""
    path = session.transcript.path
    origin: float | None = None
    for number, turn in enumerate(path):
        if turn.outcome is None or turn.outcome.timing is None:
            yield []
            continue
        origin = _started(turn) if origin is None else origin
        spans = list(_spans(session, turn, islice(path, number + 1, None), origin))
        if tape is not None:
            spans += [
                span for row, call in enumerate(turn.calls) for span in _served(tape, turn.id, call.id, row, origin)
            ]
        yield spans


def _started(turn: Turn) -> float:
    timing = turn.outcome.timing if turn.outcome is not None else None
    return timing.started_at if timing is not None else 0.0


def _spans(session: Session, turn: Turn, after: Iterable[Turn], origin: float) -> Iterator[Span]:
    outcome = turn.outcome
    timing = outcome.timing if outcome is not None else None
    if outcome is None or timing is None:
        return
    base = timing.started_at - origin
    end = timing.end if timing.end is not None else (timing.first_content or timing.headers or 0.0)
    first = timing.first_token if timing.first_token is not None else end
    ok = not turn.truncated and not outcome.holes
    yield Span("request", turn.id, "", outcome.model, base, base + first, ok or bool(turn.parts))
    if timing.first_reasoning is not None:
        until = timing.reasoning_end if timing.reasoning_end is not None else timing.first_content
        yield Span("reasoning", turn.id, "", "Reasoning", base + timing.first_reasoning, base + (until or end), ok)
    times = outcome.call_times
    if turn.text and timing.first_content is not None:
        stops = max(min([first for first, _ in times], default=end), timing.first_content)
        yield Span("text", turn.id, "", "Text", base + timing.first_content, base + stops, ok)
    results = _round(after)
    for row, call in enumerate(turn.calls):
        begin, last = times[row] if row < len(times) else (end, end)
        fits = session.debugger.verdict(call, cut=turn.truncated and call is turn.parts[-1])
        yield Span("call", turn.id, call.id, call.name, base + begin, base + last, not fits.code.wrong, row)
        result = next((result for result in results if result.call_id == call.id), None)
        if result is not None:
            seconds = result.seconds or 0.0
            label = result.by or "answered"
            yield Span("result", turn.id, call.id, label, base + end, base + end + seconds, not result.is_error, row)


def _served(tape: ServerTape, turn_id: str, call_id: str, row: int, origin: float) -> Iterator[Span]:
    """The stretches in which a server worked at a call, from its request to its answer or to the last that it said."""
    entries = tape.of_call(turn_id, call_id)
    for entry in entries:
        if not entry.frame.sent or entry.request or not entry.frame.id:
            continue
        answer = tape.partner(entry)
        last = answer or max((other for other in entries if other.server == entry.server), key=lambda it: it.number)
        ok = answer is not None and not answer.frame.error
        start, end = entry.frame.at - origin, last.frame.at - origin
        yield Span("server", turn_id, call_id, entry.server, start, max(end, start), ok, row)


def served(session: Session, exchange: Exchange, tape: ServerTape) -> tuple[Served, ...]:
    """What servers did about the calls that an exchange brought, in seconds since it began.

    What began long after its end is left out: beside that the exchange itself could not be seen.
    """
    from playground.engine.inspect.timeline import Served  # for whoever looks at timelines, not for every list of calls

    turns = session.transcript.turns.values()
    turn = next((it for it in turns if it.outcome is not None and it.outcome.exchange == exchange.id), None)
    if turn is None or exchange.ended is None:
        return ()
    latest = exchange.ended + max(LATE, exchange.ended)
    spans = [_served(tape, turn.id, call.id, row, exchange.started_at) for row, call in enumerate(turn.calls)]
    found = sorted((span for one in spans for span in one if span.start < latest), key=lambda span: span.start)
    return tuple(Served(span.label, span.start, min(span.end, 2 * latest), span.ok) for span in found)


def _round(after: Iterable[Turn]) -> list[ToolResult]:
    """The results that follow at once."""
    out: list[ToolResult] = []
    for turn in after:
        if turn.role is not Role.TOOL:
            break
        out += turn.results
    return out
