"""The tool servers of a command: those of its configurations, and the tools that it may call.

To name a configuration is to agree that its servers are started; tools are allowed by name. The window's list of
servers is not read, and nothing is stored. Questions of servers to a person are refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from playground.domain.debugging import Debugging, Policy
from playground.domain.hidden import short_name, show_hidden
from playground.domain.tool_servers import Elicitation, ServerTool, ToolServer
from playground.domain.tools import ToolDefinition
from playground.engine.gateways.secrets import KeyringError, Keys, Secret
from playground.engine.headless.gateway import GatewayOptions
from playground.engine.headless.show import Console
from playground.engine.requests.request_file import BadInputError, read_text
from playground.engine.tool_servers.calls import ServerToolCaller, is_named
from playground.jsonkit.texts import cut

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

    from playground.engine.session.session import Session
    from playground.engine.tool_servers.events import Event
    from playground.engine.tool_servers.servers import Servers

LARGEST: Final = 10_000_000  # bytes of a configuration
_MAX_NAMES: Final = 500  # characters of names in a line
_REFUSAL: Final = "Nobody is there to answer this: it is run without a window."


class ServersError(Exception):
    """A tool server cannot be started. The message names it and the reason."""


@dataclass(frozen=True)
class ServerOptions(GatewayOptions):
    """Options of tool servers: the configurations that name them, and patterns of the allowed tools."""

    mcp: tuple[Path, ...] = ()
    allow: tuple[str, ...] = ()

    @property
    def serves(self) -> bool:
        """True where any server is used."""
        return bool(self.mcp or self.allow)


class CommandServers:
    """The tool servers of one command. `console` keeps their secrets out of the output.

    Raises BadInputError for a configuration that cannot be used.
    """

    def __init__(self, options: ServerOptions, console: Console) -> None:
        from playground.engine.tool_servers.imports import read_servers, settle_alone

        self._allow, self._console = options.allow, console
        self._servers: Servers | None = None
        self._named: list[ToolServer] = []
        self._secrets: dict[str, dict[str, Secret]] = {}
        self.serving = ServerToolCaller(lambda: self._opened, options.allow)
        for path in options.mcp:
            for entry in read_text(
                path, LARGEST, lambda text: [settle_alone(item) for item in read_servers(text).servers]
            ):
                name = short_name(entry.server.name)
                if any(entry.server.name.casefold() == server.name.casefold() for server in self._named):
                    raise BadInputError(f"{path}: there is a server called “{name}” already")
                console.hide(entry.secrets.values())
                for words in entry.notes:
                    console.say(f"{show_hidden(name)}: {words}")
                self._named.append(entry.server)
                self._secrets[entry.server.id] = entry.secrets

    @property
    def _opened(self) -> Servers:
        if self._servers is None:
            from playground.engine.tool_servers.registry import ServerRegistry, ServerRegistryError
            from playground.engine.tool_servers.servers import Servers

            try:
                book = ServerRegistry.temporary(self._named)
            except ServerRegistryError as error:
                raise BadInputError(str(error)) from None
            keys = Keys(backend=_no_keyring)
            keys.learned = lambda: self._console.hide(keys.known_secrets())
            self._servers = Servers(book, keys)
            self._servers.subscribe(self._heard)
        return self._servers

    async def open(self, sessions: Iterable[Session]) -> None:
        """Start the servers, offer their tools in the lanes of an experiment, and allow the named ones.

        Raises BadInputError, and ServersError where one cannot be started.
        """
        servers, lanes = self._opened, tuple(sessions)
        names = {tool.server for lane in lanes for tool in lane.settings.tools if tool.server}
        started = [*self._named, *(server for server in servers.book.servers if server.demo and server.name in names)]
        for server in started:
            for name, secret in self._secrets.get(server.id, {}).items():
                await servers.keys.set(server.id, "tool-server", secret, name=name)
        results = await asyncio.gather(*(servers.start(server.id) for server in started), return_exceptions=True)
        for server, result in zip(started, results, strict=True):
            if isinstance(result, Exception):
                raise ServersError(f"“{show_hidden(short_name(server.name))}” could not be started. {result}")
            if isinstance(result, BaseException):
                raise result
            servers.book.accept(server.id, servers.live(server.id).tools)
        for lane in lanes:
            self._put_into(lane, [(server, servers.live(server.id).tools) for server in started])
        tools = [tool for lane in lanes for tool in lane.settings.tools if tool.server]
        for pattern in self._allow:
            if not any(is_named(tool, [pattern]) for tool in tools):
                offered = ", ".join(dict.fromkeys(f"{tool.server}.{tool.name_there}" for tool in tools)) or "none"
                raise BadInputError(
                    f"--allow {show_hidden(pattern)} means no tool that is offered and may be allowed so; of servers "
                    f"there {'are' if ',' in offered else 'is'} {show_hidden(cut(offered, _MAX_NAMES))}"
                )

    def _put_into(self, lane: Session, offered: Iterable[tuple[ToolServer, tuple[ServerTool, ...]]]) -> None:
        from playground.engine.tool_servers.tools import new_tools

        tools = lane.settings.tools
        for server, listed in offered:
            if all(tool.server != server.name for tool in tools):
                tools = (*tools, *new_tools(tools, server, listed, {}))
        if tools != lane.settings.tools:
            lane.change(tools=tools)
        rules = self._rules(lane.settings.debugging, tools)
        if rules != lane.settings.debugging:
            lane.change(debugging=rules)

    def _rules(self, rules: Debugging, tools: Iterable[ToolDefinition]) -> Debugging:
        """Return the rules by which allowed tools are called, except for those answered from a table."""
        for tool in tools:
            if not tool.server or not tool.sendable:
                continue
            rule = rules.rule(tool.name)
            if (rule.policy is Policy.TABLE and rule.rows) or rule.policy is Policy.FIXED:
                continue
            policy = Policy.PAUSE
            if is_named(tool, self._allow):
                if words := self.serving.refusal(tool):
                    raise BadInputError(words)
                policy = Policy.SERVER
            rules = rules.with_rule(tool.name, rule.model_copy(update={"policy": policy}))
        return rules

    def not_allowed(self, tool: ToolDefinition) -> str:
        """Return why a waiting call's tool is not allowed, empty where it is."""
        if is_named(tool, self._allow):
            return ""
        name = f"{tool.server}.{tool.name_there}"
        called = f"{show_hidden(short_name(tool.name))}, a tool of “{show_hidden(short_name(tool.server))}”,"
        why = "was not allowed"
        if tool.hints is not None and tool.hints.destructive:
            why = "says that it may change or delete things, and was not allowed by its whole name"
        return f"{called} {why}. Allow it with --allow '{show_hidden(name)}'."

    def _heard(self, event: Event) -> None:
        from playground.engine.tool_servers.events import RequestReceived, SignInWanted

        if isinstance(event, RequestReceived):
            name = show_hidden(short_name(event.ask.server))
            if isinstance(event.ask, Elicitation):
                self._console.say(f"“{name}” requested input from a person; commands have none.")
                self._opened.answer(event.ask.id, "cancel", None)
            else:
                self._console.say(f"“{name}” requested an answer of a model; commands refuse that.")
                self._opened.refuse(event.ask.id, _REFUSAL)
        elif isinstance(event, SignInWanted):
            self._console.say(f"Sign in with a browser on this computer, at {show_hidden(event.url)}")

    async def aclose(self) -> None:
        """End the processes of the servers."""
        if self._servers is not None:
            servers, self._servers = self._servers, None
            await servers.close()


def _no_keyring() -> KeyringBackend:
    raise KeyringError("The system's keyring is not used without a window.")
