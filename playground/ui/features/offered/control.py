"""Prompts and resources of tool servers: their dialog, putting them into the conversation, and watched resources."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from playground.jsonkit.texts import quantity
from playground.ui.features.host import Control, Host
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.palette import Entry
from playground.ui.widgets.plain_text import short_title

if TYPE_CHECKING:
    from playground.domain.transcript import Turn
    from playground.engine.tool_servers.content import Content
    from playground.engine.tool_servers.events import Event
    from playground.engine.tool_servers.servers import Servers
    from playground.ui.features.offered.dialog import OfferedDialog

PROMPTS, RESOURCES = 0, 1
MOST_ENTRIES: Final = 500  # of the command palette


class OfferedControl(Control):
    """Controller of prompts and resources; tool servers are loaded on first use."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.dialog: OfferedDialog | None = None
        self._watched: set[tuple[str, str]] = set()
        self._ready: set[str] = set()  # the servers that run
        self._follows = False
        composer = host.pane.composer
        self._prompt_action = composer.add_insert_action("Server prompt…")
        self._resource_action = composer.add_insert_action("Server resource…")
        self._prompt_action.triggered.connect(self.open_prompts)
        self._resource_action.triggered.connect(self.open_resources)
        composer.insert_menu.aboutToShow.connect(self._show_insert_actions)

    def _show_insert_actions(self) -> None:
        """Show the menu entries if a server is in use or configured, apart from the demo."""
        session = self._workspace.current
        has_server = any(tool.server for tool in session.settings.tools) or any(
            not server.demo for server in self._workspace.tool_servers.book.servers
        )
        for action in (self._prompt_action, self._resource_action):
            action.setVisible(has_server)

    @property
    def _servers(self) -> Servers:
        servers = self._workspace.tool_servers
        if not self._follows:
            self._follows = True
            servers.subscribe(self._server_event)
        return servers

    def open_prompts(self) -> None:
        """Open the dialog with the prompts."""
        self._open().show_kind(PROMPTS)

    def open_resources(self) -> None:
        """Open the dialog with the resources."""
        self._open().show_kind(RESOURCES)

    def entries(self) -> list[Entry]:
        """The prompts and resources of servers in use, for the command palette."""
        if "tool_servers" not in self._workspace.__dict__:
            return []
        from playground.ui.features.offered.offers import offers_of

        lives = [self._servers.live(server.id) for server in self._servers.book.servers]
        out: list[Entry] = []
        for kind, word in ((PROMPTS, "prompt"), (RESOURCES, "resource")):
            for offer in offers_of(lives, kind):
                out.append(Entry(offer.name, f"{word} of {offer.server}", partial(self._choose, kind, offer.key)))
                if len(out) >= MOST_ENTRIES:
                    return out
        return out

    def _choose(self, kind: int, key: tuple[str, str]) -> None:
        self._open().choose(kind, key)

    def _open(self) -> OfferedDialog:
        from playground.ui.features.offered.dialog import OfferedDialog

        if self.dialog is None:
            dialog = self.dialog = OfferedDialog(self._servers, self._watched, self._host.window)
            dialog.written.connect(self._write)
            dialog.added.connect(self._add)
            dialog.finished.connect(self._closed)
            dialog.open()
        self.dialog.raise_()
        return self.dialog

    def _closed(self, _result: int) -> None:
        self.dialog = None

    # Insertion

    def _write(self, content: Content, name: str) -> None:
        composer = self._host.pane.composer
        composer.append_text(content.text)
        self._host.pane.intake.take([image.url for image in content.images])
        self._done(f"“{short_title(name)}” was inserted into the message.")

    def _add(self, turns: list[Turn], name: str) -> None:
        if self._host.pane.composer.busy:
            if self.dialog is not None:
                self.dialog.refuse("A run is under way. Wait until it ends, or stop it, then add the messages.")
            return
        for turn in turns:
            self._session.turns.add_written(turn)
        self._host.pane.view.jump_to_latest()
        count = quantity(len(turns), "message")
        self._done(f"“{short_title(name)}” was added to the conversation: {count}.")

    def _done(self, words: str) -> None:
        if self.dialog is not None:
            self.dialog.accept()
        self._say(words, stays=False)
        self._host.pane.composer.setFocus()

    # Events of servers

    def _server_event(self, event: Event) -> None:
        from playground.engine.tool_servers.events import ResourceUpdated, ServersChanged

        if isinstance(event, ServersChanged):
            self._watch_again(event.server_id)
            return
        if not isinstance(event, ResourceUpdated) or (event.server_id, event.uri) not in self._watched:
            return
        server = self._servers.book.get(event.server_id)
        words = f"{short_title(event.uri)} of {short_title(server.name if server else 'its server')} has changed."
        self._say(words, "Read it again", partial(self._choose, RESOURCES, (event.server_id, event.uri)))

    def _watch_again(self, server_id: str) -> None:
        """Watch the resources of a restarted server again."""
        from playground.engine.tool_servers.events import State

        runs = self._servers.book.get(server_id) is not None and self._servers.live(server_id).state is State.READY
        if runs and server_id not in self._ready:
            for watched_id, uri in self._watched:
                if watched_id == server_id:
                    spawn(self._watch(server_id, uri), name="watch a resource again")
        (self._ready.add if runs else self._ready.discard)(server_id)

    async def _watch(self, server_id: str, uri: str) -> None:
        from playground.engine.session.tool_calls import ToolCallError

        try:
            await self._servers.watch(server_id, uri, True)
        except ToolCallError as error:
            self._watched.discard((server_id, uri))
            self._say(f"{short_title(uri)} is no longer watched: {error}")
