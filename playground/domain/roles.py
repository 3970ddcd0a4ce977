"""Who speaks. Apart from the transcript, because the window names roles before anything else is loaded."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """Who speaks (specification, section 2.1)."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
