"""Members of a request body that contradict each other. They are flagged at the field and sent nevertheless.

Each protocol has its own checks (``Protocol.check_body``); this module has the shared one. A value that is odd by
itself is flagged by its parameter (``Parameters.flag``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from playground.jsonkit.merge import MemberPath, at_path
from playground.jsonkit.values import JSON


class Oddity(NamedTuple):
    """A contradiction between the field at ``path`` and others, as a phrase."""

    path: MemberPath
    words: str

    def is_about(self, path: MemberPath) -> bool:
        """Return whether this concerns the field at ``path``, a member of it or an object around it."""
        shared = min(len(path), len(self.path))
        return self.path[:shared] == path[:shared]


_CHOICE = ("tool_choice",)


def tool_choice(choice: JSON, named: JSON, offered: JSON, place: MemberPath) -> Iterator[Oddity]:
    """Yield a choice among no tools, or of one not ``offered``.

    ``named`` is the name in the choice, None for none; ``place`` is where the definition of a tool has its name.
    """
    if choice is None:
        return
    if offered is None or offered == []:
        yield Oddity(_CHOICE, "no tool is sent to choose from: many gateways refuse that")
    elif (
        isinstance(named, str) and isinstance(offered, list) and named not in [at_path(tool, place) for tool in offered]
    ):
        yield Oddity(_CHOICE, f"“{named}” is not among the tools that are sent: switch it on under Tools")
