"""The Preferences window: appearance, the Enter key, storage, tool servers, keyboard shortcuts, updates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import FILE, HELP, Action

if TYPE_CHECKING:
    from playground.ui.features.preferences.control import PreferencesControl

GENERAL, STORAGE, SERVERS, SHORTCUTS, UPDATES = PAGES = (
    "General",
    "Storage and backups",
    "Tool servers",
    "Keyboard shortcuts",
    "Updates",
)

ACTIONS: tuple[Action[PreferencesControl], ...] = (
    Action(
        "settings.open",
        "Preferences…",
        lambda it: it.open(GENERAL),
        FILE,
        400,
        "Ctrl+,",
        synonyms="settings options theme",
    ),
    Action("settings.storage", "Storage and backups…", lambda it: it.open(STORAGE), synonyms="disk memory limits"),
    Action("help.keys", "Keyboard shortcuts", lambda it: it.open(SHORTCUTS), HELP, 110, "Shift+F1", synonyms="keys"),
    Action("help.updates", "Check for updates…", lambda it: it.open(UPDATES), HELP, 300, synonyms="version"),
)
