"""The actions of the window itself, a row each, and those of all features. Imported before the first paint."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from playground.ui.features import (
    cassettes,
    code,
    compare,
    conversation,
    debugger,
    evaluate,
    experiments,
    extra_fields,
    files,
    first_start,
    gateway_check,
    gateways,
    help,
    listen,
    offered,
    output,
    parameters,
    preferences,
    presets,
    protocols,
    server_asks,
    server_tape,
    storage,
    tool_servers,
    tools,
    tree,
    variables,
    wire,
)
from playground.ui.features.action import EDIT, FILE, HELP, LAYOUT, MENUS, TEXT, VIEW, Action

#: An action of ``WindowActions``, which cannot be named here without a circle of imports.
OwnAction: TypeAlias = Action[Any]

#: The docks follow these from the first frame on.
SHOW_LIST: Final[OwnAction] = Action(
    "view.experiments", "Show experiments", None, VIEW, 300, "Ctrl+B", checkable=True, synonyms="list sidebar"
)
SHOW_INSPECTOR: Final[OwnAction] = Action("view.inspector", "Show inspector", None, VIEW, 301, "Ctrl+J", checkable=True)
FLOAT_LIST: Final[OwnAction] = Action("view.float_list", "Float experiments", None, LAYOUT, 330, checkable=True)
FLOAT_SIDE: Final[OwnAction] = Action("view.float_side", "Float side panel", None, LAYOUT, 331, checkable=True)
FLOAT_INSPECTOR: Final[OwnAction] = Action("view.float_inspector", "Float inspector", None, LAYOUT, 332, checkable=True)

UNDO: Final[OwnAction] = Action("edit.undo", "Undo", lambda it: it.undo(), EDIT, 100, "Ctrl+Z")
REDO: Final[OwnAction] = Action("edit.redo", "Redo", lambda it: it.redo(), EDIT, 110, "Ctrl+Shift+Z Ctrl+Y")
ENTER: Final[OwnAction] = Action(
    "settings.enter", "Press Enter to run", lambda it: it.toggle_enter(), checkable=True, synonyms="key send newline"
)


def _theme(choice: str, text: str) -> OwnAction:
    return Action(
        f"theme.{choice}",
        text,
        lambda it: it.choose_theme(choice),
        checkable=True,
        synonyms="theme scheme colours mode",
    )


#: By the choice that is saved in the settings.
THEMES: Final = {
    "system": _theme("system", "Match system"),
    "light": _theme("light", "Light theme"),
    "dark": _theme("dark", "Dark theme"),
}

OWN: Final[tuple[OwnAction, ...]] = (
    Action("experiment.prompts", "Demo prompts…", lambda it: it.show_prompts(), HELP, 210, synonyms="try examples"),
    Action("window.quit", "Quit", lambda it: it.ask_to_quit(), FILE, 500, "Ctrl+Q", synonyms="exit close"),
    UNDO,
    REDO,
    Action("view.palette", "Command palette", lambda it: it.open_palette(), VIEW, 100, "Ctrl+K"),
    SHOW_LIST,
    SHOW_INSPECTOR,
    FLOAT_LIST,
    FLOAT_SIDE,
    FLOAT_INSPECTOR,
    Action("view.reset", "Reset layout", lambda it: it.reset_layout(), LAYOUT, 333, synonyms="panels"),
    Action("view.larger", "Larger text", lambda it: it.step_zoom(1), TEXT, 420, "Ctrl++ Ctrl+=", synonyms="zoom font"),
    Action("view.smaller", "Smaller text", lambda it: it.step_zoom(-1), TEXT, 421, "Ctrl+-", synonyms="zoom font"),
    Action("view.normal", "Normal text size", lambda it: it.step_zoom(0), TEXT, 422, "Ctrl+0", synonyms="zoom font"),
    *THEMES.values(),
    ENTER,
)

#: Tabs of the side panel, from left to right.
PAGES: Final = (parameters.PAGE, tools.PAGE, output.PAGE)


#: All actions, in the order of the menus; those without a menu come last.
ACTIONS: Final[tuple[Action[Any], ...]] = tuple(
    sorted(
        (
            *OWN,
            *gateways.ACTIONS,
            *gateway_check.ACTIONS,
            *tool_servers.ACTIONS,
            *conversation.ACTIONS,
            *parameters.ACTIONS,
            *preferences.ACTIONS,
            *presets.ACTIONS,
            *compare.ACTIONS,
            *evaluate.ACTIONS,
            *listen.ACTIONS,
            *experiments.ACTIONS,
            *code.ACTIONS,
            *debugger.ACTIONS,
            *server_asks.ACTIONS,
            *server_tape.ACTIONS,
            *offered.ACTIONS,
            *tools.ACTIONS,
            *output.ACTIONS,
            *extra_fields.ACTIONS,
            *wire.ACTIONS,
            *cassettes.ACTIONS,
            *files.ACTIONS,
            *variables.ACTIONS,
            *tree.ACTIONS,
            *storage.ACTIONS,
            *first_start.ACTIONS,
            *help.ACTIONS,
            *protocols.ACTIONS,
        ),
        key=lambda action: (
            (*MENUS, "").index(action.menu.partition("/")[0]),
            action.position,
        ),
    )
)
