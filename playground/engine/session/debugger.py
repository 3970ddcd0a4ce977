"""The tool-call debugger of one session: its rules, why calls wait, what was typed for them, and the ways to go on.

It starts tool loops (see ``playground.engine.session.tool_loop``) and knows no window. That an experiment is
paused is not kept anywhere: calls wait at the end of the path, and nothing is under way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from playground.domain.adaptations import Adaptation
from playground.domain.debugging import (
    ANSWERED,
    NO_ROW,
    STOPPED,
    TRUNCATED,
    Answer,
    AnswerRow,
    Asking,
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
from playground.domain.tool_servers import ServerAnswer
from playground.domain.transcript import Role, Transcript, Turn, make_turn
from playground.engine.questions import checking
from playground.engine.questions.kinds import ReadyAnswer
from playground.engine.session.asks import Asks
from playground.engine.session.call_notes import LATE, CallNotes, Pending, Planned, ToAsk, by_hand, given_as, result_of
from playground.engine.session.changes import CallEdited, CallKey, Change, DebugChanged, RunState, TurnsCopied
from playground.engine.session.experiment import Experiment
from playground.engine.session.next_request import UNDER_WAY, NextRequest
from playground.engine.session.serving import Ticket
from playground.engine.session.tool_loop import Mode, ToolLoop
from playground.engine.session.verdicts import Verdict, Verdicts
from playground.jsonkit.reading import parse_json
from playground.protocols.protocol import get_protocol

#: The error result of a call that nobody answered.
FILLING = "No result was given for this call."
#: Why a call that its rule has asked of its server waits, where one step of a person's is enough to ask it.
_SEEN: Final = (ReasonCode.DESTRUCTIVE, ReasonCode.CONSENT)


class Debugger:
    """What a person sees and does at a tool call. Coroutines return when nothing is under way any more.

    ``notes`` is what is known of calls beside their turns; those of ``beside``, of another lane, are the same. ``loop``
    is the tool loop under way, if any, ``asks`` the calls that a tool server is asked from here.
    """

    def __init__(self, experiment: Experiment, requests: NextRequest, beside: Debugger | None = None) -> None:
        self._experiment = experiment
        self._requests = requests
        self.loop: ToolLoop | None = None
        self._sent: int | None = None  # requests of the last loop
        self.asks = Asks(experiment, experiment.tell)
        changed = partial(experiment.tell, DebugChanged())  # not a method of this: it is freed with its last user
        self.notes: CallNotes = beside.notes if beside is not None else CallNotes(changed)
        self._verdicts = Verdicts(changed)
        self._warned: tuple[Transcript, dict[CallKey, str]] | None = None  # what was found in which transcript
        experiment.observers.subscribe(self._follow, TurnsCopied, CallEdited)

    def _follow(self, change: Change) -> None:
        """What is known of a call, and typed for it, goes along with it."""
        if isinstance(change, TurnsCopied):
            self.notes.copied(change.copies)
        elif isinstance(change, CallEdited):
            turn_id, call_id = change.now
            if call_id != change.was[1]:
                self.notes.rename(turn_id, change.was[1], call_id)
                self.asks.rename(change.was, change.now)
            answer = answer_to(change.before, *change.was)
            if answer is not None and any((key, one.id) == change.now for key, one in self.waiting):
                # what it was answered with stands ready where it waits for another one now
                self.notes.set_draft(turn_id, call_id, draft_of(given_as(answer)))

    # What there is

    @property
    def pending(self) -> Mapping[CallKey, Pending]:
        """The answers that are on their way here."""
        return self.loop.pending if self.loop is not None else {}

    @property
    def requests(self) -> int:
        """Requests sent since a person last went on, against the step limit.

        Of an experiment that was opened again nobody knows when that was: all those of the path.
        """
        if self.loop is not None:
            return self.loop.requests
        return self._sent if self._sent is not None else self.round

    @property
    def round(self) -> int:
        """The how-manieth request since the last user turn the path stands at, from 1; 0 before the first."""
        count = 0
        for turn in reversed(self._experiment.transcript.path):
            if turn.role is Role.USER:
                break
            count += turn.role is Role.ASSISTANT
        return count

    @property
    def waiting(self) -> tuple[tuple[str, ToolCall], ...]:
        """The calls on the path that have no answer, each with the id of the turn that made it."""
        return self._experiment.transcript.waiting

    @property
    def paused(self) -> bool:
        """Whether nothing is under way, and a call waits or the gateway paused the answer."""
        return self._experiment.state is RunState.IDLE and (bool(self.waiting) or self.answer_paused)

    @property
    def answer_paused(self) -> bool:
        """Whether the path ends with an answer that the gateway paused and that is continued when it is sent back."""
        path = self._experiment.transcript.path
        return bool(path) and path[-1].paused and get_protocol(self._experiment.settings.protocol).continues_paused

    @property
    def pause_words(self) -> str:
        """Why a paused answer was not continued by itself; empty where no answer is paused."""
        if not self.answer_paused:
            return ""
        limit = self.debugging.step_limit
        reached = limit_reason(self.requests).words if limit and self.requests >= limit else ""
        return f"The gateway paused this answer (pause_turn). {reached}".rstrip()

    def reason(self, turn_id: str, call_id: str) -> Reason | None:
        """Why a call waits; None where nothing is known."""
        reason = self.notes.stops.get((turn_id, call_id))
        if reason is not None and reason.code is ReasonCode.MALFORMED:
            return self._held_back(turn_id, self._call(turn_id, call_id))  # the arguments may have been corrected since
        return reason

    @property
    def warnings(self) -> dict[CallKey, str]:
        """Calls on the path that were made before with the same arguments, and words for it."""
        transcript = self._experiment.transcript
        if self._warned is None or self._warned[0] is not transcript:  # every card asks
            found = repeats(transcript.path)
            names = {(turn_id, call.id): call.name for turn_id, _ in found for call in transcript.turns[turn_id].calls}
            self._warned = (transcript, {key: repeated_words(names[key], count) for key, count in found.items()})
        return self._warned[1]

    def verdict(self, call: ToolCall, *, cut: bool = False) -> Verdict:
        """What can be said of a call by the tools on offer; ``cut`` says that the answer broke off inside it."""
        return self._verdicts.of(call, self._experiment.settings.tools, cut=cut)

    @property
    def debugging(self) -> Debugging:
        """The rules in use."""
        return self._experiment.settings.debugging

    def changed(self) -> None:
        """Tell that something here is different."""
        self._experiment.tell(DebugChanged())

    # What is known of answers

    def result(self, turn_id: str, call_id: str) -> ToolResult | None:
        """What a call was answered with on the path; None while it waits."""
        return answer_to(self._experiment.transcript, turn_id, call_id)

    def answer_ready(self, turn_id: str, call_id: str) -> Planned | None:
        """What the call would be answered with now: what was typed, else the fixed answer or that of the table.

        A draft without text does not count: an empty result goes out only when it is sent on purpose. A call that is
        not whole gets nothing but what was typed for it. Of a table that takes long to look through nothing is said;
        ``find_answer`` does it. Nor of what a server would answer.
        """
        call = self._call(turn_id, call_id)
        known = self._known_answer(turn_id, call)
        found = checking.now(known) if isinstance(known, ReadyAnswer) else known
        planned = self._planned(call, found)
        return planned if isinstance(planned, Planned) else None

    async def find_answer(self, turn_id: str, call_id: str) -> Planned | ToAsk | Reason:
        """The same with all the time it takes; the reason where there is none."""
        call = self._call(turn_id, call_id)
        known = self._known_answer(turn_id, call)
        found = await checking.answer(known) if isinstance(known, ReadyAnswer) else known
        return self._planned(call, found) or NO_ROW

    def _known_answer(self, turn_id: str, call: ToolCall) -> Planned | Reason | ReadyAnswer:
        """What was typed, why nothing else may be sent, or what there is to ask the rules."""
        draft = self.notes.draft(turn_id, call.id)
        if draft is not None and draft.prepared is None and draft.ready and (answer := draft.answer) is not None:
            return by_hand(answer)
        return self._held_back(turn_id, call) or self._question(call)

    def _question(self, call: ToolCall) -> ReadyAnswer:
        tool = self.asks.tool(call)
        return ReadyAnswer(call, self.debugging.rule(call.name), tool, self.asks.reach(call, tool))

    def _planned(
        self, call: ToolCall, found: Planned | Answer | Asking | Reason | None
    ) -> Planned | ToAsk | Reason | None:
        rule = self.debugging.rule(call.name)
        if isinstance(found, Answer):
            return Planned(found, "fixed" if rule.policy is Policy.FIXED else "table")
        if isinstance(found, Asking):
            tool = self.asks.tool(call)
            return ToAsk(tool, rule.after) if tool is not None else None
        return found

    # Answering by hand: nothing is run. What stands in open editors is kept first, as before every way to go on.

    def _keep_open(self, turn_id: str = "") -> str:
        """Returns the id that a turn has then: an edit of one with answers makes a branch."""
        if reason := self._experiment.editors.unkept():
            raise RunRefusedError(reason)
        return self._experiment.editors.keep_open().get(turn_id, turn_id)

    def send(self, turn_id: str, call_id: str, text: str, *, is_error: bool = False) -> None:
        """Answer one call with what was typed. Raises KeyError for one that does not wait, RunRefusedError where
        something that is being written cannot be kept.
        """
        self.send_answer(turn_id, call_id, Answer(text=text, is_error=is_error))

    def send_answer(self, turn_id: str, call_id: str, answer: Answer) -> None:
        """The same with an answer that may have pictures, or come from a tool server, edited or not."""
        turn_id = self._keep_open(turn_id)
        self._answer([self._find(turn_id, call_id)], by_hand(answer))

    async def send_late(self, turn_id: str, call_id: str, answer: Answer) -> None:
        """Answer one call when that is due, if ever, and go on by the rules. Raises RunRefusedError as ``go_on``."""
        turn_id = self._keep_open(turn_id)
        await self._go(Mode.RULES, {(turn_id, call_id): by_hand(answer)})

    def send_all(self, text: str, *, is_error: bool = False) -> int:
        """Answer every call that waits with the same; one undo takes it back. Returns how many; raises as ``send``."""
        self._keep_open()
        return self._answer(self.waiting, Planned(Answer(text=text, is_error=is_error), "you"))

    def fill(self) -> tuple[int, int]:
        """Answer every call that waits as was typed for it, else with a plain error, so that a run is possible.

        One undo takes it back. Returns how many got what was typed, and how many the error; raises as ``send``.
        """
        self._keep_open()
        typed = {
            key: draft.answer for key, draft in self.notes.drafts.items() if draft.answer and not draft.answer.never
        }
        count = sum((turn_id, call.id) in typed for turn_id, call in self.waiting)
        return count, self._answer(self.waiting, Planned(Answer(text=FILLING, is_error=True), "filled"), typed) - count

    def stop(self) -> None:
        """Leave the calls that wait as they are: it is noted that somebody stopped there. Nothing else is changed."""
        self.notes.stops.update({(turn_id, call.id): STOPPED for turn_id, call in self.waiting})
        self.changed()

    @property
    def stopped(self) -> bool:
        """Whether it is paused where somebody stopped it."""
        reasons = [self.notes.stops.get((turn_id, call.id)) for turn_id, call in self.waiting]
        return (
            self.paused
            and bool(reasons)
            and all(reason is not None and reason.code is ReasonCode.STOPPED for reason in reasons)
        )

    def _answer(
        self, calls: Sequence[tuple[str, ToolCall]], plan: Planned, typed: Mapping[CallKey, Answer | None] | None = None
    ) -> int:
        results: dict[str, list[ToolResult]] = {}
        for turn_id, call in calls:
            own = (typed or {}).get((turn_id, call.id))
            result = result_of(call.id, by_hand(own) if own is not None else plan)
            results.setdefault(turn_id, []).append(result)
        stood = self._experiment.transcript.head
        self._experiment.turns.answer_calls(results)
        if stood not in self._experiment.history.ends:  # else another lane waits there
            self.notes.answered((turn_id, call.id) for turn_id, call in calls)
        self.changed()
        return len(calls)

    def remember(self, turn_id: str, call_id: str) -> AnswerRow:
        """Make a row of the tool's table from what the call was answered with, for calls with equal arguments.

        It stands before the other rows and replaces one for the same arguments. Raises KeyError where there is nothing
        to remember, ValueError where the arguments are not JSON.
        """
        call = self._call(turn_id, call_id)
        pattern = call.arguments_json if call.arguments_json.strip() else "{}"
        parse_json(pattern)
        result, draft = self.result(turn_id, call_id), self.notes.draft(turn_id, call_id)
        if result is not None:
            answer = given_as(result)
        elif draft is not None and draft.answer is not None:
            answer = draft.answer
        else:
            raise KeyError(call_id)
        row = AnswerRow(match=MatchKind.EQUAL, pattern=pattern, answer=answer.model_copy(update={"served": None}))
        experiment = self._experiment
        experiment.set(experiment.settings.changed(debugging=self.debugging.with_row(call.name, row)))
        return row

    def record(self, *, replay: bool = False) -> int:
        """Make a row of its tool's table from every answer on the path that a server gave; one undo takes it back.

        ``replay``: these tools answer from their tables from then on, so that a repeat asks nothing of the world. Of
        several answers to the same call the last one counts. Returns how many calls there were with such an answer.
        """
        rules, names, count = self.debugging, set(), 0
        for turn in self._experiment.transcript.path:
            for call in turn.calls:
                result = self.result(turn.id, call.id)
                if result is None or result.served is None or held_back(turn, call) is not None:
                    continue
                count += 1
                names.add(call.name)
                answer = given_as(result).model_copy(update={"served": None})
                pattern = call.arguments_json if call.arguments_json.strip() else "{}"
                rules = rules.with_row(call.name, AnswerRow(match=MatchKind.EQUAL, pattern=pattern, answer=answer))
        for name in names if replay else ():
            rules = rules.with_rule(name, rules.rule(name).model_copy(update={"policy": Policy.TABLE}))
        if rules != self.debugging:
            self._experiment.set(self._experiment.settings.changed(debugging=rules))
        return count

    # Asking a server for a look: nothing is sent

    def asked(self, turn_id: str, call_id: str) -> Ticket | None:
        """How far a server is with a call; None where it is not being asked."""
        return self.asks.ticket((turn_id, call_id))

    def ask_refusal(self, turn_id: str, call_id: str) -> str:
        """Why a person could not ask a server for a call now; empty where one could."""
        try:
            call = self._call(turn_id, call_id)
        except KeyError:
            return "This call is not there any more."
        if held := self._held_back(turn_id, call):
            return held.words
        tool = self.asks.tool(call)
        reason = server_refusal(call, tool, self.asks.reach(call, tool))
        return reason.words if reason is not None and not self.asks.mendable(tool) else ""

    async def ask(self, turn_id: str, call_id: str) -> None:
        """Ask the server for a call, whatever the rules say; the answer becomes the draft of the result.

        Where it gives none, that is why the call waits. What was typed meanwhile, and a call that was answered in
        another way, stay as they are: the answer is one of those to be compared then. Raises RunRefusedError where it
        cannot be asked, and where it came too late to be the draft.
        """
        turn_id = self._keep_open(turn_id)
        if reason := self.ask_refusal(turn_id, call_id):
            raise RunRefusedError(reason)
        call = self._call(turn_id, call_id)
        tool = self.asks.tool(call)
        if tool is None:
            raise RunRefusedError("This call is of no tool that is on offer.")
        if self.asks.mendable(tool):
            await self.asks.mend(tool)
            if reason := self.asks.reach(call, tool).refusal or self.ask_refusal(turn_id, call_id):
                raise RunRefusedError(reason)
        before = self.notes.draft(turn_id, call_id)
        key, found = await self.asks.ask((turn_id, call_id), tool, call.arguments)
        if isinstance(found, Reason):
            if self.result(*key) is None:
                self.notes.stops[key] = found
                self.changed()
            return
        if self.result(*key) is None and self.notes.draft(*key) in (before, None):
            self.notes.stops[key] = ANSWERED
            self.notes.set_draft(*key, draft_of(answer_of(found)))
            self.changed()
        elif not self._holds(key, found):
            self.notes.keep_late(*key, answer_of(found))
            raise RunRefusedError(LATE)

    def _holds(self, key: CallKey, served: ServerAnswer) -> bool:
        """Whether an answer of a server stands as the result or the draft of a call already: others waited for it."""
        result, draft = self.result(*key), self.notes.draft(*key)
        return any(one is not None and one.served is served for one in (result, draft))

    def cancel_ask(self, turn_id: str, call_id: str) -> None:
        """Let a server be asked no longer; nothing of its answer comes."""
        self.asks.cancel((turn_id, call_id))

    # Going on

    async def step(self, turn_id: str, call_id: str) -> None:
        """Answer this one call; if it was the last, send the request and stop at the next calls whatever the rules say.

        Raises RunRefusedError where it has no answer yet, or a run cannot begin.
        """
        turn_id = self._keep_open(turn_id)
        call = self._find(turn_id, call_id)[1]
        ready = await self.find_answer(turn_id, call_id)
        if isinstance(ready, Reason) and ready.code in _SEEN and (tool := self.asks.tool(call)) is not None:
            ready = ToAsk(tool, self.debugging.rule(call.name).after)  # a person saw this one call
        if isinstance(ready, Reason):
            raise RunRefusedError(_unready([call], [ready]))
        await self._go(Mode.STEP, {(turn_id, call_id): ready})

    async def step_next(self) -> None:
        """The same for the first call that has an answer."""
        self._keep_open()
        waiting = self.waiting
        found = [(key, await self.find_answer(key[0], key[1].id)) for key in waiting]
        ready = [key for key, answer in found if not isinstance(answer, Reason)]
        for turn_id, call in ready[:1] or waiting[:1]:
            await self.step(turn_id, call.id)

    async def go_on(self) -> None:
        """Continue: answer every call for which there is an answer, and go on until the next stop.

        Raises RunRefusedError where none has one, or a run cannot begin.
        """
        await self._go_on(Mode.RULES)

    async def run_to_end(self) -> None:
        """Go on past breakpoints and conditions until an answer without calls, a call without an answer, or the limit.

        Raises RunRefusedError as ``go_on`` does.
        """
        await self._go_on(Mode.END)

    async def _go_on(self, mode: Mode) -> None:
        self._keep_open()
        waiting = self.waiting
        found = {(turn_id, call.id): await self.find_answer(turn_id, call.id) for turn_id, call in waiting}
        planned = {
            key: replace(answer, look=False) if isinstance(answer, ToAsk) and mode is Mode.END else answer
            for key, answer in found.items()
            if not isinstance(answer, Reason)
        }
        without = {key: reason for key, reason in found.items() if isinstance(reason, Reason)}
        self.notes.stops.update({key: reason for key, reason in without.items() if reason is not NO_ROW})
        if waiting and not planned:
            raise RunRefusedError(_unready([call for _, call in waiting], list(without.values())))
        self.notes.stops.update(without)
        await self._go(mode, planned)

    async def _go(self, mode: Mode, planned: Mapping[CallKey, Planned | ToAsk]) -> None:
        experiment = self._experiment
        waiting = self.waiting
        if any(experiment.transcript.turns[turn_id].truncated for turn_id, _ in waiting):
            raise RunRefusedError(TRUNCATED.words)
        answers = [
            _tool_turn(key[1], plan if isinstance(plan, Planned) else Planned(Answer(), "server"))
            for key, plan in planned.items()
        ]
        reason = self._requests.refusal(*answers)
        if reason and (
            len(planned) == len(waiting) or experiment.state is not RunState.IDLE or not experiment.settings.model
        ):
            raise RunRefusedError(reason)
        if not planned:
            experiment.history.keep()
        await self.start(mode, planned)

    async def start(
        self,
        mode: Mode = Mode.RULES,
        planned: Mapping[CallKey, Planned | ToAsk] | None = None,
        *,
        steps_back: bool = True,
        once: tuple[Adaptation, ...] = (),
    ) -> None:
        """Run one tool loop from the head until it ends (see ``ToolLoop``). Whether it may begin is the caller's to
        check; raises RunRefusedError where one is under way.
        """
        if self.loop is not None:
            raise RunRefusedError(UNDER_WAY)
        experiment = self._experiment
        head = experiment.transcript.head
        requests = NextRequest(experiment, once) if once else self._requests
        loop = ToolLoop(
            experiment, self.notes, self.asks, self._refresh, head, requests, mode, planned, steps_back=steps_back
        )
        self.loop = loop
        experiment.history.begin(loop.id)
        self.changed()
        try:
            await loop.perform()
        finally:
            self.loop, self._sent = None, loop.requests
            experiment.history.end(loop.id)
            self._refresh()
            self.changed()

    def given(
        self, turn_id: str, call_id: str, answers: Sequence[Answer]
    ) -> tuple[Transcript, list[dict[CallKey, Planned]]]:
        """Where lanes begin that answer one call each in another way, and what each of them is given there.

        The other calls of the turn keep their answers on the path, or get what was typed for them. What stands in open
        editors is kept first. Raises RunRefusedError.
        """
        if reason := self.given_refusal(turn_id, call_id):
            raise RunRefusedError(reason)
        turn_id = self._keep_open(turn_id)
        if reason := self.given_refusal(turn_id, call_id):  # a branch was made on which it is not
            raise RunRefusedError(reason)
        transcript = self._experiment.transcript
        calls = [call.id for call in transcript.turns[turn_id].calls]
        path, place = [turn.id for turn in transcript.path], calls.index(call_id)
        begin, answered = turn_id, 0
        for turn in transcript.path[path.index(turn_id) + 1 :]:  # the answers before it, in their order, are shared
            ids = [result.call_id for result in turn.results]
            if answered == place or turn.role is not Role.TOOL or ids != [calls[answered]]:
                break
            begin, answered = turn.id, answered + 1
        others = self._others(turn_id, call_id)
        rest = {(turn_id, key): others[key] for key in calls[answered:] if key != call_id}
        given = [{**rest, (turn_id, call_id): by_hand(answer)} for answer in answers]
        return transcript.truncate_after(begin), given

    def given_refusal(self, turn_id: str, call_id: str) -> str:
        """Why a call could not be answered in lanes of its own now; empty when it could."""
        experiment = self._experiment
        if all(turn.id != turn_id for turn in experiment.transcript.path):
            return "This call is on another branch. Show that branch first."
        turn = experiment.transcript.turns[turn_id]
        if turn.truncated:
            return TRUNCATED.words
        others = self._others(turn_id, call_id)
        if missing := [call for call in turn.calls if call.id != call_id and call.id not in others]:
            return f"The other calls of this turn need an answer first. {no_answer_words(missing)}"
        given = {**others, call_id: Planned(Answer(), "you")}
        return self._requests.refusal(*(_tool_turn(key, plan) for key, plan in given.items()), at=turn_id)

    def _others(self, turn_id: str, call_id: str) -> dict[str, Planned]:
        """The answers to the other calls of a turn: those on the path, else what was typed."""
        out: dict[str, Planned] = {}
        for call in self._experiment.transcript.turns[turn_id].calls:
            draft = self.notes.draft(turn_id, call.id)
            if call.id != call_id and draft is not None and (typed := draft.answer) is not None:
                out[call.id] = by_hand(typed)
        for result in self._results(turn_id):
            if result.call_id != call_id:
                out[result.call_id] = Planned(given_as(result), result.by, result.seconds)
        return out

    def _refresh(self) -> None:
        """Find out where the loop stands, and tell it."""
        self._experiment.set_state(self.loop.state if self.loop is not None else RunState.IDLE)

    # Looking things up

    def _held_back(self, turn_id: str, call: ToolCall) -> Reason | None:
        return held_back(self._experiment.transcript.turns[turn_id], call)

    def _call(self, turn_id: str, call_id: str) -> ToolCall:
        turn = self._experiment.transcript.turns[turn_id]
        for part in turn.parts:  # thousands, and each is asked for: no list of all calls is made
            if part.kind == "tool_call" and part.id == call_id:
                return part
        raise KeyError(call_id)

    def _find(self, turn_id: str, call_id: str) -> tuple[str, ToolCall]:
        """A call that waits. Raises KeyError for one that does not."""
        for key, call in self.waiting:
            if (key, call.id) == (turn_id, call_id):
                return key, call
        raise KeyError(call_id)

    def _results(self, turn_id: str) -> list[ToolResult]:
        return _results(self._experiment.transcript, turn_id)


def answer_to(transcript: Transcript, turn_id: str, call_id: str) -> ToolResult | None:
    """What a call was answered with on the path of a transcript; None while it waits."""
    return next((result for result in _results(transcript, turn_id) if result.call_id == call_id), None)


def _results(transcript: Transcript, turn_id: str) -> list[ToolResult]:
    """The answers on the path to the calls of a turn, its own round only."""
    out: list[ToolResult] = []
    path = transcript.path
    at = next((number for number, turn in enumerate(path) if turn.id == turn_id), len(path))
    for turn in path[at + 1 :]:
        if turn.role is not Role.TOOL:
            break
        out += turn.results
    return out


def _unready(calls: Sequence[ToolCall], reasons: Sequence[Reason]) -> str:
    """Why calls that nothing was typed for cannot be answered now."""
    return next((reason.words for reason in reasons if reason is not NO_ROW), "") or no_answer_words(calls)


def _tool_turn(call_id: str, plan: Planned) -> Turn:
    return make_turn(Role.TOOL, "", result_of(call_id, plan))
