"""The actions of the window itself, a row each, and those of all features. Imported before the first paint."""

from __future__ import annotations

from typing import Any, Final, Protocol

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
    offered,
    output,
    parameters,
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
from playground.ui.features.action import EDIT, EXPERIMENT, HELP, MENUS, VIEW, Action


class Commands(Protocol):
    """The methods that these actions call."""

    def ask_to_quit(self) -> None: ...

    def undo(self) -> None: ...

    def redo(self) -> None: ...

    def open_palette(self) -> None: ...

    def show_prompts(self) -> None: ...

    def show_keys(self) -> None: ...

    def reset_layout(self) -> None: ...

    def step_zoom(self, step: int) -> None: ...

    def choose_theme(self, choice: str) -> None: ...

    def toggle_enter(self) -> None: ...


Own = Action[Commands]

#: The docks follow these two, from the first frame on.
SHOW_LIST: Final[Own] = Action("view.experiments", "List of experiments", VIEW, 200, None, ("Ctrl+B",), checkable=True)
SHOW_INSPECTOR: Final[Own] = Action("view.inspector", "Inspector", VIEW, 260, None, ("Ctrl+J",), checkable=True)
#: And these: what the grip of each does by the mouse, for the keyboard, and where no dock is dragged out of the window.
FLOAT_LIST: Final[Own] = Action("view.float_list", "Float the list of experiments", VIEW, 342, None, checkable=True)
FLOAT_SIDE: Final[Own] = Action("view.float_side", "Float parameters and tools", VIEW, 344, None, checkable=True)
FLOAT_INSPECTOR: Final[Own] = Action("view.float_inspector", "Float the inspector", VIEW, 346, None, checkable=True)

UNDO: Final[Own] = Action("edit.undo", "Undo edit of the experiment", EDIT, 100, lambda it: it.undo(), ("Ctrl+Z",))
REDO: Final[Own] = Action(
    "edit.redo", "Redo edit of the experiment", EDIT, 110, lambda it: it.redo(), ("Ctrl+Shift+Z", "Ctrl+Y")
)
ENTER: Final[Own] = Action(
    "settings.enter",
    "Enter runs, Ctrl+Enter makes a new line",
    VIEW,
    600,
    lambda it: it.toggle_enter(),
    checkable=True,
    in_settings=True,
)


def _theme(choice: str, text: str, at: int) -> Own:
    return Action(
        f"theme.{choice}", text, VIEW, at, lambda it: it.choose_theme(choice), checkable=True, in_settings=True
    )


#: By the choice that the settings keep.
THEMES: Final = {
    "system": _theme("system", "Colours of the system", 500),
    "light": _theme("light", "Light", 510),
    "dark": _theme("dark", "Dark", 520),
}

OWN: Final[tuple[Own, ...]] = (
    Action("experiment.prompts", "Prompts to try on the demo gateway", EXPERIMENT, 110, lambda it: it.show_prompts()),
    Action("window.quit", "Quit", EXPERIMENT, 600, lambda it: it.ask_to_quit(), ("Ctrl+Q",)),
    UNDO,
    REDO,
    Action("view.palette", "Command palette", VIEW, 100, lambda it: it.open_palette(), ("Ctrl+K",)),
    SHOW_LIST,
    SHOW_INSPECTOR,
    FLOAT_LIST,
    FLOAT_SIDE,
    FLOAT_INSPECTOR,
    Action("view.reset", "Reset the layout", VIEW, 350, lambda it: it.reset_layout()),
    Action("view.larger", "Larger text", VIEW, 400, lambda it: it.step_zoom(1), ("Ctrl++", "Ctrl+=")),
    Action("view.smaller", "Smaller text", VIEW, 410, lambda it: it.step_zoom(-1), ("Ctrl+-",)),
    Action("view.normal", "Normal text size", VIEW, 420, lambda it: it.step_zoom(0), ("Ctrl+0",)),
    *THEMES.values(),
    ENTER,
    Action("help.keys", "Keys", HELP, 110, lambda it: it.show_keys(), ("Shift+F1",)),
)

#: Tabs of the side panel, from left to right.
PAGES: Final = (parameters.PAGE, tools.PAGE, output.PAGE)


def _place(action: Action[Any]) -> tuple[int, int]:
    return MENUS.index(action.menu), action.at


#: All actions, in the order of the menus.
ACTIONS: Final[tuple[Action[Any], ...]] = tuple(
    sorted(
        (
            *OWN,
            *gateways.ACTIONS,
            *gateway_check.ACTIONS,
            *tool_servers.ACTIONS,
            *conversation.ACTIONS,
            *parameters.ACTIONS,
            *presets.ACTIONS,
            *compare.ACTIONS,
            *evaluate.ACTIONS,
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
        key=_place,
    )
)
