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
