"""Exchanges in files: saved as cassettes, replayed as an experiment, exported as HTTP archives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import EXPERIMENT, Action

if TYPE_CHECKING:
    from playground.ui.features.cassettes.control import CassetteControl

ACTIONS: tuple[Action[CassetteControl], ...] = (
    Action("cassette.open", "Open cassette…", EXPERIMENT, 300, lambda it: it.open()),
    Action("cassette.save", "Save exchange as cassette…", EXPERIMENT, 310, lambda it: it.save()),
    Action("cassette.save-all", "Save all exchanges as cassette…", EXPERIMENT, 320, lambda it: it.save_all()),
    Action("cassette.export", "Export all exchanges as HAR…", EXPERIMENT, 330, lambda it: it.export()),
)
