"""Python tools as the libraries for agents write them; the schemas are those that the libraries themselves make."""

from __future__ import annotations

from typing import Any

from playground.domain.tools import check_schema
from playground.engine.files.tool_import import import_tools
from playground.engine.files.tool_import.collector import Imported
from tests.support.each_case import each_case


def imported(source: str) -> Imported:
    result = import_tools(source)
    assert result.problem == ""
    for tool in result.tools:
        assert [it for it in check_schema(tool.parameters) if it.severity == "error"] == []
    return result


def names(source: str) -> list[str]:
    return [tool.name for tool in imported(source).tools]


def properties(source: str) -> dict[str, Any]:
    members: dict[str, Any] = (imported(source).tools[0].parameters or {})["properties"]
    return members


def annotated(annotation: str, before: str = "") -> dict[str, Any]:
    schema: dict[str, Any] = properties(f"{before}\ndef f(a: {annotation}): ...")["a"]
    return schema


@each_case(
    ("source", "values"),
    [
        ("class A(StrEnum):\n    LOW_X = auto()\n    HIGH = enum.auto()", ["low_x", "high"]),
        ("class A(Enum):\n    X = auto()\n    Y = auto()\n    Z = 10\n    W = auto()", [1, 2, 10, 11]),
        ("class A(str, Enum):\n    X = auto()\n    Y = auto()", ["1", "2"]),
        ("class A(enum.Flag):\n    R = auto()\n    W = auto()\n    X = auto()", [1, 2, 4]),
        ("class B(str, Enum):\n    pass\nclass A(B):\n    X = 'x'", ["x"]),
        (
            "class A(Enum):\n    def _generate_next_value_(name, *rest):\n        return name.upper()\n    x = auto()",
            ["X"],
        ),
        ("A = Enum('A', ['X', 'Y'])", [1, 2]),
        ("A = Literal[B.X, 'z']\nclass B(StrEnum):\n    X = auto()", ["x", "z"]),
    ],
)
def test_enumeration_gives_the_values_of_its_members(source: str, values: list[Any]) -> None:
    assert annotated("A", source)["enum"] == values


@each_case(
    "parameter",
    [
        "state: Annotated[dict, InjectedState]",
        'state: Annotated[list, InjectedState("messages")]',
        'user: Annotated[str, "Who", InjectedToolArg()]',
        "runtime: ToolRuntime",
        "config: RunnableConfig",
        "run_manager: Optional[CallbackManagerForToolRun] = None",
        "ctx: RunContext[Deps]",
        "ctx: Context[ServerSession, None]",
        "ctx",
        "db: Database = Depends(get_database)",
        "tool_context: ToolContext",
        "mine: Annotated[str, Mine]",
        "alias: Alias",
    ],
)
def test_parameter_that_a_framework_fills_in_is_left_out_and_named(parameter: str) -> None:
    source = f"Alias = RunContextWrapper[Ctx]\nclass Mine(InjectedToolArg): ...\ndef f({parameter}, *, a: int): ..."
    result = imported(source)
    assert list((result.tools[0].parameters or {})["properties"]) == ["a"]
    assert any("a framework fills it in" in note for note in result.notes)


@each_case(
    ("mark", "name", "description"),
    [
        ("@tool", "f", "Doc."),
        ('@tool("get-weather", return_direct=True)', "get-weather", "Doc."),
        ('@mcp.tool(name="add", description=WORDS)', "add", "Long words"),
        ('@function_tool(name_override="fetch", description_override="Fetch it")', "fetch", "Fetch it"),
        ('@kernel_function(name="state", description=f"{WORDS}!")', "state", "Long words!"),
        ('@beta_tool(description=dedent("""\n  Words\n  """))', "f", "Words"),
    ],
)
def test_decorator_gives_name_and_description(mark: str, name: str, description: str) -> None:
    tool = imported(f'WORDS = "Long " + "words"\n{mark}\ndef f(a: int):\n    """Doc."""').tools[0]
    assert (tool.name, tool.description) == (name, description)


def test_annotations_of_an_mcp_tool_become_hints() -> None:
    mark = '@mcp.tool(title="Add", annotations=ToolAnnotations(readOnlyHint=True, destructiveHint=False))'
    hints = imported(f"{mark}\ndef f(): ...").tools[0].hints
    assert hints is not None
    assert (hints.title, hints.read_only, hints.destructive, hints.open_world) == ("Add", True, False, None)


