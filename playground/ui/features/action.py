"""The row that declares an action. Menus, shortcuts, the command palette and the preferences are made from these rows.

The rows are imported before the first paint: neither this module nor a feature's table imports anything heavy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, NamedTuple, TypeVar

from PySide6.QtGui import QKeySequence

MENUS: Final = ("File", "Edit", "Run", "View", "Compare", "Tools", "Help")
FILE, EDIT, RUN, VIEW, COMPARE, TOOLS, HELP = MENUS
SIDE, INSPECTOR, LAYOUT, TEXT = (f"{VIEW}/{title}" for title in ("Side panel", "Inspector", "Layout", "Text size"))

C = TypeVar("C")


class Action(NamedTuple, Generic[C]):
    """One action of the feature that ``C`` controls.

    ``trigger`` is called with the control; None for an action that follows a dock. ``menu`` is one of ``MENUS``,
    "File/Experiment" for a submenu, or empty for an action that the command palette and another place offer.
    ``position`` orders a menu, with a separator between hundreds. ``keys`` are shortcuts in Qt's portable spelling,
    with spaces between them.
    """

    id: str
    text: str
    trigger: Callable[[C], object] | None
    menu: str = ""
    position: int = 0
    keys: str = ""
    checkable: bool = False
    page: str = ""  # of the centre, on which alone it is offered
    synonyms: str = ""  # words that find it in the command palette, besides those of its text


def key_text(action: Action[C]) -> str:
    """Return the first shortcut as this system writes it; empty when there is none."""
    return QKeySequence(next(iter(action.keys.split()), "")).toString(QKeySequence.SequenceFormat.NativeText)
