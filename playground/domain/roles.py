"""The roles of messages, in a module without imports of its own."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """The role of a message (specification, section 2.1)."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"

    @property
    def is_instruction(self) -> bool:
        """Return whether it is the role of a system prompt: system, or developer in its place."""
        return self in (Role.SYSTEM, Role.DEVELOPER)
