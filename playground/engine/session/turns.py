"""The turns of a lane: every edit is a new transcript and can be undone.

An edit of an answered turn makes a branch (see `playground.engine.session.edits`). Runs add
turns too; what they received is never lost by undoing edits around it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from playground.domain.accumulator import GrowingChoice
from playground.domain.parts import Image, ToolResult
from playground.domain.prices import Price
from playground.domain.transcript import Ending, Role, Transcript, Turn, make_turn, new_id, one_per_request, waiting_in
from playground.engine.session import edits, thinking
from playground.engine.session.branching import fork, has_answers
from playground.engine.session.changes import (
    CallEdited,
    Observers,
    PathChanged,
    SettingsChanged,
    TitleChanged,
    TurnChanged,
    TurnGrew,
    TurnsCopied,
)

if TYPE_CHECKING:
    from playground.engine.session.history import History


class Turns:
    """The turns of a lane. `growing` are those being received in any lane; the transcript is that of the history."""

    def __init__(self, history: History, observers: Observers, growing: dict[str, GrowingChoice]) -> None:
        self.history = history
        self._observers = observers
        self.growing = growing

    @property
    def transcript(self) -> Transcript:
        """The present transcript."""
        return self.history.transcript

    # Edits of one turn. Each returns the id of the edited turn: on a branch it is a copy.

    def branches(self, turn_id: str, call_id: str = "") -> bool:
        """Return whether an edit of a turn, or of a call of it, makes a branch. Raises KeyError for an unknown turn."""
        return has_answers(self.transcript, turn_id, call_id)

    def apply(self, edit: edits.Edit) -> edits.Applied:
        """Apply an edit of the present transcript as one undo step."""
        before = self.transcript
        applied = edits.apply(before, edit, self.growing)
        if applied.transcript is not before:
            if applied.copies:
                self._observers.tell(TurnsCopied(applied.copies))
            self.history.push()
            self.history.transcript = applied.transcript
            if not applied.copies and _differs_only_in(edit.turn_id, before, applied.transcript):
                self._observers.tell(TurnChanged(edit.turn_id))
                self._observers.tell(SettingsChanged())
                self._observers.tell(TitleChanged())
            else:
                self._path_changed()
        if edit.new_call:
            call, new_call = (edit.turn_id, edit.old_call), (applied.turn_id, edit.new_call)
            self._observers.tell(CallEdited(call, new_call, before))
        return applied

    def delete_call(self, turn_id: str, call_id: str) -> str:
        """Remove a call and its results."""
        return self.apply(edits.remove_call(self.transcript, turn_id, call_id)).turn_id

    def give_call(self, turn_id: str, index: int, call_id: str) -> str:
        """Let the result at `index` of a tool turn answer that call."""
        return self.apply(edits.link_result(self.transcript, turn_id, index, call_id)).turn_id

    def set_image(self, turn_id: str, index: int, image: Image | None) -> str:
        """Replace the image at `index` among a turn's images; None removes it. Raises IndexError."""
        turn = edits.with_image(self.transcript.turns[turn_id], index, image)
        return self.replace_turn(turn)

    def add_images(self, turn_id: str, images: Sequence[Image]) -> str:
        """Add images to a turn, to a tool turn's last result. Raises KeyError, and ValueError without a result."""
        return self.replace_turn(edits.with_more_images(self.transcript.turns[turn_id], images))

    def swap_images(self, turn_id: str, swaps: Mapping[str, Image]) -> str:
        """Replace images of a turn by their URLs. Raises KeyError for an unknown turn."""
        return self.replace_turn(edits.with_swapped_images(self.transcript.turns[turn_id], swaps))

    def change_role(self, turn_id: str, role: Role) -> str:
        """Change the role of a turn. Content becomes a result when it becomes a tool turn, and the reverse."""
        if role is self.transcript.turns[turn_id].role:
            return turn_id
        return self.replace_turn(edits.with_role(self.transcript, turn_id, role))

    def replace_turn(self, turn: Turn) -> str:
        """Replace a turn by another version of it."""
        return self.apply(edits.replace_turn(self.transcript, turn)).turn_id

    # Edits of the transcript

    def add_turn(self, turn: Turn) -> str:
        """Append a turn at the head. Returns its id."""
        self.rewrite(self.transcript.append(turn))
        return turn.id

    def add_written(self, turn: Turn) -> None:
        """Append a turn at the head; a result for a waiting call goes behind the turn that made the call."""
        makers = {call.id: maker for maker, call in reversed(self.transcript.waiting)}
        results = turn.results
        if turn.role is Role.TOOL and len(turn.parts) == 1 and results and results[0].call_id in makers:
            self.answer_calls({makers[results[0].call_id]: results})
        else:
            self.add_turn(turn)

    def answer(self, call_id: str, text: str, *, is_error: bool = False) -> None:
        """Answer one call by hand: the oldest open call of that id, else the last one on the path.

        Raises KeyError without such a call.
        """
        path = self.transcript.path
        makers = [turn_id for turn_id, call in waiting_in(path) if call.id == call_id]
        makers = makers or [turn.id for turn in path if any(call.id == call_id for call in turn.calls)][-1:]
        if not makers:
            raise KeyError(call_id)
        self.answer_calls({makers[0]: [ToolResult(call_id=call_id, text=text, is_error=is_error, by="you")]})

    def answer_calls(self, results: Mapping[str, Iterable[ToolResult]]) -> None:
        """Answer calls of turns on the path, by turn id, with a tool turn each, as one edit."""
        transcript = self.transcript
        for turn_id, answers in results.items():
            update = {"seconds": edits.seconds_since(transcript.turns[turn_id])}
            turns = [make_turn(Role.TOOL, "", result.model_copy(update=update)) for result in answers]
            transcript = edits.place_results(transcript, transcript.head, turn_id, *turns)
        if transcript is not self.transcript:
            self.rewrite(transcript)

    def remove(self, turn_id: str) -> None:
        """Remove one turn that is not being received; those after it remain.

        Without any, the neighbouring alternative is sibling, unless another lane ends in it.
        """
        is_last = not self.transcript.children(turn_id)
        self.rewrite(self._without_branch(turn_id) if is_last else self.transcript.remove(turn_id))

    def remove_branch(self, turn_id: str) -> None:
        """Remove a turn and everything below it, on every branch; none of it is being received."""
        self.rewrite(self._without_branch(turn_id))

    def _without_branch(self, turn_id: str) -> Transcript:
        before, after = self.transcript, self.transcript.without_branch(turn_id)
        parent = before.turns[turn_id].parent
        sibling = next((turn.id for turn in after.path if turn.parent == parent), None)
        if sibling is not None and after.head != before.head and not self.history.ends.isdisjoint(after.below(sibling)):
            return after.truncate_after(parent)
        return after

    def move_turn(self, turn_id: str, step: int) -> None:
        """Swap a turn with the one before (-1) or after (+1).

        The swap is on a branch of its own where another branch leaves between the two, or a lane ends there.
        """
        before = self.transcript
        moved = before.move(turn_id, step)
        if moved is before:
            return
        upper = next(old for old, new in zip(before.path, moved.path, strict=True) if old.id != new.id).id
        is_shared = len(before.children(upper)) > 1 or upper in self.history.ends
        if is_shared and not any(turn.id in self.growing for turn in moved.path):
            moved, copies = fork(before, moved.path)
            self._observers.tell(TurnsCopied(copies))
        self.rewrite(moved)

    def select_alternative(self, turn_id: str) -> None:
        """Show the branch through `turn_id`."""
        self.rewrite(self.transcript.select(turn_id))

    def drop_thinking(self, turn_ids: Collection[str]) -> None:
        """Remove the sealed reasoning of these turns. Raises KeyError for an unknown id."""
        self.rewrite(thinking.drop(self.transcript, turn_ids))

    def branch(self, before: Transcript, stale: Collection[str]) -> None:
        """Turn the last edit, which led from `before` to the present, into a branch without the stale thinking.

        One undo goes back to `before`. See `playground.engine.session.thinking`.
        """
        edited, self.history.transcript = self.transcript, before
        self.history.discard(before)
        self.rewrite(thinking.branch(before, edited, stale))

    def priced(self, profile_id: str, model: str) -> int:
        """Return how many requests to that gateway and model are stored with a price."""
        return sum(outcome.asked.price is not None for outcome in one_per_request(self._sent_to(profile_id, model)))

    def reprice(self, profile_id: str, model: str, price: Price | None) -> None:
        """Replace the stored price of every request to that gateway and model; None removes it."""
        changed: dict[str, Turn] = {}
        for turn in self._sent_to(profile_id, model):
            if turn.outcome is not None and turn.outcome.asked.price != price:
                repriced = turn.outcome.asked.model_copy(update={"price": price})
                outcome = turn.outcome.model_copy(update={"asked": repriced})
                changed[turn.id] = turn.model_copy(update={"outcome": outcome})
        if changed:
            self.rewrite(Transcript({**self.transcript.turns, **changed}, self.transcript.head))

    def _sent_to(self, profile_id: str, model: str) -> list[Turn]:
        target = (profile_id, model)
        return [
            turn
            for turn in self.transcript.turns.values()
            if turn.outcome is not None and (turn.outcome.asked.profile_id, turn.outcome.asked.model) == target
        ]

    def rewrite(self, transcript: Transcript) -> None:
        """Replace the transcript, as one edit."""
        self.history.push()
        self.history.transcript = transcript
        self._path_changed()

    def _path_changed(self) -> None:
        self._observers.tell(PathChanged())
        self._observers.tell(SettingsChanged())
        self._observers.tell(TitleChanged())

    # Received turns. `source` is the run that adds them (see `playground.engine.session.history`); without one each
    # turn is a source of its own.

    def grew(self, turn_id: str) -> None:
        """Report that more of a turn has arrived."""
        self._observers.tell(TurnGrew(turn_id))

    def begin_turns(self, parent: str | None, choices: Sequence[GrowingChoice], source: str = "") -> list[str]:
        """Add an empty turn below `parent` for each choice, possibly thousands. Returns their ids.

        The first becomes the head if the head was `parent`.
        """
        turns = [Turn(id=new_id(), role=Role.ASSISTANT, parent=parent) for _ in choices]
        for turn, choice in zip(turns, choices, strict=True):
            self.growing[turn.id] = choice
            if not source:
                self.history.begin(turn.id)
        self.history.transcript = self.transcript.bring(turns)
        for turn in turns:
            self.history.add_received(source or turn.id, turn)
        self._observers.tell(PathChanged(by_run=True))
        return [turn.id for turn in turns]

    def add_results(self, tip: str | None, maker: str, turns: Sequence[Turn], source: str) -> str | None:
        """Answer calls of the turn `maker` on the branch to `tip` with tool turns. Returns the end of the branch."""
        self.history.transcript = edits.place_results(self.transcript, tip, maker, *turns)
        tree = self.transcript.turns
        above = {tree[turn.id].parent: turn.id for turn in turns}
        while tip in above:
            tip = above[tip]
        for turn in turns:
            self.history.add_received(source, tree[turn.id])
        self._observers.tell(PathChanged(by_run=True))
        return tip

    def end_turns(self, turns: Sequence[Turn], source: str = "") -> None:
        """Store the final parts and outcomes of received turns, in the states of undo as well."""
        self.history.transcript = self.transcript.replace(*(turn for turn in turns if turn.id in self.transcript.turns))
        for turn in turns:
            self.growing.pop(turn.id, None)
            self.history.add_received(source or turn.id, self.transcript.turns.get(turn.id, turn))
            if not source:
                self.history.end(turn.id)
        for turn in turns:
            self._observers.tell(TurnChanged(turn.id, by_run=True))

    def mark_interrupted(self, turn_ids: Iterable[str]) -> None:
        """Mark stopped turns as interrupted by the end of the application."""
        for turn_id in turn_ids:
            turn = self.transcript.turns.get(turn_id)
            if turn is not None and turn.outcome is not None and turn.outcome.ending is Ending.STOPPED:
                outcome = turn.outcome.model_copy(update={"ending": Ending.INTERRUPTED})
                self.history.transcript = self.transcript.replace(turn.model_copy(update={"outcome": outcome}))
                self._observers.tell(TurnChanged(turn_id))
                self._observers.tell(TitleChanged())


def _differs_only_in(turn_id: str, before: Transcript, after: Transcript) -> bool:
    """Return whether two transcripts differ only in what one turn holds."""
    if len(before.turns) != len(after.turns) or before.turns[turn_id].parent != after.turns[turn_id].parent:
        return False
    return all(key == turn_id or before.turns.get(key) is turn for key, turn in after.turns.items())
