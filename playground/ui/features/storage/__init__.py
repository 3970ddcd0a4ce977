"""Storage of experiments: its notice, its settings, backups, and the removal of a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import EXPERIMENT, VIEW, Action

if TYPE_CHECKING:
    from playground.ui.features.storage.control import StorageControl

ACTIONS: tuple[Action[StorageControl], ...] = (
    Action("settings.storage", "Storage…", VIEW, 610, lambda it: it.open(), in_settings=True),
    Action("experiment.backup", "Back up all experiments…", EXPERIMENT, 500, lambda it: it.back_up()),
    Action("experiment.restore", "Restore experiments from a copy…", EXPERIMENT, 510, lambda it: it.restore()),
    Action(
        "experiment.remove_secret",
        "Remove a secret from this experiment…",
        EXPERIMENT,
        520,
        lambda it: it.secrets.remove(),
    ),
)