def test_only_marked_functions_are_tools_and_the_others_are_named() -> None:
    source = """
@tool
def a(): ...
def helper(): ...
def register(mcp):
    @mcp.tool()
    def inner(): ...
    def local(): ...
class Lights:
    @property
    def size(self): ...
    @function_tool()
    async def switch(self, context: RunContext, on: bool): ...
    def other(self): ...
@mcp.resource("x://y")
def page(): ...
"""
    result = imported(source)
    assert [tool.name for tool in result.tools] == ["a", "inner", "switch"]
    assert "functions that are not marked as tools are left out: helper, register, Lights.other" in result.notes


def test_properties_validators_and_overloads_are_no_tools() -> None:
    source = """
class A:
    @property
    def p(self): ...
    @p.setter
    def p(self, value): ...
    @functools.cached_property
    def q(self): ...
    @field_validator("x")
    def check(cls, value): ...
    @classmethod
    def make(cls, y: int): ...
"""
    assert names(source) == ["make"]
    assert names("@overload\ndef f(a: int): ...\n@overload\ndef f(a: str): ...\ndef f(a): ...") == ["f"]
    assert names("if True:\n    def f(): ...\nelse:\n    def f(): ...") == ["f"]


@each_case(
    ("source", "expected"),
    [
        ("def a(): ...\ndef b(): ...\nagent = Agent(tools=[a])", ["a"]),
        ("def a(): ...\ndef b(): ...\ntools = [b, a]", ["a", "b"]),
        ("def a(): ...\nt = StructuredTool.from_function(func=a, name='Search')", ["Search"]),
        ("def a(): ...\nt = function_tool(a)", ["a"]),
    ],
)
def test_call_or_list_marks_functions_as_tools(source: str, expected: list[str]) -> None:
    assert names(source) == expected


def test_schema_of_a_decorator_takes_the_place_of_the_signature() -> None:
    source = '''
class Search(BaseModel):
    """Searches."""
    q: str = Field(alias="query", description="Words")
    user: Annotated[str, InjectedToolArg]
@tool(args_schema=Search)
def s(q, user): ...
@tool("greet", "Greet a user", {"name": str, "times": int})
async def g(args: dict[str, Any]): ...
@tool("raw", "Raw", {"type": "object", "properties": {"x": {"type": "string"}}})
async def r(args): ...
'''
    s, g, r = imported(source).tools
    assert s.description == "Searches."
    assert s.parameters == {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "Words"}},
        "required": ["query"],
    }
    assert g.parameters == {
        "type": "object",
        "properties": {"name": {"type": "string"}, "times": {"type": "integer"}},
        "required": ["name", "times"],
    }
    assert r.parameters == {"type": "object", "properties": {"x": {"type": "string"}}}


def test_classes_derived_from_a_tool_are_tools() -> None:
    source = """
class Input(BaseModel):
    query: str
class Search(BaseTool):
    name: str = "my_search"
    description: str = "Useful"
    args_schema: Type[BaseModel] = Input
    def _run(self, query: str, run_manager: Optional[CallbackManagerForToolRun] = None): ...
class Summary(Tool):
    name = "summary"
    description = "Short"
    inputs = {"text": {"type": "string"}, "most": {"type": "integer", "nullable": True}}
    def forward(self, text, most=None): ...
"""
    search, summary = imported(source).tools
    assert (search.name, search.description) == ("my_search", "Useful")
    assert (search.parameters or {})["properties"] == {"query": {"type": "string"}}
    assert (summary.parameters or {})["required"] == ["text"]


def test_definitions_in_a_source_win_over_functions_of_their_name() -> None:
    source = """
WORDS = "d"
def get_weather(city): ...
tools = [{"type": "function", "function": {"name": "get_weather", "description": WORDS,
          "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]
"""
    (tool,) = imported(source).tools
    assert tool.description == "d"
    assert (tool.parameters or {})["properties"] == {"city": {"type": "string"}}


