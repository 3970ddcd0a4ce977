"""Recordings in the window: saves exchanges to a file, replays one as an experiment, exports HAR.

Files are read and written in a worker thread.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from playground.engine.session.session import Session
from playground.ui.features.host import Control, Host
from playground.ui.features.inspector.save_exchanges import CASSETTES, export_archive, save_recording
from playground.ui.widgets.dialogs import ask_which
from playground.ui.widgets.loop import spawn

if TYPE_CHECKING:
    from playground.engine.cassettes.replay import CassettePlayer
    from playground.engine.session.session import Exchange
    from playground.ui.features.cassettes.replay_bar import ReplayBar

NOTHING = "No exchanges yet. Run the conversation first."
RUNNING = "The exchange is still under way. Wait for its end, or stop it."


class CassetteControl(Control):
    """Saves, replays and exports recordings."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._players: dict[str, CassettePlayer] = {}  # by the ids of experiments
        self._bar: ReplayBar | None = None

    def player(self, session: Session) -> CassettePlayer | None:
        """Return the player of an experiment, or None for one with a gateway."""
        player = self._players.get(session.id)
        return player if player is not None and player.profile.id == session.settings.profile_id else None

    def replays(self, session: Session) -> bool:
        """Return whether the runs of an experiment replay a recording."""
        return self.player(session) is not None

    def show_session(self) -> None:
        """Show the replay bar if the current experiment replays a recording."""
        player = self.player(self._workspace.current)
        if player is not None and self._bar is None:
            from playground.ui.features.cassettes.replay_bar import ReplayBar

            self._bar = ReplayBar()
            self._host.pane.add_bar(self._bar)
        if self._bar is not None:
            self._bar.show_player(player)

    async def aclose(self) -> None:
        """Stop the servers of all replays."""
        players, self._players = list(self._players.values()), {}
        for player in players:
            await player.aclose()

    # Saving

    def save(self) -> None:
        """Save the exchange in the inspector as a recording."""
        exchange = self._workspace.current.exchanges.get(self._host.exchange())
        if exchange is None:
            self._say(NOTHING)
        elif exchange.ended is None:
            self._say(RUNNING)
        else:
            spawn(self._save([exchange], "Save recording"), name="save recording")

    def save_all(self) -> None:
        """Save all exchanges of the experiment as one recording."""
        if exchanges := self._ended():
            spawn(self._save(exchanges), name="save recording")

    def export(self) -> None:
        """Export all exchanges of the experiment as an HTTP archive."""
        if exchanges := self._ended():
            spawn(self._export(exchanges), name="export HAR")

    def _ended(self) -> list[Exchange]:
        everything = list(self._workspace.current.exchanges.values())
        ended = [exchange for exchange in everything if exchange.ended is not None]
        if not ended:
            self._say(RUNNING if everything else NOTHING)
        return ended

    async def _save(self, exchanges: list[Exchange], title: str = "") -> None:
        session = self._workspace.current
        secrets = self._workspace.gateways.keys.known_secrets()
        player = self._players.get(session.id)
        unknown_members = player.cassette.unknown_members if player is not None else {}
        load = session.experiment.with_bodies
        result = await save_recording(
            self._host.window, exchanges, session.title, load, secrets, unknown_members, heading=title
        )
        if result.words:
            self._say(result.words, stays=not result.is_saved)

    async def _export(self, exchanges: list[Exchange]) -> None:
        session = self._workspace.current
        secrets = self._workspace.gateways.keys.known_secrets()
        load = session.experiment.with_bodies
        result = await export_archive(self._host.window, exchanges, session.title, load, secrets)
        if result.words:
            self._say(result.words, stays=not result.is_saved)

    # Opening

    def open(self) -> None:
        """Ask for a recording and open it as an experiment that replays it."""
        spawn(self._open(), name="open recording")

    async def _open(self) -> None:
        path = await ask_which(self._host.window, "Open recording", "", CASSETTES)
        if path is not None:
            await self.open_file(path)

    async def open_file(self, path: Path) -> bool:
        """Open a recording as an experiment that replays it. Return whether it could be read."""
        from playground.engine.cassettes.cassette import CassetteError, open_file
        from playground.engine.cassettes.replay import CassettePlayer

        try:
            cassette = await asyncio.to_thread(open_file, path)
        except CassetteError as error:
            self._say(str(error))
            return False
        player = CassettePlayer(cassette)
        session = player.session(self._workspace.gateways)
        self._players[session.id] = player
        self._workspace.add_experiment(session)
        if cassette.unread_words:
            self._say(cassette.unread_words)
        return True
