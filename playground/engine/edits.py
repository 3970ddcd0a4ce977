"""The turns of one experiment and every edit of them: each is a new transcript, and each can be taken back.

Runs add turns here too; what a run brought is never lost by undoing what was edited around it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from playground.domain.accumulator import GrowingChoice
from playground.domain.parts import Image, Part, Text, ToolCall, ToolResult
from playground.domain.transcript import Role, Transcript, Turn, make_turn, new_id
from playground.engine import thinking
from playground.engine.changes import PathChanged, RunState, SettingsChanged, TitleChanged, TurnChanged
from playground.engine.settings import Settings

if TYPE_CHECKING:
    from playground.engine.profiles import Profile

UNDO_DEPTH = 200


class Edits(Settings, ABC):
    """The part of a session between its settings and its runs. ``growing`` are the turns being received."""

    def __init__(self, profile_id: str, protocol: str, model: str, profile_of: Callable[[str], Profile] | None) -> None:
        super().__init__(profile_id, protocol, model, profile_of)
        self._undo: list[Transcript] = []
        self._redo: list[Transcript] = []
        self.transcript = Transcript()
        self.growing: dict[str, GrowingChoice] = {}
        self.state = RunState.IDLE

    @abstractmethod
    def stop(self) -> None:
        """End the run under way, keeping what has arrived."""

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

    # Turns that are received

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
