"""The list of tool servers with confirmed commands and accepted tools, and its files.

No file holds a secret: values of secret variables, headers and arguments are in the keyring
(``playground.engine.tool_servers.secret_values``). Nothing is started or requested here.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from playground.domain.encoding import encode
from playground.domain.tool_servers import ServerTool, ToolServer, Via
from playground.domain.transcript import new_id
from playground.engine.io.list_file import JsonListStore, ListFileError
from playground.engine.tool_servers.events import Subscribers
from playground.engine.tool_servers.secret_values import (
    PLACE,
    part_arguments,
    secret_header,
    secret_in_url,
    secret_variable,
)
from playground.engine.tool_servers.tools import alike
from playground.jsonkit.values import JSONObject

DEMO_ID: Final = "demo"
DEMO_NAME: Final = "Demo tools"
DEMO_ARGUMENT: Final = "demo-tools"
LONGEST_NAME: Final = 100  # characters

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


class ServerRegistryError(ListFileError):
    """A server cannot be saved. The text gives the reason and the remedy, and holds no secret."""


def demo_server() -> ToolServer:
    """Return the application itself as a demo server.

    Servers do not inherit the environment; without our ``PYTHONPATH`` it would find another package or none.
    """
    frozen = bool(getattr(sys, "frozen", False))
    return ToolServer(
        id=DEMO_ID,
        name=DEMO_NAME,
        command=sys.executable,
        arguments=(DEMO_ARGUMENT,) if frozen else ("-P", "-m", "playground", DEMO_ARGUMENT),
        environment={name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ and not frozen},
        trusted=True,
        demo=True,
    )


def missing_setting(server: ToolServer) -> str:
    """Return the missing setting without which the server cannot start, in words; empty for none."""
    if server.via is Via.STDIO:
        return "" if server.command.strip() else "A command is needed."
    if not server.url.strip():
        return "An address is needed."
    if not re.match(r"https?://[^/\s]", server.url.strip(), re.IGNORECASE):
        return "The address has to begin with http:// or https://."
    return ""


class _AcceptedTools(JsonListStore[ServerTool]):
    """The definitions of one server's tools that a person has accepted."""

    member = "tools"
    noun = "tool"
    error = ServerRegistryError

    def _read(self, entry: Any) -> ServerTool:
        return ServerTool.model_validate(entry)

    def _write(self, item: ServerTool) -> JSONObject:
        return item.model_dump(mode="json", exclude_defaults=True)

    def _serialize(self, content: JSONObject) -> str:
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n"


