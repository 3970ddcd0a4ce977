"""One experiment: its transcript, what is set, its runs. The one mutable owner; everything in it is a value.

Commands are methods; what happened is told to subscribers as ``Change`` values, synchronously and in order.
A session opens no connection itself and knows no window. Its settings and its edits stand in files of their own.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from playground.domain.debugging import Debugging, ResultDraft
from playground.domain.hidden import short_name
from playground.domain.parts import ToolCall, ToolResult
from playground.domain.request import ReasoningReturn, Request
from playground.domain.transcript import Transcript, Turn, new_id
from playground.domain.values import JSONObject
from playground.domain.variables import as_written, names_in, resolve_turns, unresolved
from playground.engine.library.experiment_summary import Front, plain_front, summary_of, title_of
from playground.engine.session import hand_made
from playground.engine.session.branching import asking
from playground.engine.session.changes import (
    Change,
    DebugChanged,
    ExchangeChanged,
    PathChanged,
    RunState,
    RunStateChanged,
    SettingsChanged,
    TitleChanged,
    TurnChanged,
    TurnGrew,
)
from playground.engine.session.debugger import Debugger
from playground.engine.session.editing import HEAD as HEAD
from playground.engine.session.editing import Editing
from playground.engine.session.open_edits import OpenEdit
from playground.engine.session.run import Run, RunRefusedError
from playground.engine.session.settings import Draft as Draft
from playground.engine.session.tapes import Tapes
from playground.engine.session.turn_edits import standing
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.engine.gateways.profiles import Profile
    from playground.gateway.client import GatewayClient
    from playground.gateway.limits import RateLimits as RateLimits
    from playground.gateway.tape import Exchange as Exchange

Connect = Callable[[str], Awaitable["GatewayClient"]]
#: Gives an exchange that was kept, by the ids of the experiment and its own.
FetchExchange = Callable[[str, str], Awaitable["Exchange | None"]]

UNDER_WAY = "A run is under way. Stop it first."
#: What the state of several lanes at once is called: the first of these that any of them is in.
_LIVELIEST = (RunState.STREAMING, RunState.WAITING, RunState.RETRYING, RunState.ANSWERING)
#: Changes after which the experiment is another one; what is merely shown or typed elsewhere is none.
_OF_CONTENT = (PathChanged, TurnChanged, SettingsChanged, DebugChanged)


class Session(Editing):
    """The state of one open experiment.

    ``connect`` gives a client for a profile id; it may raise ``RunRefusedError``. ``profile_of`` gives the profile
    itself, from which the extra body and the rule for reasoning are inherited; without it nothing is. ``literal`` says
    that its turns are text to the last brace and hold no variables. ``front`` shortens texts and knows the secrets.
    """

    def __init__(
        self,
        connect: Connect,
        *,
        profile_id: str,
        protocol: str = "chat",
        model: str = "",
        profile_of: Callable[[str], Profile] | None = None,
        literal: bool = False,
        front: Front = plain_front,
    ) -> None:
        super().__init__(profile_id, protocol, model, profile_of)
        self.connect = connect
        self.literal = literal
        self._front = front
        self.debugger = Debugger(self)
        self.given_title = ""
        self.id = new_id()
        self.created_at = self.changed_at = time.time()
        self.pinned = self.archived = False
        self.exchanges = Tapes()
        self.fetch_exchange: FetchExchange | None = None
        self.limits: RateLimits | None = None
        self.unread: Mapping[tuple[str, bool], int] = {}  # rows of it that the store could not read, by ``Tally``

    def tell(self, change: Change) -> None:
        """Pass a change on; of what the experiment holds, the moment is noted as well."""
        if isinstance(change, _OF_CONTENT):
            self.changed_at = time.time()
        super().tell(change)

    # What it is called

    @property
    def title(self) -> str:
        """The title given, else the first words of the first user turn."""
        return title_of(self.transcript, self.given_title, self._front)

    def rename(self, title: str) -> None:
        """Give a title; an empty one goes back to the first words."""
        if title.strip() != self.given_title:
            self.remember_set("given_title")
            self.given_title = title.strip()
        self.tell(TitleChanged())

    @property
    def debugging(self) -> Debugging:
        """The rules for tool calls."""
        return self.debugger.debugging

    @debugging.setter
    def debugging(self, debugging: Debugging) -> None:
        self.debugger.debugging = debugging
        self.debugger.changed()

    @property
    def summary(self) -> str:
        """One line of state for the list: model, then what stands out."""
        words = summary_of(self.transcript, self.model, self.state)
        return self._front(words, len(words))

    def load(self, request: Request, title: str = "") -> None:
        """Begin with what a file or a sample asks for; replaces everything but the gateway, and can be undone."""
        setup = {
            "protocol": request.protocol,
            "model": request.model,
            "tools": request.tools,
            "parameters": {**self.parameters, request.protocol: request.parameters},
            "extra_body": request.extra_body,
            "extra_headers": request.extra_headers,
            "reasoning_return": request.reasoning_return if request.reasoning_return != ReasoningReturn() else None,
            "unsent": {},
            "given_title": title,
        }
        self.set_up(Transcript().append(*request.turns), setup)

    # Edits of calls: what is known of a call, and typed for it, goes along

    def edit_call(self, turn_id: str, call_id: str, arguments: str, *, in_place: bool = False) -> str:
        answer = self.debugger.result(turn_id, call_id)
        edited = super().edit_call(turn_id, call_id, arguments, in_place=in_place)
        self._offer(edited, call_id, answer)
        return edited

    def replace_call(self, turn_id: str, call_id: str, call: ToolCall, *, in_place: bool = False) -> tuple[str, str]:
        answer = self.debugger.result(turn_id, call_id)
        edited, new_id = super().replace_call(turn_id, call_id, call, in_place=in_place)
        if new_id != call_id:
            self.debugger.rename(edited, call_id, new_id)
        self._offer(edited, new_id, answer)
        return edited, new_id

    def _offer(self, turn_id: str, call_id: str, answer: ToolResult | None) -> None:
        """The answer to what a call was before stands ready where that waits for another one now."""
        if answer is not None and any((key, one.id) == (turn_id, call_id) for key, one in self.transcript.waiting):
            self.debugger.set_draft(turn_id, call_id, ResultDraft(text=answer.text, is_error=answer.is_error))

    def copied(self, copies: Mapping[str, str]) -> None:
        super().copied(copies)
        self.debugger.copied(copies)

    # Runs

    def request(self, *more: Turn, at: str | None = HEAD) -> Request:
        """What a run would ask now, ``more`` turns added. Failed and empty turns, and those growing, are left out.

        ``at`` is the turn to ask from instead of the head; None: from above the first. The values of variables are in
        it; those without one stand as they are written. So is what stands in open editors: a run begins by keeping it.
        """
        return self._request(self._asked(more, at))

    def request_from(self, tip: str | None) -> Request:
        """What goes out next below ``tip``, by the turns as they stand: what is typed meanwhile is not in it."""
        return self._request(self._sent(self.transcript.lineage(tip)))

    def _request(self, turns: tuple[Turn, ...]) -> Request:
        profile = self.profile
        inherited = profile.reasoning_return if profile is not None else ReasoningReturn()
        return Request(
            protocol=self.protocol,
            model=self.model,
            turns=turns if self.literal else resolve_turns(turns, self.variables),
            parameters=self.current_parameters(),
            tools=self.tools,
            inherited_body=profile.extra_body if profile is not None else {},
            extra_body=self.extra_body,
            extra_headers=self.extra_headers,
            reasoning_return=self.reasoning_return if self.reasoning_return is not None else inherited,
        )

    def preview(self) -> JSONObject:
        """The body a run would send now. Raises ValueError when it cannot be written."""
        return get_protocol(self.protocol).encode(self.request())

    async def run_edited(self, turn_id: str, text: str) -> None:
        """Give a turn another text, as ``edit_text`` does, and ask from there; one undo takes both back.

        Raises RunRefusedError, during a run before anything is changed.
        """
        if self.state is not RunState.IDLE:
            raise RunRefusedError(UNDER_WAY)
        self.set_editing(OpenEdit(turn=turn_id, text=text))
        if reason := self.unkept(turn_id):
            raise RunRefusedError(reason)
        before = self.transcript
        edited = self.keep_open(turn_id).get(turn_id, turn_id)
        at = asking(self.transcript, edited)
        at = self.keep_open(at).get(at, at)
        if reason := self.refusal(at=at):
            raise RunRefusedError(reason)
        if self.transcript is before:
            self._remember()
        for child in self.transcript.children(at):
            if self._is_hollow(child):
                self.transcript = self.transcript.remove(child)
        self.transcript = self.transcript.truncate_after(at)
        self._path_changed()
        await self.debugger.start()

    def refusal(self, *more: Turn, at: str | None = HEAD) -> str:
        """Why a run would be refused now, ``more`` turns added, and what to do; empty when it would not.

        ``at`` is the turn to ask from instead of the head; None: from above the first.
        """
        if self.state is not RunState.IDLE:
            return UNDER_WAY
        if not self.model:
            return "Choose a model first (Ctrl+L)."
        if reason := self.unkept(at):
            return reason
        asked = self._asked(more, at)
        if reason := self._open_calls(asked, more, at):
            return reason
        if not asked:
            return "Write a message first."
        if missing := self._unresolved(asked):
            return without_value(missing)
        try:
            get_protocol(self.protocol).check(self._request(asked))
        except ValueError as error:
            return f"The request cannot be written: {error}"
        return ""

    def to_add(self) -> tuple[Turn, ...]:
        """What stands in the composer as the turn that a run adds; none where nothing does or calls have to be answered
        first.
        """
        if self.state is not RunState.IDLE:
            return ()
        try:
            turn = hand_made.written(self.draft, self.transcript)
        except ValueError:
            return ()
        more = (turn,) if turn is not None else ()
        return () if more and self._open_calls(self._asked(more), more, HEAD) else more

    def _open_calls(self, asked: tuple[Turn, ...], more: tuple[Turn, ...], at: str | None) -> str:
        """What is wrong with the calls and results of a request."""
        if reason := hand_made.without_call(asked):
            return reason
        answered = {result.call_id for turn in more for result in turn.results}
        kept, at_then = self.as_kept(at)
        above = kept.waiting_above(kept.head if at == HEAD else at_then)
        if waiting := [(key, call) for key, call in above if call.id not in answered]:
            names = ", ".join(f"{short_name(call.name)} ({short_name(call.id)})" for _, call in waiting[:3])
            if kept.turns[waiting[0][0]].truncated:
                return f"The answer broke off at a tool call: {names}. Regenerate that turn, or delete it."
            if at == HEAD and not self.transcript.waiting:
                return (
                    f"The call of {waiting[0][1].name} that is being written needs a result. Keep it, then answer it."
                )
            return f"Every tool call needs a result before the next request. Still open: {names}."
        return hand_made.calls_first(more)

    def variable_names(self, *more: Turn) -> tuple[str, ...]:
        """The variables in what a run would send, ``more`` turns added, in the order in which they stand there."""
        return () if self.literal else names_in(self._asked(more))

    def unresolved(self, *more: Turn) -> tuple[str, ...]:
        """Those of them that have no value, so that a run is refused."""
        return self._unresolved(self._asked(more))

    def _unresolved(self, turns: tuple[Turn, ...]) -> tuple[str, ...]:
        return () if self.literal else unresolved(turns, self.variables)

    def _asked(self, more: tuple[Turn, ...], at: str | None = HEAD) -> tuple[Turn, ...]:
        """The turns of a request, as they were written."""
        kept, at_then = self.as_kept(at)
        branch = kept.path if at == HEAD else kept.lineage(at_then)
        return self._sent((*branch, *more))

    def _sent(self, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
        return tuple(
            turn for turn in turns if turn.id not in self.growing and not (turn.outcome is not None and not turn.parts)
        )

    async def run(self) -> None:
        """Ask the gateway for the next turn, and go on as the rules for its calls say; by default they pause.

        Returns when somebody must decide or it is done, however it ended; raises RunRefusedError. Cancelling the task
        that runs this stops it and keeps what has arrived.
        """
        if reason := self.refusal():
            raise RunRefusedError(reason)
        self.keep_open()
        self._drop_failed_head()
        self._remember()
        await self.debugger.start()

    async def regenerate(self, turn_id: str) -> None:
        """Ask again for that turn, as a variant beside it; a failed one with nothing in it is replaced."""
        parent = self.transcript.turns[turn_id].parent
        if reason := self.refusal(at=parent):
            raise RunRefusedError(reason)
        copies = self.keep_open(parent)
        parent = standing(self.transcript, copies, parent)
        before = self.transcript
        self._remember()
        kept = before.remove(turn_id) if self._is_hollow(turn_id) else before
        self.transcript = kept.truncate_after(parent)
        self._drop_failed_head()
        self._path_changed()
        await self.debugger.start()

    def _is_hollow(self, turn_id: str) -> bool:
        """Whether it is a failed turn with nothing in it and nothing below it."""
        turn = self.transcript.turns[turn_id]
        return turn.outcome is not None and not turn.parts and not self.transcript.children(turn_id)

    def stop(self, turn_id: str = "") -> None:
        """End what is under way, keeping what has arrived; with a turn id only what brings that turn.

        Without anything under way, nothing happens.
        """
        for lane in self.debugger.lanes:
            if not turn_id or (lane.run is not None and lane.run.brings(turn_id)):
                lane.stop()

    @property
    def active_run(self) -> Run | None:
        """The request under way, if any; the first of several."""
        return next((lane.run for lane in self.debugger.lanes if lane.run is not None), None)

    def run_of(self, turn_id: str) -> Run | None:
        """The request that brings a turn, while it does."""
        runs = (lane.run for lane in self.debugger.lanes)
        return next((run for run in runs if run is not None and run.brings(turn_id)), None)

    def _drop_failed_head(self) -> None:
        head = self.transcript.head
        turn = self.transcript.turns.get(head) if head else None
        if turn is not None and turn.outcome is not None and not turn.parts:
            self.transcript = self.transcript.remove(turn.id)
            self.tell(PathChanged())

    # For the run

    def refresh_state(self) -> None:
        """Find out where the lanes stand, and tell it."""
        states = {lane.state for lane in self.debugger.lanes}
        state = next((state for state in _LIVELIEST if state in states), RunState.IDLE)
        if state is not self.state:
            self.state = state
            self.tell(RunStateChanged(state))
            self.tell(TitleChanged())
            if state is RunState.IDLE:
                self.tell(SettingsChanged())

    async def bring_exchange(self, exchange_id: str) -> Exchange | None:
        """An exchange with its bodies, fetched from the store where they are not in memory; None for an unknown one.

        Where they are no longer kept either, it is as it was. Raises StoreError.
        """
        known = self.exchanges.get(exchange_id)
        if known is None:
            return None
        whole = await self.whole(known)
        now = self.exchanges.get(exchange_id)
        if now is None or (now is not known and not now.dropped):
            return now  # somebody else has brought it meanwhile
        if whole is not known:
            self.exchange_changed(whole)
        return whole

    async def whole(self, exchange: Exchange) -> Exchange:
        """An exchange of this experiment with its bodies, as ``bring_exchange`` does; memory does not keep them."""
        if self.fetch_exchange is None or not self.may_fetch(exchange):
            return exchange
        return await self.fetch_exchange(self.id, exchange.id) or exchange

    def may_fetch(self, exchange: Exchange) -> bool:
        """Whether the bodies of an exchange are not in memory, and the store is to be asked for them."""
        return bool(exchange.dropped) and self.fetch_exchange is not None

    def exchange_changed(self, exchange: Exchange) -> None:
        """An exchange is new, or more of it is known."""
        self.exchanges.keep(exchange)
        self.tell(ExchangeChanged(exchange.id))

    def grew(self, turn_id: str) -> None:
        """More of a turn has arrived."""
        self.tell(TurnGrew(turn_id))


def without_value(names: tuple[str, ...]) -> str:
    """Why a run is refused while these variables have no value, and what to do."""
    said = ", ".join(map(as_written, names[:3])) + (f" and {len(names) - 3} more" if names[3:] else "")
    has, it = ("has", "it") if len(names) == 1 else ("have", "them")
    return f"{said} {has} no value yet. Fill {it} in under Variables, or have {it} sent as written."
