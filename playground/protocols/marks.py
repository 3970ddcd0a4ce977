"""Names that only one protocol has; they tell its bodies from those of others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from playground.domain.parameters import Parameters
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import MESSAGES

#: Members that tell no protocol from another.
SHARED: Final = frozenset(
    {"temperature", "top_p", "max_tokens", "stream", "tools", "tool_choice", "metadata", "service_tier"}
)
#: Members that all protocols but one have; they count less.
COMMON: Final = frozenset(
    {"parallel_tool_calls", "top_logprobs", "store", "prompt_cache_key", "safety_identifier", "user", "reasoning"}
)
_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Marks:
    """Names that only one protocol uses.

    ``blocks`` are types of what is in a message's content (of ``sure_blocks`` one is enough to know the protocol),
    ``choices`` types of a tool choice, ``headers`` names of headers in lower case. ``tool`` is the member of a tool's
    definition, ``tool_type`` its type, and ``custom_tool`` the member of the definition of a custom tool. A message of
    no other protocol has ``also_of_message``, and yet they say little of a body. ``messages`` is the member with the
    list of messages, ``items`` are the types of its entries, ``common`` members that some other protocols have, too. A
    ``flat`` definition of a tool has its name and its type side by side.
    """

    members: frozenset[str]
    tool: str
    tool_type: str
    blocks: frozenset[str]
    choices: frozenset[str]
    messages: str = MESSAGES
    flat: bool = False
    items: frozenset[str] = _NONE
    common: frozenset[str] = _NONE
    sure_blocks: frozenset[str] = _NONE
    roles: frozenset[str] = _NONE
    of_message: frozenset[str] = _NONE
    also_of_message: frozenset[str] = _NONE
    headers: frozenset[str] = _NONE
    custom_tool: str | None = None

    def defines(self, tool: JSONObject) -> bool:
        """Return whether a tool's definition has the member that this protocol's have."""
        if self.flat:
            return tool.get("type") in (self.tool_type, "custom") and isinstance(tool.get("name"), str)
        return self.tool in tool or (self.custom_tool is not None and isinstance(tool.get(self.custom_tool), dict))

    def count(self, body: JSONObject) -> int:
        """Return the weighted number of marks in a body; those in messages count more: no one adds them by hand."""
        weight = 3 * len(self.members & body.keys()) + len(self.common & body.keys())
        weight += 3 * sum(map(self.defines, _objects(body.get("tools"))))
        weight += self.count_entries(body)
        choice = body.get("tool_choice")
        return weight + 3 * (isinstance(choice, dict) and _is_one(choice.get("type"), self.choices))

    def count_entries(self, body: JSONObject) -> int:
        """Return the weighted number of marks in the messages of a body."""
        weight = 0
        for message in _objects(body.get(self.messages)):
            weight += 5 * (_is_one(message.get("role"), self.roles) or not self.of_message.isdisjoint(message))
            weight += 5 * _is_one(message.get("type"), self.items)
            weight += 5 * sum(_is_one(block.get("type"), self.blocks) for block in _objects(message.get("content")))
        return weight


def members_of(parameters: type[Parameters], *more: str) -> frozenset[str]:
    """Return the members of a body that only one protocol has: its parameters and ``more``."""
    own = {path[0] for path in parameters.places().values()}
    return frozenset(own.union(more) - SHARED - COMMON)


def _is_one(value: JSON, names: frozenset[str]) -> bool:
    return isinstance(value, str) and value in names


def _objects(value: JSON) -> Iterator[JSONObject]:
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())
