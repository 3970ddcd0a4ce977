"""Definitions that the commands New and Add a sample insert."""

from __future__ import annotations

from playground.domain.tools import ToolDefinition

TEMPLATE = ToolDefinition(
    name="new_tool",
    parameters={"type": "object", "properties": {}, "required": []},
)
SAMPLE = ToolDefinition(
    name="get_weather",
    description="Current weather for a city. Returns temperature and sky.",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Name of the city, e.g. Lisbon"},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "description": "Degrees to answer in"},
        },
        "required": ["city"],
    },
)


def free_name(base: str, existing: set[str]) -> str:
    """Return ``base``, with a number appended if it is in ``existing``."""
    name, number = base, 2
    while name in existing:
        name, number = f"{base}_{number}", number + 1
    return name
