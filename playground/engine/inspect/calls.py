"""All tool calls of an experiment as a list, and the tool loop of the current path as spans of time. Read-only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from playground.domain.parts import ToolCall, ToolResult
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Transcript, Turn
from playground.engine.io.spreadsheet import csv_text, json_text
from playground.engine.session.call_notes import CHECKING, CallVerdict, answer_time_words
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
        """The source of the answer; empty while the call waits."""
        return (self.result.by or "someone") if self.result is not None else ""

    @property
    def seconds(self) -> float | None:
        """From the complete call to the answer, the time a person took included."""
        return self.result.seconds if self.result is not None else None

    @property
    def time_words(self) -> str:
        """Return the answering times by person and server: "you 50.0 s · server 4 ms"."""
        return answer_time_words(self.result) if self.result is not None else ""

    @property
    def edited(self) -> bool:
        """Return whether a person changed the arguments."""
        return self.call.received is not None


def shortened(text: str, most: int = SHORT) -> str:
    """``text`` in one line of at most that many characters."""
    line = " ".join(text[: most * 4].split())
    return line if len(line) <= most and len(text) <= most * 4 else line[: most - 1].rstrip() + "…"


class CallIndex:
    """The calls of one session. After an update the ``entries`` of unchanged turns are the same objects."""

    def __init__(self, session: Session) -> None:
        self.entries: list[CallEntry] = []
        self._session = session
        self._reads: dict[str, _Read] = {}

    def update_entries(self) -> None:
        """Bring ``entries`` up to date."""
        session = self._session
        transcript, growing, tools = session.transcript, frozenset(session.growing), session.settings.tools
        on_path = {turn.id for turn in transcript.path}
        depths: dict[str, int] = {}
        reads: dict[str, _Read] = {}
        entries: list[CallEntry] = []
        for turn in transcript.turns.values():
            number = _depth(transcript, turn.id, depths)
            if turn.id in growing or not turn.calls:
                continue
            results = _answers(transcript, turn.id, on_path)
            answers = [results.get(call.id, []) for call in turn.calls]
            places = [[(key, id(result), key in on_path) for key, result in choices] for choices in answers]
            about = number, turn.id in on_path, places
            before = self._reads.get(turn.id)
            stale = before is None or before.turn is not turn or before.tools is not tools or before.about != about
            if before is None or stale or any(entry.verdict is CHECKING for entry in before.entries):
                created: list[CallEntry] = []
                for position, choices in enumerate(answers):
                    created += self._entries(turn, position, choices, number, on_path)
                before = _Read(turn, tools, about, created)
            reads[turn.id] = before
            entries += before.entries
        self._reads, self.entries = reads, entries

    def _entries(
        self, turn: Turn, position: int, answers: list[tuple[str, ToolResult]], number: int, on_path: set[str]
    ) -> list[CallEntry]:
        call = turn.calls[position]
        times = turn.outcome.call_times if turn.outcome is not None else ()
        verdict = self._session.debugger.verdict(call, cut=turn.truncated and call is turn.parts[-1])
        formed = times[position][1] - times[position][0] if position < len(times) else None
        if not answers:
            return [CallEntry(number, turn.id, call, verdict, turn.id in on_path, formed=formed)]
        return [
            CallEntry(number, turn.id, call, verdict, key in on_path, result, key, formed) for key, result in answers
        ]


@dataclass(frozen=True, slots=True)
class _Read:
    """The entries of one turn, and the values they depend on."""

    turn: Turn
    tools: tuple[ToolDefinition, ...]
    about: object
    entries: list[CallEntry]


def _depth(transcript: Transcript, turn_id: str, depths: dict[str, int]) -> int:
    """The place of a turn on its branch, from 1."""
    trail: list[str] = []
    ancestor: str | None = turn_id
    while ancestor is not None and ancestor not in depths:
        trail.append(ancestor)
        ancestor = transcript.turns[ancestor].parent
    depth = depths[ancestor] if ancestor is not None else 0
    for key in reversed(trail):
        depth += 1
        depths[key] = depth
    return depth


def _answers(transcript: Transcript, turn_id: str, on_path: set[str]) -> dict[str, list[tuple[str, ToolResult]]]:
    """Return the distinct answers of each call by its id, the one on the path first; copies count once."""
    by_call: dict[str, dict[tuple[str, bool, str], tuple[str, ToolResult]]] = {}
    todo = list(transcript.children(turn_id))
    for key in todo:  # which becomes longer
        turn = transcript.turns[key]
        if turn.role is not Role.TOOL:
            continue
        todo += transcript.children(turn.id)
        for result in turn.results:
            what = (result.text, result.is_error, result.by)
            answers = by_call.setdefault(result.call_id, {})
            if what not in answers or turn.id in on_path:
                answers[what] = (turn.id, result)
    return {
        call_id: sorted(answers.values(), key=lambda answer: answer[0] not in on_path)
        for call_id, answers in by_call.items()
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
    what failed, broke off or is an error. ``person`` are the seconds of a result that a person took, ``note`` says who
    took how long.
    """

    kind: str
    turn_id: str
    call_id: str
    label: str
    start: float
    end: float
    ok: bool = True
    row: int = 0
    person: float = 0.0
    note: str = ""


