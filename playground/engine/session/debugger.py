"""The tool-call debugger of a lane: why calls wait, what was typed for them, and the ways to continue.

It starts runs (see `playground.engine.session.run`) and knows no window. A pause is not stored: an experiment is paused
while calls wait at the end of the path and no run is under way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from playground.domain.debugging import (
    ANSWERED,
    NO_ROW,
    STOPPED,
    TRUNCATED,
    Answer,
    AnswerRow,
    CallServer,
    Debugging,
    MatchKind,
    Policy,
    Reason,
    ReasonCode,
    draft_of,
    held_back,
    limit_reason,
    no_answer_words,
    repeated_words,
    repeats,
    server_refusal,
)
from playground.domain.errors import RunRefusedError
from playground.domain.parts import ToolCall, ToolResult
from playground.domain.served import answer_of
from playground.domain.transcript import Role, Transcript, Turn, make_turn
from playground.engine.questions import checking
from playground.engine.questions.kinds import ReadyAnswer
from playground.engine.session.call_notes import (
    LATE,
    CallVerdict,
    CallVerdicts,
    Planned,
    ToolRequest,
    by_hand,
    given_as,
    plan_of,
    result_of,
)
from playground.engine.session.changes import CallEdited, CallKey, Change, DebugChanged, RunState, TurnsCopied
from playground.engine.session.experiment import Lane
from playground.engine.session.next_request import NextRequest
from playground.engine.session.run import Mode, Runs
from playground.engine.session.tool_calls import Ticket
from playground.jsonkit.reading import parse_json
from playground.protocols.protocol import get_protocol

#: The error result of a call that was not answered.
FILLING: Final = "No result was given for this call."
#: Reasons for which a server is not called automatically, although one step by a person may call it.
_NEEDS_REVIEW: Final = (ReasonCode.DESTRUCTIVE, ReasonCode.CONSENT)


class Debugger:
    """The debugger of a lane. Coroutines return when their run has ended.

    `notes` are shared by all lanes of the experiment, `pending_calls` are the calls that servers are answering.
    """

    def __init__(self, lane: Lane, runs: Runs, next_request: NextRequest) -> None:
        self._lane = lane
        self._runs = runs
        self._next_request = next_request
        self.notes = lane.experiment.notes
        self.pending_calls = lane.pending_calls
        self._verdicts = CallVerdicts(self.changed)
        self._warnings: tuple[Transcript, dict[CallKey, str]] | None = None  # of a transcript
        lane.observers.subscribe(self._follow, TurnsCopied, CallEdited)

    def _follow(self, change: Change) -> None:
        """Move notes along with copied turns and edited calls."""
        if isinstance(change, TurnsCopied):
            self.notes.copy(change.copies)
        elif isinstance(change, CallEdited):
            turn_id, call_id = change.now
            if call_id != change.was[1]:
                self.notes.rename(turn_id, change.was[1], call_id)
                self.pending_calls.rename(change.was, change.now)
            answer = answer_to(change.before, *change.was)
            if answer is not None and any((key, call.id) == change.now for key, call in self.waiting):
                self.notes.set_draft(turn_id, call_id, draft_of(given_as(answer)))  # the old answer as a draft

    # State

    @property
    def pending(self) -> Mapping[CallKey, Planned]:
        """Answers that the run adds when they are due."""
        return self._runs.active.pending if self._runs.active is not None else {}

    @property
    def requests(self) -> int:
        """Requests sent since a person last continued, against the step limit.

        That of a loaded experiment is unknown: all requests since the last user turn count.
        """
        if self._runs.active is not None:
            return self._runs.active.requests
        return self._runs.requests_sent if self._runs.requests_sent is not None else self.round

    @property
    def round(self) -> int:
        """The number of requests on the path since the last user turn."""
        count = 0
        for turn in reversed(self._lane.transcript.path):
            if turn.role is Role.USER:
                break
            count += turn.role is Role.ASSISTANT
        return count

    @property
    def waiting(self) -> tuple[tuple[str, ToolCall], ...]:
        """The calls on the path without an answer, each with the id of its turn."""
        return self._lane.transcript.waiting

    @property
    def paused(self) -> bool:
        """Return whether no run is under way, and a call waits or the gateway paused the answer."""
        return self._lane.state is RunState.IDLE and (bool(self.waiting) or self.answer_paused)

    @property
    def answer_paused(self) -> bool:
        """Return whether the path ends with an answer that the gateway paused and continues when it is sent back."""
        path = self._lane.transcript.path
        return bool(path) and path[-1].paused and get_protocol(self._lane.settings.protocol).continues_paused

    @property
    def pause_words(self) -> str:
        """Why a paused answer was not continued automatically; empty without a paused answer."""
        if not self.answer_paused:
            return ""
        limit = self.debugging.step_limit
        reached = limit_reason(self.requests).words if limit and self.requests >= limit else ""
        return f"The gateway paused this answer (pause_turn). {reached}".rstrip()

    @property
    def stopped(self) -> bool:
        """Return whether it is paused because a person stopped the run."""
        reasons = [self.notes.stops.get((turn_id, call.id)) for turn_id, call in self.waiting]
        is_stopped = all(reason is not None and reason.code is ReasonCode.STOPPED for reason in reasons)
        return self.paused and bool(reasons) and is_stopped

    def reason(self, turn_id: str, call_id: str) -> Reason | None:
        """Return why a call waits; None if unknown."""
        reason = self.notes.stops.get((turn_id, call_id))
        if reason is not None and reason.code is ReasonCode.MALFORMED:  # the arguments may be corrected by now
            return held_back(self._lane.transcript.turns[turn_id], self._call(turn_id, call_id))
        return reason

    @property
    def warnings(self) -> dict[CallKey, str]:
        """Warnings about calls on the path that repeat an earlier call with the same arguments."""
        transcript = self._lane.transcript
        if self._warnings is None or self._warnings[0] is not transcript:  # every card asks
            counts = repeats(transcript.path)
            names = {(turn_id, call.id): call.name for turn_id, _ in counts for call in transcript.turns[turn_id].calls}
            self._warnings = (transcript, {key: repeated_words(names[key], count) for key, count in counts.items()})
        return self._warnings[1]

    def verdict(self, call: ToolCall, *, cut: bool = False) -> CallVerdict:
        """Return whether a call fits the tools on offer; `cut` says that the answer broke off inside it."""
        return self._verdicts.verdict(call, self._lane.settings.tools, cut=cut)

    @property
    def debugging(self) -> Debugging:
        """The rules in use."""
        return self._lane.settings.debugging

    def changed(self) -> None:
        """Tell that calls or their notes changed."""
        self._lane.observers.tell(DebugChanged())

    # Available answers

    def result(self, turn_id: str, call_id: str) -> ToolResult | None:
        """Return the result of a call on the path; None while it waits."""
        return answer_to(self._lane.transcript, turn_id, call_id)

    def answer_ready(self, turn_id: str, call_id: str) -> Planned | None:
        """Return the answer that a call would get now: the typed one, else that of its rule; None without one.

        A draft without text does not count: an empty result is sent only on purpose. An incomplete call gets nothing
        but a typed answer. Neither tables that take long to search nor servers are consulted; `find_answer` does it.
        """
        call = self._call(turn_id, call_id)
        answer = self._known_answer(turn_id, call)
        planned = self._planned(call, checking.now(answer) if isinstance(answer, ReadyAnswer) else answer)
        return planned if isinstance(planned, Planned) else None

    def has_answer(self, turn_id: str, call_id: str) -> bool:
        """Return whether continuing would answer a call: with the typed result, by its rule, or by its server.

        A rule that takes long to search counts as an answer until the search has ended.
        """
        answer = self._known_answer(turn_id, self._call(turn_id, call_id))
        if isinstance(answer, ReadyAnswer):
            return not isinstance(checking.now(answer), Reason)
        return not isinstance(answer, Reason)

    async def find_answer(self, turn_id: str, call_id: str) -> Planned | ToolRequest | Reason:
        """Return the answer that a call would get, however long the search takes, or the reason why there is none."""
        call = self._call(turn_id, call_id)
        answer = self._known_answer(turn_id, call)
        return (
            self._planned(call, await checking.answer(answer) if isinstance(answer, ReadyAnswer) else answer) or NO_ROW
        )

    def _known_answer(self, turn_id: str, call: ToolCall) -> Planned | Reason | ReadyAnswer:
        """Return the typed answer, why no other may be sent, or the question for the rules."""
        draft = self.notes.draft(turn_id, call.id)
        if draft is not None and (answer := draft.answer) is not None:
            return by_hand(answer)
        if incomplete := held_back(self._lane.transcript.turns[turn_id], call):
            return incomplete
        tool = self.pending_calls.tool(call)
        return ReadyAnswer(call, self.debugging.rule(call.name), tool, self.pending_calls.reach(call, tool))

    def _planned(
        self, call: ToolCall, answer: Planned | Answer | CallServer | Reason | None
    ) -> Planned | ToolRequest | Reason | None:
        if isinstance(answer, Answer | CallServer):
            return plan_of(answer, self.debugging.rule(call.name), self.pending_calls.tool(call))
        return answer

    # Answering by hand, without a run. Open edits are kept first, as before every way to continue.

    def _keep_open(self, turn_id: str = "") -> str:
        """Keep open edits. Returns the id of a turn afterwards, which may be a copy. Raises RunRefusedError."""
        if reason := self._lane.editors.problem():
            raise RunRefusedError(reason)
        return self._lane.editors.keep_open().get(turn_id, turn_id)

    def send(self, turn_id: str, call_id: str, text: str, *, is_error: bool = False) -> None:
        """Answer a call with typed text.

        Raises KeyError for a call that does not wait, RunRefusedError if an open edit is invalid.
        """
        self.send_answer(turn_id, call_id, Answer(text=text, is_error=is_error))

    def send_answer(self, turn_id: str, call_id: str, answer: Answer) -> None:
        """Answer a call with an answer that may have images or come from a tool server. Raises as `send` does."""
        turn_id = self._keep_open(turn_id)
        self._answer([self._find(turn_id, call_id)], by_hand(answer))

    async def send_late(self, turn_id: str, call_id: str, answer: Answer) -> None:
        """Answer a call when the answer is due, and continue by the rules. Raises RunRefusedError."""
        turn_id = self._keep_open(turn_id)
        await self._go(Mode.RULES, {(turn_id, call_id): by_hand(answer)})

    def send_all(self, text: str, *, is_error: bool = False) -> int:
        """Give every waiting call the same answer, as one edit. Returns their number; raises as `send` does."""
        self._keep_open()
        return self._answer(self.waiting, Planned(Answer(text=text, is_error=is_error), "you"))

    def fill(self) -> tuple[int, int]:
        """Answer every waiting call with its draft, else with a plain error, as one edit.

        Returns how many got their draft, and how many the error. Raises as `send` does.
        """
        self._keep_open()
        typed = {
            key: draft.answer for key, draft in self.notes.drafts.items() if draft.answer and not draft.answer.never
        }
        count = sum((turn_id, call.id) in typed for turn_id, call in self.waiting)
        return count, self._answer(self.waiting, Planned(Answer(text=FILLING, is_error=True), "filled"), typed) - count

    def stop(self) -> None:
        """Leave the waiting calls open, with the note that a person stopped."""
        self.notes.stops.update({(turn_id, call.id): STOPPED for turn_id, call in self.waiting})
        self.changed()

    def _answer(
        self, calls: Sequence[tuple[str, ToolCall]], plan: Planned, typed: Mapping[CallKey, Answer | None] | None = None
    ) -> int:
        results: dict[str, list[ToolResult]] = {}
        for turn_id, call in calls:
            draft = (typed or {}).get((turn_id, call.id))
            result = result_of(call.id, by_hand(draft) if draft is not None else plan)
            results.setdefault(turn_id, []).append(result)
        head = self._lane.transcript.head
        self._lane.turns.answer_calls(results)
        if head not in self._lane.history.ends:  # otherwise another lane waits at these calls
            self.notes.remove_stops((turn_id, call.id) for turn_id, call in calls)
        self.changed()
        return len(calls)

    def remember(self, turn_id: str, call_id: str) -> AnswerRow:
        """Add the answer of a call to the table of its tool, for calls with equal arguments, before the other rows.

        Raises KeyError without an answer, ValueError if the arguments are not JSON.
        """
        call = self._call(turn_id, call_id)
        parse_json(_pattern(call))
        result, draft = self.result(turn_id, call_id), self.notes.draft(turn_id, call_id)
        if result is not None:
            answer = given_as(result)
        elif draft is not None and draft.answer is not None:
            answer = draft.answer
        else:
            raise KeyError(call_id)
        row = _row(call, answer)
        self._lane.set(self._lane.settings.changed(debugging=self.debugging.with_row(call.name, row)))
        return row

    def record(self, *, replay: bool = False) -> int:
        """Add every answer on the path that a server gave to the table of its tool, as one edit.

        `replay`: these tools answer from their tables from then on. The last of several answers to the same call
        counts. Returns the number of calls with such an answer.
        """
        rules, names, count = self.debugging, set(), 0
        for turn in self._lane.transcript.path:
            for call in turn.calls:
                result = self.result(turn.id, call.id)
                if result is None or result.served is None or held_back(turn, call) is not None:
                    continue
                count += 1
                names.add(call.name)
                rules = rules.with_row(call.name, _row(call, given_as(result)))
        for name in names if replay else ():
            rules = rules.with_rule(name, rules.rule(name).model_copy(update={"policy": Policy.TABLE}))
        if rules != self.debugging:
            self._lane.set(self._lane.settings.changed(debugging=rules))
        return count

    # Calling a server without sending a request

    def ticket(self, turn_id: str, call_id: str) -> Ticket | None:
        """Return the progress of a call at a server; None while no server is answering it."""
        return self.pending_calls.ticket((turn_id, call_id))

    def ask_refusal(self, turn_id: str, call_id: str) -> str:
        """Return why a person cannot call the server now; empty if possible."""
        try:
            call = self._call(turn_id, call_id)
        except KeyError:
            return "This call is not there any more."
        if incomplete := held_back(self._lane.transcript.turns[turn_id], call):
            return incomplete.words
        tool = self.pending_calls.tool(call)
        reason = server_refusal(call, tool, self.pending_calls.reach(call, tool))
        return reason.words if reason is not None and not self.pending_calls.mendable(tool) else ""

    async def ask(self, turn_id: str, call_id: str) -> None:
        """Call the server, whatever the rules say; the answer becomes the draft of the result.

        Without an answer, the reason is noted. If something was typed or sent meanwhile, the answer is added to those
        to be compared. Raises RunRefusedError if the call is impossible, or its answer could not become the draft.
        """
        turn_id = self._keep_open(turn_id)
        if reason := self.ask_refusal(turn_id, call_id):
            raise RunRefusedError(reason)
        call = self._call(turn_id, call_id)
        tool = self.pending_calls.tool(call)
        if tool is None:
            raise RunRefusedError("The tool of this call is not offered.")
        if self.pending_calls.mendable(tool):
            await self.pending_calls.mend(tool)
            if reason := self.pending_calls.reach(call, tool).refusal or self.ask_refusal(turn_id, call_id):
                raise RunRefusedError(reason)
        before = self.notes.draft(turn_id, call_id)
        key, answer = await self.pending_calls.call((turn_id, call_id), tool, call.arguments)
        result, draft = self.result(*key), self.notes.draft(*key)
        if isinstance(answer, Reason):
            if result is None:
                self.notes.stops[key] = answer
                self.changed()
        elif result is None and draft in (before, None):
            self.notes.stops[key] = ANSWERED
            self.notes.set_draft(*key, draft_of(answer_of(answer)))
            self.changed()
        elif not any(item is not None and item.served is answer for item in (result, draft)):
            self.notes.keep_late(*key, answer_of(answer))
            raise RunRefusedError(LATE)

    def cancel_ask(self, turn_id: str, call_id: str) -> None:
        """Cancel a call at a server."""
        self.pending_calls.cancel((turn_id, call_id))

    # Continuing

    async def step(self, turn_id: str, call_id: str) -> None:
        """Answer one call; if it was the last one, send the request and stop at the next calls whatever the rules say.

        Raises RunRefusedError where it has no answer, or a run cannot begin.
        """
        turn_id = self._keep_open(turn_id)
        call = self._find(turn_id, call_id)[1]
        answer = await self.find_answer(turn_id, call_id)
        if isinstance(answer, Reason) and answer.code in _NEEDS_REVIEW and (tool := self.pending_calls.tool(call)):
            answer = ToolRequest(tool, self.debugging.rule(call.name).after)  # a person reviewed this call
        if isinstance(answer, Reason):
            raise RunRefusedError(_no_answer([call], [answer]))
        await self._go(Mode.STEP, {(turn_id, call_id): answer})

    async def step_next(self) -> None:
        """Step at the first call that has an answer."""
        self._keep_open()
        waiting = self.waiting
        answers = [(key, await self.find_answer(key[0], key[1].id)) for key in waiting]
        ready = [key for key, answer in answers if not isinstance(answer, Reason)]
        for turn_id, call in ready[:1] or waiting[:1]:
            await self.step(turn_id, call.id)

    async def go_on(self) -> None:
        """Answer every call that has an answer, and run until the next stop.

        Raises RunRefusedError where none has one, or a run cannot begin.
        """
        await self._go_on(Mode.RULES)

    async def run_to_end(self) -> None:
        """Run, ignoring breakpoints and conditions, until an answer without calls, a call without an answer, or the
        step limit. Raises RunRefusedError as `go_on` does.
        """
        await self._go_on(Mode.END)

    async def _go_on(self, mode: Mode) -> None:
        self._keep_open()
        waiting = self.waiting
        answers = {(turn_id, call.id): await self.find_answer(turn_id, call.id) for turn_id, call in waiting}
        planned = {
            key: replace(answer, review=False) if isinstance(answer, ToolRequest) and mode is Mode.END else answer
            for key, answer in answers.items()
            if not isinstance(answer, Reason)
        }
        reasons = {key: reason for key, reason in answers.items() if isinstance(reason, Reason)}
        self.notes.stops.update({key: reason for key, reason in reasons.items() if reason is not NO_ROW})
        if waiting and not planned:
            raise RunRefusedError(_no_answer([call for _, call in waiting], list(reasons.values())))
        self.notes.stops.update(reasons)
        await self._go(mode, planned)

    async def _go(self, mode: Mode, planned: Mapping[CallKey, Planned | ToolRequest]) -> None:
        lane, waiting = self._lane, self.waiting
        if any(lane.transcript.turns[turn_id].truncated for turn_id, _ in waiting):
            raise RunRefusedError(TRUNCATED.words)
        answers = [
            _tool_turn(key[1], plan if isinstance(plan, Planned) else Planned(Answer(), "server"))
            for key, plan in planned.items()
        ]
        reason = self._next_request.refusal(*answers)
        is_complete = len(planned) == len(waiting)
        if reason and (is_complete or lane.state is not RunState.IDLE or not lane.settings.model):
            raise RunRefusedError(reason)
        if not planned:
            lane.history.push()
        await self._runs.start(mode, planned)

    # Several answers to one call, in lanes of their own

    def prepare_fork(
        self, turn_id: str, call_id: str, answers: Sequence[Answer]
    ) -> tuple[Transcript, list[dict[CallKey, Planned]]]:
        """Return where lanes begin that give one call different answers, and the answers of each lane from there.

        Other calls of the turn keep their answers on the path, or get their drafts. Open edits are kept first. Raises
        RunRefusedError.
        """
        if reason := self.fork_refusal(turn_id, call_id):
            raise RunRefusedError(reason)
        turn_id = self._keep_open(turn_id)
        if reason := self.fork_refusal(turn_id, call_id):  # an edit made a branch without it
            raise RunRefusedError(reason)
        transcript = self._lane.transcript
        calls = [call.id for call in transcript.turns[turn_id].calls]
        path, position = [turn.id for turn in transcript.path], calls.index(call_id)
        begin, answered = turn_id, 0
        for turn in transcript.path[path.index(turn_id) + 1 :]:  # answers to earlier calls, in their order, are shared
            ids = [result.call_id for result in turn.results]
            if answered == position or turn.role is not Role.TOOL or ids != [calls[answered]]:
                break
            begin, answered = turn.id, answered + 1
        others = self._other_answers(turn_id, call_id)
        rest = {(turn_id, key): others[key] for key in calls[answered:] if key != call_id}
        return transcript.truncate_after(begin), [{**rest, (turn_id, call_id): by_hand(answer)} for answer in answers]

    def fork_refusal(self, turn_id: str, call_id: str) -> str:
        """Return why a call cannot be answered in lanes of its own now; empty if possible."""
        lane = self._lane
        if all(turn.id != turn_id for turn in lane.transcript.path):
            return "This call is on another branch. Show that branch first."
        turn = lane.transcript.turns[turn_id]
        if turn.truncated:
            return TRUNCATED.words
        others = self._other_answers(turn_id, call_id)
        if missing := [call for call in turn.calls if call.id != call_id and call.id not in others]:
            return f"The other calls of this message need an answer first. {no_answer_words(missing)}"
        answers = {**others, call_id: Planned(Answer(), "you")}
        return self._next_request.refusal(*(_tool_turn(key, plan) for key, plan in answers.items()), tip=turn_id)

    def _other_answers(self, turn_id: str, call_id: str) -> dict[str, Planned]:
        """Return the answers to the other calls of a turn: those on the path, else their drafts."""
        answers: dict[str, Planned] = {}
        for call in self._lane.transcript.turns[turn_id].calls:
            draft = self.notes.draft(turn_id, call.id)
            if call.id != call_id and draft is not None and (typed := draft.answer) is not None:
                answers[call.id] = by_hand(typed)
        for result in _results(self._lane.transcript, turn_id):
            if result.call_id != call_id:
                answers[result.call_id] = Planned(given_as(result), result.by, result.seconds)
        return answers

    def _call(self, turn_id: str, call_id: str) -> ToolCall:
        turn = self._lane.transcript.turns[turn_id]
        for part in turn.parts:  # without a list of all calls: there may be thousands
            if part.kind == "tool_call" and part.id == call_id:
                return part
        raise KeyError(call_id)

    def _find(self, turn_id: str, call_id: str) -> tuple[str, ToolCall]:
        """Return a waiting call. Raises KeyError for another one."""
        for key, call in self.waiting:
            if (key, call.id) == (turn_id, call_id):
                return key, call
        raise KeyError(call_id)


def answer_to(transcript: Transcript, turn_id: str, call_id: str) -> ToolResult | None:
    """Return the result of a call on the path of a transcript; None while it waits."""
    return next((result for result in _results(transcript, turn_id) if result.call_id == call_id), None)


def _results(transcript: Transcript, turn_id: str) -> list[ToolResult]:
    """Return the results on the path directly after a turn."""
    results: list[ToolResult] = []
    path = transcript.path
    index = next((number for number, turn in enumerate(path) if turn.id == turn_id), len(path))
    for turn in path[index + 1 :]:
        if turn.role is not Role.TOOL:
            break
        results += turn.results
    return results


def _no_answer(calls: Sequence[ToolCall], reasons: Sequence[Reason]) -> str:
    """Return why calls without a draft cannot be answered."""
    return next((reason.words for reason in reasons if reason is not NO_ROW), "") or no_answer_words(calls)


def _tool_turn(call_id: str, plan: Planned) -> Turn:
    return make_turn(Role.TOOL, "", result_of(call_id, plan))


def _pattern(call: ToolCall) -> str:
    return call.arguments_json if call.arguments_json.strip() else "{}"


def _row(call: ToolCall, answer: Answer) -> AnswerRow:
    answer = answer.model_copy(update={"served": None})
    return AnswerRow(match=MatchKind.EQUAL, pattern=_pattern(call), answer=answer)
