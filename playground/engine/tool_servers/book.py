"""The tool servers a person has set up, what was confirmed of them and accepted from them, and the files of that.

No file holds a secret: values of secret variables, headers and arguments are in the keyring
(``playground.engine.tool_servers.secret_values``). Nothing is started here and nothing asked.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ConfigDict, TypeAdapter, ValidationError

from playground.domain.encoding import encode
from playground.domain.reasons import reason_of
from playground.domain.tool_servers import ServerTool, ToolServer, Via
from playground.domain.transcript import new_id
from playground.engine.io.list_file import ListFile, ListFileError
from playground.engine.tool_servers.acceptance import alike
from playground.engine.tool_servers.secret_values import (
    PLACE,
    part_arguments,
    secret_header,
    secret_in_url,
    secret_variable,
)

FILE_VERSION: Final = 1
DEMO_ID: Final = "demo"
DEMO_NAME: Final = "Demo tools"
DEMO_ARGUMENT: Final = "demo-tools"
LONGEST_NAME: Final = 100  # characters

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_TOOLS: Final = TypeAdapter(list[ServerTool], config=ConfigDict(defer_build=True))


class ServerBookError(Exception):
    """A server cannot be kept. The text says why and what to do, and holds no secret."""


def default_path() -> Path:
    """Where the list is kept: the platform's folder for settings, where the gateways are."""
    from platformdirs import user_config_path

    return user_config_path("gateway-playground", appauthor=False) / "tool-servers.json"


