"""States of tool servers and the trust of their tools, as the tools panel shows them.

Pure Python without Qt. The caller provides the servers; the trust of each tool is cached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from playground.domain.tool_servers import Hints, ServerTool
from playground.domain.tools import ToolDefinition
from playground.engine.tool_servers.tools import UNSEEN, ToolTrust, difference, trust_of
from playground.jsonkit.values import JSON

#: States in addition to those of ``Servers``: not set up on this computer, and servers not read yet.
ABSENT: Final = "absent"
UNLOOKED: Final = ""
STATE_WORDS: Final = {
    "ready": "ready",
    "starting": "starting…",
    "stopped": "stopped",
    "failed": "failed",
    "unconfirmed": "not confirmed yet",
    ABSENT: "not set up here",
    UNLOOKED: "not looked at yet",
}


@dataclass(frozen=True, slots=True)
class Seen:
    """Server as the panel shows it. ``state`` is a key of ``STATE_WORDS``; ``listed`` is None until the server lists
    its tools, ``accepted`` until the accepted definitions are loaded.
    """

    name: str
    id: str = ""
    state: str = UNLOOKED
    problem: str = ""
    listed: Mapping[str, ServerTool] | None = None
    accepted: Mapping[str, ServerTool] | None = None
    prefix: str = ""
    demo: bool = False
    tool_count: int = 0

    @property
    def words(self) -> str:
        """State of the server in words."""
        return STATE_WORDS.get(self.state, self.state)


class Standings:
    """Trust of tools: ``trust`` compares a tool with its server's definition, ``sweep`` counts the results."""

    def __init__(self) -> None:
        self.servers: tuple[Seen, ...] = ()
        self.looked = False  # the servers have been read
        self.counts: dict[str, Counter[ToolTrust]] = {}
        self.more: dict[str, int] = {}  # by server: number of new tools that the experiment lacks
        self.blocked = 0  # number of tools that stay off until they are accepted
        self._by_name: dict[str, Seen] = {}
        self._cached: dict[int, tuple[ToolDefinition, Seen, ToolTrust]] = {}

    def put(self, servers: Sequence[Seen]) -> None:
        """Set the servers."""
        self.servers = tuple(servers)
        self._by_name = {seen.name: seen for seen in servers}
        self.looked = True

    def server(self, name: str) -> Seen:
        """Return a server by its name; one that is not set up has the state ``ABSENT``."""
        seen = self._by_name.get(name)
        if seen is None:
            seen = self._by_name[name] = Seen(name, state=ABSENT if self.looked else UNLOOKED)
        return seen

    def trust(self, tool: ToolDefinition) -> ToolTrust:
        """Return the trust of a tool; a tool of the user's own is always ``SAME``."""
        if not tool.server:
            return ToolTrust.SAME
        seen = self.server(tool.server)
        cached = self._cached.get(id(tool))
        if cached is not None and (cached[1] is seen or tells_alike(cached[1], seen)):
            return cached[2]
        if seen.state in (ABSENT, UNLOOKED) or seen.accepted is None:
            trust = ToolTrust.UNKNOWN
        else:
            trust = trust_of(tool, seen.accepted, seen.listed)
        self._cached[id(tool)] = (tool, seen, trust)
        return trust

    def unseen(self, tool: ToolDefinition) -> bool:
        """Return whether a tool stays off until it is accepted."""
        return self.trust(tool) in UNSEEN

    def sweep(self, tools: Sequence[ToolDefinition]) -> None:
        """Compare tools with those of their servers, and drop the cached results of all other tools."""
        counts: dict[str, Counter[ToolTrust]] = {}
        blocked = 0
        names_by_server: dict[str, set[str]] = {}
        for tool in tools:
            if tool.server:
                trust = self.trust(tool)
                names_by_server.setdefault(tool.server, set()).add(tool.name_there)
                counts.setdefault(tool.server, Counter())[trust] += 1
                blocked += trust in UNSEEN and not tool.enabled
        self.counts, self.blocked = counts, blocked
        self.more = {name: self._more(self.server(name), names) for name, names in names_by_server.items()}
        self._cached = {id(tool): self._cached[id(tool)] for tool in tools if id(tool) in self._cached}

    def _more(self, seen: Seen, existing: set[str]) -> int:
        if seen.listed is None or not seen.accepted or seen.demo:
            return 0
        return len(seen.listed.keys() - seen.accepted.keys() - existing)

    def count(self, server: str, kind: ToolTrust) -> int:
        """Return how many of a server's tools had this trust in the last sweep."""
        return self.counts[server][kind] if server in self.counts else 0

    def attention(self, server: str) -> str:
        """Return the numbers of a server's tools to review, such as ``2 changed, 1 new``; empty for none."""
        counts = self.counts.get(server, Counter())
        labels = {ToolTrust.CHANGED: "changed", ToolTrust.NEW: "new", ToolTrust.GONE: "gone"}
        words = [f"{counts[kind]:,} {word}" for kind, word in labels.items() if counts[kind]]
        more = self.more.get(server, 0)
        return ", ".join([*words, *([f"{more:,} more offered"] if more else [])])

    def difference(self, tool: ToolDefinition) -> tuple[JSON, JSON] | None:
        """Return the accepted and the current definition of a tool that changed; None for other tools."""
        seen = self.server(tool.server)
        now = (seen.listed or {}).get(tool.name_there)
        if self.trust(tool) is not ToolTrust.CHANGED or now is None:
            return None
        return difference(tool, seen.accepted or {}, now)


def tells_alike(first: Seen, second: Seen) -> bool:
    """Return whether two snapshots have the same tools, regardless of the server's state."""
    looked = (first.state in (ABSENT, UNLOOKED)) == (second.state in (ABSENT, UNLOOKED))
    return looked and first.listed is second.listed and first.accepted is second.accepted


def hint_word(tool: ToolDefinition) -> str:
    """Return the tool's hint for the list: "read-only", "destructive" or ""."""
    hints = tool.hints
    if hints is None:
        return ""
    return "destructive" if hints.destructive and not hints.read_only else "read-only" if hints.read_only else ""


def standing_words(trust: ToolTrust, *, enabled: bool = False) -> str:
    """Return the second line of the list for a tool to review; empty for other tools."""
    off = "" if enabled else ", off until you accept it"
    return {
        ToolTrust.CHANGED: f"changed on the server{off}",
        ToolTrust.NEW: f"not accepted yet{off}",
        ToolTrust.GONE: "no longer offered by the server",
    }.get(trust, "")


def declared_words(hints: Hints | None) -> str:
    """Return a tool's hints as a sentence; empty without hints."""
    if hints is None:
        return ""
    phrases = [
        words
        for value, yes, no in (
            (hints.read_only, "read-only", "writing"),
            (None if hints.read_only else hints.destructive, "destructive", "not destructive"),
            (hints.idempotent, "idempotent", ""),
            (hints.open_world, "accesses external systems", "local"),
        )
        if value is not None and (words := yes if value else no)
    ]
    return f"The server declares it {', '.join(phrases)}." if phrases else ""
