"""What a card may ask for. The pane that holds the session does it; a card never touches the session itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from PySide6.QtCore import QMimeData

from playground.domain.accumulator import GrowingChoice
from playground.domain.debugging import Answer
from playground.domain.parts import Image
from playground.domain.tool_servers import ServerAnswer
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role
from playground.engine.advice.parts import Action
from playground.engine.session.drafts import EditKey, OpenEdit
from playground.engine.session.edits import Answerable
from playground.engine.session.request_executor import RetryWait
from playground.engine.session.tool_calls import Ticket


class Growth(NamedTuple):
    """How far a turn has come that is being received. ``elapsed`` is in seconds since it was asked for.

    ``retry_wait`` is there while the next try is waited for; ``starting`` while nothing could be sent yet.
    """

    choice: GrowingChoice
    elapsed: float
    retry_wait: RetryWait | None = None
    starting: bool = False


@dataclass(frozen=True, slots=True)
class ServerSide:
    """The tool server that a call may be asked of, by its name. ``refusal`` is why it cannot be asked now, empty where
    it can; ``ticket`` how far it is with the call, None while it is not asked.
    """

    name: str
    refusal: str = ""
    ticket: Ticket | None = None


@dataclass(frozen=True, slots=True)
class CallState:
    """What the debugger knows of a call: why it waits, what is typed, when its answer comes, its repetition.

    ``elsewhere`` is how many lanes wait at the same call.

    ``prepared`` is an answer that was chosen instead of typed. ``remaining`` is in seconds, None where no answer is on
    its way. ``server`` is that of its tool, None where it has none. ``served`` is what one answered, of which ``draft``
    was made, and ``images`` are what goes along with that; ``pictures`` whether the protocol carries them.
    """

    reason: str = ""
    draft: str = ""
    prepared: Answer | None = None
    remaining: float | None = None
    warning: str = ""
    elsewhere: int = 0
    server: ServerSide | None = None
    served: ServerAnswer | None = None
    images: tuple[Image, ...] = ()
    pictures: bool = False


class CallCommands(Protocol):
    """What is offered on the calls of a turn, and what is known of them, by turn id and call id."""

    def state(self, turn_id: str, call_id: str) -> CallState: ...

    def choices(self, name: str) -> list[tuple[str, Answer]]: ...

    def draft(self, turn_id: str, call_id: str, text: str) -> None: ...

    def prepare(self, turn_id: str, call_id: str, answer: Answer) -> None: ...

    def send_prepared(self, turn_id: str, call_id: str, is_error: bool) -> None: ...

    def stop(self) -> None: ...

    def answer(self, turn_id: str, call_id: str, text: str, is_error: bool) -> None: ...

    def answer_lanes(self, turn_id: str, call_id: str, text: str, is_error: bool) -> None: ...

    def answer_all(self, text: str, is_error: bool) -> None: ...

    def step(self, turn_id: str, call_id: str) -> None: ...

    def compare_answers(self, turn_id: str, call_id: str) -> None: ...

    def remember(self, turn_id: str, call_id: str) -> None: ...

    def rules(self, name: str) -> None: ...

    def ask(self, turn_id: str, call_id: str) -> None: ...

    def cancel_ask(self, turn_id: str, call_id: str) -> None: ...

    def restore(self, turn_id: str, call_id: str) -> None: ...

    def drop_picture(self, turn_id: str, call_id: str, at: int) -> None: ...


class WireCommands(Protocol):
    """What is offered about the way a turn, or a call in it, came over the wire."""

    def show_turn(self, turn_id: str) -> None: ...

    def show_call(self, turn_id: str, call_id: str) -> None: ...

    def show_messages(self, turn_id: str, call_id: str) -> None: ...

    def compare(self, turn_id: str) -> None: ...

    def lint(self, turn_id: str) -> None: ...

    def hole(self, turn_id: str) -> None: ...


class HandCommands(Protocol):
    """What is offered on calls and results that a person writes. ``above`` are the calls that a turn's result may
    answer."""

    @property
    def tools(self) -> tuple[ToolDefinition, ...]: ...

    def above(self, turn_id: str) -> Sequence[Answerable]: ...

    def delete_call(self, turn_id: str, call_id: str) -> None: ...

    def give_call(self, turn_id: str, at: int, call_id: str) -> None: ...


class EditCommands(Protocol):
    """The editors that are open in turns, what stands in them, and the other edits of turns.

    ``branches`` says that an edit leaves what is there on a branch of its own, ``keep`` why something cannot be kept.
    ``fixed`` says that the turns are only to be read, so that no edit is offered.
    """

    @property
    def fixed(self) -> bool: ...

    def get(self, key: EditKey) -> OpenEdit | None: ...

    def of(self, turn_id: str) -> Sequence[OpenEdit]: ...

    def put(self, edit: OpenEdit) -> None: ...

    def cancel(self, key: EditKey) -> None: ...

    def keep(self, key: EditKey) -> str: ...

    def run(self, turn_id: str, text: str) -> None: ...

    def branches(self, turn_id: str, call_id: str = "") -> bool: ...

    def image(self, turn_id: str, at: int, image: Image | None) -> None: ...

    def role(self, turn_id: str, role: Role) -> None: ...


class PictureCommands(Protocol):
    """Images for turns that are there. ``take`` says whether it takes those of a paste or drop, and does so ``now``."""

    def take(self, turn_id: str, mime: QMimeData, *, now: bool = True) -> bool: ...

    def choose(self, turn_id: str) -> None: ...


class TurnCommands(Protocol):
    """The actions offered on turns, by turn id. ``values`` are those of the variables, by name."""

    @property
    def calls(self) -> CallCommands: ...

    @property
    def wire(self) -> WireCommands: ...

    @property
    def hand(self) -> HandCommands: ...

    @property
    def edits(self) -> EditCommands: ...

    @property
    def pictures(self) -> PictureCommands: ...

    def values(self) -> Mapping[str, str]: ...

    def open_image(self, image: Image) -> None: ...

    def shrink_image(self, turn_id: str, at: int) -> None: ...

    def delete_turn(self, turn_id: str) -> None: ...

    def move_turn(self, turn_id: str, step: int) -> None: ...

    def select_alternative(self, turn_id: str) -> None: ...

    def whose(self, turn_id: str) -> str: ...

    def choose_alternative(self, turn_id: str) -> None: ...

    def open_in_compare(self, turn_id: str) -> None: ...

    def make_case(self, turn_id: str) -> None: ...

    def regenerate(self, turn_id: str) -> None: ...

    def take_advice(self, turn_id: str, action: Action) -> None: ...

    def open_link(self, address: str) -> None: ...

    def cost_words(self, turn_id: str) -> str: ...

    def output_limit(self, turn_id: str) -> int | None: ...

    def show_exchange(self, turn_id: str) -> None: ...
