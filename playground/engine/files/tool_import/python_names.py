"""Names of Python's and of libraries' types, and what they are in JSON Schema."""

from __future__ import annotations

from typing import Final

from playground.jsonkit.values import JSONObject

SIMPLE: Final[dict[str, JSONObject]] = {
    "str": {"type": "string"},
    "string": {"type": "string"},
    "int": {"type": "integer"},
    "integer": {"type": "integer"},
    "float": {"type": "number"},
    "number": {"type": "number"},
    "complex": {"type": "string"},
    "bool": {"type": "boolean"},
    "boolean": {"type": "boolean"},
    "None": {"type": "null"},
    "NoneType": {"type": "null"},
    "Any": {},
    "object": {},
    "bytes": {"type": "string", "contentEncoding": "base64"},
    "datetime": {"type": "string", "format": "date-time"},
    "date": {"type": "string", "format": "date"},
    "time": {"type": "string", "format": "time"},
    "timedelta": {"type": "string", "format": "duration"},
    "UUID": {"type": "string", "format": "uuid"},
    "Path": {"type": "string"},
    "PurePath": {"type": "string"},
    "Decimal": {"type": "number"},
    "AnyUrl": {"type": "string", "format": "uri"},
    "HttpUrl": {"type": "string", "format": "uri"},
    "EmailStr": {"type": "string", "format": "email"},
    "PositiveInt": {"type": "integer", "exclusiveMinimum": 0},
    "NonNegativeInt": {"type": "integer", "minimum": 0},
    "PositiveFloat": {"type": "number", "exclusiveMinimum": 0},
    "LiteralString": {"type": "string"},
    "NegativeInt": {"type": "integer", "exclusiveMaximum": 0},
    "NonPositiveInt": {"type": "integer", "maximum": 0},
    "NonNegativeFloat": {"type": "number", "minimum": 0},
    "NegativeFloat": {"type": "number", "exclusiveMaximum": 0},
    "NonPositiveFloat": {"type": "number", "maximum": 0},
    "FiniteFloat": {"type": "number"},
    "StrictStr": {"type": "string"},
    "StrictInt": {"type": "integer"},
    "StrictFloat": {"type": "number"},
    "StrictBool": {"type": "boolean"},
    "SecretStr": {"type": "string", "format": "password"},
    "AnyHttpUrl": {"type": "string", "format": "uri"},
    "FileUrl": {"type": "string", "format": "uri"},
    "NameEmail": {"type": "string", "format": "email"},
    "UUID1": {"type": "string", "format": "uuid"},
    "UUID3": {"type": "string", "format": "uuid"},
    "UUID4": {"type": "string", "format": "uuid"},
    "UUID5": {"type": "string", "format": "uuid"},
    "FilePath": {"type": "string"},
    "DirectoryPath": {"type": "string"},
    "NewPath": {"type": "string"},
    "PathLike": {"type": "string"},
    "AwareDatetime": {"type": "string", "format": "date-time"},
    "NaiveDatetime": {"type": "string", "format": "date-time"},
    "PastDatetime": {"type": "string", "format": "date-time"},
    "FutureDatetime": {"type": "string", "format": "date-time"},
    "PastDate": {"type": "string", "format": "date"},
    "FutureDate": {"type": "string", "format": "date"},
    "IPv4Address": {"type": "string", "format": "ipv4"},
    "IPv6Address": {"type": "string", "format": "ipv6"},
    "JsonValue": {},
    "Number": {"type": "number"},
}
LISTS: Final = frozenset(
    ("list", "List", "Sequence", "MutableSequence", "Iterable", "Iterator", "Collection", "deque", "array")
)
SETS: Final = frozenset(("set", "Set", "frozenset", "FrozenSet", "AbstractSet", "MutableSet"))
MAPS: Final = frozenset(("dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict"))
REQUIREMENT: Final = frozenset(("Required", "NotRequired"))
TRANSPARENT: Final = REQUIREMENT | {"ReadOnly", "Final", "ClassVar", "Unpack", "InitVar", "Mapped"}
CONSTRAINED: Final[dict[str, JSONObject]] = {
    "conint": {"type": "integer"},
    "confloat": {"type": "number"},
    "condecimal": {"type": "number"},
    "constr": {"type": "string"},
    "conbytes": {"type": "string", "contentEncoding": "base64"},
    "condate": {"type": "string", "format": "date"},
    "conlist": {"type": "array"},
    "conset": {"type": "array", "uniqueItems": True},
    "confrozenset": {"type": "array", "uniqueItems": True},
}
FIELD_CALLS: Final = frozenset(("Field", "field", "Query", "Path", "Body", "Form", "Header", "attrib", "ib"))
FIELD_WORDS: Final = {
    "ge": "minimum",
    "le": "maximum",
    "gt": "exclusiveMinimum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "pattern": "pattern",
    "regex": "pattern",
    "title": "title",
    "examples": "examples",
    "enum": "enum",
    "deprecated": "deprecated",
}
#: Constraints of annotated_types that are written by place, by the names that ``Field`` has for them.
BY_PLACE: Final = {
    "ge": ("ge",),
    "gt": ("gt",),
    "le": ("le",),
    "lt": ("lt",),
    "multipleof": ("multiple_of",),
    "minlen": ("min_length",),
    "maxlen": ("max_length",),
    "len": ("min_length", "max_length"),
    "interval": ("gt", "ge", "lt", "le"),
}
SIZES: Final = {"min_length": "min", "min_items": "min", "max_length": "max", "max_items": "max"}
ALIAS_WORDS: Final = "validation_alias", "alias"
#: Types whose values a framework gives to a function: no model is asked for them.
INJECTED: Final = frozenset(
    (
        "Context", "RunContext", "ToolContext", "RunContextWrapper", "CallbackContext", "InvocationContext",
        "FunctionInvocationContext", "ReadonlyContext", "Request", "ToolRuntime", "Runtime", "RunnableConfig",
        "CallbackManagerForToolRun", "AsyncCallbackManagerForToolRun", "Callbacks", "CancellationToken", "BaseStore",
        "StreamWriter", "ServerSession", "BackgroundTasks",
    )
)  # fmt: skip
INJECTING_CALLS: Final = frozenset(("Depends", "Inject", "Provide", "CurrentContext", "CurrentFastMCP"))
NO_DEFAULT: Final = frozenset(("PydanticUndefined", "Undefined", "MISSING", "NOTHING"))
INJECTED_NAMES: Final = frozenset(("ctx", "run_manager", "callbacks", "tool_context", "run_context"))
