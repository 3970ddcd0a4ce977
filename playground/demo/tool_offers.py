"""What the demo's tool server offers, as it is listed: tools with their schemas and hints, prompts, resources.

What they do is in ``tool_server``. Every kind of hint and of answer has a tool here, so that each can be tried.
"""

from __future__ import annotations

from typing import Any, Final

from mcp_types import (
    Prompt,
    PromptArgument,
    Resource,
    ResourceTemplate,
    Tool,
    ToolAnnotations,
)

NOTES: Final = "notes://all"
NOTE: Final = "notes://note/{title}"
PICTURE: Final = "demo://picture"
TONES: Final = ("plain", "cheerful", "formal", "like a pirate")
LONGEST_TITLE: Final = 80
LONGEST_TEXT: Final = 4_000


def _schema(required: tuple[str, ...] = (), **members: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object", "properties": members, "additionalProperties": False}
    return found | ({"required": list(required)} if required else {})


_TITLE: Final = {"type": "string", "description": "Title of a note", "minLength": 1, "maxLength": LONGEST_TITLE}
_READS: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_WRITES: Final = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False)
_DESTROYS: Final = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True)

TOOLS: Final = (
    Tool(
        name="clock",
        title="Clock",
        description="The date and time of this computer, with its time zone.",
        input_schema=_schema(),
        output_schema=_schema(
            ("date", "time", "weekday", "zone"),
            date={"type": "string", "format": "date"},
            time={"type": "string", "description": "Hours, minutes and seconds"},
            weekday={"type": "string"},
            zone={"type": "string", "description": "Offset from UTC, such as +02:00"},
        ),
        annotations=_READS,
    ),
    Tool(
        name="roll_dice",
        title="Roll dice",
        description="Roll dice. What falls is chance and differs each time.",
        input_schema=_schema(
            count={"type": "integer", "description": "How many dice", "minimum": 1, "maximum": 20, "default": 2},
            sides={"type": "integer", "description": "Sides of each", "minimum": 2, "maximum": 100, "default": 6},
        ),
        output_schema=_schema(
            ("rolled", "sum"),
            rolled={"type": "array", "items": {"type": "integer"}},
            sum={"type": "integer"},
        ),
        annotations=_READS,
    ),
    Tool(
        name="list_notes",
        title="List notes",
        description="The titles of all notes. Notes are kept until this server ends.",
        input_schema=_schema(),
        output_schema=_schema(("titles",), titles={"type": "array", "items": {"type": "string"}}),
        annotations=_READS,
    ),
    Tool(
        name="read_note",
        title="Read a note",
        description="One note, as a resource.",
        input_schema=_schema(("title",), title=_TITLE),
        annotations=_READS,
    ),
    Tool(
        name="add_note",
        title="Add a note",
        description="Keep a note. One of the same title is not replaced.",
        input_schema=_schema(
            ("title", "text"),
            title=_TITLE,
            text={"type": "string", "description": "The note", "maxLength": LONGEST_TEXT},
        ),
        annotations=_WRITES,
    ),
    Tool(
        name="delete_note",
        title="Delete a note",
        description="Delete a note for good.",
        input_schema=_schema(("title",), title=_TITLE),
        annotations=_DESTROYS,
    ),
    Tool(
        name="count_slowly",
        title="Count slowly",
        description="Count up to a number, with a pause at each step; tells its progress and writes to its log.",
        input_schema=_schema(
            to={"type": "integer", "description": "Where to end", "minimum": 1, "maximum": 1000, "default": 10},
            pause={"type": "number", "description": "Seconds a step", "minimum": 0, "maximum": 10, "default": 0.5},
        ),
        annotations=_READS,
    ),
    Tool(
        name="draw_chart",
        title="Draw a chart",
        description="A bar chart as a picture.",
        input_schema=_schema(
            ("values",),
            values={
                "type": "array",
                "description": "Heights of the bars, 0 or more",
                "items": {"type": "number", "minimum": 0, "maximum": 1e12},
                "minItems": 1,
                "maxItems": 24,
            },
        ),
        annotations=_READS,
    ),
    Tool(
        name="play_tone",
        title="Play a tone",
        description="A short tone as sound.",
        input_schema=_schema(
            hertz={"type": "number", "description": "Its pitch", "minimum": 50, "maximum": 2000, "default": 440}
        ),
        annotations=_READS,
    ),
    Tool(
        name="divide",
        title="Divide",
        description="Divide one number by another. Fails, as a tool does, if that is 0.",
        input_schema=_schema(("dividend", "divisor"), dividend={"type": "number"}, divisor={"type": "number"}),
        output_schema=_schema(("quotient",), quotient={"type": "number"}),
        annotations=_READS,
    ),
    Tool(
        name="book_table",
        title="Book a table",
        description="Book a table in a restaurant that does not exist. Asks the person for what is missing.",
        input_schema=_schema(restaurant={"type": "string", "maxLength": LONGEST_TITLE, "default": "The Demo"}),
        annotations=_WRITES,
    ),
    Tool(
        name="sum_up_notes",
        title="Sum up the notes",
        description="Have a model sum up the notes; it is asked through you.",
        input_schema=_schema(
            words={
                "type": "integer",
                "description": "At most so many words",
                "minimum": 5,
                "maximum": 200,
                "default": 30,
            }
        ),
        annotations=_READS,
    ),
    Tool(
        name="more_tools",
        title="More tools",
        description="Offer one more tool from now on, or no longer: the list of tools changes.",
        input_schema=_schema(("on",), on={"type": "boolean", "description": "Whether to offer it"}),
        annotations=_WRITES,
    ),
)

SURPRISE: Final = Tool(
    name="surprise",
    title="Surprise",
    description="Is offered only after more_tools was called.",
    input_schema=_schema(),
    annotations=_READS,
)

PROMPTS: Final = (
    Prompt(name="try_me", title="Try the tools", description="A request that makes a model use several tools."),
    Prompt(
        name="explain",
        title="Explain a note",
        description="A request to explain a note in a tone, with the note attached.",
        arguments=[
            PromptArgument(name="title", description="Title of the note", required=True),
            PromptArgument(name="tone", description=f"Such as {', '.join(TONES)}"),
        ],
    ),
)

RESOURCES: Final = (
    Resource(
        uri=NOTES, name="notes", title="All notes", description="Changes with each note.", mime_type="text/markdown"
    ),
    Resource(uri=PICTURE, name="picture", title="A picture", description="A bar chart.", mime_type="image/png"),
)

TEMPLATES: Final = (
    ResourceTemplate(
        uri_template=NOTE, name="note", title="One note", description="By its title.", mime_type="text/markdown"
    ),
)
