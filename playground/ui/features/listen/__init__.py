"""Listen in the window: requests of other programs pass through to a gateway, and are shown, paused and recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from playground.ui.features.action import FILE, TOOLS, VIEW, Action

if TYPE_CHECKING:
    from playground.ui.features.listen.control import ListenControl

TITLE: Final = "Listen"  # the page of the centre
_RECORDINGS: Final = f"{FILE}/Recordings"

ACTIONS: tuple[Action[ListenControl], ...] = (
    Action(
        "listen.open",
        "Listen",
        lambda it: it.show(not it.on),
        VIEW,
        220,
        "Ctrl+Shift+H",
        synonyms="proxy record requests of other programs agent",
    ),
    Action("listen.start", "Start listening", lambda it: it.start_on_page(), synonyms="proxy record program agent"),
    Action("listen.stop", "Stop listening", lambda it: it.stop_listening(), synonyms="proxy record program agent"),
    Action(
        "listen.program",
        "Start a program…",
        lambda it: it.start_program(),
        TOOLS,
        900,
        page=TITLE,
        synonyms="listen command line agent run",
    ),
    Action(
        "listen.connect",
        "Connect a program…",
        lambda it: it.connect_program(),
        TOOLS,
        910,
        page=TITLE,
        synonyms="listen base url variables paste lines",
    ),
    Action(
        "listen.recordings",
        "Recorded programs…",
        lambda it: it.open_recordings(),
        _RECORDINGS,
        244,
        synonyms="listen recordings of programs folder",
    ),
    Action(
        "listen.continue",
        "Continue paused exchange",
        lambda it: it.release(),
        page=TITLE,
        synonyms="listen breakpoint",
    ),
    Action(
        "listen.continue-all",
        "Continue all paused",
        lambda it: it.release_all(),
        page=TITLE,
        synonyms="listen breakpoint",
    ),
)