def demo_server() -> ToolServer:
    """The application itself, as a server to try things with.

    A server is not given our environment: where we were found by ``PYTHONPATH``, it would find another or none.
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


def lacking(server: ToolServer) -> str:
    """What has to be filled in before the server can be started; empty where nothing has."""
    if server.via is Via.STDIO:
        return "" if server.command.strip() else "A command is needed."
    if not server.url.strip():
        return "An address is needed."
    if not re.match(r"https?://[^/\s]", server.url.strip(), re.IGNORECASE):
        return "The address has to begin with http:// or https://."
    return ""


class ServerBook:
    """The list of servers, in a JSON file that is replaced as a whole; the demo's own is always first, never written.

    Every change is written at once; methods block for one small write. What was accepted of a server is in a file of
    its own, beside the list, and read when it is first asked for. Damaged files are set aside and said so in
    ``messages``.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._file: ListFile | None = ListFile(path or default_path(), "servers", FILE_VERSION)
        self.path = self._file.path
        self.messages: list[str] = self._file.messages
        self._begin()
        for entry in self._file.load().get("servers", []):
            self._take(entry)

    @classmethod
    def passing(cls, servers: Iterable[ToolServer]) -> ServerBook:
        """Servers that somebody named for one run, and so confirmed: no file is read or written."""
        made = cls.__new__(cls)
        made._file, made.path, made.messages = None, Path(), []
        made._begin()
        for server in servers:
            made.add(server)
        return made

    def _begin(self) -> None:
        self._demo = demo_server()
        self._servers: list[ToolServer] = []
        self._prints: dict[str, str] = {}  # by id: what was confirmed
        self._unread: list[Any] = []  # entries that could not be understood, written back as they were
        self._accepted: dict[str, dict[str, ServerTool]] = {}
        self._lists: dict[str, ListFile] = {}
        self._observers: list[Callable[[], None]] = []

    @property
    def servers(self) -> tuple[ToolServer, ...]:
        """All of them, the demo first."""
        return (self._demo, *self._servers)

    def get(self, server_id: str) -> ToolServer | None:
        """The server of that id, or None."""
        return next((server for server in self.servers if server.id == server_id), None)

    def by_name(self, name: str) -> ToolServer | None:
        """The server that experiments' files call so, or None."""
        return next((server for server in self.servers if server.name == name), None)

    def free_name(self, name: str) -> str:
        """That name, or with a number where another server has it."""
        name = " ".join(name.split())[:LONGEST_NAME] or "Server"
        taken = {server.name.casefold() for server in self.servers}
        number, free = 2, name
        while free.casefold() in taken:
            free, number = f"{name} {number}", number + 1
        return free

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have ``callback`` called after every change; what is returned ends that."""
        self._observers.append(callback)

        def unsubscribe() -> None:
            if callback in self._observers:
                self._observers.remove(callback)

        return unsubscribe

    # Changing the list

    def add(self, server: ToolServer, at: int | None = None) -> ToolServer:
        """Append a server, or put it at a place among those that are written, and return it as kept.

        Raises ServerBookError where it may not be kept or cannot be written.
        """
        if self.get(server.id) is not None:
            raise ServerBookError("A server with this id exists already.")
        kept = self._checked(server)
        servers = list(self._servers)
        servers.insert(len(servers) if at is None else at, kept)
        self._commit(servers, self._prints)
        return kept

    def update(self, server: ToolServer) -> ToolServer:
        """Replace the server of the same id and return it as kept. The demo's changes live in memory.

        Raises ServerBookError as ``add`` does, and where it is gone.
        """
        if server.id == DEMO_ID:
            free = {"trusted", "timeout", "prefix", "roots"}
            self._demo = self._demo.model_copy(update={name: getattr(server, name) for name in free})
            self._tell()
            return self._demo
        if self.get(server.id) is None:
            raise ServerBookError("This server was removed in the meantime.")
        kept = self._checked(server)
        self._commit([kept if it.id == server.id else it for it in self._servers], self._prints)
        return kept

    def remove(self, server_id: str) -> None:
        """Take a server off the list. What was confirmed and accepted of it stays known until the book is closed, for
        whoever adds it again; its secrets are the caller's business.
        """
        self._commit([server for server in self._servers if server.id != server_id], self._prints)

    def forget(self, server_id: str) -> None:
        """Let go of what was confirmed and accepted of a server that was removed for good. Raises ServerBookError."""
        if self.get(server_id) is not None:
            return
        prints = {key: value for key, value in self._prints.items() if key != server_id}
        self._commit(self._servers, prints)
        self._accepted.pop(server_id, None)
        self._lists.pop(server_id, None)
        if self._file is not None and _ID.match(server_id):
            try:
                self._definitions(server_id).unlink(missing_ok=True)
            except OSError as error:
                raise ServerBookError(
                    f"{self._definitions(server_id)} could not be deleted: {error.strerror}."
                ) from error

    # What a person agreed to

    def fingerprint(self, server: ToolServer) -> str:
        """What is run or connected to, as a digest: another one has to be confirmed anew.

        Values of secrets are no part of it: only what they are called.
        """
        if server.via is Via.STDIO:
            said: list[Any] = [server.command, server.arguments, server.folder, sorted(server.environment.items())]
            said.append(sorted(server.secret_environment))
        else:
            said = [server.url, sorted(server.headers), sorted(server.secret_headers), server.oauth]
        text = json.dumps([server.via.value, *said], ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def confirmed(self, server: ToolServer) -> bool:
        """Whether a person has seen this very command line or address and agreed to it."""
        return server.demo or self._file is None or self._prints.get(server.id) == self.fingerprint(server)

    def once_confirmed(self, server_id: str) -> bool:
        """Whether a person has agreed to this server as it is or as it was before."""
        return bool(self._prints.get(server_id))

    def confirm(self, server: ToolServer) -> None:
        """A person agrees to the command line or address of ``server``, as it is given. Raises ServerBookError."""
        if server.demo or self.confirmed(server):
            return
        self._commit(self._servers, {**self._prints, server.id: self.fingerprint(server)})

    def accepted(self, server_id: str) -> dict[str, ServerTool]:
        """The tools of a server as a person last accepted them, by their names there."""
        known = self._accepted.get(server_id)
        if known is None:
            known = self._accepted[server_id] = self._read_accepted(server_id)
        return dict(known)

    def accept(self, server_id: str, tools: Iterable[ServerTool]) -> None:
        """A person accepts these tools as they are; others of the server stay as they were. Raises ServerBookError."""
        if (known := self._with(server_id, tools)) is not None:
            self._write_accepted(server_id, known)
            self._accepted[server_id] = known
            self._tell()

    async def accept_aside(self, server_id: str, tools: Iterable[ServerTool]) -> None:
        """The same, for very many: what takes long is done in a thread."""
        if (known := await asyncio.to_thread(self._with, server_id, list(tools))) is not None:
            await asyncio.to_thread(self._write_accepted, server_id, known)
            self._accepted[server_id] = known
            self._tell()

    def _with(self, server_id: str, tools: Iterable[ServerTool]) -> dict[str, ServerTool] | None:
        """What is accepted with ``tools``; None where they are all accepted as they are."""
        known = self.accepted(server_id)
        fresh = [tool for tool in tools if tool.name not in known or not alike(known[tool.name], tool)]
        return {**known, **{tool.name: tool for tool in fresh}} if fresh else None

    def _write_accepted(self, server_id: str, known: Mapping[str, ServerTool]) -> None:
        if self._file is None or not _ID.match(server_id):
            return
        entries = _TOOLS.dump_python(list(known.values()), mode="json", exclude_defaults=True)
        try:
            self._list(server_id).save(entries, _compact)
        except ListFileError as error:
            raise ServerBookError(str(error)) from error

    # Files

    def _definitions(self, server_id: str) -> Path:
        return self.path.with_name("tool-definitions") / f"{server_id}.json"

    def _list(self, server_id: str) -> ListFile:
        if server_id not in self._lists:
            self._lists[server_id] = ListFile(self._definitions(server_id), "tools", FILE_VERSION)
        return self._lists[server_id]

    def _read_accepted(self, server_id: str) -> dict[str, ServerTool]:
        if self._file is None or not _ID.match(server_id):
            return {}
        kept = self._list(server_id)
        entries = kept.load().get("tools", [])
        self.messages += kept.messages
        try:
            return {tool.name: tool for tool in _TOOLS.validate_python(entries)}
        except ValidationError:
            return {tool.name: tool for entry in entries if (tool := _tool(entry)) is not None}

    def _commit(self, servers: list[ToolServer], prints: dict[str, str]) -> None:
        """Write first, then believe: what is in memory is what is on disk."""
        if self._file is not None:
            stored = [_entry(server, prints.get(server.id, "")) for server in servers]
            try:
                self._file.save([*stored, *self._unread])
            except ListFileError as error:
                raise ServerBookError(str(error)) from error
        self._servers, self._prints = servers, prints
        self._tell()

    def _take(self, entry: Any) -> None:
        name = entry.get("name") if isinstance(entry, dict) else None
        try:
            fields = {key: value for key, value in entry.items() if key != "confirmed"}
            server = ToolServer.model_validate(fields)
        except (ValidationError, AttributeError) as error:
            reason = reason_of(error) if isinstance(error, ValidationError) else "it must be an object"
            self._unread.append(entry)
            self.messages.append(
                f"The tool server “{name or 'without a name'}” could not be read ({reason}); it is kept as is."
            )
            return
        changes: dict[str, Any] = {"demo": False}
        if not _ID.match(server.id) or self.get(server.id) is not None:
            changes["id"] = new_id()
        if self.by_name(server.name) is not None or not server.name.strip():
            changes["name"] = self.free_name(server.name)
        server = server.model_copy(update=changes)
        self._servers.append(server)
        if "id" not in changes:
            self._prints[server.id] = str(entry.get("confirmed") or "")

    def _tell(self) -> None:
        for callback in list(self._observers):
            callback()

    def _checked(self, server: ToolServer) -> ToolServer:
        """The server as it may be written. Raises ServerBookError where a secret would reach the file."""
        name = " ".join(server.name.split())
        if not name:
            raise ServerBookError("The server needs a name.")
        if len(name) > LONGEST_NAME:
            raise ServerBookError(f"The name is longer than {LONGEST_NAME} characters.")
        other = next((it for it in self.servers if it.name.casefold() == name.casefold() and it.id != server.id), None)
        if other is not None:
            raise ServerBookError(f"Another server is called “{other.name}” already.")
        if not _ID.match(server.id):
            raise ServerBookError("The server needs another id.")
        if any("\0" in text for text in (server.command, *server.arguments, server.folder, *server.environment)):
            raise ServerBookError("A command line cannot hold a null character.")
        if self._file is not None:
            _refuse_secrets(server)
        return server.model_copy(update={"name": name, "demo": False})


def _refuse_secrets(server: ToolServer) -> None:
    for name, value in server.environment.items():
        if secret_variable(name, value):
            raise ServerBookError(f"The variable “{name}” looks like a secret; its value belongs in the keyring.")
    for name, value in server.headers.items():
        if secret_header(name, value):
            raise ServerBookError(f"The header “{name}” looks like a secret; its value belongs in the keyring.")
    if found := part_arguments(server.arguments).secrets:
        raise ServerBookError(f"The arguments hold a secret (“{next(iter(found))}”); its value belongs in the keyring.")
    if what := secret_in_url(PLACE.sub("", server.url)):
        raise ServerBookError(f"The address holds {what}; it belongs in the keyring.")


def _entry(server: ToolServer, confirmed: str) -> dict[str, Any]:
    entry = encode(server, lambda name, _info, _item: name != "demo")
    return {**entry, "confirmed": confirmed} if confirmed else entry


def _tool(entry: Any) -> ServerTool | None:
    try:
        return ServerTool.model_validate(entry)
    except ValidationError:
        return None


def _compact(content: dict[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n"
