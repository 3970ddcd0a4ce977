"""JSON Schema from the text of Python annotations: names are parsed, never resolved by a running Python.

Classes of the same text (TypedDict, dataclass, BaseModel, Enum) become definitions, recursion included.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Final, NamedTuple

from playground.engine.files.tool_import.collector import ToolCollector, object_schema
from playground.engine.files.tool_import.python_values import (
    ENUMS,
    NOT_CONSTANT,
    Values,
    last_name,
    literal,
    parse_expression,
    read_docstring,
)
from playground.jsonkit.texts import cut
from playground.jsonkit.values import JSON, JSONObject

#: Names of Python's and libraries' types by their type, and by their format, in JSON Schema.
_BY_TYPE: Final = {
    "string": "str string complex Path PurePath LiteralString StrictStr FilePath DirectoryPath NewPath PathLike",
    "integer": "int integer StrictInt",
    "number": "float number Decimal FiniteFloat StrictFloat Number",
    "boolean": "bool boolean StrictBool",
    "null": "None NoneType",
}
_BY_FORMAT: Final = {
    "date-time": "datetime AwareDatetime NaiveDatetime PastDatetime FutureDatetime",
    "date": "date PastDate FutureDate",
    "time": "time",
    "duration": "timedelta",
    "uuid": "UUID UUID1 UUID3 UUID4 UUID5",
    "uri": "AnyUrl HttpUrl AnyHttpUrl FileUrl",
    "email": "EmailStr NameEmail",
    "password": "SecretStr",
    "ipv4": "IPv4Address",
    "ipv6": "IPv6Address",
}
SIMPLE: Final[dict[str, JSONObject]] = {
    **{name: {"type": kind} for kind, names in _BY_TYPE.items() for name in names.split()},
    **{name: {"type": "string", "format": form} for form, names in _BY_FORMAT.items() for name in names.split()},
    **{name: {} for name in ("Any", "object", "JsonValue")},
    "bytes": {"type": "string", "contentEncoding": "base64"},
    "PositiveInt": {"type": "integer", "exclusiveMinimum": 0},
    "NonNegativeInt": {"type": "integer", "minimum": 0},
    "NegativeInt": {"type": "integer", "exclusiveMaximum": 0},
    "NonPositiveInt": {"type": "integer", "maximum": 0},
    "PositiveFloat": {"type": "number", "exclusiveMinimum": 0},
    "NonNegativeFloat": {"type": "number", "minimum": 0},
    "NegativeFloat": {"type": "number", "exclusiveMaximum": 0},
    "NonPositiveFloat": {"type": "number", "maximum": 0},
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


class Parameter(NamedTuple):
    """A parameter of a function or a field of a class, under the name by which a caller gives it."""

    name: str
    schema: JSONObject
    required: bool


class Types:
    """The annotations of one source. ``collector`` takes notes about types that are not understood."""

    def __init__(self, values: Values, collector: ToolCollector) -> None:
        self._collector = collector
        self._where = ""
        self._values = values
        self._open: list[str] = []
        self._definitions: JSONObject = {}
        self._bound: dict[str, ast.expr] = {}  # the types that the type variables of a generic class have

    def begin(self, function: str) -> None:
        """Begin with the types of this function, which have definitions of their own."""
        self._where = function
        self._definitions = {}

    def definitions(self) -> JSONObject:
        """The classes that were referred to since ``begin``."""
        return self._definitions

    def parameter(self, annotation: ast.expr | None, default: ast.expr | None, name: str) -> Parameter:
        """A parameter or field: its schema with its default, and whether it is required."""
        schema = self.convert(annotation) if annotation is not None else {}
        fields = self._fields_in(annotation)
        resolved = self._values.resolve(default) if default is not None else None
        if isinstance(resolved, ast.Call) and last_name(resolved.func) in FIELD_CALLS:
            fields.append(resolved)
            self._field(schema, resolved)
            default = None
        alias = next((alias for field in reversed(fields) if (alias := self._alias(field))), name)
        if default is None:
            return Parameter(alias, schema, not any(_has_default(field) for field in fields))
        if isinstance(default, ast.Constant) and default.value is Ellipsis:
            return Parameter(alias, schema, True)
        value = self._values.value(default)
        if value is NOT_CONSTANT:
            self._collector.note(f"{self._where}: the default of “{name}” is worked out by the program and left out")
        elif value is not None or _allows_null(schema) or not schema:
            schema["default"] = value
        if not schema.keys() - {"default"} and value is not None and value is not NOT_CONSTANT:
            schema |= {**_type_of(value), **schema}
        return Parameter(alias, schema, False)

    def is_injected(self, argument: str, annotation: ast.expr | None, default: ast.expr | None = None) -> bool:
        """Return whether a framework fills in a parameter, so that no model is asked for it."""
        if isinstance(default, ast.Call) and last_name(default.func) in INJECTING_CALLS:
            return True
        if annotation is None:
            return argument in INJECTED_NAMES
        return any(self._injects(name) for name in self._type_names(annotation))

    def _injects(self, name: str) -> bool:
        owner = self._values.classes.get(name)
        names = {name} if owner is None else self._values.bases(owner)
        return any(base in INJECTED or base.startswith("Injected") or base in INJECTING_CALLS for base in names)

    def _type_names(self, node: ast.expr, depth: int = 0) -> list[str]:
        """The outermost names of an annotation: of a union each, of ``Annotated`` those of its metadata too."""
        node = _unquoted(self._values.resolve(node))
        if depth > 20:
            return []
        if isinstance(node, ast.BinOp):
            return [*self._type_names(node.left, depth + 1), *self._type_names(node.right, depth + 1)]
        if isinstance(node, ast.Call):
            return [last_name(node.func)]
        if isinstance(node, ast.Subscript):
            name = last_name(node.value)
            inner = _parts(node.slice) if name in ("Optional", "Union", "Annotated") else []
            return [name, *(name for part in inner for name in self._type_names(part, depth + 1))]
        return [last_name(node)]

    def _fields_in(self, annotation: ast.expr | None) -> list[ast.Call]:
        """The calls of ``Field`` in the metadata of an annotation."""
        node = _unquoted(self._values.resolve(annotation)) if annotation is not None else None
        while isinstance(node, ast.Subscript) and last_name(node.value) in TRANSPARENT:
            node = _unquoted(node.slice)
        if not isinstance(node, ast.Subscript) or last_name(node.value) != "Annotated":
            return []
        first, *metadata = _parts(node.slice)
        extras = [self._values.resolve(extra) for extra in metadata]
        calls = [extra for extra in extras if isinstance(extra, ast.Call) and last_name(extra.func) in FIELD_CALLS]
        return [*self._fields_in(first), *calls]

    def _alias(self, field: ast.Call) -> str:
        """The name by which a field is given where that is another one."""
        words = {word.arg: word.value for word in field.keywords}
        for word in ALIAS_WORDS:
            node = words.get(word)
            if isinstance(node, ast.Call) and last_name(node.func) == "AliasChoices":
                node = next(iter(node.args), None)
            value = self._values.value(node) if node is not None else None
            if isinstance(value, str) and value:
                return value
        return ""

    def of_text(self, text: str) -> JSONObject:
        """The schema of a type as a docstring writes it; empty where it is only prose."""
        listed = re.match(r"(?:list|sequence|array)\s+of\s+(\w+?)s?$", text.strip(), re.IGNORECASE)
        if listed:
            return {"type": "array", "items": self.of_text(listed[1])}
        try:
            node = parse_expression(text.replace(" or ", " | "))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return {}
        quiet = Types(self._values, ToolCollector())
        quiet._definitions = self._definitions
        return quiet.convert(node)

    def convert(self, node: ast.expr) -> JSONObject:
        """Return the schema of an annotation, as a new object."""
        if self._values.is_exhausted():
            self._collector.note("the types of this source are too many; for some, any value is allowed")
            return {}
        if isinstance(node, ast.Constant) and node.value is None:
            return {"type": "null"}
        unquoted = _unquoted(node)
        if unquoted is not node:
            return self.convert(unquoted)
        if isinstance(node, ast.Name | ast.Attribute):
            return self._named(last_name(node), node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self._union([node.left, node.right])
        if isinstance(node, ast.Subscript):
            return self._generic(last_name(node.value), _parts(node.slice), node)
        if isinstance(node, ast.Set):  # {"a", "b"}, as NumPy's docstrings write a choice
            return self._literal(node.elts)
        return self._called(node) if isinstance(node, ast.Call) else self._unknown(node)

    def _named(self, name: str, node: ast.expr) -> JSONObject:
        classes, assigned = self._values.classes, self._values.assigned
        if name in self._bound and name not in self._open:
            return self._opened(name, self._bound[name])
        if name in classes:
            return self._class(classes[name])
        if name in assigned:
            return self._assigned(name, assigned[name])
        if name in SIMPLE:
            return dict(SIMPLE[name])
        if name in LISTS or name in ("tuple", "Tuple"):
            return {"type": "array"}
        if name in SETS:
            return {"type": "array", "uniqueItems": True}
        return {"type": "object"} if name in MAPS else self._unknown(node)

    def _assigned(self, name: str, node: ast.expr) -> JSONObject:
        """The schema of a type alias; one that refers to itself becomes a definition."""
        reference: JSONObject = {"$ref": f"#/$defs/{name}"}
        if name in self._open:
            self._definitions.setdefault(name, {})
            return reference
        schema = self._opened(name, node)
        if name not in self._definitions:
            return schema
        self._definitions[name] = {} if schema == reference else schema
        return dict(reference)

    def _opened(self, name: str, node: ast.expr) -> JSONObject:
        """The schema of the type behind a name; in it, the name itself is not understood again."""
        self._open.append(name)
        schema = self.convert(node)
        self._open.pop()
        return schema

    def _called(self, node: ast.Call) -> JSONObject:
        """The schema of a type that a call makes: ``NewType``, ``TypeVar``, ``conint`` and the like."""
        name, arguments = last_name(node.func), node.args
        if name in ("NewType", "TypeAliasType") and len(arguments) > 1:
            return self.convert(arguments[1])
        if name == "ForwardRef" and arguments:
            return self.convert(arguments[0])
        if name == "TypeVar":
            bound = next((word.value for word in node.keywords if word.arg == "bound"), None)
            return self.convert(bound) if bound is not None else self._union(arguments[1:]) if arguments[1:] else {}
        if name in CONSTRAINED:
            schema = dict(CONSTRAINED[name])
            if arguments and schema["type"] == "array":
                schema["items"] = self.convert(arguments[0])
            self._field(schema, ast.Call(ast.Name("Field"), [], node.keywords))
            return schema
        if name in ENUMS and len(arguments) > 1:
            return self._enum_of(arguments[1], name)
        if name == "TypedDict" and len(arguments) > 1 and isinstance(arguments[1], ast.Dict):
            total = not any(word.arg == "total" and literal(word.value) is False for word in node.keywords)
            return self.of_members(arguments[1], total)
        return self._unknown(node)

    def of_members(self, members: ast.Dict, total: bool = True) -> JSONObject:
        """The schema of an object whose members are written as a dict of types by their names."""
        properties: JSONObject = {}
        required: list[str] = []
        for key, annotation in zip(members.keys, members.values, strict=True):
            name = self._values.value(key) if key is not None else None
            if isinstance(name, str):
                properties[name] = self.convert(annotation)
                required += [name] if self._is_required(annotation, total) else []
        return object_schema(properties, required)

    def _enum_of(self, members: ast.expr, kind: str) -> JSONObject:
        """The values of ``Enum("Name", members)``."""
        listed = self._values.value(members)
        if isinstance(listed, str):
            listed = listed.replace(",", " ").split()
        if isinstance(listed, dict):
            return _choice(list(listed.values()))
        if not isinstance(listed, list):
            return self._unknown(members)
        pairs = [item[1] for item in listed if isinstance(item, list) and len(item) == 2]
        if pairs:
            return _choice(pairs)
        return _choice([str(item).lower() for item in listed] if kind == "StrEnum" else list(range(1, len(listed) + 1)))

    def _generic(self, name: str, parts: list[ast.expr], node: ast.expr) -> JSONObject:
        if name == "Literal":
            return self._literal(parts)
        if name == "Optional" and len(parts) == 1:
            return self._union([parts[0], ast.Constant(None)])
        if name == "Union":
            return self._union(parts)
        if name == "Annotated":
            return self._annotated(parts)
        if name in TRANSPARENT:
            return self.convert(parts[0])
        if name == "SkipJsonSchema":
            return {}
        if name in self._values.classes:
            return self._class(self._values.classes[name], parts)
        if name in LISTS:
            return {"type": "array", "items": self.convert(parts[0])}
        if name in SETS:
            return {"type": "array", "items": self.convert(parts[0]), "uniqueItems": True}
        if name in MAPS:
            keys = self.convert(parts[0]) if len(parts) == 2 else {}
            names = {"propertyNames": {"enum": keys["enum"]}} if "enum" in keys else {}
            return {"type": "object", **names, "additionalProperties": self.convert(parts[-1])}
        if name in ("tuple", "Tuple"):
            if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is Ellipsis:
                return {"type": "array", "items": self.convert(parts[0])}
            fixed = [self.convert(part) for part in parts]
            return {"type": "array", "prefixItems": fixed, "minItems": len(fixed), "maxItems": len(fixed)}
        return self._unknown(node)

    def _literal(self, parts: list[ast.expr]) -> JSONObject:
        values: list[JSON] = []
        for part in parts:
            inner = self._values.resolve(part)
            if isinstance(inner, ast.Subscript) and last_name(inner.value) == "Literal":
                values += self._literal(_parts(inner.slice)).get("enum", [])
                continue
            values.append(self._values.value(inner))
        values = [value for value in values if value is not NOT_CONSTANT]
        return _choice(values) if values else {}

    def _union(self, parts: list[ast.expr]) -> JSONObject:
        schemas: list[JSONObject] = []
        for part in parts:
            if isinstance(part, ast.Subscript) and last_name(part.value) == "SkipJsonSchema":
                continue
            schema = self.convert(part)
            if schema.keys() == {"type"} and isinstance(schema["type"], list):
                schemas += [{"type": kind} for kind in schema["type"]]
            else:
                schemas += schema["anyOf"] if schema.keys() == {"anyOf"} else [schema]
        unique = [schema for number, schema in enumerate(schemas) if schema not in schemas[:number]]
        if {} in unique:
            return {}
        if len(unique) == 1:
            return unique[0]
        names = [schema["type"] for schema in unique if isinstance(schema.get("type"), str)]
        if len(names) == len(unique) and all(schema.keys() == {"type"} for schema in unique):
            return {"type": names}
        if len(unique) == 2 and {"type": "null"} in unique:
            typed = next(schema for schema in unique if schema != {"type": "null"})
            if isinstance(typed.get("type"), str) and "const" not in typed:
                enum = {"enum": [*typed["enum"], None]} if "enum" in typed else {}
                return {**typed, "type": [typed["type"], "null"], **enum}
        return {"anyOf": unique}

    def _annotated(self, parts: list[ast.expr]) -> JSONObject:
        schema = self.convert(parts[0])
        for metadata in parts[1:]:
            extra = self._values.resolve(metadata)
            words = self._values.value(extra)
            if isinstance(words, str):
                described(schema, words)
            elif not isinstance(extra, ast.Call):
                continue
            elif last_name(extra.func) in ("Doc", "doc"):
                texts = [self._values.value(node) for node in [*extra.args, *(word.value for word in extra.keywords)]]
                described(schema, next((text for text in texts if isinstance(text, str)), ""))
            elif last_name(extra.func) == "WithJsonSchema" and extra.args:
                replacement = self._values.value(extra.args[0])
                schema = replacement if isinstance(replacement, dict) else schema
            else:
                self._field(schema, extra)
        return schema

    def _field(self, schema: JSONObject, call: ast.Call) -> None:
        """Add the constraints and words of ``Field(description=..., ge=...)`` and its like."""
        words = {word.arg: self._values.value(word.value) for word in call.keywords if word.arg}
        function = last_name(call.func)
        if function.lower() in BY_PLACE:
            words |= dict(zip(BY_PLACE[function.lower()], map(self._values.value, call.args), strict=False))
        elif call.args and function in FIELD_CALLS:
            words.setdefault("default", self._values.value(call.args[0]))
        for word, value in words.items():
            if value is NOT_CONSTANT or (value is None and word != "default"):
                continue
            if word == "description" and isinstance(value, str):
                schema.pop("description", None)
                described(schema, value)
            elif word in SIZES:
                schema[SIZES[word] + _size_of(schema)] = value
            elif word in FIELD_WORDS:
                schema[FIELD_WORDS[word]] = value
            elif word == "json_schema_extra" and isinstance(value, dict):
                schema |= value
            elif word == "default" and _is_given(call) and (value is not None or _allows_null(schema)):
                schema["default"] = value

    def _class(self, node: ast.ClassDef, arguments: list[ast.expr] | None = None) -> JSONObject:
        """A reference to a class of this text, which becomes a definition; an enumeration is its values."""
        bases = self._values.bases(node)
        if bases & ENUMS:
            return _choice(list(self._values.enum_members(node).values()))
        name, bound = node.name, self._bound
        if arguments:
            arguments = [self._bound.get(last_name(argument), argument) for argument in arguments]
            name = re.sub(r"\W+", "_", "_".join((name, *map(ast.unparse, arguments))))[:100].strip("_")
            self._bound = bound | dict(zip(_type_variables(node), arguments, strict=False))
        if name not in self._definitions:
            self._definitions[name] = {}  # before its fields: they may lead back here
            self._definitions[name] = self._tuple(node) if "NamedTuple" in bases else self.fields(node)
        self._bound = bound
        return {"$ref": f"#/$defs/{name}"}

    def fields(self, node: ast.ClassDef) -> JSONObject:
        """The schema of a class as an object."""
        settings = self._settings(node)
        documentation = read_docstring(ast.get_docstring(node))
        out: JSONObject = {"type": "object", "properties": {}}
        required: list[str] = []
        for field in self._members(node):
            name = _generated_alias(settings.get("alias_generator"), field.name) if field.name == field.own else None
            out["properties"][name or field.name] = field.schema
            required += [name or field.name] if field.required else []
        if required:
            out["required"] = required
        extra = literal(settings["extra"]) if "extra" in settings else None
        if extra in ("forbid", "allow"):
            out["additionalProperties"] = extra == "allow"
        if documentation.description:
            out["description"] = documentation.description
        return out

    def _members(self, node: ast.ClassDef) -> list[_Member]:
        """The fields of a class and of those that it derives from, each once."""
        documentation = read_docstring(ast.get_docstring(node))
        total = not any(word.arg == "total" and literal(word.value) is False for word in node.keywords)
        members: dict[str, _Member] = {}
        for base in reversed(node.bases):
            name = last_name(base.value if isinstance(base, ast.Subscript) else base)
            parent = self._values.classes.get(name)
            if parent is None or parent is node or name in self._open or self._values.is_exhausted():
                continue
            bound = self._bound
            if isinstance(base, ast.Subscript):
                self._bound = bound | dict(zip(_type_variables(parent), _parts(base.slice), strict=False))
            self._open.append(name)
            members |= {member.own: member for member in self._members(parent)}
            self._open.pop()
            self._bound = bound
        for number, line in enumerate(node.body):
            if not isinstance(line, ast.AnnAssign) or not isinstance(line.target, ast.Name):
                continue
            own, outer = line.target.id, last_name(getattr(line.annotation, "value", line.annotation))
            if own.startswith("_") or own == "model_config" or outer == "ClassVar" or _is_no_argument(line.value):
                continue
            if self.is_injected("", line.annotation):
                self._collector.note(f"{self._where}: “{own}” is left out, since a framework fills it in")
                continue
            field = self.parameter(line.annotation, line.value, own)
            described(field.schema, documentation.parameters.get(own) or _text_after(node.body, number))
            required = field.required and self._is_required(line.annotation, total)
            members[own] = _Member(own, field.name, field.schema, required)
        return list(members.values())

    def _tuple(self, node: ast.ClassDef) -> JSONObject:
        """The schema of a NamedTuple: an array with a place for each field."""
        members = self._members(node)
        least = sum(member.required for member in members)
        places = [{"title": member.own, **member.schema} for member in members]
        return {"type": "array", "prefixItems": places, "minItems": least, "maxItems": len(places)}

    def _is_required(self, annotation: ast.expr, total: bool) -> bool:
        """Return whether a member of a TypedDict is required: as it says itself, or else as its class says."""
        node = _unquoted(self._values.resolve(annotation))
        while isinstance(node, ast.Subscript) and (last_name(node.value) in TRANSPARENT | {"Annotated"}):
            if last_name(node.value) in REQUIREMENT:
                return last_name(node.value) == "Required"
            node = _unquoted(_parts(node.slice)[0])
        return total

    def _settings(self, node: ast.ClassDef) -> dict[str, ast.expr]:
        """The settings of a pydantic model: of its bases, its ``model_config`` or ``Config``, and its head."""
        out: dict[str, ast.expr] = {}
        for base in reversed(node.bases):
            parent = self._values.classes.get(last_name(base))
            if parent is None or parent is node or self._values.is_exhausted():
                continue
            if parent.name not in self._open:
                self._open.append(parent.name)
                out |= self._settings(parent)
                self._open.pop()
        for line in node.body:
            if isinstance(line, ast.ClassDef) and line.name == "Config":
                inner = [it for it in line.body if isinstance(it, ast.Assign)]
                out |= {last_name(it.targets[0]): it.value for it in inner}
            target = line.targets[0] if isinstance(line, ast.Assign) else getattr(line, "target", None)
            value = getattr(line, "value", None)
            if last_name(target) == "model_config" and isinstance(value, ast.Call):
                out |= {word.arg: word.value for word in value.keywords if word.arg}
            elif last_name(target) == "model_config" and isinstance(value, ast.Dict):
                pairs = zip(value.keys, value.values, strict=True)
                out |= {str(literal(key)): inner for key, inner in pairs if key is not None}
        return out | {word.arg: word.value for word in node.keywords if word.arg}

    def _unknown(self, node: ast.expr) -> JSONObject:
        text = ast.unparse(node)
        short = cut(text, 60)
        self._collector.note(f"{self._where}: the type “{short}” is unknown, so any value is allowed")
        return {}


class _Member(NamedTuple):
    """A field of a class: the name that the class has for it, and the one by which it is given."""

    own: str
    name: str
    schema: JSONObject
    required: bool


def described(schema: JSONObject, words: str) -> None:
    """Put a description first, unless there is one."""
    if words and "description" not in schema:
        rest = dict(schema)
        schema.clear()
        schema |= {key: rest.pop(key) for key in ("$ref", "type") if key in rest}
        schema |= {"description": words, **rest}


def _has_default(call: ast.Call) -> bool:
    names = {word.arg for word in call.keywords}
    if names & {"default_factory", "factory"}:
        return True
    return _is_given(call) and ("default" in names or bool(call.args))


def _is_given(call: ast.Call) -> bool:
    """Return whether the default of a field is a value, not the dots that mean there is none."""
    defaults = [word.value for word in call.keywords if word.arg == "default"] or call.args[:1]
    return not any(
        (isinstance(node, ast.Constant) and node.value is Ellipsis) or last_name(node) in NO_DEFAULT
        for node in defaults
    )


def _is_no_argument(default: ast.expr | None) -> bool:
    """Return whether a field is none that a caller gives: ``field(init=False)``, ``PrivateAttr()``."""
    if not isinstance(default, ast.Call):
        return False
    is_out = any(word.arg == "init" and literal(word.value) is False for word in default.keywords)
    return is_out or last_name(default.func) == "PrivateAttr"


def _generated_alias(generator: ast.expr | None, name: str) -> str | None:
    """The name that one of pydantic's generators makes of a field's; None for any other generator."""
    kind = last_name(generator)
    if isinstance(generator, ast.Call):  # AliasGenerator(validation_alias=to_camel)
        words = {word.arg: last_name(word.value) for word in generator.keywords}
        kind = words.get("validation_alias") or words.get("alias") or ""
    if kind not in ("to_camel", "to_pascal", "to_lower_camel"):
        return None
    joined = "".join(word[:1].upper() + word[1:] for word in name.split("_"))
    return joined if kind == "to_pascal" else joined[:1].lower() + joined[1:]


def _type_variables(node: ast.ClassDef) -> list[str]:
    """The names of the type variables of a generic class."""
    declared = [variable.name for variable in getattr(node, "type_params", ())]
    generics = [base for base in node.bases if isinstance(base, ast.Subscript)]
    own = [base for base in generics if last_name(base.value) in ("Generic", "Protocol")]
    return declared or [last_name(part) for base in own or generics for part in _parts(base.slice)]


def _unquoted(node: ast.expr) -> ast.expr:
    """The expression in an annotation that is written as a text; any other node as it is."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return node
    try:
        return parse_expression(node.value)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Name(cut(node.value, 60))


