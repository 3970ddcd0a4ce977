"""The turns of one experiment and every edit of them: each is a new transcript, and each can be taken back.

An edit of a turn that was answered makes a branch (see ``playground.engine.session.branching``), unless it is to be
``in_place``: then what follows stays below the new words. Runs add turns here too; what a run brought is never lost by
undoing what was edited around it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from playground.domain.accumulator import GrowingChoice
from playground.domain.parts import Image, Part, Text, ToolCall, ToolResult
from playground.domain.prices import Price
from playground.domain.transcript import Ending, Role, Transcript, Turn, make_turn, new_id, one_per_request, waiting_in
from playground.engine.session import hand_made, thinking
from playground.engine.session.branching import beside, branched, has_answers
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
from playground.engine.session.history import History
from playground.engine.session.tool_turn_order import placed, seconds_since
from playground.engine.session.turn_edits import TurnEdit, arguments_edited, call_replaced, text_edited


class Turns:
    """``growing`` are the turns being received; the transcript itself is the present state of the history.

    ``beside`` are those of another lane of the experiment: what is received is known to all of them.
    """

    def __init__(self, history: History, observers: Observers, beside: Turns | None = None) -> None:
        self.history = history
        self._observers = observers
        self.growing: dict[str, GrowingChoice] = beside.growing if beside is not None else {}

    @property
    def transcript(self) -> Transcript:
        """The turns as they are."""
        return self.history.transcript

    # Edits: each can be undone

    def branches(self, turn_id: str, call_id: str = "") -> bool:
        """Whether an edit of a turn, or of a call of it, makes a branch. Raises KeyError for an unknown turn."""
        return has_answers(self.transcript, turn_id, call_id)

    def add_turn(self, turn: Turn) -> str:
        """Append a turn at the head. Returns its id."""
        self.rewrite(self.transcript.append(turn))
        return turn.id

    def add_written(self, turn: Turn) -> None:
        """Append a turn at the head; a result for a call that waits goes behind the turn that made the call."""
        waiting = {call.id: maker for maker, call in reversed(self.transcript.waiting)}
        results = turn.results
        if turn.role is Role.TOOL and len(turn.parts) == 1 and results and results[0].call_id in waiting:
            self.answer_calls({waiting[results[0].call_id]: results})
        else:
            self.add_turn(turn)

    def add_calls(self, turn_id: str, calls: Iterable[ToolCall], *, in_place: bool = False) -> str:
        """Give a turn more calls, behind what it holds. Raises ValueError as ``hand_made.finished`` does.

        Returns the id of the turn that has them, as every edit of a turn does: on a branch it is another one.
        """
        return self._change(turn_id, hand_made.with_more_calls(self.transcript, turn_id, calls), in_place=in_place)

    def replace_call(self, turn_id: str, call_id: str, call: ToolCall, *, in_place: bool = False) -> tuple[str, str]:
        """Put another call in the place of one. Returns the ids of turn and call. Raises ValueError likewise.

        Its results stay with it; on a branch a call of another name or with other arguments waits for its own. What the
        model sent is kept beside the arguments while they differ.
        """
        edit = call_replaced(self.transcript, turn_id, call_id, call, in_place=in_place)
        return self.carry_out(edit, in_place=in_place)

    def delete_call(self, turn_id: str, call_id: str) -> str:
        """Take a call out of a turn, and the results that answered it."""
        return self._change(turn_id, hand_made.less_one_call(self.transcript, turn_id, call_id))

    def give_call(self, turn_id: str, at: int, call_id: str) -> str:
        """Let the result at position ``at`` of a tool turn answer that call (see ``hand_made.linked``)."""
        return self._change(turn_id, hand_made.linked(self.transcript, turn_id, at, call_id))

    def edit_text(self, turn_id: str, text: str, *, in_place: bool = False) -> str:
        """Replace the written content of a turn (of a tool turn: its result); other parts stay in place."""
        return self.carry_out(text_edited(self.transcript, turn_id, text), in_place=in_place)[0]

    def edit_call(self, turn_id: str, call_id: str, arguments: str, *, in_place: bool = False) -> str:
        """Replace the raw arguments of one call; what the model sent is kept beside them while it differs.

        On a branch the call waits for a result of its own.
        """
        edit = arguments_edited(self.transcript, turn_id, call_id, arguments, in_place=in_place)
        return self.carry_out(edit, in_place=in_place)[0]

    def carry_out(self, edit: TurnEdit, *, in_place: bool = False) -> tuple[str, str]:
        """Let the turns be as an edit has them. Returns the ids of turn and call then."""
        before = self.transcript
        edited = self._change(edit.turn_id, edit.after, edit.call_id, in_place=in_place)
        if edit.made:
            self._observers.tell(CallEdited((edit.turn_id, edit.was), (edited, edit.made), before))
        return edited, edit.made

    def set_image(self, turn_id: str, at: int, image: Image | None, *, in_place: bool = False) -> str:
        """Replace the image at position ``at`` among a turn's images; None takes it out. Raises IndexError."""
        turn = self.transcript.turns[turn_id]
        place = [number for number, part in enumerate(turn.parts) if isinstance(part, Image)][at]
        put = (image,) if image is not None else ()
        parts = (*turn.parts[:place], *put, *turn.parts[place + 1 :])
        return self._replace(turn.model_copy(update={"parts": parts}), in_place=in_place)

    def add_images(self, turn_id: str, images: Sequence[Image]) -> str:
        """Give a turn more images, behind those that it has; a tool turn has them in its last result.

        Raises KeyError for an unknown turn, ValueError for a tool turn without a result.
        """
        turn = self.transcript.turns[turn_id]
        parts = list(turn.parts)
        if turn.role is Role.TOOL:
            at = max((number for number, part in enumerate(parts) if isinstance(part, ToolResult)), default=-1)
            if at < 0:
                raise ValueError("This turn holds no result to put an image into.")
            result = turn.results[-1]
            parts[at] = result.model_copy(update={"images": (*result.images, *images)})
        else:
            at = max((number for number, part in enumerate(parts) if isinstance(part, Image)), default=len(parts) - 1)
            parts[at + 1 : at + 1] = images
        return self._replace(turn.model_copy(update={"parts": tuple(parts)}))

    def swap_images(self, turn_id: str, swaps: Mapping[str, Image]) -> str:
        """Put others in the places of images, which are named by their URLs. Raises KeyError for an unknown turn."""
        turn = self.transcript.turns[turn_id]

        def swapped(part: Part) -> Part:
            if isinstance(part, Image):
                return swaps.get(part.url, part)
            if isinstance(part, ToolResult) and part.images:
                return part.model_copy(update={"images": tuple(swaps.get(one.url, one) for one in part.images)})
            return part

        return self._replace(turn.model_copy(update={"parts": tuple(map(swapped, turn.parts))}))

    def priced(self, profile_id: str, model: str) -> int:
        """How many requests keep the price at which they were asked of that gateway and model."""
        return sum(outcome.asked.price is not None for outcome in one_per_request(self._asked_of(profile_id, model)))

    def reprice(self, profile_id: str, model: str, price: Price | None) -> None:
        """Let every turn that was asked of that gateway and model keep another price; None: none."""
        changed: dict[str, Turn] = {}
        for turn in self._asked_of(profile_id, model):
            if turn.outcome is not None and turn.outcome.asked.price != price:
                asked = turn.outcome.asked.model_copy(update={"price": price})
                changed[turn.id] = turn.model_copy(update={"outcome": turn.outcome.model_copy(update={"asked": asked})})
        if changed:
            self.rewrite(Transcript({**self.transcript.turns, **changed}, self.transcript.head))

    def _asked_of(self, profile_id: str, model: str) -> list[Turn]:
        wanted = (profile_id, model)
        return [
            turn
            for turn in self.transcript.turns.values()
            if turn.outcome is not None and (turn.outcome.asked.profile_id, turn.outcome.asked.model) == wanted
        ]

    def drop_thinking(self, turn_ids: Collection[str]) -> None:
        """Take the signed thinking out of these turns. Raises KeyError for an unknown id."""
        self.rewrite(thinking.drop(self.transcript, turn_ids))

    def branch(self, before: Transcript, stale: Collection[str]) -> None:
        """The edit that led from ``before`` to here becomes a branch beside it, without the thinking that is stale.

        ``before`` stays as it was; one undo goes back to it. See ``playground.engine.session.thinking``.
        """
        edited, self.history.transcript = self.transcript, before
        self.history.forget(before)
        self.rewrite(thinking.branch(before, edited, stale))

    def change_role(self, turn_id: str, role: Role, *, in_place: bool = False) -> str:
        """Give a turn another role. Content becomes a result when it becomes a tool turn, and the reverse."""
        turn = self.transcript.turns[turn_id]
        if role is turn.role:
            return turn_id
        parts = turn.parts
        if role is Role.TOOL:
            waiting = [call for call in self.transcript.unanswered() if call not in turn.calls]
            parts = (ToolResult(call_id=waiting[0].id if waiting else "", text=turn.text),)
        elif turn.role is Role.TOOL:
            parts = tuple(Text(text=result.text) for result in turn.results)
        else:
            parts = tuple(part for part in turn.parts if part.kind != "tool_call")  # only an assistant turn has any
        return self._replace(turn.model_copy(update={"role": role, "parts": parts}), in_place=in_place)

    def take_out(self, turn_id: str) -> None:
        """Take one turn out that is not being received; those after it stay.

        Without any the alternative beside it is shown, unless another lane stands there.
        """
        alone = not self.transcript.children(turn_id)
        self.rewrite(self._without_branch(turn_id) if alone else self.transcript.remove(turn_id))

    def take_out_branch(self, turn_id: str) -> None:
        """Take a turn out with all that follows it, on every branch; nothing of it is being received."""
        self.rewrite(self._without_branch(turn_id))

    def _without_branch(self, turn_id: str) -> Transcript:
        before, after = self.transcript, self.transcript.without_branch(turn_id)
        above = before.turns[turn_id].parent
        beside = next((turn.id for turn in after.path if turn.parent == above), None)
        if beside is not None and after.head != before.head and not self.history.ends.isdisjoint(after.below(beside)):
            return after.truncate_after(above)
        return after

    def move_turn(self, turn_id: str, step: int) -> None:
        """Change places with the turn before (-1) or after (+1).

        Where another branch leaves between the two, or a lane ends there, they do so on a branch of their own.
        """
        before = self.transcript
        moved = before.move(turn_id, step)
        if moved is before:
            return
        upper = next(old for old, new in zip(before.path, moved.path, strict=True) if old.id != new.id).id
        leaves = len(before.children(upper)) > 1 or upper in self.history.ends
        if leaves and not any(turn.id in self.growing for turn in moved.path):
            made = beside(before, moved.path)
            self._observers.tell(TurnsCopied(made.copies))
            moved = made.transcript
        self.rewrite(moved)

    def select_alternative(self, turn_id: str) -> None:
        """Show the branch that goes through ``turn_id``."""
        self.rewrite(self.transcript.select(turn_id))

    def answer(self, call_id: str, text: str, *, is_error: bool = False) -> None:
        """Answer one call by hand: a tool turn among the answers to its turn, which stand in the order of the calls.

        The oldest call of that id that is still open is meant, else the last one on the path. Raises KeyError without.
        """
        path = self.transcript.path
        open_ = [turn_id for turn_id, call in waiting_in(path) if call.id == call_id]
        made = open_ or [turn.id for turn in path if any(call.id == call_id for call in turn.calls)][-1:]
        if not made:
            raise KeyError(call_id)
        self.answer_calls({made[0]: [ToolResult(call_id=call_id, text=text, is_error=is_error, by="you")]})

    def answer_calls(self, results: Mapping[str, Iterable[ToolResult]]) -> None:
        """Answer calls of turns on the path, by turn id, a tool turn each; one edit. The time taken is filled in."""
        transcript = self.transcript
        for turn_id, given in results.items():
            seconds = seconds_since(transcript.turns[turn_id])
            made = [make_turn(Role.TOOL, "", one.model_copy(update={"seconds": seconds})) for one in given]
            transcript = placed(transcript, transcript.head, turn_id, *made)
        if transcript is not self.transcript:
            self.rewrite(transcript)

    def replace_turn(self, turn: Turn) -> str:
        """Put another version of a turn in its place. Returns its id; where it was answered, that of a copy."""
        return self._replace(turn)

    def _replace(self, turn: Turn, *, in_place: bool = False) -> str:
        return self._change(turn.id, self.transcript.replace(turn), in_place=in_place)

    def _change(self, turn_id: str, after: Transcript, call_id: str = "", *, in_place: bool = False) -> str:
        """An edit of a turn, or of a call of it, that makes ``after`` of the transcript.

        Returns the id of the turn that is edited then: where the old one was answered an alternative beside it.
        """
        before = self.transcript
        if after.turns == before.turns:
            return turn_id
        if not in_place and has_answers(before, turn_id, call_id):
            made = branched(before, after, turn_id, self.growing)
            self._observers.tell(TurnsCopied(made.copies))
            self.rewrite(made.transcript)
            return made.copies[turn_id]
        if not _differs_in(turn_id, before, after):
            self.rewrite(after)
            return turn_id
        self.history.keep()
        self.history.transcript = after
        self._observers.tell(TurnChanged(turn_id))
        self._observers.tell(SettingsChanged())
        self._observers.tell(TitleChanged())
        return turn_id

    def rewrite(self, transcript: Transcript) -> None:
        """Put another version of the turns in place of these, as one edit."""
        self.history.keep()
        self.history.transcript = transcript
        self._path_changed()

    def _path_changed(self) -> None:
        self._observers.tell(PathChanged())
        self._observers.tell(SettingsChanged())
        self._observers.tell(TitleChanged())

    # Turns that are received

    def grew(self, turn_id: str) -> None:
        """More of a turn has arrived."""
        self._observers.tell(TurnGrew(turn_id))

    def begin_turns(self, parent: str | None, choices: Sequence[GrowingChoice], source: str = "") -> list[str]:
        """Turns to be received appear below ``parent``, one for each choice: maybe thousands. Returns their ids.

        The first becomes the head where the head stood there. ``source`` is what brings them (see
        ``playground.engine.session.history``); without one each turn stands for itself.
        """
        turns = [Turn(id=new_id(), role=Role.ASSISTANT, parent=parent) for _ in choices]
        for turn, choice in zip(turns, choices, strict=True):
            self.growing[turn.id] = choice
            if not source:
                self.history.begin(turn.id)
        self.bring(turns, source)
        return [turn.id for turn in turns]

    def bring(self, turns: Sequence[Turn], source: str = "") -> None:
        """Turns that are not written by the person appear below one parent; the head moves to the first where it stood.

        Without a ``source`` each stands for itself.
        """
        self.history.transcript = self.transcript.bring(turns)
        for turn in turns:
            self.history.brought(source or turn.id, turn)
        self._observers.tell(PathChanged(by_run=True))

    def place(self, tip: str | None, maker: str, turns: Sequence[Turn], source: str) -> str | None:
        """Tool turns answer calls of ``maker`` on the branch to ``tip`` (see
        ``playground.engine.session.tool_turn_order``). Returns where that ends then.
        """
        self.history.transcript = placed(self.transcript, tip, maker, *turns)
        there = self.transcript.turns
        above = {there[turn.id].parent: turn.id for turn in turns}
        while tip in above:
            tip = above[tip]
        for turn in turns:
            self.history.brought(source, there[turn.id])
        self._observers.tell(PathChanged(by_run=True))
        return tip

    def end_turns(self, turns: Sequence[Turn], source: str = "") -> None:
        """Turns received have their final parts and outcome, in the past that undo goes back to as well."""
        self.history.transcript = self.transcript.replace(*(turn for turn in turns if turn.id in self.transcript.turns))
        for turn in turns:
            self.growing.pop(turn.id, None)
            self.history.brought(source or turn.id, self.transcript.turns.get(turn.id, turn))
            if not source:
                self.history.end(turn.id)
        for turn in turns:
            self._observers.tell(TurnChanged(turn.id, by_run=True))

    def mark_interrupted(self, turn_ids: Iterable[str]) -> None:
        """Of these turns those that were stopped were so by the end of the application, not by the person."""
        for turn_id in turn_ids:
            turn = self.transcript.turns.get(turn_id)
            if turn is not None and turn.outcome is not None and turn.outcome.ending is Ending.STOPPED:
                outcome = turn.outcome.model_copy(update={"ending": Ending.INTERRUPTED})
                self.history.transcript = self.transcript.replace(turn.model_copy(update={"outcome": outcome}))
                self._observers.tell(TurnChanged(turn_id))
                self._observers.tell(TitleChanged())


def _differs_in(turn_id: str, before: Transcript, after: Transcript) -> bool:
    """Whether nothing else is different than what one turn holds."""
    if len(before.turns) != len(after.turns) or before.turns[turn_id].parent != after.turns[turn_id].parent:
        return False
    return all(key == turn_id or before.turns.get(key) is turn for key, turn in after.turns.items())
