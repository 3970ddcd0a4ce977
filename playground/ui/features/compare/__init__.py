"""Lanes side by side in place of the conversation: the same question in several ways at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from playground.ui.features.action import COMPARE, VIEW, Action

if TYPE_CHECKING:
    from playground.ui.features.compare.control import CompareControl

TITLE: Final = "Compare"  # the page of the centre

ACTIONS: tuple[Action[CompareControl], ...] = (
    Action("compare.open", "Compare", lambda it: it.show(not it.on), VIEW, 200, "Ctrl+Shift+K", synonyms="lanes"),
    Action("compare.alternatives", "Compare alternatives", lambda it: it.add_alternatives(), synonyms="lanes versions"),
    Action("compare.add", "Add lane", lambda it: it.add(), COMPARE, 100, page=TITLE),
    Action("compare.models", "Add model lanes…", lambda it: it.add_models(), COMPARE, 110, page=TITLE),
    Action("compare.after", "Next lane", lambda it: it.go(1), COMPARE, 200, "F6", page=TITLE),
    Action("compare.before", "Previous lane", lambda it: it.go(-1), COMPARE, 210, "Shift+F6", page=TITLE),
    Action("compare.left", "Move lane left", lambda it: it.move(-1), COMPARE, 220, "Ctrl+Alt+PgUp", page=TITLE),
    Action("compare.right", "Move lane right", lambda it: it.move(1), COMPARE, 230, "Ctrl+Alt+PgDown", page=TITLE),
    Action("compare.together", "Scroll lanes together", lambda it: it.scroll_together(), COMPARE, 300, page=TITLE),
    Action(
        "compare.mark",
        "Highlight differences",
        lambda it: it.mark_differences(),
        COMPARE,
        310,
        page=TITLE,
        synonyms="diff",
    ),
    Action("compare.regenerate", "Regenerate all lanes", lambda it: it.regenerate(), COMPARE, 400, page=TITLE),
    Action("compare.stop", "Stop all lanes", lambda it: it.stop_all(), COMPARE, 410, "Shift+Esc", page=TITLE),
    Action("compare.words", "Export lanes…", lambda it: it.export(), COMPARE, 500, page=TITLE),
    Action("compare.copy", "Copy lanes table", lambda it: it.copy_table(), COMPARE, 510, page=TITLE),
)