def _choice(values: list[JSON]) -> JSONObject:
    """The schema of a value that is one of ``values``."""
    unique = list({json.dumps(value, sort_keys=True): value for value in values}.values())
    return {**_type_of(*unique), "enum": unique}


def _size_of(schema: JSONObject) -> str:
    """The end of the keyword that limits the size of what a schema allows."""
    listed = [schema.get("type"), *(part.get("type") for part in schema.get("anyOf", ()))]
    kinds = {kind for it in listed for kind in (it if isinstance(it, list) else [it])}
    return "Items" if "array" in kinds else "Properties" if "object" in kinds else "Length"


def _allows_null(schema: JSONObject) -> bool:
    kind = schema.get("type")
    return kind == "null" or (isinstance(kind, list) and "null" in kind) or {"type": "null"} in schema.get("anyOf", [])


def _type_of(*values: JSON) -> JSONObject:
    """The type that all these values share; nothing when they share none."""
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    kinds = list(dict.fromkeys(names.get(type(value), "null") for value in values))
    return {} if not kinds else {"type": kinds[0] if len(kinds) == 1 else kinds}


def _parts(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _text_after(body: list[ast.stmt], number: int) -> str:
    """The text literal under a field, by custom its documentation."""
    following = body[number + 1] if number + 1 < len(body) else None
    value = following.value if isinstance(following, ast.Expr) else None
    return value.value.strip() if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""
