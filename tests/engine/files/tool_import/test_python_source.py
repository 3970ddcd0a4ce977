"""Python functions as tools: annotations, defaults, classes and docstrings become a schema."""

from __future__ import annotations

import contextlib
from typing import Any

from playground.domain.tools import check_schema
from playground.engine.files.tool_import import import_tools
from playground.jsonkit.limits import TooCostlyError
from playground.jsonkit.schema_sample import sample
from playground.jsonkit.validation import check_value
from tests.support.each_case import each_case


def schema_of(source: str) -> dict[str, Any]:
    result = import_tools(source)
    assert result.problem == ""
    parameters = result.tools[0].parameters
    assert parameters is not None
    assert check_schema(parameters) == []
    with contextlib.suppress(TooCostlyError):  # a schema that refers to itself is checked in the worker process
        assert check_value(sample(parameters), parameters) == []
    return parameters


def annotated(annotation: str, before: str = "") -> dict[str, Any]:
    result: dict[str, Any] = schema_of(f"{before}\ndef f(a: {annotation}): ...")["properties"]["a"]
    return result


@each_case(
    ("annotation", "schema"),
    [
        ("str", {"type": "string"}),
        ("int", {"type": "integer"}),
        ("datetime.date", {"type": "string", "format": "date"}),
        ("list[int]", {"type": "array", "items": {"type": "integer"}}),
        ("Sequence[str]", {"type": "array", "items": {"type": "string"}}),
        ("set[str]", {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
        ("dict[str, list[int]]",
         {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}}),
        ("tuple[int, str]",
         {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2}),
        ("Optional[str]", {"type": ["string", "null"]}),
        ("Union[int, str, None]", {"type": ["integer", "string", "null"]}),
        ("list[int] | str", {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "string"}]}),
        ('Literal["a", "b"]', {"type": "string", "enum": ["a", "b"]}),
        ('typing.Literal["a", 1, None]', {"type": ["string", "integer", "null"], "enum": ["a", 1, None]}),
        ('Optional[Literal["a"]]', {"type": ["string", "null"], "enum": ["a", None]}),
        ('Annotated[int, Field(ge=1, lt=10, description="n")]',
         {"type": "integer", "description": "n", "minimum": 1, "exclusiveMaximum": 10}),
        ("Annotated[list[str], Field(min_length=2)]", {"type": "array", "items": {"type": "string"}, "minItems": 2}),
    ],
)  # fmt: skip
def test_annotation_becomes_json_schema(annotation: str, schema: dict[str, Any]) -> None:
    assert annotated(annotation) == schema


def test_alias_and_enum_become_schemas() -> None:
    before = 'Mode = Literal["x", "y"]\nclass Unit(str, Enum):\n    C = "celsius"\n    F = "fahrenheit"\n'
    assert annotated("Mode", before) == {"type": "string", "enum": ["x", "y"]}
    assert annotated("list[Unit]", before)["items"] == {"type": "string", "enum": ["celsius", "fahrenheit"]}
    schema = schema_of(before + "def f(u: Unit = Unit.C): ...")
    assert schema["properties"]["u"]["default"] == "celsius"
    assert "default" not in annotated("Loop", "Loop = list[Loop]\n")


CLASSES = '''
class Point(TypedDict):
    """A place on a map.

    Attributes:
        x: To the right.
    """
    x: float
    y: NotRequired[float]

@dataclass
class Tree:
    label: str
    children: list["Tree"] = field(default_factory=list)
    """What hangs below."""
    _hidden: int = 0

class Model(BaseModel):
    name: str = Field(..., description="Who", max_length=20)
    age: int | None = Field(None, ge=0)
    kind: ClassVar[str] = "m"

class Better(Model):
    rank: int

def use(point: Point, tree: Tree, model: Better) -> None: ...
'''


