"""The list of experiments at the left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import EXPERIMENT, Action

if TYPE_CHECKING:
    from playground.ui.features.experiments.control import ExperimentsControl

ACTIONS: tuple[Action[ExperimentsControl], ...] = (
    Action("experiment.new", "New experiment", EXPERIMENT, 100, lambda it: it.new(), ("Ctrl+N",)),
    Action("experiment.search", "Search experiments", EXPERIMENT, 400, lambda it: it.look_for(), ("Ctrl+Shift+F",)),
    Action("experiment.rename", "Rename experiment", EXPERIMENT, 410, lambda it: it.rename(it.current), ("F2",)),
    Action("experiment.pin", "Pin or unpin experiment", EXPERIMENT, 420, lambda it: it.pin(it.current)),
    Action("experiment.duplicate", "Duplicate experiment", EXPERIMENT, 430, lambda it: it.duplicate(it.current)),
    Action(
        "experiment.archive",
        "Archive experiment, or put it back",
        EXPERIMENT,
        440,
        lambda it: it.archive(it.current),
    ),
    Action("experiment.delete", "Delete experiment", EXPERIMENT, 450, lambda it: it.delete(it.current)),
    Action("experiment.trash", "Trash", EXPERIMENT, 460, lambda it: it.trash.open()),
)