def sequence(session: Session, tape: ServerTape | None = None) -> list[Span]:
    """The spans of the path, in order of their start; turns that were not received have none.

    ``tape`` has what was said with tool servers, where any were spoken with.
    """
    return sorted((span for spans in read_sequence(session, tape) for span in spans), key=lambda span: span.start)


def read_sequence(session: Session, tape: ServerTape | None = None) -> Iterator[list[Span]]:
    """Yield the spans of each turn of the path that was received."""
    path = session.transcript.path
    origin: float | None = None
    for number, turn in enumerate(path):
        if turn.outcome is None or turn.outcome.timing is None:
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
            label, start = result.by or "answered", base + end
            until, person = start + (result.seconds or 0.0), result.person_seconds or 0.0
            note = answer_time_words(result)
            yield Span("result", turn.id, call.id, label, start, until, not result.is_error, row, person, note)


def _served(tape: ServerTape, turn_id: str, call_id: str, row: int, origin: float) -> Iterator[Span]:
    """Yield the spans in which a server worked at a call: from its request to its answer or its last message."""
    entries = tape.of_call(turn_id, call_id)
    for entry in entries:
        if not entry.frame.sent or entry.request or not entry.frame.id:
            continue
        answer = tape.partner(entry)
        last = answer or max(
            (candidate for candidate in entries if candidate.server == entry.server), key=lambda it: it.number
        )
        ok = answer is not None and not answer.frame.error
        start, end = entry.frame.time - origin, last.frame.time - origin
        yield Span("server", turn_id, call_id, entry.server, start, max(end, start), ok, row)


def served(session: Session, exchange: Exchange, tape: ServerTape) -> tuple[Served, ...]:
    """Return the work of tool servers at the calls of an exchange, in seconds since it began.

    Work that began long after the exchange's end is left out, because the exchange would be too small to see.
    """
    from playground.engine.inspect.timeline import Served  # a list of calls needs no timeline

    turns = session.transcript.turns.values()
    turn = next((it for it in turns if it.outcome is not None and it.outcome.exchange == exchange.id), None)
    if turn is None or exchange.ended is None:
        return ()
    latest = exchange.ended + max(LATE, exchange.ended)
    spans = [_served(tape, turn.id, call.id, row, exchange.started_at) for row, call in enumerate(turn.calls)]
    work = sorted(
        (span for call_spans in spans for span in call_spans if span.start < latest), key=lambda span: span.start
    )
    return tuple(Served(span.label, span.start, min(span.end, 2 * latest), span.ok) for span in work)


def _round(after: Iterable[Turn]) -> list[ToolResult]:
    """Return the tool results that follow directly."""
    out: list[ToolResult] = []
    for turn in after:
        if turn.role is not Role.TOOL:
            break
        out += turn.results
    return out
