"""The list of experiments at the left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from playground.ui.features.action import EDIT, FILE, Action

if TYPE_CHECKING:
    from playground.ui.features.experiments.control import ExperimentsControl

EXPERIMENT: Final = f"{FILE}/Experiment"

ACTIONS: tuple[Action[ExperimentsControl], ...] = (
    Action("experiment.new", "New experiment", lambda it: it.new(), FILE, 100, "Ctrl+N"),
    Action(
        "experiment.search", "Search experiments", lambda it: it.look_for(), EDIT, 230, "Ctrl+Shift+F", synonyms="find"
    ),
    Action(
        "experiment.rename",
        "Rename experiment",
        lambda it: it.rename(it.current),
        EXPERIMENT,
        300,
        "F2",
        synonyms="title",
    ),
    Action(
        "experiment.duplicate",
        "Duplicate experiment",
        lambda it: it.duplicate(it.current),
        EXPERIMENT,
        301,
        synonyms="copy",
    ),
    Action("experiment.pin", "Pin or unpin", lambda it: it.pin(it.current), EXPERIMENT, 302),
    Action(
        "experiment.archive",
        "Archive or unarchive",
        lambda it: it.archive(it.current),
        EXPERIMENT,
        303,
        synonyms="experiment",
    ),
    Action(
        "experiment.delete", "Delete experiment", lambda it: it.delete(it.current), EXPERIMENT, 304, synonyms="remove"
    ),
    Action("experiment.trash", "Show trash", lambda it: it.trash.open(), synonyms="deleted restore"),
)
