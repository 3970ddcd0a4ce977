"""The roles of messages, in a module without imports of its own."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Role(StrEnum):
    """The role of a message (specification, section 2.1)."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


#: Roles of instructions: the system turn, or the developer turn in its place.
INSTRUCTION_ROLES: Final = (Role.SYSTEM, Role.DEVELOPER)
