"""What New and Add a sample put into the list."""

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


def free_name(wanted: str, taken: set[str]) -> str:
    """``wanted``, or with a number at its end where it is taken."""
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name
