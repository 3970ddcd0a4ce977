"""Cassettes in the window: exchanges saved to a file, opened as an experiment that replays, exported as HAR.

Files are chosen in dialogs that block nothing, and read and written on another thread.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from playground.engine.library.store import StoreError
from playground.engine.session.session import Session
from playground.ui.features.host import Control, Host
from playground.ui.widgets.dialogs import ask_where, ask_which, file_name
from playground.ui.widgets.loop import spawn

if TYPE_CHECKING:
    from playground.engine.cassettes.replay import CassettePlayer
    from playground.engine.session.session import Exchange
    from playground.ui.features.cassettes.replay_bar import ReplayBar

CASSETTES = "Cassettes (*.cassette.json);;All files (*)"
ARCHIVES = "HTTP archives (*.har);;All files (*)"
NOTHING = "There is no exchange yet. Run the conversation first."
RUNNING = "The exchange is still under way. Wait for its end, or stop it."
SUFFIX = ".cassette.json"


class CassetteControl(Control):
    """``show_session`` brings the bar of the replay up to the session looked at; ``aclose`` ends all replays."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._players: dict[str, CassettePlayer] = {}  # by session id
        self._bar: ReplayBar | None = None

    def player(self, session: Session) -> CassettePlayer | None:
        """What replays in an experiment; None in one that asks a gateway."""
        player = self._players.get(session.id)
        return player if player is not None and player.profile.id == session.settings.profile_id else None

    def replays(self, session: Session) -> bool:
        """Whether the runs of an experiment replay a cassette."""
        return self.player(session) is not None

    def show_session(self) -> None:
        """Show the bar where the session looked at is a cassette's."""
        player = self.player(self._workspace.current)
        if player is not None and self._bar is None:
            from playground.ui.features.cassettes.replay_bar import ReplayBar

            self._bar = ReplayBar()
            self._host.pane.add_bar(self._bar)
        if self._bar is not None:
            self._bar.show_player(player)

    async def aclose(self) -> None:
        """End the replays' servers."""
        players, self._players = list(self._players.values()), {}
        for player in players:
            await player.aclose()

    # Saving

    def save(self) -> None:
        """Save the exchange that the inspector shows as a cassette."""
        found = self._workspace.current.exchanges.get(self._host.exchange())
        if found is None:
            self._say(NOTHING)
        elif found.ended is None:
            self._say(RUNNING)
        else:
            spawn(self._save([found], "Save exchange as cassette"), name="save cassette")

    def save_all(self) -> None:
        """Save every exchange of the experiment as one cassette."""
        if found := self._ended():
            spawn(self._save(found, f"Save {_count(found)} as cassette"), name="save cassette")

    def export(self) -> None:
        """Export every exchange of the experiment as an HTTP archive."""
        if found := self._ended():
            spawn(self._export(found), name="export HAR")

    def _ended(self) -> list[Exchange]:
        everything = list(self._workspace.current.exchanges.values())
        found = [one for one in everything if one.ended is not None]
        if not found:
            self._say(RUNNING if everything else NOTHING)
        return found

    async def _save(self, exchanges: list[Exchange], title: str) -> None:
        from playground.engine.cassettes.cassette import CassetteError, save

        session = self._workspace.current
        path = await ask_where(
            self._host.window, title, file_name(session.title, "exchanges") + SUFFIX, CASSETTES, "cassette.json"
        )
        if path is None:
            return
        known = self._workspace.gateways.keys.known()
        player = self._players.get(session.id)
        beside = player.cassette.unknown_members if player is not None else {}
        try:
            exchanges = [await session.experiment.with_bodies(one) for one in exchanges]
            await asyncio.to_thread(save, path, exchanges, session.title, known, beside)
        except (CassetteError, StoreError) as error:
            self._say(str(error))
        else:
            self._say(f"{_count(exchanges)} saved as {path}. Keys are not in it.", stays=False)

    async def _export(self, exchanges: list[Exchange]) -> None:
        from playground.engine.cassettes.cassette import CassetteError
        from playground.engine.cassettes.har import write
        from playground.engine.gateways.redacted_output import write_output

        session = self._workspace.current
        name = file_name(session.title, "exchanges") + ".har"
        path = await ask_where(self._host.window, f"Export {_count(exchanges)} as HAR", name, ARCHIVES, "har")
        if path is None:
            return
        known = self._workspace.gateways.keys.known()

        try:
            whole = [await session.experiment.with_bodies(one) for one in exchanges]
            await asyncio.to_thread(lambda: write_output(path, write(whole, known), known))
        except (CassetteError, StoreError, OSError) as error:
            words = f"{path} cannot be written: {error.strerror}." if isinstance(error, OSError) else str(error)
            self._say(words)
        else:
            self._say(f"{_count(exchanges)} exported to {path}. Keys are not in it.", stays=False)

    # Opening

    def open(self) -> None:
        """Ask for a cassette and open it as an experiment that replays."""
        spawn(self._open(), name="open cassette")

    async def _open(self) -> None:
        path = await ask_which(self._host.window, "Open cassette", "", CASSETTES)
        if path is not None:
            await self.open_file(path)

    async def open_file(self, path: Path) -> bool:
        """Open a cassette as an experiment that replays; what is wrong with the file is said, and False returned."""
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


def _count(exchanges: list[Exchange]) -> str:
    return f"{len(exchanges)} exchange{'s' * (len(exchanges) != 1)}"
