"""Notes on tool calls beside their turns: why they wait, typed results, and whether they fit the tools on offer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from playground.domain.debugging import Answer, CallServer, Policy, Reason, ResultDraft, ToolRule
from playground.domain.durations import brief_duration
from playground.domain.parts import ToolCall, ToolResult
from playground.domain.served import as_served
from playground.domain.tools import ToolDefinition
from playground.engine.questions import checking
from playground.engine.questions.kinds import ArgumentsFit
from playground.engine.session.changes import CallKey, DebugChanged, ObserverGroup
from playground.jsonkit.problems import Problem, not_checked
from playground.jsonkit.reading import parse_json

#: Why an answer of a server did not become the result.
LATE: Final = "Another result was entered meanwhile. The server's answer is saved among the answers to compare."
_MAX_CACHED: Final = 4000  # verdicts

# ---- answers to calls ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Planned:
    """An answer that will be sent: its author, and the seconds it took if already known.

    `due` is on the monotonic clock, infinite for an answer that never arrives.
    """

    answer: Answer
    by: str
    seconds: float | None = None
    due: float = 0.0

    @property
    def remaining(self) -> float:
        """Seconds until it is due, never below 0; possibly infinite."""
        return max(self.due - time.monotonic(), 0.0)


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call for a tool server; with `review`, a person sees the answer before it is sent."""

    tool: ToolDefinition
    review: bool = False


def by_hand(answer: Answer) -> Planned:
    """Return an answer that a person sends: credited to the server unless it was edited."""
    served = answer.served
    if served is None:
        return Planned(answer, "you")
    return Planned(answer, "server" if as_served(answer.body, served) else "you", served.seconds)


def plan_of(answer: Answer | CallServer, rule: ToolRule, tool: ToolDefinition | None) -> Planned | ToolRequest | None:
    """Return the decision of a tool's rule as an answer or as a request to its server; None for an unknown tool."""
    if isinstance(answer, Answer):
        return Planned(answer, "fixed" if rule.policy is Policy.FIXED else "table")
    return ToolRequest(tool, rule.after) if tool is not None else None


def given_as(result: ToolResult) -> Answer:
    """Return a result as the answer that it was."""
    return Answer(text=result.text, is_error=result.is_error, images=result.images, served=result.served)


def result_of(call_id: str, plan: Planned) -> ToolResult:
    """Return the result that an answer becomes."""
    answer = plan.answer
    return ToolResult(
        call_id=call_id,
        text=answer.body,
        is_error=answer.is_error,
        by=plan.by,
        seconds=plan.seconds,
        images=answer.images,
        served=answer.served,
    )


def answer_time_words(result: ToolResult) -> str:
    """Return how long an answer took, by who took the time: "you 50.0 s · server 4 ms"; empty if unknown."""
    person, server = result.person_seconds, result.server_seconds
    parts = [("you", person), ("server", server)]
    words = [f"{name} {brief_duration(seconds)}" for name, seconds in parts if seconds is not None]
    if not words and result.seconds is not None:
        return brief_duration(result.seconds)
    return " · ".join(words)


class CallNotes:
    """Notes by turn id and call id: `stops` are reasons for waiting, `drafts` typed results, `fork_drafts` several
    answers typed to be compared.
    """

    def __init__(self, observers: ObserverGroup) -> None:
        self._observers = observers
        self.stops: dict[CallKey, Reason] = {}
        self.drafts: dict[CallKey, ResultDraft] = {}
        self.fork_drafts: dict[CallKey, tuple[Answer, ...]] = {}

    def changed(self) -> None:
        """Tell all lanes that notes changed."""
        self._observers.tell(DebugChanged())

    @property
    def _all(self) -> tuple[dict[CallKey, Any], ...]:
        return (self.stops, self.drafts, self.fork_drafts)

    def draft(self, turn_id: str, call_id: str) -> ResultDraft | None:
        """Return the typed result of a call, sent or not."""
        return self.drafts.get((turn_id, call_id))

    def set_draft(self, turn_id: str, call_id: str, draft: ResultDraft | None) -> None:
        """Store the typed result of a call; None forgets it."""
        key = (turn_id, call_id)
        if self.drafts.get(key) == draft:
            return
        if draft is None:
            del self.drafts[key]
        else:
            self.drafts[key] = draft
        self.changed()

    def set_fork_draft(self, turn_id: str, call_id: str, answers: tuple[Answer, ...]) -> None:
        """Store several answers to a call that are typed to be compared."""
        key = (turn_id, call_id)
        if self.fork_drafts.get(key, ()) != answers:
            self.fork_drafts[key] = answers
            self.changed()

    def keep_late(self, turn_id: str, call_id: str, answer: Answer) -> None:
        """Add an answer that came after the call was answered differently to those to be compared."""
        answers = self.fork_drafts.get((turn_id, call_id), ())
        if answer not in answers:
            self.set_fork_draft(turn_id, call_id, (*answers, answer))

    def remove_stops(self, keys: Iterable[CallKey]) -> None:
        """Remove the reasons of calls that do not wait any more."""
        for key in keys:
            self.stops.pop(key, None)

    def rename(self, turn_id: str, old: str, new: str) -> None:
        """Move the notes of a call to its new id."""
        for notes in self._all:
            if (turn_id, old) in notes:
                notes[turn_id, new] = notes.pop((turn_id, old))
        self.changed()

    def copy(self, copies: Mapping[str, str]) -> None:
        """Copy the notes on calls of copied turns; `copies` are the new ids by the old ones."""
        for notes in self._all:
            notes.update({(copies[turn], call): note for (turn, call), note in notes.items() if turn in copies})


