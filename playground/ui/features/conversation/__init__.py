"""The centre: turns, drawn only where they are seen, and the composer below them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from playground.ui.features.action import EDIT, RUN, VIEW, Action

if TYPE_CHECKING:
    from playground.ui.features.conversation.pane import ConversationPane

STOP: Final[Action[ConversationPane]] = Action(
    "run.stop", "Stop", lambda it: it.stop(), RUN, 110, "Esc", synonyms="cancel"
)

ACTIONS: tuple[Action[ConversationPane], ...] = (
    Action("edit.find", "Find", lambda it: it.front.look_for(), EDIT, 200, "Ctrl+F", synonyms="search"),
    Action("edit.find-next", "Find next", lambda it: it.front.look_for(1), EDIT, 210, "F3"),
    Action("edit.find-previous", "Find previous", lambda it: it.front.look_for(-1), EDIT, 220, "Shift+F3"),
    Action("turn.edit", "Edit message", lambda it: it.front.edit_focused(), EDIT, 300, "Ctrl+I", synonyms="turn"),
    Action("turn.add-call", "Add tool call…", lambda it: it.front.write_call()),
    Action("turn.choose-call", "Choose answered call…", lambda it: it.front.choose_call(), synonyms="tool result"),
    Action(
        "turn.before", "Previous message", lambda it: it.front.view.step_turn(-1), VIEW, 400, "Alt+Up", synonyms="turn"
    ),
    Action("turn.after", "Next message", lambda it: it.front.view.step_turn(1), VIEW, 410, "Alt+Down", synonyms="turn"),
    Action(
        "edit.compose", "Write message", lambda it: it.composer.setFocus(), EDIT, 400, "Ctrl+M", synonyms="composer"
    ),
    Action(
        "edit.image", "Attach image files", lambda it: it.intake.choose_files(), keys="Ctrl+Shift+I", synonyms="picture"
    ),
    Action("edit.image-clipboard", "Paste image", lambda it: it.intake.paste(), synonyms="picture attach"),
    Action("edit.image-address", "Attach image address", lambda it: it.intake.ask_address(), synonyms="picture url"),
    Action("run.run", "Run", lambda it: it.run(), RUN, 100, "Ctrl+Enter Ctrl+Return", synonyms="send ask"),
    STOP,
    Action(
        "turn.regenerate",
        "Regenerate message",
        lambda it: it.front.regenerate_focused(),
        RUN,
        120,
        "Ctrl+R",
        synonyms="retry resend",
    ),
    Action(
        "turn.edit-run",
        "Save and run",
        lambda it: it.front.edit_and_run(),
        RUN,
        130,
        "Alt+Enter Alt+Return",
        synonyms="edited turn",
    ),
)
