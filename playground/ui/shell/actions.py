"""Every action as data: menus, shortcuts and the command palette are made from this one table.

What an action does is the main window's business; a test holds that each row here has a handler there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence

from playground.ui.features.conversation.samples import SAMPLES


class ActionSpec(NamedTuple):
    """One action. ``keys`` are shortcuts in Qt's portable spelling; ``menu`` is where it stands."""

    id: str
    text: str
    menu: str
    keys: tuple[str, ...] = ()
    checkable: bool = False
    separated: bool = False  # a line above it in the menu


ACTIONS: Final = (
    ActionSpec("experiment.new", "New experiment", "Experiment", ("Ctrl+N",)),
    ActionSpec("experiment.prompts", "Prompts to try on the demo gateway", "Experiment"),
    ActionSpec("file.open", "Open…", "Experiment", ("Ctrl+O",), separated=True),
    ActionSpec("file.recent", "Open recent", "Experiment"),
    ActionSpec("file.save", "Save a copy as…", "Experiment", ("Ctrl+Shift+S", "Ctrl+S")),
    ActionSpec("file.import", "Import messages…", "Experiment"),
    ActionSpec("experiment.import", "Import request…", "Experiment"),
    ActionSpec("file.export", "Export…", "Experiment"),
    ActionSpec("cassette.open", "Open cassette…", "Experiment", separated=True),
    ActionSpec("cassette.save", "Save exchange as cassette…", "Experiment"),
    ActionSpec("cassette.save-all", "Save all exchanges as cassette…", "Experiment"),
    ActionSpec("cassette.export", "Export all exchanges as HAR…", "Experiment"),
    ActionSpec("experiment.search", "Search experiments", "Experiment", ("Ctrl+Shift+F",), separated=True),
    ActionSpec("experiment.rename", "Rename experiment", "Experiment", ("F2",)),
    ActionSpec("experiment.pin", "Pin or unpin experiment", "Experiment"),
    ActionSpec("experiment.duplicate", "Duplicate experiment", "Experiment"),
    ActionSpec("experiment.archive", "Archive experiment, or put it back", "Experiment"),
    ActionSpec("experiment.delete", "Delete experiment", "Experiment"),
    ActionSpec("experiment.trash", "Trash", "Experiment"),
    ActionSpec("experiment.backup", "Back up all experiments…", "Experiment", separated=True),
    ActionSpec("experiment.restore", "Restore experiments from a copy…", "Experiment"),
    ActionSpec("window.quit", "Quit", "Experiment", ("Ctrl+Q",), separated=True),
    ActionSpec("edit.undo", "Undo edit of the experiment", "Edit", ("Ctrl+Z",)),
    ActionSpec("edit.redo", "Redo edit of the experiment", "Edit", ("Ctrl+Shift+Z", "Ctrl+Y")),
    ActionSpec("edit.find", "Find in the conversation", "Edit", ("Ctrl+F",), separated=True),
    ActionSpec("edit.find-next", "Find the next place", "Edit", ("F3",)),
    ActionSpec("edit.find-previous", "Find the place before", "Edit", ("Shift+F3",)),
    ActionSpec("turn.edit", "Edit turn", "Edit", ("E",), separated=True),
    ActionSpec("turn.add-call", "Add a tool call to the turn…", "Edit"),
    ActionSpec("turn.choose-call", "Choose the call that a tool turn answers…", "Edit"),
    ActionSpec("turn.before", "Turn before", "Edit", ("Alt+Up",)),
    ActionSpec("turn.after", "Turn after", "Edit", ("Alt+Down",)),
    ActionSpec("turn.delete-branch", "Delete the branch from this turn on", "Edit"),
    ActionSpec("edit.compose", "Write a message", "Edit", ("Ctrl+M",)),
    ActionSpec("edit.image", "Attach images from files", "Edit", ("Ctrl+Shift+I",), separated=True),
    ActionSpec("edit.image-clipboard", "Attach the image in the clipboard", "Edit"),
    ActionSpec("edit.image-address", "Attach an image by its address", "Edit"),
    ActionSpec("run.run", "Run", "Run", ("Ctrl+Return", "Ctrl+Enter")),
    ActionSpec("run.stop", "Stop", "Run", ("Esc",)),
    ActionSpec("turn.regenerate", "Regenerate turn", "Run", ("R",)),
    ActionSpec("turn.edit-run", "Edit turn and run", "Run", ("Alt+Return", "Alt+Enter")),
    ActionSpec("presets.use", "Use a preset…", "Run", ("Ctrl+P",), separated=True),
    ActionSpec("presets.save", "Save as preset…", "Run"),
    ActionSpec("presets.look", "Look at presets…", "Run"),
    ActionSpec("debug.rules", "Tool rules…", "Run", ("Ctrl+Shift+D",), separated=True),
    ActionSpec("debug.fork", "Compare several answers…", "Run"),
    ActionSpec("debug.forks", "Show forks", "Run"),
    ActionSpec("debug.repeat", "Repeat this step…", "Run", ("Ctrl+Shift+Return", "Ctrl+Shift+Enter")),
    ActionSpec("run.model", "Choose a model", "Run", ("Ctrl+L",), separated=True),
    ActionSpec("run.protocol", "Switch the protocol", "Run", ("Ctrl+Shift+M",)),
    ActionSpec("run.models", "Ask the gateway for its models again", "Run"),
    ActionSpec("run.price", "Price of the model", "Run"),
    ActionSpec("run.code", "Get code", "Run", ("Ctrl+Shift+C",)),
    ActionSpec("gateway.connect", "Connect a gateway…", "Run"),
    ActionSpec("gateway.settings", "Gateway settings", "Run", ("Ctrl+G",)),
    ActionSpec("view.palette", "Command palette", "View", ("Ctrl+K",)),
    ActionSpec("view.experiments", "List of experiments", "View", ("Ctrl+B",), checkable=True, separated=True),
    ActionSpec("view.parameters", "Parameters", "View", ("Ctrl+Shift+P",)),
    ActionSpec("view.tools", "Tools", "View", ("Ctrl+Shift+T",)),
    ActionSpec("view.output", "Format of the answer", "View", ("Ctrl+Shift+O",)),
    ActionSpec("view.raw", "Extra body and headers", "View", ("Ctrl+Shift+R",)),
    ActionSpec("view.variables", "Variables", "View", ("Ctrl+Shift+V",)),
    ActionSpec("view.inspector", "Inspector", "View", ("Ctrl+J",), checkable=True),
    ActionSpec("view.calls", "List of tool calls", "View", ("Ctrl+Shift+L",)),
    ActionSpec("view.sequence", "Sequence of the run", "View", ("Ctrl+Shift+J",)),
    ActionSpec("view.tree", "Tree of turns", "View", ("Ctrl+Shift+B",)),
    ActionSpec("wire.timeline", "Timeline of the exchange", "View", ("Ctrl+T",), separated=True),
    ActionSpec("wire.frames", "Frames of the selection", "View", ("Ctrl+E",)),
    ActionSpec("wire.lint", "Deviations from the specification", "View"),
    ActionSpec("wire.diff", "Request against another one", "View"),
    ActionSpec("wire.compare", "Compare runs…", "View", ("Ctrl+Shift+E",)),
    ActionSpec("view.reset", "Reset the layout", "View"),
    ActionSpec("view.larger", "Larger text", "View", ("Ctrl++", "Ctrl+="), separated=True),
    ActionSpec("view.smaller", "Smaller text", "View", ("Ctrl+-",)),
    ActionSpec("view.normal", "Normal text size", "View", ("Ctrl+0",)),
    ActionSpec("theme.system", "Colours of the system", "View", checkable=True, separated=True),
    ActionSpec("theme.light", "Light", "View", checkable=True),
    ActionSpec("theme.dark", "Dark", "View", checkable=True),
    ActionSpec("settings.enter", "Enter runs, Ctrl+Enter makes a new line", "View", checkable=True, separated=True),
    ActionSpec("settings.storage", "Storage…", "View"),
    *(ActionSpec(sample.action, f"Sample: {sample.title}", "Samples") for sample in SAMPLES),
    ActionSpec("help.open", "Help", "Help", ("F1",)),
    ActionSpec("help.keys", "Keys", "Help", ("Shift+F1",)),
    ActionSpec("help.guide", "Guided first experiment", "Help"),
    ActionSpec("help.updates", "Updates…", "Help", separated=True),
    ActionSpec("help.about", "About Gateway Playground", "Help"),
)

MENUS: Final = ("Experiment", "Edit", "Run", "View", "Samples", "Help")

#: Keys of one letter work where no text is typed: in the conversation only.
CONVERSATION_ONLY: Final = frozenset({"turn.edit", "turn.regenerate"})


def make_actions(parent: QObject) -> Mapping[str, QAction]:
    """A QAction for each row, by id."""
    out: dict[str, QAction] = {}
    for spec in ACTIONS:
        action = QAction(spec.text, parent)
        action.setObjectName(spec.id)
        action.setShortcuts([QKeySequence(keys) for keys in spec.keys])
        action.setCheckable(spec.checkable)
        out[spec.id] = action
    return out


def key_text(spec: ActionSpec) -> str:
    """The first shortcut as this system writes it; empty when there is none."""
    return QKeySequence(spec.keys[0]).toString(QKeySequence.SequenceFormat.NativeText) if spec.keys else ""
