"""An action and what it does, in one row. Menus, shortcuts, the command palette and the help are made from these rows.

They are read on the way to the first paint: nothing heavy is imported here, nor where a feature's rows stand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, NamedTuple, TypeVar

from PySide6.QtGui import QKeySequence

MENUS: Final = ("Experiment", "Edit", "Run", "View", "Samples", "Help")
EXPERIMENT, EDIT, RUN, VIEW, SAMPLES, HELP = MENUS

C = TypeVar("C")


class Action(NamedTuple, Generic[C]):
    """One action of the feature that ``C`` controls. ``keys`` are shortcuts in Qt's portable spelling.

    ``at`` is its place in its menu: the lines there stand between hundreds. Without ``do``, its dock follows it.
    """

    id: str
    text: str
    menu: str
    at: int
    do: Callable[[C], object] | None
    keys: tuple[str, ...] = ()
    checkable: bool = False
    in_settings: bool = False  # it stands in the menu of settings, too
    in_conversation: bool = False  # its keys work where no text is typed: in the conversation only
    runs: bool = False  # it asks for a run: asked for twice before one can begin, that is one run


def key_text(action: Action[C]) -> str:
    """The first shortcut as this system writes it; empty when there is none."""
    return QKeySequence(action.keys[0]).toString(QKeySequence.SequenceFormat.NativeText) if action.keys else ""
