"""A call's card whose buttons do what they say: the commands about calls, for the turn that the card stands in."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.features.conversation.commands import TurnCommands


def wired_call(commands: TurnCommands, turn_id: Callable[[], str]) -> CallCard:
    """A new card; ``turn_id`` is asked when something is done with it, for a card may come to show another turn."""
    calls = commands.calls
    card = CallCard(calls.choices, commands.edits, turn_id)
    for signal, command in (
        (card.answered, calls.answer),
        (card.drafted, calls.draft),
        (card.prepared, calls.prepare),
        (card.prepared_sent, calls.send_prepared),
        (card.stepped, calls.step),
        (card.fork_asked, calls.fork),
        (card.remember_asked, calls.remember),
        (card.frame_asked, commands.wire.show_call),
        (card.delete_asked, commands.hand.delete_call),
    ):
        signal.connect(partial(_of_turn, command, turn_id))
    card.answered_all.connect(calls.answer_all)
    card.stop_asked.connect(calls.stop)
    card.rules_asked.connect(calls.rules)
    card.result_chosen.connect(commands.select_variant)
    card.result_deleted.connect(commands.delete_turn)
    return card


def _of_turn(command: Callable[..., None], turn_id: Callable[[], str], *rest: object) -> None:
    command(turn_id(), *rest)
