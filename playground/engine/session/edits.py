"""The turns of one experiment and every edit of them: each is a new transcript, and each can be taken back.

An edit of a turn that was answered makes a branch (see ``playground.engine.session.branching``), unless it is to be
``in_place``: then what follows stays below the new words. Runs add turns here too; what a run brought is never lost by
undoing what was edited around it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from playground.domain.accumulator import GrowingChoice
from playground.domain.parts import Image, Text, ToolCall, ToolResult
from playground.domain.prices import Price
from playground.domain.transcript import Ending, Role, Transcript, Turn, make_turn, new_id, one_per_request, waiting_in
from playground.engine.session import hand_made, thinking
from playground.engine.session.branching import branched, has_answers
from playground.engine.session.changes import PathChanged, RunState, SettingsChanged, TitleChanged, TurnChanged
from playground.engine.session.history import History, Setting, Setup
from playground.engine.session.settings import Settings
from playground.engine.session.tool_turn_order import placed, seconds_since
from playground.engine.session.turn_edits import arguments_edited, call_replaced, text_edited

if TYPE_CHECKING:
    from playground.engine.gateways.profiles import Profile


class Edits(Settings):
    """The part of a session between its settings and its runs. ``growing`` are the turns being received."""

    def __init__(self, profile_id: str, protocol: str, model: str, profile_of: Callable[[str], Profile] | None) -> None:
        super().__init__(profile_id, protocol, model, profile_of)
        self.history = History()
        self.transcript = Transcript()
        self.growing: dict[str, GrowingChoice] = {}
        self.state = RunState.IDLE

    @abstractmethod
    def stop(self, turn_id: str = "") -> None:
        """End what is under way, keeping what has arrived; with a turn id only what brings that turn."""

    @abstractmethod
    def copied(self, copies: Mapping[str, str]) -> None:
        """Turns were copied for a branch: what is known of them holds for their copies as well (ids of both)."""

    # Edits: each can be undone

    def branches(self, turn_id: str, call_id: str = "") -> bool:
        """Whether an edit of a turn, or of a call of it, makes a branch. Raises KeyError for an unknown turn."""
        return has_answers(self.transcript, turn_id, call_id)

    def add_turn(self, turn: Turn) -> str:
        """Append a turn at the head. Returns its id."""
        self._edit(self.transcript.append(turn))
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
        return self._change(turn_id, edit.after, edit.call_id, in_place=in_place), edit.made

    def delete_call(self, turn_id: str, call_id: str) -> str:
        """Take a call out of a turn, and the results that answered it."""
        return self._change(turn_id, hand_made.less_one_call(self.transcript, turn_id, call_id))

    def give_call(self, turn_id: str, at: int, call_id: str) -> str:
        """Let the result at position ``at`` of a tool turn answer that call (see ``hand_made.linked``)."""
        return self._change(turn_id, hand_made.linked(self.transcript, turn_id, at, call_id))

    def edit_text(self, turn_id: str, text: str, *, in_place: bool = False) -> str:
        """Replace the written content of a turn (of a tool turn: its result); other parts stay in place."""
        return self._change(turn_id, text_edited(self.transcript, turn_id, text).after, in_place=in_place)

    def edit_call(self, turn_id: str, call_id: str, arguments: str, *, in_place: bool = False) -> str:
        """Replace the raw arguments of one call; what the model sent is kept beside them while it differs.

        On a branch the call waits for a result of its own.
        """
        edit = arguments_edited(self.transcript, turn_id, call_id, arguments, in_place=in_place)
        return self._change(turn_id, edit.after, call_id, in_place=in_place)

    def set_image(self, turn_id: str, at: int, image: Image | None, *, in_place: bool = False) -> str:
        """Replace the image at position ``at`` among a turn's images; None takes it out. Raises IndexError."""
        turn = self.transcript.turns[turn_id]
        place = [number for number, part in enumerate(turn.parts) if isinstance(part, Image)][at]
        put = (image,) if image is not None else ()
        parts = (*turn.parts[:place], *put, *turn.parts[place + 1 :])
        return self._replace(turn.model_copy(update={"parts": parts}), in_place=in_place)

    def rewrite(self, transcript: Transcript) -> None:
        """Put another version of the turns in place of these, as one edit."""
        self._edit(transcript)

    def set_up(self, transcript: Transcript, setup: Setup) -> None:
        """Put these turns and these settings (names of attributes) in place of what there is, as one edit."""
        self.history.keep(self.transcript, setup={name: getattr(self, name) for name in setup})
        self.transcript = transcript
        for name, value in setup.items():
            setattr(self, name, value)
        self._path_changed()

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
            self._edit(Transcript({**self.transcript.turns, **changed}, self.transcript.head))

    def _asked_of(self, profile_id: str, model: str) -> list[Turn]:
        wanted = (profile_id, model)
        return [
            turn
            for turn in self.transcript.turns.values()
            if turn.outcome is not None and (turn.outcome.asked.profile_id, turn.outcome.asked.model) == wanted
        ]

    def drop_thinking(self, turn_ids: Collection[str]) -> None:
        """Take the signed thinking out of these turns. Raises KeyError for an unknown id."""
        self._edit(thinking.drop(self.transcript, turn_ids))

    def branch(self, before: Transcript, stale: Collection[str]) -> None:
        """The edit that led from ``before`` to here becomes a branch beside it, without the thinking that is stale.

        ``before`` stays as it was; one undo goes back to it. See ``playground.engine.session.thinking``.
        """
        edited, self.transcript = self.transcript, before
        self.history.drop_last(before)
        self._edit(thinking.branch(before, edited, stale))

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

    def delete_turn(self, turn_id: str) -> None:
        """Take one turn out; those after it stay, and without any the variant beside it is shown.

        A turn being received is stopped first.
        """
        if turn_id in self.growing:
            self.stop(turn_id)
            return
        alone = not self.transcript.children(turn_id)
        self._edit(self.transcript.without_branch(turn_id) if alone else self.transcript.remove(turn_id))

    def delete_branch(self, turn_id: str) -> int:
        """Take a turn out with all that follows it, on every branch. Returns how many turns that were.

        What is being received there is stopped, and nothing taken out yet. Raises KeyError for an unknown id.
        """
        gone = self.transcript.below(turn_id)
        if growing := gone & self.growing.keys():
            for key in growing:
                self.stop(key)
            return 0
        self._edit(self.transcript.without_branch(turn_id))
        return len(gone)

    def move_turn(self, turn_id: str, step: int) -> None:
        """Change places with the turn before (-1) or after (+1)."""
        moved = self.transcript.move(turn_id, step)
        if moved is not self.transcript:
            self._edit(moved)

    def select_variant(self, turn_id: str) -> None:
        """Show the branch that goes through ``turn_id``."""
        self._edit(self.transcript.select(turn_id))

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
            for result in given:
                turn = make_turn(Role.TOOL, "", result.model_copy(update={"seconds": seconds}))
                transcript = placed(transcript, transcript.head, turn_id, turn)
        if transcript is not self.transcript:
            self._edit(transcript)

    def fork_at(self, turn_id: str) -> None:
        """The head goes back to a turn from which branches are about to grow; one undo takes all of them back."""
        self._edit(self.transcript.truncate_after(turn_id))

    def undo(self) -> bool:
        """Take the last edit back. Returns whether there was one."""
        return self._travel(self.history.undo)

    def redo(self) -> bool:
        """Do the edit taken back last again. Returns whether there was one."""
        return self._travel(self.history.redo)

    def _travel(self, go: Callable[[Transcript, Setting], Transcript | None]) -> bool:
        there = go(self.transcript, partial(getattr, self)) if self.state is RunState.IDLE else None
        if there is None:
            return False
        self.transcript = there
        for name, value in (self.history.setup or {}).items():
            setattr(self, name, value)
        self._path_changed()
        return True

    def _replace(self, turn: Turn, *, in_place: bool = False) -> str:
        return self._change(turn.id, self.transcript.replace(turn), in_place=in_place)

    def _change(self, turn_id: str, after: Transcript, call_id: str = "", *, in_place: bool = False) -> str:
        """An edit of a turn, or of a call of it, that makes ``after`` of the transcript.

        Returns the id of the turn that is edited then: where the old one was answered a variant beside it.
        """
        before = self.transcript
        if after.turns == before.turns:
            return turn_id
        if not in_place and has_answers(before, turn_id, call_id):
            made = branched(before, after, turn_id, self.growing)
            self.copied(made.copies)
            self._edit(made.transcript)
            return made.copies[turn_id]
        if not _differs_in(turn_id, before, after):
            self._edit(after)
            return turn_id
        self._remember()
        self.transcript = after
        self.tell(TurnChanged(turn_id))
        self.tell(SettingsChanged())
        self.tell(TitleChanged())
        return turn_id

    def _edit(self, transcript: Transcript) -> None:
        self._remember()
        self.transcript = transcript
        self._path_changed()

    def _remember(self) -> None:
        self.history.keep(self.transcript)

    def remember_set(self, name: str, what: str = "") -> None:
        """The setting ``name``, or ``what`` of it, is about to be another: an edit that can be undone.

        What is typed and cannot be sent yet belongs to it.
        """
        setup = {name: getattr(self, name), "unsent": self.unsent}
        self.history.keep_setup(self.transcript, setup, f"{name}.{what}" if what else name)

    def _path_changed(self) -> None:
        self.tell(PathChanged())
        self.tell(SettingsChanged())
        self.tell(TitleChanged())

    # Turns that are received

    def begin_turn(self, parent: str | None, choice: GrowingChoice, source: str = "") -> str:
        """A turn to be received appears below ``parent``, and becomes the head where the head stood there.

        ``source`` is what brings it (see ``playground.engine.session.history``); without one the turn stands for
        itself.
        """
        return self.begin_turns(parent, [choice], source)[0]

    def begin_turns(self, parent: str | None, choices: Sequence[GrowingChoice], source: str = "") -> list[str]:
        """Several at once, as ``begin_turn`` does: there may be thousands of choices. Returns their ids."""
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
        head = turns[0].id if self.transcript.head == turns[0].parent else self.transcript.head
        self.transcript = Transcript({**self.transcript.turns, **{turn.id: turn for turn in turns}}, head)
        for turn in turns:
            self.history.brought(source or turn.id, turn)
        self.tell(PathChanged())

    def place(self, tip: str | None, maker: str, turn: Turn, source: str) -> None:
        """A tool turn answers a call of ``maker`` on the branch to ``tip`` (see
        ``playground.engine.session.tool_turn_order``).
        """
        self.transcript = placed(self.transcript, tip, maker, turn)
        self.history.brought(source, self.transcript.turns[turn.id])
        self.tell(PathChanged())

    def end_turn(self, turn: Turn, source: str = "") -> None:
        """A turn received has its final parts and outcome, in the past that undo goes back to as well."""
        self.end_turns([turn], source)

    def end_turns(self, turns: Sequence[Turn], source: str = "") -> None:
        """Several at once, as ``end_turn`` does."""
        self.transcript = self.transcript.replace(*(turn for turn in turns if turn.id in self.transcript.turns))
        for turn in turns:
            self.growing.pop(turn.id, None)
            self.history.brought(source or turn.id, self.transcript.turns.get(turn.id, turn))
            if not source:
                self.history.end(turn.id)
        for turn in turns:
            self.tell(TurnChanged(turn.id))

    def mark_interrupted(self, turn_ids: Iterable[str]) -> None:
        """Of these turns those that were stopped were so by the end of the application, not by the person."""
        for turn_id in turn_ids:
            turn = self.transcript.turns.get(turn_id)
            if turn is not None and turn.outcome is not None and turn.outcome.ending is Ending.STOPPED:
                outcome = turn.outcome.model_copy(update={"ending": Ending.INTERRUPTED})
                self.transcript = self.transcript.replace(turn.model_copy(update={"outcome": outcome}))
                self.tell(TurnChanged(turn_id))
                self.tell(TitleChanged())


def _differs_in(turn_id: str, before: Transcript, after: Transcript) -> bool:
    """Whether nothing else is different than what one turn holds."""
    if len(before.turns) != len(after.turns) or before.turns[turn_id].parent != after.turns[turn_id].parent:
        return False
    return all(key == turn_id or before.turns.get(key) is turn for key, turn in after.turns.items())