# ---- verdicts --------------------------------------------------------------------------------------------------------


class CallVerdictCode(StrEnum):
    """Kind of verdict on a call."""

    FITS = "fits"
    MISFIT = "misfit"
    NOT_JSON = "not_json"
    CUT_OFF = "cut_off"
    UNKNOWN_TOOL = "unknown_tool"
    CHECKING = "checking"
    TOO_COSTLY = "too_costly"

    @property
    def wrong(self) -> bool:
        """Return whether the call is known to be wrong."""
        return self not in (CallVerdictCode.FITS, CallVerdictCode.CHECKING, CallVerdictCode.TOO_COSTLY)


@dataclass(frozen=True, slots=True)
class CallVerdict:
    """CallVerdict on a call without running it, words for it, and the problems in its arguments."""

    code: CallVerdictCode
    words: str
    problems: tuple[Problem, ...] = ()


CHECKING: Final = CallVerdict(CallVerdictCode.CHECKING, "Checking…")
#: The verdict on a call of a custom tool, whose input has no schema.
FREE_TEXT: Final = CallVerdict(CallVerdictCode.FITS, "Free text")


class CallVerdicts:
    """Cached verdicts for the tools on offer. A slow one is `CHECKING` first; `changed` is called when it is ready."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._tools: tuple[ToolDefinition, ...] = ()
        self._cache: dict[tuple[str, str, bool], CallVerdict] = {}
        self._by_name: dict[str, ToolDefinition] = {}

    def verdict(self, call: ToolCall, tools: tuple[ToolDefinition, ...], *, cut: bool = False) -> CallVerdict:
        """Return the verdict on a call; `cut` says that the answer broke off inside it."""
        if call.free_text and not cut:
            return FREE_TEXT
        if tools is not self._tools or len(self._cache) >= _MAX_CACHED:
            self._tools, self._by_name, self._cache = tools, offered(tools), {}
        key = (call.name, call.arguments, cut)
        if key not in self._cache:
            self._check(call, key, cut=cut)
        return self._cache[key]

    def _check(self, call: ToolCall, key: tuple[str, str, bool], *, cut: bool) -> None:
        cache, tool = self._cache, self._by_name.get(call.name)
        question = ArgumentsFit(call.arguments, tool.parameters if tool is not None else None)

        def finish(problems: list[Problem]) -> None:
            cache[key] = _verdict(call, tool, problems, cut=cut)
            if cache is self._cache:
                self._changed()

        problems = checking.now(question)
        if problems is not None:
            cache[key] = _verdict(call, tool, problems, cut=cut)
        else:
            cache[key] = CHECKING
            checking.later(question, finish)


def offered(tools: Iterable[ToolDefinition]) -> dict[str, ToolDefinition]:
    """Return the tools that are sent, by name; the first counts of those with the same name."""
    by_name: dict[str, ToolDefinition] = {}
    for tool in tools:
        if tool.sendable:
            by_name.setdefault(tool.name, tool)
    return by_name


def _verdict(call: ToolCall, tool: ToolDefinition | None, errors: list[Problem], *, cut: bool) -> CallVerdict:
    problems = tuple(errors)
    if cut:
        return CallVerdict(CallVerdictCode.CUT_OFF, "Cut off", problems)
    if problems and not _is_json(call.arguments):
        return CallVerdict(CallVerdictCode.NOT_JSON, "Not JSON", problems)
    if tool is None:
        return CallVerdict(CallVerdictCode.UNKNOWN_TOOL, "No such tool on offer", problems)
    if not_checked(problems):
        return CallVerdict(CallVerdictCode.TOO_COSTLY, "Too costly to check", problems)
    if problems:
        count = len(problems)
        return CallVerdict(CallVerdictCode.MISFIT, f"{count} problem{'s' * (count > 1)}", problems)
    return CallVerdict(CallVerdictCode.FITS, "Fits the schema")


def _is_json(text: str) -> bool:
    try:
        parse_json(text)
    except ValueError:
        return not text.strip()
    return True
