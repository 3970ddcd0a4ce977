"""Recorded exchanges in files: saved, replayed as an experiment, exported as HTTP archives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from playground.ui.features.action import FILE, Action

if TYPE_CHECKING:
    from playground.ui.features.cassettes.control import CassetteControl

RECORDINGS: Final = f"{FILE}/Recordings"

ACTIONS: tuple[Action[CassetteControl], ...] = (
    Action("cassette.open", "Open recording…", lambda it: it.open(), RECORDINGS, 240, synonyms="cassette replay"),
    Action("cassette.save", "Save this exchange…", lambda it: it.save(), RECORDINGS, 241, synonyms="cassette record"),
    Action(
        "cassette.save-all",
        "Save all exchanges…",
        lambda it: it.save_all(),
        RECORDINGS,
        242,
        synonyms="cassette record",
    ),
    Action(
        "cassette.export", "Export HAR…", lambda it: it.export(), RECORDINGS, 243, synonyms="http archive exchanges"
    ),
)
