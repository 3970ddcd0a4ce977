"""The tool-call debugger of one session: its rules, why calls wait, what was typed for them, and the ways to go on.

It starts tool loops (see ``playground.engine.session.tool_loop``) and knows no window. That an experiment is
paused is not kept anywhere: calls wait at the end of the path, and nothing is under way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from playground.domain.debugging import (
    NO_ROW,
    STOPPED,
    TRUNCATED,
    Answer,
    AnswerRow,
    Debugging,
    MatchKind,
    Policy,
    Reason,
    ReasonCode,
    ResultDraft,
    canonical,
    held_back,
    no_answer_words,
    repeated_words,
    repeats,
)
from playground.domain.errors import RunRefusedError
from playground.domain.parts import ToolCall, ToolResult
from playground.domain.transcript import Role, Transcript, Turn, make_turn
from playground.engine.questions import checking
from playground.engine.questions.kinds import ReadyAnswer
from playground.engine.session.call_notes import CallNotes, Pending, Planned
from playground.engine.session.changes import CallEdited, CallKey, Change, DebugChanged, RunState, TurnsCopied
from playground.engine.session.experiment import Experiment
from playground.engine.session.next_request import UNDER_WAY, NextRequest
from playground.engine.session.tool_loop import Mode, ToolLoop
from playground.engine.session.verdicts import Verdict, Verdicts
from playground.jsonkit.reading import parse_json

#: The error result of a call that nobody answered.
FILLING = "No result was given for this call."


class Debugger:
    """What a person sees and does at a tool call. Coroutines return when nothing is under way any more.

    ``notes`` is what is known of calls beside their turns; those of ``beside``, of another lane, are the same. ``loop``
    is the tool loop under way, if any.
    """

    def __init__(self, experiment: Experiment, requests: NextRequest, beside: Debugger | None = None) -> None:
        self._experiment = experiment
        self._requests = requests
        self.loop: ToolLoop | None = None
        self._last: ToolLoop | None = None
        self.notes: CallNotes = beside.notes if beside is not None else CallNotes(self.changed)
        self._verdicts = Verdicts(self.changed)
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
            answer = answer_to(change.before, *change.was)
            if answer is not None and any((key, one.id) == change.now for key, one in self.waiting):
                # what it was answered with stands ready where it waits for another one now
                self.notes.set_draft(turn_id, call_id, ResultDraft(text=answer.text, is_error=answer.is_error))

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
        return self._last.requests if self._last is not None else self.round

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
        """Whether nothing is under way and a call waits."""
        return self._experiment.state is RunState.IDLE and bool(self.waiting)

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
        ``find_answer`` does it.
        """
        known = self._known_answer(turn_id, call_id)
        found = checking.now(known) if isinstance(known, ReadyAnswer) else known
        return self._planned(turn_id, call_id, found)

    async def find_answer(self, turn_id: str, call_id: str) -> Planned | Reason:
        """The same with all the time it takes; the reason where there is none."""
        known = self._known_answer(turn_id, call_id)
        found = await checking.answer(known) if isinstance(known, ReadyAnswer) else known
        return found if isinstance(found, Reason) else self._planned(turn_id, call_id, found) or NO_ROW

    def _known_answer(self, turn_id: str, call_id: str) -> Planned | Reason | ReadyAnswer:
        """What was typed, why nothing else may be sent, or what there is to ask the rules."""
        draft = self.notes.draft(turn_id, call_id)
        if draft is not None and draft.text:
            return Planned(Answer(text=draft.text, is_error=draft.is_error), "you")
        call = self._call(turn_id, call_id)
        return self._held_back(turn_id, call) or ReadyAnswer(call, self.debugging.rule(call.name))

    def _planned(self, turn_id: str, call_id: str, found: Planned | Answer | Reason | None) -> Planned | None:
        if isinstance(found, Answer):
            rule = self.debugging.rule(self._call(turn_id, call_id).name)
            return Planned(found, "fixed" if rule.policy is Policy.FIXED else "table")
        return found if isinstance(found, Planned) else None

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
        turn_id = self._keep_open(turn_id)
        self._answer([self._find(turn_id, call_id)], Planned(Answer(text=text, is_error=is_error), "you"))

    async def send_late(self, turn_id: str, call_id: str, answer: Answer) -> None:
        """Answer one call when that is due, if ever, and go on by the rules. Raises RunRefusedError as ``go_on``."""
        turn_id = self._keep_open(turn_id)
        await self._go(Mode.RULES, {(turn_id, call_id): Planned(answer, "you")})

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
        return self.paused and all(reason is not None and reason.code is ReasonCode.STOPPED for reason in reasons)

    def _answer(
        self, calls: Sequence[tuple[str, ToolCall]], plan: Planned, typed: Mapping[CallKey, Answer | None] | None = None
    ) -> int:
        results: dict[str, list[ToolResult]] = {}
        for turn_id, call in calls:
            own = (typed or {}).get((turn_id, call.id))
            answer, by = (own, "you") if own is not None else (plan.answer, plan.by)
            result = ToolResult(call_id=call.id, text=answer.body, is_error=answer.is_error, by=by)
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
        pattern = call.arguments if call.arguments.strip() else "{}"
        parse_json(pattern)
        result, draft = self.result(turn_id, call_id), self.notes.draft(turn_id, call_id)
        if result is not None:
            answer = Answer(text=result.text, is_error=result.is_error)
        elif draft is not None and draft.answer is not None:
            answer = draft.answer
        else:
            raise KeyError(call_id)
        row = AnswerRow(match=MatchKind.EQUAL, pattern=pattern, answer=answer)
        rule = self.debugging.rule(call.name)
        others = tuple(
            kept
            for kept in rule.rows
            if kept.match is not MatchKind.EQUAL or canonical(kept.pattern) != canonical(pattern)
        )
        rules = self.debugging.with_rule(call.name, rule.model_copy(update={"rows": (row, *others)}))
        experiment = self._experiment
        experiment.set(experiment.settings.changed(debugging=rules))
        return row

    # Going on

    async def step(self, turn_id: str, call_id: str) -> None:
        """Answer this one call; if it was the last, send the request and stop at the next calls whatever the rules say.

        Raises RunRefusedError where it has no answer yet, or a run cannot begin.
        """
        turn_id = self._keep_open(turn_id)
        call = self._find(turn_id, call_id)[1]
        ready = await self.find_answer(turn_id, call_id)
        if isinstance(ready, Reason):
            raise RunRefusedError(_unready([call], [ready]))
        await self._go(Mode.STEP, {(turn_id, call_id): ready})

    async def step_next(self) -> None:
        """The same for the first call that has an answer."""
        self._keep_open()
        waiting = self.waiting
        found = [(key, await self.find_answer(key[0], key[1].id)) for key in waiting]
        ready = [key for key, answer in found if isinstance(answer, Planned)]
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
        planned = {key: answer for key, answer in found.items() if isinstance(answer, Planned)}
        without = {key: reason for key, reason in found.items() if isinstance(reason, Reason)}
        self.notes.stops.update({key: reason for key, reason in without.items() if reason is not NO_ROW})
        if waiting and not planned:
            raise RunRefusedError(_unready([call for _, call in waiting], list(without.values())))
        if not waiting and (reason := self._requests.refusal()):
            raise RunRefusedError(reason)
        self.notes.stops.update(without)
        await self._go(mode, planned)

    async def _go(self, mode: Mode, planned: Mapping[CallKey, Planned]) -> None:
        experiment = self._experiment
        waiting = self.waiting
        if any(experiment.transcript.turns[turn_id].truncated for turn_id, _ in waiting):
            raise RunRefusedError(TRUNCATED.words)
        answers = [_tool_turn(key[1], plan) for key, plan in planned.items()]
        reason = self._requests.refusal(*answers)
        if reason and (
            len(planned) == len(waiting) or experiment.state is not RunState.IDLE or not experiment.settings.model
        ):
            raise RunRefusedError(reason)
        if not planned:
            experiment.history.keep()
        await self.start(mode, planned)

    async def start(
        self, mode: Mode = Mode.RULES, planned: Mapping[CallKey, Planned] | None = None, *, steps_back: bool = True
    ) -> None:
        """Run one tool loop from the head until it ends (see ``ToolLoop``). Whether it may begin is the caller's to
        check; raises RunRefusedError where one is under way.
        """
        if self.loop is not None:
            raise RunRefusedError(UNDER_WAY)
        experiment = self._experiment
        head = experiment.transcript.head
        loop = ToolLoop(experiment, self.notes, self._refresh, head, mode, planned, steps_back=steps_back)
        self.loop = self._last = loop
        experiment.history.begin(loop.id)
        self.changed()
        try:
            await loop.perform()
        finally:
            self.loop = None
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
        given = [{**rest, (turn_id, call_id): Planned(answer, "you")} for answer in answers]
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
                out[call.id] = Planned(typed, "you")
        for result in self._results(turn_id):
            if result.call_id != call_id:
                answer = Answer(text=result.text, is_error=result.is_error)
                out[result.call_id] = Planned(answer, result.by, result.seconds)
        return out

    def _refresh(self) -> None:
        """Find out where the loop stands, and tell it."""
        self._experiment.set_state(self.loop.state if self.loop is not None else RunState.IDLE)

    # Looking things up

    def _held_back(self, turn_id: str, call: ToolCall) -> Reason | None:
        return held_back(self._experiment.transcript.turns[turn_id], call)

    def _call(self, turn_id: str, call_id: str) -> ToolCall:
        for call in self._experiment.transcript.turns[turn_id].calls:
            if call.id == call_id:
                return call
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
    return make_turn(Role.TOOL, "", ToolResult(call_id=call_id, text=plan.answer.body, is_error=plan.answer.is_error))
