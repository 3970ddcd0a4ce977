"""JSON Schema from Python annotations as they are written: names are read, never looked up in a running Python.

Classes of the same text (TypedDict, dataclass, BaseModel, Enum) become definitions, recursion included.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Final

from playground.engine.files.tool_import.docstrings import read_docstring
from playground.engine.files.tool_import.found import ToolCollector
from playground.jsonkit.texts import cut
from playground.jsonkit.values import JSON, JSONObject

_SIMPLE: Final[dict[str, JSONObject]] = {
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
}
_LISTS: Final = frozenset(
    ("list", "List", "Sequence", "MutableSequence", "Iterable", "Iterator", "Collection", "deque", "array")
)
_SETS: Final = frozenset(("set", "Set", "frozenset", "FrozenSet", "AbstractSet", "MutableSet"))
_MAPS: Final = frozenset(("dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict"))
_THROUGH: Final = frozenset(("Required", "NotRequired", "ReadOnly", "Final", "ClassVar", "Unpack"))
_ENUMS: Final = frozenset(("Enum", "StrEnum", "IntEnum"))
_FIELD_WORDS: Final = {
    "ge": "minimum",
    "le": "maximum",
    "gt": "exclusiveMinimum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "pattern": "pattern",
    "regex": "pattern",
    "title": "title",
    "examples": "examples",
}
_SIZES: Final = {"min_length": ("minLength", "minItems"), "max_length": ("maxLength", "maxItems")}
_NOT_CONSTANT: Final = object()


class Types:
    """The annotations of one source. ``found`` takes the notes about what is not understood."""

    def __init__(self, module: ast.Module, found: ToolCollector) -> None:
        self._found = found
        self._where = ""
        self._classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
        self._aliases = {
            target.id: node.value
            for node in module.body
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        self._open: list[str] = []
        self._definitions: JSONObject = {}

    def begin(self, function: str) -> None:
        """What follows is about this function, and has its own definitions."""
        self._where = function
        self._definitions = {}

    def definitions(self) -> JSONObject:
        """The classes that were referred to since ``begin``."""
        return self._definitions

    def parameter(self, annotation: ast.expr | None, default: ast.expr | None, name: str) -> tuple[JSONObject, bool]:
        """The schema of a parameter or field with its default, and whether it is required."""
        schema = self.of(annotation) if annotation is not None else {}
        call = default if isinstance(default, ast.Call) and _name(default.func) in ("Field", "field", "Query") else None
        if call is not None:
            self._field(schema, call)
            return schema, not _has_default(call, schema)
        if default is None:
            return schema, True
        value = constant(default)
        if isinstance(default, ast.Constant) and default.value is Ellipsis:
            return schema, True
        if value is _NOT_CONSTANT:
            value = self._enum_member(default)
        if value is _NOT_CONSTANT:
            self._found.note(f"{self._where}: the default of “{name}” is worked out by the program and left out")
        elif value is not None or _allows_null(schema) or not schema:
            schema["default"] = value
        if not schema.keys() - {"default"} and value is not None and value is not _NOT_CONSTANT:
            schema |= {**_type_of(value), **schema}
        return schema, False

    def of_text(self, text: str) -> JSONObject:
        """The schema of a type as a docstring writes it; empty where it is only prose."""
        listed = re.match(r"(?:list|sequence|array)\s+of\s+(\w+?)s?$", text.strip(), re.IGNORECASE)
        if listed:
            return {"type": "array", "items": self.of_text(listed[1])}
        try:
            node = ast.parse(text.strip().replace(" or ", " | "), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return {}
        quiet = Types(ast.Module([], []), ToolCollector())
        quiet._classes, quiet._aliases, quiet._definitions = self._classes, self._aliases, self._definitions
        return quiet.of(node)

    def of(self, node: ast.expr) -> JSONObject:
        """The schema of an annotation; a new one each time."""
        if isinstance(node, ast.Constant):
            if node.value is None:
                return {"type": "null"}
            if isinstance(node.value, str):
                try:
                    return self.of(ast.parse(node.value.strip(), mode="eval").body)
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    return self._unknown(node)
        if isinstance(node, ast.Name | ast.Attribute):
            return self._named(_name(node), node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self._union([node.left, node.right])
        if isinstance(node, ast.Subscript):
            return self._generic(_name(node.value), _parts(node.slice), node)
        return self._unknown(node)

    def _named(self, name: str, node: ast.expr) -> JSONObject:
        if name in self._classes:
            return self._class(self._classes[name])
        if name in self._aliases and name not in self._open:
            self._open.append(name)
            schema = self.of(self._aliases[name])
            self._open.pop()
            return schema
        if name in _SIMPLE:
            return dict(_SIMPLE[name])
        if name in _LISTS or name in ("tuple", "Tuple"):
            return {"type": "array"}
        if name in _SETS:
            return {"type": "array", "uniqueItems": True}
        return {"type": "object"} if name in _MAPS else self._unknown(node)

    def _generic(self, name: str, parts: list[ast.expr], node: ast.expr) -> JSONObject:
        if name == "Literal":
            return self._literal(parts)
        if name == "Optional" and len(parts) == 1:
            return self._union([parts[0], ast.Constant(None)])
        if name == "Union":
            return self._union(parts)
        if name == "Annotated":
            return self._annotated(parts)
        if name in _THROUGH:
            return self.of(parts[0])
        if name in _LISTS:
            return {"type": "array", "items": self.of(parts[0])}
        if name in _SETS:
            return {"type": "array", "items": self.of(parts[0]), "uniqueItems": True}
        if name in _MAPS:
            return {"type": "object", "additionalProperties": self.of(parts[-1])}
        if name in ("tuple", "Tuple"):
            if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is Ellipsis:
                return {"type": "array", "items": self.of(parts[0])}
            fixed = [self.of(part) for part in parts]
            return {"type": "array", "prefixItems": fixed, "minItems": len(fixed), "maxItems": len(fixed)}
        return self._unknown(node)

    def _literal(self, parts: list[ast.expr]) -> JSONObject:
        values: list[JSON] = []
        for part in parts:
            if isinstance(part, ast.Subscript) and _name(part.value) == "Literal":
                values += self._literal(_parts(part.slice)).get("enum", [])
                continue
            value = constant(part)
            values.append(self._enum_member(part) if value is _NOT_CONSTANT else value)
        values = [value for value in values if value is not _NOT_CONSTANT]
        return {**_type_of(*values), "enum": values} if values else {}

    def _union(self, parts: list[ast.expr]) -> JSONObject:
        schemas: list[JSONObject] = []
        for part in parts:
            schema = self.of(part)
            schemas += schema["anyOf"] if schema.keys() == {"anyOf"} else [schema]
        unique = [schema for number, schema in enumerate(schemas) if schema not in schemas[:number]]
        if {} in unique:
            return {}
        if len(unique) == 1:
            return unique[0]
        names = [kind for one in unique for kind in ([one["type"]] if isinstance(one.get("type"), str) else [])]
        if len(names) == len(unique) and all(one.keys() == {"type"} for one in unique):
            return {"type": names}
        if len(unique) == 2 and {"type": "null"} in unique:
            other = next(one for one in unique if one != {"type": "null"})
            if isinstance(other.get("type"), str) and "const" not in other:
                enum = {"enum": [*other["enum"], None]} if "enum" in other else {}
                return {**other, "type": [other["type"], "null"], **enum}
        return {"anyOf": unique}

    def _annotated(self, parts: list[ast.expr]) -> JSONObject:
        schema = self.of(parts[0])
        for extra in parts[1:]:
            words = constant(extra)
            if isinstance(words, str):
                described(schema, words)
            elif isinstance(extra, ast.Call) and _name(extra.func) in ("Doc", "doc"):
                described(schema, next((text for a in extra.args if isinstance(text := constant(a), str)), ""))
            elif isinstance(extra, ast.Call):
                self._field(schema, extra)
        return schema

    def _field(self, schema: JSONObject, call: ast.Call) -> None:
        """What ``Field(description=..., ge=...)`` and its like say."""
        words = {word.arg: constant(word.value) for word in call.keywords if word.arg}
        function = _name(call.func).lower()
        if function in _FIELD_WORDS and len(call.args) == 1:  # Ge(0), Gt(0) of annotated_types
            words[function] = constant(call.args[0])
        elif call.args and function in ("field", "query"):
            words.setdefault("default", constant(call.args[0]))
        for word, value in words.items():
            if value is _NOT_CONSTANT or (value is None and word != "default"):
                continue
            if word == "description" and isinstance(value, str):
                described(schema, value)
            elif word in _SIZES:
                schema[_SIZES[word][schema.get("type") == "array"]] = value
            elif word in _FIELD_WORDS:
                schema[_FIELD_WORDS[word]] = value
            elif word == "default" and (value is not None or _allows_null(schema)):
                schema["default"] = value

    def _class(self, node: ast.ClassDef) -> JSONObject:
        """A reference to a class of this text, which becomes a definition; an Enum is its values."""
        bases = {_name(base) for base in node.bases}
        if bases & _ENUMS:
            values = [constant(line.value) for line in node.body if isinstance(line, ast.Assign)]
            values = [value for value in values if value is not _NOT_CONSTANT]
            return {**_type_of(*values), "enum": values}
        if node.name not in self._definitions:
            self._definitions[node.name] = {}  # before its fields: they may lead back here
            self._definitions[node.name] = self._fields(node)
        return {"$ref": f"#/$defs/{node.name}"}

    def _fields(self, node: ast.ClassDef) -> JSONObject:
        documentation = read_docstring(ast.get_docstring(node))
        total = not any(word.arg == "total" and constant(word.value) is False for word in node.keywords)
        properties: JSONObject = {}
        required: list[str] = []
        for base in node.bases:
            parent = self._classes.get(_name(base))
            if parent is not None and parent is not node and _name(base) not in self._open:
                self._open.append(_name(base))
                above = self._fields(parent)
                self._open.pop()
                properties |= above["properties"]
                required += above.get("required", [])
        for number, line in enumerate(node.body):
            if not isinstance(line, ast.AnnAssign) or not isinstance(line.target, ast.Name):
                continue
            name, outer = line.target.id, _name(getattr(line.annotation, "value", line.annotation))
            if name.startswith("_") or outer == "ClassVar":
                continue
            schema, is_required = self.parameter(line.annotation, line.value, name)
            words = documentation.parameters.get(name) or _text_after(node.body, number)
            if words:
                described(schema, words)
            properties[name] = schema
            if is_required and outer != "NotRequired" and (total or outer == "Required"):
                required.append(name)
        out: JSONObject = {"type": "object", "properties": properties}
        if required:
            out["required"] = list(dict.fromkeys(required))
        if documentation.description:
            out["description"] = documentation.description
        return out

    def _enum_member(self, node: ast.expr) -> JSON:
        """The value of ``Unit.CELSIUS``, where ``Unit`` is an Enum of this text."""
        if isinstance(node, ast.Attribute) and node.attr == "value":
            node = node.value
        if isinstance(node, ast.Attribute):
            owner = self._classes.get(_name(node.value))
            for line in owner.body if owner is not None else ():
                if isinstance(line, ast.Assign) and any(_name(target) == node.attr for target in line.targets):
                    return constant(line.value)
        return _NOT_CONSTANT

    def _unknown(self, node: ast.expr) -> JSONObject:
        text = ast.unparse(node)
        short = cut(text, 60)
        self._found.note(f"{self._where}: the type “{short}” is not known here, so any value is allowed")
        return {}


def described(schema: JSONObject, words: str) -> None:
    """Put a description first, unless there is one."""
    if words and "description" not in schema:
        rest = dict(schema)
        schema.clear()
        schema |= {key: rest.pop(key) for key in ("$ref", "type") if key in rest}
        schema |= {"description": words, **rest}


def constant(node: ast.expr) -> JSON:
    """The JSON value of a literal; a marker of its own for what is none."""
    try:
        value = ast.literal_eval(node)
        if isinstance(value, set | frozenset):
            value = sorted(value)
        return json.loads(json.dumps(value, allow_nan=False))
    except (ValueError, TypeError, RecursionError, MemoryError):
        return _NOT_CONSTANT


def _has_default(call: ast.Call, schema: JSONObject) -> bool:
    names = {word.arg for word in call.keywords}
    if "default_factory" in names or "default" in schema:
        return True
    if "default" in names:
        return not any(_dots(word.value) for word in call.keywords if word.arg == "default")
    return bool(call.args) and not _dots(call.args[0])


def _dots(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _allows_null(schema: JSONObject) -> bool:
    kind = schema.get("type")
    return kind == "null" or (isinstance(kind, list) and "null" in kind) or {"type": "null"} in schema.get("anyOf", [])


def _type_of(*values: JSON) -> JSONObject:
    """The type that all these values share; nothing when they share none."""
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    kinds = list(dict.fromkeys(names.get(type(value), "null") for value in values))
    return {} if not kinds else {"type": kinds[0] if len(kinds) == 1 else kinds}


def _name(node: ast.expr) -> str:
    """The last part of a dotted name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _parts(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _text_after(body: list[ast.stmt], number: int) -> str:
    """The text literal under a field, by custom its documentation."""
    following = body[number + 1] if number + 1 < len(body) else None
    value = following.value if isinstance(following, ast.Expr) else None
    return value.value.strip() if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""
