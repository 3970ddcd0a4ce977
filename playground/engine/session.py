"""One experiment: its transcript, what is set, its runs. The one mutable owner; everything in it is a value.

Commands are methods; what happened is told to subscribers as ``Change`` values, synchronously and in order.
A session opens no connection itself and knows no window.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from playground.domain.accumulator import GrowingChoice
from playground.domain.parameters import Parameters
from playground.domain.parts import Image, Part, Text, ToolCall, ToolResult
from playground.domain.request import ReasoningReturn, Request
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Transcript, Turn, make_turn, new_id
from playground.domain.values import JSON, JSONObject
from playground.engine import thinking
from playground.engine.carry import carry_parameters
from playground.engine.changes import (
    Change,
    ExchangeChanged,
    PathChanged,
    RunState,
    RunStateChanged,
    SettingsChanged,
    TitleChanged,
    TurnChanged,
    TurnGrew,
)
from playground.engine.run import Run, RunRefusedError
from playground.protocols.protocol import PROTOCOLS, get_protocol

if TYPE_CHECKING:
    from playground.engine.profiles import Profile
    from playground.gateway.client import GatewayClient
    from playground.gateway.limits import RateLimits as RateLimits
    from playground.gateway.tape import Exchange as Exchange

Connect = Callable[[str], Awaitable["GatewayClient"]]
UNDO_DEPTH = 200


@dataclass(frozen=True, slots=True)
class Draft:
    """What stands in the composer."""

    text: str = ""
    role: Role = Role.USER
    images: tuple[Image, ...] = ()


class Session:
    """The state of one open experiment.

    ``connect`` gives a client for a profile id; it may raise ``RunRefusedError``. ``profile_of`` gives the profile
    itself, from which the extra body and the rule for reasoning are inherited; without it nothing is.

    ``unsent`` holds what was typed and cannot be sent yet, by the name of the field, so that no keystroke is lost.
    """

    def __init__(
        self,
        connect: Connect,
        *,
        profile_id: str,
        protocol: str = "chat",
        model: str = "",
        profile_of: Callable[[str], Profile] | None = None,
    ) -> None:
        self._connect = connect
        self._profile_of = profile_of
        self._observers: list[Callable[[Change], None]] = []
        self._undo: list[Transcript] = []
        self._redo: list[Transcript] = []
        self._run: Run | None = None
        self._title = ""
        self.id = new_id()
        self.created_at = time.time()
        self.transcript = Transcript()
        self.profile_id = profile_id
        self.protocol = protocol
        self.model = model
        self.parameters: dict[str, Parameters] = {}
        self.tools: tuple[ToolDefinition, ...] = ()
        self.extra_body: JSONObject = {}
        self.extra_headers: dict[str, str] = {}
        self.reasoning_return: ReasoningReturn | None = None  # None: as the gateway's settings say
        self.unsent: dict[str, JSON] = {}
        self.draft = Draft()
        self.growing: dict[str, GrowingChoice] = {}
        self.exchanges: dict[str, Exchange] = {}
        self.limits: RateLimits | None = None
        self.state = RunState.IDLE

    # Observers

    def subscribe(self, callback: Callable[[Change], None]) -> Callable[[], None]:
        """Tell ``callback`` of every change from now on. Returns a function that ends that."""
        self._observers.append(callback)

        def cancel() -> None:
            with contextlib.suppress(ValueError):
                self._observers.remove(callback)

        return cancel

    def tell(self, change: Change) -> None:
        """Pass a change on. For the session and its run only."""
        for callback in tuple(self._observers):
            callback(change)

    # What it is called

    @property
    def title(self) -> str:
        """The title given, else the first words of the first user turn."""
        if self._title:
            return self._title
        for turn in self.transcript.path:
            if turn.role is Role.USER and turn.text.strip():
                words = " ".join(turn.text.split())
                return words if len(words) <= 48 else words[:47].rstrip() + "…"
        return "New experiment"

    def rename(self, title: str) -> None:
        """Give a title; an empty one goes back to the first words."""
        self._title = title.strip()
        self.tell(TitleChanged())

    @property
    def summary(self) -> str:
        """One line of state for the list: model, then what stands out."""
        path = self.transcript.path
        facts = [self.model or "no model"]
        if self.state is not RunState.IDLE:
            facts.append("waiting to retry" if self.state is RunState.RETRYING else "running")
        elif waiting := self.transcript.unanswered():
            facts.append(f"{len(waiting)} call{'s' * (len(waiting) > 1)} · waiting for you")
        elif path and path[-1].outcome and path[-1].outcome.failure:
            failure = path[-1].outcome.failure
            facts.append(str(failure.status) if failure.status else "failed")
        elif path:
            facts.append(f"{len(path)} turn{'s' * (len(path) > 1)}")
        return " · ".join(facts)

    # Settings

    def set_profile(self, profile_id: str) -> None:
        """Use another gateway from the next run on."""
        self._set("profile_id", profile_id)

    def set_protocol(self, protocol: str) -> None:
        """Speak another protocol from the next run on. Raises ValueError for one we do not know."""
        if protocol not in PROTOCOLS:
            raise ValueError(f"unknown protocol {protocol!r}")
        self._set("protocol", protocol)

    def switch_protocol(self, protocol: str) -> None:
        """Speak another protocol and take along every parameter that has a counterpart there (see ``carry``).

        Nothing else is touched: what the other protocol cannot carry is sent again after switching back.
        """
        if protocol == self.protocol:
            return
        before = self.current_parameters()
        self.set_protocol(protocol)
        self.set_parameters(carry_parameters(before, self.current_parameters()))

    def set_model(self, model: str) -> None:
        """Ask another model from the next run on; any text is allowed."""
        self._set("model", model.strip())

    def set_tools(self, tools: tuple[ToolDefinition, ...]) -> None:
        """Offer these tools from the next run on."""
        self._set("tools", tools)

    def set_extra_body(self, body: JSONObject) -> None:
        """Merge this into the body from the next run on; it wins over everything, the gateway's own included."""
        self._set("extra_body", body)

    def set_extra_headers(self, headers: dict[str, str]) -> None:
        """Send these headers with this experiment's runs. Raises ValueError for one that cannot go or is a secret."""
        from playground.engine.extras import extra_header_problem

        for name, value in headers.items():
            if problem := extra_header_problem(name, value):
                raise ValueError(problem)
        self._set("extra_headers", headers)

    def set_reasoning_return(self, rule: ReasoningReturn | None) -> None:
        """Send reasoning back by this rule; None: by the gateway's."""
        self._set("reasoning_return", rule)

    def set_unsent(self, name: str, value: JSON) -> None:
        """Keep what is typed in a field and cannot be sent yet; an empty value forgets it."""
        rest = {key: kept for key, kept in self.unsent.items() if key != name}
        self._set("unsent", {**rest, name: value} if value else rest)

    @property
    def profile(self) -> Profile | None:
        """The gateway's settings, as far as they are known here."""
        return self._profile_of(self.profile_id) if self._profile_of is not None else None

    def set_parameters(self, parameters: Parameters) -> None:
        """Replace the current protocol's parameters."""
        if self.parameters.get(self.protocol) != parameters:
            self.parameters = {**self.parameters, self.protocol: parameters}
            self.tell(SettingsChanged())

    def current_parameters(self) -> Parameters:
        """The current protocol's parameters; a new experiment starts with streaming and usage switched on."""
        found = self.parameters.get(self.protocol)
        if found is None:
            kind = get_protocol(self.protocol).parameters_type
            wanted = {name: True for name in ("stream", "include_usage") if name in kind.model_fields}
            found = kind.model_validate(wanted)
            self.parameters = {**self.parameters, self.protocol: found}
        return found

    def _set(self, name: str, value: object) -> None:
        if getattr(self, name) != value:
            setattr(self, name, value)
            self.tell(SettingsChanged())
            self.tell(TitleChanged())

    def load(self, request: Request, title: str = "") -> None:
        """Begin with what a file or a sample asks for; replaces everything but the gateway."""
        self._remember()
        self.transcript = Transcript().append(*request.turns)
        self.protocol, self.model, self.tools = request.protocol, request.model, request.tools
        self.parameters = {**self.parameters, request.protocol: request.parameters}
        self.extra_body, self.extra_headers = request.extra_body, request.extra_headers
        self.unsent = {}
        self._title = title
        self._path_changed()

    # Edits: each can be undone

    def add_turn(self, turn: Turn) -> str:
        """Append a turn at the head. Returns its id."""
        self._edit(self.transcript.append(turn))
        return turn.id

    def edit_text(self, turn_id: str, text: str) -> None:
        """Replace the written content of a turn (of a tool turn: its result); other parts stay in place."""
        turn = self.transcript.turns[turn_id]
        if turn.role is Role.TOOL and turn.results:
            parts: tuple[Part, ...] = (turn.results[0].model_copy(update={"text": text}), *turn.parts[1:])
        else:
            parts = _with_text(turn.parts, text)
        self._replace(turn.model_copy(update={"parts": parts}))

    def edit_call(self, turn_id: str, call_id: str, arguments: str) -> None:
        """Replace the raw arguments of one call."""
        turn = self.transcript.turns[turn_id]
        parts = tuple(
            part.model_copy(update={"arguments": arguments})
            if isinstance(part, ToolCall) and part.id == call_id
            else part
            for part in turn.parts
        )
        self._replace(turn.model_copy(update={"parts": parts}))

    def set_image(self, turn_id: str, at: int, image: Image | None) -> None:
        """Replace the image at position ``at`` among a turn's images; None takes it out. Raises IndexError."""
        turn = self.transcript.turns[turn_id]
        place = [number for number, part in enumerate(turn.parts) if isinstance(part, Image)][at]
        put = (image,) if image is not None else ()
        self._replace(turn.model_copy(update={"parts": (*turn.parts[:place], *put, *turn.parts[place + 1 :])}))

    def drop_thinking(self, turn_ids: Collection[str]) -> None:
        """Take the signed thinking out of these turns. Raises KeyError for an unknown id."""
        self._edit(thinking.drop(self.transcript, turn_ids))

    def branch(self, before: Transcript, stale: Collection[str]) -> None:
        """The edit that led from ``before`` to here becomes a branch beside it, without the thinking that is stale.

        ``before`` stays as it was; one undo goes back to it. See ``playground.engine.thinking``.
        """
        edited, self.transcript = self.transcript, before
        if self._undo and self._undo[-1] is before:
            self._undo.pop()
        self._edit(thinking.branch(before, edited, stale))

    def change_role(self, turn_id: str, role: Role) -> None:
        """Give a turn another role. Content becomes a result when it becomes a tool turn, and the reverse."""
        turn = self.transcript.turns[turn_id]
        if role is turn.role:
            return
        parts = turn.parts
        if role is Role.TOOL:
            waiting = [call for call in self.transcript.unanswered() if call not in turn.calls]
            parts = (ToolResult(call_id=waiting[0].id if waiting else "", text=turn.text),)
        elif turn.role is Role.TOOL:
            parts = tuple(Text(text=result.text) for result in turn.results)
        self._replace(turn.model_copy(update={"role": role, "parts": parts}))

    def delete_turn(self, turn_id: str) -> None:
        """Take one turn out; those after it stay. A turn being received is stopped first."""
        if turn_id in self.growing:
            self.stop()
            return
        self._edit(self.transcript.remove(turn_id))

    def move_turn(self, turn_id: str, step: int) -> None:
        """Change places with the turn before (-1) or after (+1)."""
        moved = self.transcript.move(turn_id, step)
        if moved is not self.transcript:
            self._edit(moved)

    def select_variant(self, turn_id: str) -> None:
        """Show the branch that goes through ``turn_id``."""
        self._edit(self.transcript.select(turn_id))

    def answer(self, call_id: str, text: str, *, is_error: bool = False) -> None:
        """Answer one call: a tool turn after the turn that made it, behind the answers already there."""
        path = self.transcript.path
        at = next((n for n, turn in enumerate(path) if any(call.id == call_id for call in turn.calls)), None)
        if at is None:
            raise KeyError(call_id)
        turn = make_turn(Role.TOOL, "", ToolResult(call_id=call_id, text=text, is_error=is_error))
        after = at + 1
        while after < len(path) and path[after].role is Role.TOOL:
            after += 1
        if after == len(path):
            self._edit(self.transcript.append(turn))
        else:
            self._edit(self.transcript.insert(turn, before=path[after].id))

    def undo(self) -> bool:
        """Take the last edit back. Returns whether there was one."""
        return self._travel(self._undo, self._redo)

    def redo(self) -> bool:
        """Do the edit taken back last again. Returns whether there was one."""
        return self._travel(self._redo, self._undo)

    def _travel(self, source: list[Transcript], target: list[Transcript]) -> bool:
        if not source or self.state is not RunState.IDLE:
            return False
        target.append(self.transcript)
        self.transcript = source.pop()
        self._path_changed()
        return True

    def _replace(self, turn: Turn) -> None:
        self._remember()
        self.transcript = self.transcript.replace(turn)
        self.tell(TurnChanged(turn.id))
        self.tell(SettingsChanged())
        self.tell(TitleChanged())

    def _edit(self, transcript: Transcript) -> None:
        self._remember()
        self.transcript = transcript
        self._path_changed()

    def _remember(self) -> None:
        self._undo.append(self.transcript)
        del self._undo[:-UNDO_DEPTH]
        self._redo.clear()

    def _path_changed(self) -> None:
        self.tell(PathChanged())
        self.tell(SettingsChanged())
        self.tell(TitleChanged())

    # Runs

    def request(self, *more: Turn) -> Request:
        """What a run would ask now, ``more`` turns added. Failed and empty turns, and those growing, are left out."""
        turns = tuple(
            turn
            for turn in (*self.transcript.path, *more)
            if turn.id not in self.growing and not (turn.outcome is not None and not turn.parts)
        )
        profile = self.profile
        inherited = profile.reasoning_return if profile is not None else ReasoningReturn()
        return Request(
            protocol=self.protocol,
            model=self.model,
            turns=turns,
            parameters=self.current_parameters(),
            tools=self.tools,
            extra_body={**(profile.extra_body if profile is not None else {}), **self.extra_body},
            extra_headers=self.extra_headers,
            reasoning_return=self.reasoning_return if self.reasoning_return is not None else inherited,
        )

    def preview(self) -> JSONObject:
        """The body a run would send now. Raises ValueError when it cannot be written."""
        return get_protocol(self.protocol).encode(self.request())

    def refusal(self, *more: Turn) -> str:
        """Why a run would be refused now, ``more`` turns added, and what to do; empty when it would not."""
        if self.state is not RunState.IDLE:
            return "A run is under way. Stop it first."
        if not self.model:
            return "Choose a model first (Ctrl+L)."
        answered = {result.call_id for turn in more for result in turn.results}
        if waiting := [call for call in self.transcript.unanswered() if call.id not in answered]:
            names = ", ".join(f"{call.name} ({call.id})" for call in waiting[:3])
            if any(turn.truncated and waiting[0] in turn.calls for turn in self.transcript.path):
                return f"The answer broke off at a tool call: {names}. Regenerate that turn, or delete it."
            return f"Every tool call needs a result before the next request. Still open: {names}."
        request = self.request(*more)
        if not request.turns:
            return "Write a message first."
        try:
            get_protocol(self.protocol).encode(request)
        except ValueError as error:
            return f"The request cannot be written: {error}"
        return ""

    async def run(self) -> None:
        """Ask the gateway for the next turn. Returns when it has ended, however it ended; raises RunRefusedError.

        Cancelling the task that runs this stops the run and keeps what has arrived.
        """
        if reason := self.refusal():
            raise RunRefusedError(reason)
        self._drop_failed_head()
        self._remember()
        await self._perform()

    async def _perform(self) -> None:
        run = self._run = Run(self, self.request())
        try:
            await run.perform(self._connect)
        finally:
            self._run = None

    async def regenerate(self, turn_id: str) -> None:
        """Ask again for that turn, as a variant beside it; a failed one with nothing in it is replaced."""
        if self.state is not RunState.IDLE:
            raise RunRefusedError("A run is under way. Stop it first.")
        before = self.transcript
        self.transcript = before.truncate_after(before.turns[turn_id].parent)
        if reason := self.refusal():
            self.transcript = before
            raise RunRefusedError(reason)
        self.transcript = before
        self._remember()
        turn = before.turns[turn_id]
        hollow = turn.outcome is not None and not turn.parts and not before.children(turn_id)
        kept = before.remove(turn_id) if hollow else before
        self.transcript = kept.truncate_after(turn.parent)
        self._drop_failed_head()
        self._path_changed()
        await self._perform()

    def stop(self) -> None:
        """End the run under way, keeping what has arrived. Without one, nothing happens."""
        if self._run is not None:
            self._run.stop()

    @property
    def active_run(self) -> Run | None:
        """The run under way, if any."""
        return self._run

    def _drop_failed_head(self) -> None:
        head = self.transcript.head
        turn = self.transcript.turns.get(head) if head else None
        if turn is not None and turn.outcome is not None and not turn.parts:
            self.transcript = self.transcript.remove(turn.id)
            self.tell(PathChanged())

    # For the run

    def begin_turn(self, parent: str | None, choice: GrowingChoice) -> str:
        """A turn to be received appears below ``parent``; the first of a run becomes the head."""
        turn = Turn(id=new_id(), role=Role.ASSISTANT, parent=parent)
        head = turn.id if self.transcript.head == parent else self.transcript.head
        self.transcript = Transcript({**self.transcript.turns, turn.id: turn}, head)
        self.growing[turn.id] = choice
        self.tell(PathChanged())
        return turn.id

    def end_turn(self, turn: Turn) -> None:
        """A turn received has its final parts and outcome, in the past that undo goes back to as well."""
        self.growing.pop(turn.id, None)

        def settled(transcript: Transcript) -> Transcript:
            return transcript.replace(turn) if turn.id in transcript.turns else transcript

        self.transcript = settled(self.transcript)
        self._undo = [settled(t) for t in self._undo]
        self._redo = [settled(t) for t in self._redo]
        self.tell(TurnChanged(turn.id))

    def set_state(self, state: RunState) -> None:
        """Where the run stands."""
        if state is not self.state:
            self.state = state
            self.tell(RunStateChanged(state))
            self.tell(TitleChanged())
            if state is RunState.IDLE:
                self.tell(SettingsChanged())

    def exchange_changed(self, exchange: Exchange) -> None:
        """An exchange is new, or more of it is known."""
        self.exchanges[exchange.id] = exchange
        self.tell(ExchangeChanged(exchange.id))

    def grew(self, turn_id: str) -> None:
        """More of a turn has arrived."""
        self.tell(TurnGrew(turn_id))

    def with_draft(self, text: str, role: Role, images: tuple[Image, ...] = ()) -> None:
        """Remember what stands in the composer."""
        self.draft = Draft(text, role, images)


def _with_text(parts: tuple[Part, ...], text: str) -> tuple[Part, ...]:
    """``parts`` with all content replaced by one text, where the first content stood."""
    out: list[Part] = []
    placed = False
    for part in parts:
        if isinstance(part, Text):
            if not placed and text:
                out.append(Text(text=text))
            placed = True
        else:
            out.append(part)
    if not placed and text:
        at = next((n for n, part in enumerate(out) if isinstance(part, ToolCall)), len(out))
        out.insert(at, Text(text=text))
    return tuple(out)