def test_class_becomes_a_definition() -> None:
    schema = schema_of(CLASSES)
    assert schema["properties"]["point"] == {"$ref": "#/$defs/Point"}
    assert schema["$defs"]["Point"] == {
        "type": "object",
        "properties": {"x": {"type": "number", "description": "To the right."}, "y": {"type": "number"}},
        "required": ["x"],
        "description": "A place on a map.",
    }
    assert schema["$defs"]["Tree"] == {
        "type": "object",
        "properties": {
            "label": {"type": "string"},
            "children": {"type": "array", "description": "What hangs below.", "items": {"$ref": "#/$defs/Tree"}},
        },
        "required": ["label"],
    }
    assert schema["$defs"]["Better"] == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Who", "maxLength": 20},
            "age": {"type": ["integer", "null"], "minimum": 0, "default": None},
            "rank": {"type": "integer"},
        },
        "required": ["name", "rank"],
    }


def test_parameter_without_default_is_required() -> None:
    schema = schema_of("def f(a, /, b: int, c: str = 'x', *, d: float = -1.5, e: str = None, g: int = now()): ...")
    assert schema["required"] == ["a", "b"]
    assert schema["properties"] == {
        "a": {},
        "b": {"type": "integer"},
        "c": {"type": "string", "default": "x"},
        "d": {"type": "number", "default": -1.5},
        "e": {"type": "string"},
        "g": {"type": "integer"},
    }
    assert schema_of("def f(n=3, s='x', l=[1]): ...")["properties"]["n"] == {"type": "integer", "default": 3}


def test_injected_parameter_is_left_out_and_named() -> None:
    result = import_tools("def f(self, ctx: RunContext[Deps], a: Mystery, *args, b: int = rand(), **kw): ...")
    assert result.tools[0].parameters is not None
    assert list(result.tools[0].parameters["properties"]) == ["a", "b"]
    assert result.notes == (
        "f: “ctx” is left out, since a framework fills it in",
        "f: the type “Mystery” is unknown, so any value is allowed",
        "f: the default of “b” is worked out by the program and left out",
        "f: “*args” is left out",
        "f: “**kw” is left out",
    )


def test_public_functions_are_tools() -> None:
    both = "async def a(): ...\ndef _b(): ...\nclass C:\n    def d(self): ...\n"
    assert [tool.name for tool in import_tools(both).tools] == ["a"]
    methods = "class C:\n    def d(this, x): ...\n    @staticmethod\n    def e(y): ...\n    def __init__(self): ...\n"
    result = import_tools(methods).tools
    assert [(tool.name, list((tool.parameters or {})["properties"])) for tool in result] == [("d", ["x"]), ("e", ["y"])]
    assert [tool.name for tool in import_tools("def _only(): ...").tools] == ["_only"]
    assert [tool.name for tool in import_tools("    def indented(a):\n        return a\n").tools] == ["indented"]
    assert [tool.name for tool in import_tools("```python\ndef f(): ...\n```").tools] == ["f"]


GOOGLE = """Find things.

More words: with a colon.

Args:
    query (str): What to look for,
        on two lines.
    limit (int, optional): How many. Defaults to 10.
    kinds (list[str] | None): Which:
        - one
        - two

Returns:
    dict: what was found
"""
NUMPY = """Find things.

More words: with a colon.

Parameters
----------
query : str
    What to look for,
    on two lines.
limit : int, default 10
    How many. Defaults to 10.
kinds : list[str] | None
    Which:
    - one
    - two

Returns
-------
dict
"""
REST = """
Find things.

More words: with a colon.

:param str query: What to look for,
    on two lines.
:param limit: How many. Defaults to 10.
:type limit: int, optional
:param kinds: Which:
    - one
    - two
:type kinds: list[str] | None
:returns: what was found
:raises ValueError: never
"""


@each_case("text", [GOOGLE, NUMPY, REST, REST.replace("\n:", "\n@")])
def test_docstring_styles_give_equal_schemas(text: str) -> None:
    source = f"def find(query, limit=10, kinds=None):\n    '''{text}'''"
    result = import_tools(source).tools[0]
    assert result.description == "Find things.\n\nMore words: with a colon."
    assert (result.parameters or {})["properties"] == {
        "query": {"type": "string", "description": "What to look for, on two lines."},
        "limit": {"type": "integer", "description": "How many. Defaults to 10.", "default": 10},
        "kinds": {
            "type": ["array", "null"],
            "description": "Which:\n- one\n- two",
            "items": {"type": "string"},
            "default": None,
        },
    }