@each_case(
    ("annotation", "schema"),
    [
        ("Annotated[int, Interval(gt=1, le=5)]", {"type": "integer", "exclusiveMinimum": 1, "maximum": 5}),
        ("Annotated[list[int], Len(1, 3)]",
         {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3}),
        ("Annotated[list[str] | None, Field(min_length=1)]",
         {"type": ["array", "null"], "items": {"type": "string"}, "minItems": 1}),
        ("Annotated[str, StringConstraints(pattern='^a', to_lower=True)]", {"type": "string", "pattern": "^a"}),
        ("constr(min_length=1)", {"type": "string", "minLength": 1}),
        ("Limited", {"type": "integer", "minimum": 1, "maximum": 3600}),
        ("Pair", {"type": "array", "prefixItems": [{"type": "integer"}] * 2, "minItems": 2, "maxItems": 2}),
        ("int | SkipJsonSchema[None]", {"type": "integer"}),
        ("dict[Literal['a'], int]",
         {"type": "object", "propertyNames": {"enum": ["a"]}, "additionalProperties": {"type": "integer"}}),
        ("SecretStr", {"type": "string", "format": "password"}),
    ],
)  # fmt: skip
def test_annotation_of_a_library_becomes_json_schema(annotation: str, schema: dict[str, Any]) -> None:
    before = (
        "from pydantic import Field as F\nWORDS = 'words'\nMOST = 60 * 60\nUserId = NewType('UserId', int)\n"
        "Limited = Annotated[int, F(ge=1, le=MOST)]\ntype Pair = tuple[int, int]\n"
    )
    assert annotated(annotation, before) == schema


@each_case(
    ("field", "name"),
    [
        ('a_b: str = Field(alias="userName")', "userName"),
        ('a_b: str = Field(validation_alias="v", alias="w")', "v"),
        ('a_b: str = Field(validation_alias=AliasChoices("x", "y"))', "x"),
        ("model_config = ConfigDict(alias_generator=to_camel)\n    a_b: str", "aB"),
        ("class Config:\n        alias_generator = to_pascal\n    a_b: str", "AB"),
    ],
)
def test_field_is_asked_for_under_its_alias(field: str, name: str) -> None:
    parameters = imported(f"class M(BaseModel):\n    {field}\ndef f(m: M): ...").tools[0].parameters or {}
    assert list(parameters["$defs"]["M"]["properties"]) == [name]
    assert parameters["$defs"]["M"]["required"] == [name]


def test_fields_of_classes_follow_inheritance_and_their_kind() -> None:
    source = """
class Opts(TypedDict, total=False):
    a: Required[int]
    b: Annotated[NotRequired[str], "bee"]
class More(Opts):
    c: int
class Base(BaseModel):
    x: int
    y: str
class Sub(Base, extra="forbid"):
    y: str = "set"
@dataclass
class D:
    a: int
    b: int = field(init=False)
class N(NamedTuple):
    a: int
    b: str = "x"
class Page(BaseModel, Generic[T]):
    items: list[T]
def f(m: More, s: Sub, d: D, n: N, p: Page[Sub]): ...
"""
    definitions = (imported(source).tools[0].parameters or {})["$defs"]
    assert definitions["More"]["required"] == ["a", "c"]
    assert (definitions["Sub"]["required"], definitions["Sub"]["additionalProperties"]) == (["x"], False)
    assert list(definitions["D"]["properties"]) == ["a"]
    assert (definitions["N"]["type"], definitions["N"]["minItems"], definitions["N"]["maxItems"]) == ("array", 1, 2)
    assert definitions["Page_Sub"]["properties"]["items"] == {"type": "array", "items": {"$ref": "#/$defs/Sub"}}


@each_case(
    "source",
    [
        "A0 = int\n" + "".join(f"A{n + 1} = tuple[A{n}, A{n}]\n" for n in range(60)) + "def f(x: A60): ...",
        "A0 = 'x'\n" + "".join(f"A{n + 1} = [A{n}, A{n}]\n" for n in range(60)) + "def f(x=A60): ...",
        "".join(f"class C{n}(C{n + 1}, D{n + 1}): a: int\nclass D{n}(C{n + 1}): b: int\n" for n in range(40))
        + "def f(x: C0): ...",
        "A = B\nB = A\ndef f(x: A): ...",
        "class A(Generic[T]):\n    x: 'A[list[T]]'\ndef f(x: A[int]): ...",
        "class E(E, Enum):\n    A = auto()\ndef f(x: E = E.A): ...",
    ],
)
def test_endless_names_are_bounded(source: str) -> None:
    assert [tool.name for tool in import_tools(source).tools] == ["f"]
