"""Storage of experiments: its notice, limits, backups, and the removal of a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import FILE, Action

if TYPE_CHECKING:
    from playground.ui.features.storage.control import StorageControl

ACTIONS: tuple[Action[StorageControl], ...] = (
    Action("experiment.backup", "Back up experiments…", lambda it: it.back_up(), synonyms="copy storage save all"),
    Action("experiment.restore", "Restore backup file…", lambda it: it.restore(), synonyms="storage experiments copy"),
    Action(
        "experiment.remove_secret",
        "Remove secret…",
        lambda it: it.remove_secret(),
        f"{FILE}/Experiment",
        305,
        synonyms="key password redact",
    ),
)
