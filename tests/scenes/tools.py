"""Scenes of the tools panel: the form, fifty tools in groups, an import, the large window."""

from __future__ import annotations

from playground.domain.tools import ToolDefinition
from playground.jsonkit.values import JSON
from tests.scenes.debugger_rules import RULES
from tests.scenes.registry import scene
from tests.scenes.stage import SceneError, Stage

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
ORDER: JSON = {
    "type": "object",
    "properties": {
        "customer": {"$ref": "#/$defs/Person", "description": "Who pays"},
        "items": {
            "type": "array",
            "description": "What is ordered, at least one thing",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "sku": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"},
                    "count": {"type": "integer", "minimum": 1, "default": 1},
                },
                "required": ["sku"],
                "additionalProperties": False,
            },
        },
        "shipping": {"type": "string", "enum": ["standard", "express", "pick-up"], "description": "How it travels"},
        "note": {"anyOf": [{"type": "string", "maxLength": 500}, {"type": "null"}]},
        "payment": {"oneOf": [{"$ref": "#/$defs/Card"}, {"type": "string", "const": "invoice"}]},
        "the_name_of_a_parameter_that_somebody_made_very_long_indeed": {"type": "boolean"},
    },
    "required": ["customer", "items"],
    "additionalProperties": False,
    "$defs": {
        "Person": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "friends": {"type": "array", "items": {"$ref": "#/$defs/Person"}},
            },
        },
        "Card": {"type": "object", "properties": {"number": {"type": "string"}}, "if": {}, "then": {}},
    },
}
PLACE_ORDER = ToolDefinition(
    name="place_order",
    description="Places an order for a customer. Ask before calling it: it costs money.",
    parameters=ORDER,
)
SMALL_PARAMETERS: JSON = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
AREAS = ("Calendar", "Mail", "Files", "Payments", "A group with a rather long name for this panel")
VERBS = ("list", "read", "create", "update", "delete", "search", "share", "archive", "restore", "export")
PYTHON = '''def find_train(start: str, to: str, on: date | None = None, *, seats: int = 1, fast: bool = True):
    """Find a train between two cities.

    Args:
        start: The city to leave from.
        to: Where to go.
        on: The day; today if left out.
        seats: How many people travel.
        fast: Whether slow trains are left out.
    """


async def book_train(train_id: str, names: list[str]) -> dict:
    """Book seats in a train."""
'''


def fifty() -> tuple[ToolDefinition, ...]:
    """Fifty tools in five groups, some of them off."""
    return tuple(
        ToolDefinition(
            name=f"{area.split()[0].lower()}_{verb}",
            description=f"{verb.capitalize()}s what is in {area.lower()}, one at a time." if verb != "share" else "",
            parameters=SMALL_PARAMETERS,
            group=area,
            enabled=(number + index) % 7 != 0,
        )
        for number, area in enumerate(AREAS)
        for index, verb in enumerate(VERBS)
    )


def offer(stage: Stage, *tools: ToolDefinition) -> None:
    """Offer these tools, and show their panel."""
    stage.session.change(tools=tools)
    stage.window.side.show_page("Tools")


@scene()
async def tools_form(stage: Stage) -> None:
    """A schema as a form, one field open, and the response of each tool: one has a mock table of its own."""
    offer(stage, SAMPLE, PLACE_ORDER)
    stage.session.change(debugging=RULES)
    tools = stage.window.panels.tools
    tools.select(1)
    tools.editor.form.open_field(("properties", "shipping"))
    await stage.settle()
    tools.editor.form.revealed.emit(tools.editor.form.block)


@scene()
async def tools_import(stage: Stage) -> None:
    """Python functions understood as tools, before they go in."""
    offer(stage, SAMPLE)
    dialog = stage.window.panels.tools.import_tools()
    dialog.set_text(PYTHON)
    if not dialog.preview.checked:
        raise SceneError("nothing was understood")
