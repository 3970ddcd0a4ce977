"""What the menu of a turn offers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtWidgets import QMenu

from playground.ui.features.conversation.commands import TurnCommands
from playground.ui.features.conversation.rows import Row


def fill_menu(
    menu: QMenu,
    row: Row,
    commands: TurnCommands,
    exact: bool,
    copy: Callable[[], None],
    set_exact: Callable[[bool], None],
    more: Sequence[tuple[str, Callable[[], None]]] = (),
) -> None:
    """Fill the menu anew for a row; ``exact`` says whether its exact text is shown, ``more`` is for its role."""
    menu.clear()
    turn = row.turn
    menu.addAction("Copy text").triggered.connect(copy)
    raw = menu.addAction("Show the exact text")
    raw.setCheckable(True)
    raw.setChecked(exact)
    raw.toggled.connect(set_exact)
    for words, act in more:
        menu.addAction(words).triggered.connect(act)
    if turn.outcome is not None:
        menu.addAction("Show its request and response").triggered.connect(partial(commands.show_exchange, turn.id))
        menu.addAction("Show its frames").triggered.connect(partial(commands.wire.show_turn, turn.id))
        menu.addAction("Compare with…").triggered.connect(partial(commands.wire.compare, turn.id))
        menu.addAction("Regenerate").triggered.connect(partial(commands.regenerate, turn.id))
    if len(row.variants) > 1:
        menu.addAction("Show variants side by side").triggered.connect(partial(commands.show_variants, turn.id))
    menu.addSeparator()
    menu.addAction("Move up").triggered.connect(partial(commands.move_turn, turn.id, -1))
    menu.addAction("Move down").triggered.connect(partial(commands.move_turn, turn.id, 1))
    menu.addSeparator()
    menu.addAction("Delete").triggered.connect(partial(commands.delete_turn, turn.id))