class ServerRegistry(JsonListStore[ToolServer]):
    """The list of servers; the demo server is always first and never written.

    The accepted tools of each server are in a file of their own next to the list, read on first use.
    """

    member = "servers"
    noun = "tool server"
    error = ServerRegistryError

    def __init__(self, path: Path | None) -> None:
        """Read the file at ``path``; None for confirmed servers in memory alone."""
        self._demo = demo_server()
        self._fingerprints: dict[str, str] = {}  # confirmed fingerprints by server id
        self._accepted: dict[str, _AcceptedTools] = {}
        self._subscribers = Subscribers()
        super().__init__(path)

    @classmethod
    def temporary(cls, servers: Iterable[ToolServer]) -> ServerRegistry:
        """Return confirmed servers for one run; no file is read or written."""
        registry = cls(None)
        for server in servers:
            registry.add(server)
        return registry

    @property
    def servers(self) -> tuple[ToolServer, ...]:
        """All servers, the demo first."""
        return (self._demo, *self._items)

    def get(self, item_id: str) -> ToolServer | None:
        """Return the server of that id, or None."""
        return self._demo if item_id == DEMO_ID else super().get(item_id)

    def by_name(self, name: str) -> ToolServer | None:
        """Return the server of that name, by which experiment files identify it, or None."""
        return next((server for server in self.servers if server.name == name), None)

    def free_name(self, name: str) -> str:
        """Return the name, with a number if another server has it."""
        name = " ".join(name.split())[:LONGEST_NAME] or "Server"
        used = {server.name.casefold() for server in self.servers}
        number, free = 2, name
        while free.casefold() in used:
            free, number = f"{name} {number}", number + 1
        return free

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` after every change, until the returned function is called."""
        return self._subscribers.add(callback)

    # Changing the list

    def add(self, server: ToolServer, index: int | None = None) -> ToolServer:
        """Insert a server at an index of the written ones, by default as the last, and return it as saved.

        Raises ServerRegistryError for a server that may not be saved, or cannot be written.
        """
        if self.get(server.id) is not None:
            raise ServerRegistryError("A server with this id exists already.")
        server = self._checked(server)
        servers = list(self._items)
        servers.insert(len(servers) if index is None else index, server)
        self._commit(servers)
        return server

    def update(self, server: ToolServer) -> ToolServer:
        """Replace the server of the same id and return it as saved. The demo's changes stay in memory.

        Raises ServerRegistryError like ``add``, and for an unknown server.
        """
        if server.id == DEMO_ID:
            names = {"trusted", "timeout", "prefix", "roots"}
            self._demo = self._demo.model_copy(update={name: getattr(server, name) for name in names})
            self._subscribers.notify()
            return self._demo
        if self.get(server.id) is None:
            raise ServerRegistryError("This server was removed in the meantime.")
        server = self._checked(server)
        self._commit([server if item.id == server.id else item for item in self._items])
        return server

    def remove(self, item_id: str) -> None:
        """Remove a server; the caller deletes its secrets.

        Its confirmation and accepted tools stay known in memory, for a server that is added again.
        """
        self._commit([server for server in self._items if server.id != item_id])

    def forget(self, server_id: str) -> None:
        """Delete the confirmation and the accepted tools of a removed server. Raises ServerRegistryError."""
        if self.get(server_id) is not None:
            return
        self._commit(self._items, {key: value for key, value in self._fingerprints.items() if key != server_id})
        self._accepted.pop(server_id, None)
        if not self._in_memory and _ID.match(server_id):
            try:
                self._definitions(server_id).unlink(missing_ok=True)
            except OSError as error:
                raise ServerRegistryError(
                    f"{self._definitions(server_id)} could not be deleted: {error.strerror}."
                ) from error

    # Confirmation and acceptance

    def fingerprint(self, server: ToolServer) -> str:
        """Return a digest of the command or address; a changed one has to be confirmed again.

        It covers the names of secrets, not their values.
        """
        if server.via is Via.STDIO:
            parts: list[Any] = [server.command, server.arguments, server.folder, sorted(server.environment.items())]
            parts.append(sorted(server.secret_environment))
        else:
            parts = [server.url, sorted(server.headers), sorted(server.secret_headers), server.oauth]
        text = json.dumps([server.via.value, *parts], ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def confirmed(self, server: ToolServer) -> bool:
        """Return whether a person has agreed to this very command line or address."""
        return server.demo or self._in_memory or self._fingerprints.get(server.id) == self.fingerprint(server)

    def once_confirmed(self, server_id: str) -> bool:
        """Return whether a person has agreed to this server, in its present or an earlier form."""
        return bool(self._fingerprints.get(server_id))

    def confirm(self, server: ToolServer) -> None:
        """Record that a person agrees to the command line or address of ``server``. Raises ServerRegistryError."""
        if not self.confirmed(server):
            self._commit(self._items, {**self._fingerprints, server.id: self.fingerprint(server)})

    def accepted(self, server_id: str) -> dict[str, ServerTool]:
        """Return the tools of a server as last accepted, by their names on the server."""
        return {tool.name: tool for tool in self._accepted_tools(server_id).items}

    def accept(self, server_id: str, tools: Iterable[ServerTool]) -> None:
        """Accept tools in their present form; the server's other tools are unchanged. Raises ServerRegistryError."""
        if self._add_accepted(server_id, list(tools)):
            self._subscribers.notify()

    async def accept_in_thread(self, server_id: str, tools: Iterable[ServerTool]) -> None:
        """Accept very many tools without blocking: like ``accept``, in a thread."""
        if await asyncio.to_thread(self._add_accepted, server_id, list(tools)):
            self._subscribers.notify()

    def _add_accepted(self, server_id: str, tools: Iterable[ServerTool]) -> bool:
        """Save the tools that differ from the accepted ones; return whether there were any."""
        accepted = self.accepted(server_id)
        changed = {
            tool.name: tool for tool in tools if tool.name not in accepted or not alike(accepted[tool.name], tool)
        }
        if changed:
            self._accepted_tools(server_id).save((accepted | changed).values())
        return bool(changed)

    # Files

    def _definitions(self, server_id: str) -> Path:
        return self.path.with_name("tool-definitions") / f"{server_id}.json"

    def _accepted_tools(self, server_id: str) -> _AcceptedTools:
        store = self._accepted.get(server_id)
        if store is None:
            has_file = not self._in_memory and _ID.match(server_id)
            store = self._accepted[server_id] = _AcceptedTools(self._definitions(server_id) if has_file else None)
            self.messages += store.messages
        return store

    def _commit(self, servers: list[ToolServer], prints: dict[str, str] | None = None) -> None:
        before, self._fingerprints = self._fingerprints, self._fingerprints if prints is None else prints
        try:
            self.save(servers)
        except ServerRegistryError:
            self._fingerprints = before
            raise
        self._subscribers.notify()

    def _write(self, item: ToolServer) -> JSONObject:
        entry = encode(item, lambda name, _info, _item: name != "demo")
        fingerprint = self._fingerprints.get(item.id, "")
        return {**entry, "confirmed": fingerprint} if fingerprint else entry

    def _read(self, entry: Any) -> ToolServer:
        if not isinstance(entry, dict):
            raise ValueError("it must be an object")
        server = ToolServer.model_validate({key: value for key, value in entry.items() if key != "confirmed"})
        changes: dict[str, Any] = {"demo": False}
        if not _ID.match(server.id) or self.get(server.id) is not None:
            changes["id"] = new_id()
        if self.by_name(server.name) is not None or not server.name.strip():
            changes["name"] = self.free_name(server.name)
        server = server.model_copy(update=changes)
        if "id" not in changes:
            self._fingerprints[server.id] = str(entry.get("confirmed") or "")
        return server

    def _checked(self, server: ToolServer) -> ToolServer:
        """Return the server in the form for the file. Raises ServerRegistryError for a secret in a plain field."""
        name = " ".join(server.name.split())
        if not name:
            raise ServerRegistryError("The server needs a name.")
        if len(name) > LONGEST_NAME:
            raise ServerRegistryError(f"The name is longer than {LONGEST_NAME} characters.")
        same_name = (item for item in self.servers if item.name.casefold() == name.casefold())
        twin = next((item for item in same_name if item.id != server.id), None)
        if twin is not None:
            raise ServerRegistryError(f"Another server is called “{twin.name}” already.")
        if not _ID.match(server.id):
            raise ServerRegistryError("The server needs another id.")
        if any("\0" in text for text in (server.command, *server.arguments, server.folder, *server.environment)):
            raise ServerRegistryError("A command line cannot hold a null character.")
        if not self._in_memory:
            _refuse_secrets(server)
        return server.model_copy(update={"name": name, "demo": False})


def _refuse_secrets(server: ToolServer) -> None:
    for name, value in server.environment.items():
        if secret_variable(name, value):
            raise ServerRegistryError(f"The variable “{name}” looks like a secret; its value belongs in the keyring.")
    for name, value in server.headers.items():
        if secret_header(name, value):
            raise ServerRegistryError(f"The header “{name}” looks like a secret; its value belongs in the keyring.")
    if secrets := part_arguments(server.arguments).secrets:
        raise ServerRegistryError(
            f"The arguments hold a secret (“{next(iter(secrets))}”); its value belongs in the keyring."
        )
    if what := secret_in_url(PLACE.sub("", server.url)):
        raise ServerRegistryError(f"The address holds {what}; it belongs in the keyring.")
