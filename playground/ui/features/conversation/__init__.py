"""The centre: turns, drawn only where they are seen, and the composer below them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import EDIT, RUN, Action

if TYPE_CHECKING:
    from playground.ui.features.conversation.pane import ConversationPane

STOP: Action[ConversationPane] = Action("run.stop", "Stop", RUN, 110, lambda it: it.stop(), ("Esc",))

ACTIONS: tuple[Action[ConversationPane], ...] = (
    Action("edit.find", "Find in the conversation", EDIT, 200, lambda it: it.front.look_for(), ("Ctrl+F",)),
    Action("edit.find-next", "Find the next place", EDIT, 210, lambda it: it.front.look_for(1), ("F3",)),
    Action("edit.find-previous", "Find the place before", EDIT, 220, lambda it: it.front.look_for(-1), ("Shift+F3",)),
    Action("turn.edit", "Edit turn", EDIT, 300, lambda it: it.front.edit_focused(), ("E",), in_conversation=True),
    Action("turn.add-call", "Add a tool call to the turn…", EDIT, 310, lambda it: it.front.commands.write_call()),
    Action(
        "turn.choose-call",
        "Choose the call that a tool turn answers…",
        EDIT,
        320,
        lambda it: it.front.commands.choose_call(),
    ),
    Action("turn.before", "Turn before", EDIT, 330, lambda it: it.front.view.step_turn(-1), ("Alt+Up",)),
    Action("turn.after", "Turn after", EDIT, 340, lambda it: it.front.view.step_turn(1), ("Alt+Down",)),
    Action("edit.compose", "Write a message", EDIT, 360, lambda it: it.composer.setFocus(), ("Ctrl+M",)),
    Action("edit.image", "Attach images from files", EDIT, 400, lambda it: it.intake.choose_files(), ("Ctrl+Shift+I",)),
    Action("edit.image-clipboard", "Attach the image in the clipboard", EDIT, 410, lambda it: it.intake.paste()),
    Action("edit.image-address", "Attach an image by its address", EDIT, 420, lambda it: it.intake.ask_address()),
    Action("run.run", "Run", RUN, 100, lambda it: it.run(), ("Ctrl+Return", "Ctrl+Enter"), runs=True),
    STOP,
    Action(
        "turn.regenerate",
        "Regenerate turn",
        RUN,
        120,
        lambda it: it.front.regenerate_focused(),
        ("R",),
        in_conversation=True,
    ),
    Action(
        "turn.edit-run",
        "Edit turn and run",
        RUN,
        130,
        lambda it: it.front.commands.edit_and_run(),
        ("Alt+Return", "Alt+Enter"),
    ),
)
