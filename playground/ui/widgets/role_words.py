"""The label of each role."""

from __future__ import annotations

from playground.domain.roles import Role

ROLE_WORDS = {
    Role.SYSTEM: "System",
    Role.DEVELOPER: "Developer",
    Role.USER: "User",
    Role.ASSISTANT: "Assistant",
    Role.TOOL: "Tool",
}
