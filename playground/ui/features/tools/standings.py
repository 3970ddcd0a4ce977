"""What the panel knows of tool servers: which there are, how each is, and how every tool stands to its own.

Pure; nothing of Qt. Servers are told from outside; what was found for a tool is remembered with the tool itself.
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

#: States of a server that are none of ``Servers``: not set up on this computer, and nobody has looked yet.
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
    """A server as the panel sees it. ``state`` is one of ``STATE_WORDS``; ``listed`` is None where it has not said what
    it offers, ``accepted`` where nobody has looked yet what was accepted of it.
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
        """How it is, in a word or two."""
        return STATE_WORDS.get(self.state, self.state)


class Standings:
    """``of`` compares a tool with its server's; ``sweep`` compares all and counts the results by server."""

    def __init__(self) -> None:
        self.servers: tuple[Seen, ...] = ()
        self.looked = False  # whether anybody has told which servers there are
        self.counts: dict[str, Counter[ToolTrust]] = {}
        self.more: dict[str, int] = {}  # by server: how many tools it has that are new and not in the experiment
        self.held = 0  # how many are off, and stay so until somebody has looked at them
        self._by_name: dict[str, Seen] = {}
        self._known: dict[int, tuple[ToolDefinition, Seen, ToolTrust]] = {}

    def put(self, servers: Sequence[Seen]) -> None:
        """These are the servers there are."""
        self.servers = tuple(servers)
        self._by_name = {seen.name: seen for seen in servers}
        self.looked = True

    def server(self, name: str) -> Seen:
        """A server by its name, set up here or not."""
        found = self._by_name.get(name)
        if found is None:
            found = self._by_name[name] = Seen(name, state=ABSENT if self.looked else UNLOOKED)
        return found

    def of(self, tool: ToolDefinition) -> ToolTrust:
        """How a tool stands; one of a person's own is always the same."""
        if not tool.server:
            return ToolTrust.SAME
        seen = self.server(tool.server)
        known = self._known.get(id(tool))
        if known is not None and (known[1] is seen or tells_alike(known[1], seen)):
            return known[2]
        if seen.state in (ABSENT, UNLOOKED) or seen.accepted is None:
            found = ToolTrust.UNKNOWN
        else:
            found = trust_of(tool, seen.accepted, seen.listed)
        self._known[id(tool)] = (tool, seen, found)
        return found

    def unseen(self, tool: ToolDefinition) -> bool:
        """Whether a tool stays off until a person has looked at it."""
        return self.of(tool) in UNSEEN

    def sweep(self, tools: Sequence[ToolDefinition]) -> None:
        """Compare all of these tools with those of their servers, and forget the results of other tools."""
        counts: dict[str, Counter[ToolTrust]] = {}
        held = 0
        have: dict[str, set[str]] = {}
        for tool in tools:
            if tool.server:
                found = self.of(tool)
                have.setdefault(tool.server, set()).add(tool.name_there)
                counts.setdefault(tool.server, Counter())[found] += 1
                held += found in UNSEEN and not tool.enabled
        self.counts, self.held = counts, held
        self.more = {name: self._more(self.server(name), there) for name, there in have.items()}
        self._known = {id(tool): self._known[id(tool)] for tool in tools if id(tool) in self._known}

    def _more(self, seen: Seen, have: set[str]) -> int:
        if seen.listed is None or not seen.accepted or seen.demo:
            return 0
        return len(seen.listed.keys() - seen.accepted.keys() - have)

    def count(self, server: str, kind: ToolTrust) -> int:
        """How many of a server's tools stood so when all were looked at."""
        return self.counts[server][kind] if server in self.counts else 0

    def attention(self, server: str) -> str:
        """``2 changed, 1 new``: what of a server's tools wants a look, in the experiment or not; empty for nothing."""
        found = self.counts.get(server, Counter())
        said = {ToolTrust.CHANGED: "changed", ToolTrust.NEW: "new", ToolTrust.GONE: "gone"}
        words = [f"{found[kind]:,} {word}" for kind, word in said.items() if found[kind]]
        more = self.more.get(server, 0)
        return ", ".join([*words, *([f"{more:,} more offered"] if more else [])])

    def difference(self, tool: ToolDefinition) -> tuple[JSON, JSON] | None:
        """What there was and what the server lists now, for a tool that changed; None where nothing is to be shown."""
        seen = self.server(tool.server)
        now = (seen.listed or {}).get(tool.name_there)
        if self.of(tool) is not ToolTrust.CHANGED or now is None:
            return None
        return difference(tool, seen.accepted or {}, now)


def tells_alike(one: Seen, other: Seen) -> bool:
    """Whether two tell the same of tools, however the server is."""
    looked = (one.state in (ABSENT, UNLOOKED)) == (other.state in (ABSENT, UNLOOKED))
    return looked and one.listed is other.listed and one.accepted is other.accepted


def hint_word(tool: ToolDefinition) -> str:
    """The word for what a tool says it does, as it stands in the list: "read-only", "destructive" or ""."""
    hints = tool.hints
    if hints is None:
        return ""
    return "destructive" if hints.destructive and not hints.read_only else "read-only" if hints.read_only else ""


def standing_words(found: ToolTrust, *, enabled: bool = False) -> str:
    """What stands in the list below a tool that wants a look; empty for others."""
    off = "" if enabled else ", off until you accept it"
    return {
        ToolTrust.CHANGED: f"changed on the server{off}",
        ToolTrust.NEW: f"not accepted yet{off}",
        ToolTrust.GONE: "the server does not offer it any more",
    }.get(found, "")


def says_of_itself(hints: Hints | None) -> str:
    """A tool's hints as a sentence; empty where it says nothing."""
    if hints is None:
        return ""
    said = [
        words
        for value, yes, no in (
            (hints.read_only, "only reads", "changes things"),
            (None if hints.read_only else hints.destructive, "may destroy what is there", "destroys nothing"),
            (hints.idempotent, "does the same when it is called again", ""),
            (hints.open_world, "reaches out into the world", "stays within its own world"),
        )
        if value is not None and (words := yes if value else no)
    ]
    return f"It says that it {', '.join(said)}." if said else ""
