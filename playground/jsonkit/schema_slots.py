"""The table of editors for the keywords of a JSON Schema; keywords without a row are shown as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from playground.jsonkit.validation import TYPES
from playground.jsonkit.values import JSON, JSONObject, Path, is_number


@dataclass(frozen=True, slots=True)
class Slot:
    """A keyword of a subschema: its path, whether it is present, its value and its editor.

    ``editor``: text, lines, number, count, flag, types, choices, json. ``editable`` is False for keywords that the form
    only names ("shown as JSON").
    """

    keyword: str
    path: Path
    editor: str
    present: bool
    value: JSON
    label: str
    editable: bool


#: keyword -> editor, words; in the order of the form.
KEYWORDS: Final[dict[str, tuple[str, str]]] = {
    "description": ("lines", "Description"),
    "title": ("text", "Title"),
    "type": ("types", "Type"),
    "$ref": ("text", "Refers to"),
    "enum": ("choices", "Allowed values"),
    "const": ("json", "Always"),
    "default": ("json", "Default"),
    "format": ("text", "Format"),
    "pattern": ("text", "Pattern"),
    "minLength": ("count", "Shortest"),
    "maxLength": ("count", "Longest"),
    "minimum": ("number", "At least"),
    "maximum": ("number", "At most"),
    "exclusiveMinimum": ("number", "More than"),
    "exclusiveMaximum": ("number", "Less than"),
    "multipleOf": ("number", "Multiple of"),
    "minItems": ("count", "Fewest items"),
    "maxItems": ("count", "Most items"),
    "uniqueItems": ("flag", "No item twice"),
    "minProperties": ("count", "Fewest names"),
    "maxProperties": ("count", "Most names"),
    "additionalProperties": ("flag", "Other names allowed"),
    "deprecated": ("flag", "Deprecated"),
    "examples": ("json", "Examples"),
}
_OFFERED: Final[dict[str, tuple[str, ...]]] = {
    "string": ("enum", "default", "format", "pattern", "minLength", "maxLength"),
    "number": ("enum", "default", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "integer": ("enum", "default", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "boolean": ("default",),
    "array": ("default", "minItems", "maxItems", "uniqueItems"),
    "object": ("default", "minProperties", "maxProperties", "additionalProperties"),
    "null": (),
}
_ALWAYS: Final = ("description", "title", "examples")
_UNIONS_KEEP: Final = ("default",)
_DEFAULTS: Final = {"string": "text", "integer": "number", "number": "number", "boolean": "flag"}
#: Keywords whose content becomes fields if it has this type.
_STRUCTURE: Final[dict[str, type | tuple[type, ...]]] = {
    "properties": dict,
    "patternProperties": dict,
    "$defs": dict,
    "definitions": dict,
    "prefixItems": list,
    "anyOf": list,
    "oneOf": list,
    "allOf": list,
    "items": (dict, bool, list),
    "additionalItems": (dict, bool),
}


def slots_of(schema: JSON, path: Path, core: Path, kind: str, types: tuple[str, ...]) -> tuple[Slot, ...]:
    """Return the slots of a subschema at ``path``; ``core``: the path of its branch that is not null, or ``path``."""
    if not isinstance(schema, dict):
        return ()
    if core == path:
        return tuple(_slots(schema, path, _offered(kind, types), types))
    union, number = core[-2], core[-1]
    inner = schema[union][number]
    outer = _slots(schema, path, ("description", "title", "default", "examples"), types)
    names = {slot.keyword for slot in outer}
    core_slots = [
        slot if slot.keyword not in names else _hidden(slot)
        for slot in _slots(inner, core, _offered(kind, types), types)
        if slot.present or slot.keyword not in names
    ]
    null = schema[union][1 - int(number)]
    rest = [_hidden(slot) for slot in _slots(null, (*path, union, 1 - int(number)), (), ()) if slot.keyword != "type"]
    return (*outer, *core_slots, *rest)


def types_in(schema: JSONObject) -> tuple[str, ...]:
    """Return the types that a schema names; empty if it names none or an unknown one."""
    declared = schema.get("type")
    names = [declared] if isinstance(declared, str) else declared if isinstance(declared, list) else []
    return tuple(names) if all(isinstance(name, str) and name in TYPES for name in names) else ()


def _offered(kind: str, types: tuple[str, ...]) -> tuple[str, ...]:
    if kind in ("ref", "union"):
        return (*_ALWAYS, *_UNIONS_KEEP)
    if kind == "constant":
        return (*_ALWAYS, "const")
    names = types or (kind,)
    keywords = dict.fromkeys(word for name in names for word in _OFFERED.get(name, ("enum", "default")))
    return (*_ALWAYS, "type", *keywords)


def _slots(schema: JSONObject, path: Path, offered: tuple[str, ...], types: tuple[str, ...]) -> list[Slot]:
    out: list[Slot] = []
    for keyword, (usual, label) in KEYWORDS.items():
        editor, present = usual, keyword in schema
        value = schema.get(keyword)
        if not present and keyword not in offered:
            continue
        if keyword == "additionalProperties" and isinstance(value, dict):
            continue  # becomes a field
        if keyword.startswith("exclusive") and isinstance(value, bool):  # draft-04
            editor = "flag"
        if keyword == "default":
            editor = _default_editor(types, present, value)
        fits = not present or _fits(editor, value)
        out.append(Slot(keyword, (*path, keyword), editor if fits else "json", present, value, label, fits))
    for keyword, value in schema.items():
        if keyword not in KEYWORDS and not _structural(schema, keyword, value):
            out.append(Slot(keyword, (*path, keyword), "json", True, value, keyword, False))
    return out


def _default_editor(types: tuple[str, ...], present: bool, value: JSON) -> str:
    plain = [name for name in types if name != "null"]
    editor = _DEFAULTS.get(plain[0], "json") if len(plain) == 1 else "json"
    return editor if not present or (_fits(editor, value) and value != "") else "json"


def _fits(editor: str, value: JSON) -> bool:
    number = is_number(value)
    match editor:
        case "text" | "lines":
            return isinstance(value, str)
        case "number":
            return number
        case "count":
            return number and isinstance(value, int) and value >= 0
        case "flag":
            return isinstance(value, bool)
        case "types":
            return bool(types_in({"type": value}))
        case "choices":
            return isinstance(value, list)
        case _:
            return True


def _structural(schema: JSONObject, keyword: str, value: JSON) -> bool:
    if keyword == "required" and isinstance(value, list):
        properties = schema.get("properties")
        names = properties if isinstance(properties, dict) else {}
        return all(isinstance(name, str) and name in names for name in value)
    if keyword == "additionalItems" and not isinstance(schema.get("items"), list):
        return False  # without effect
    shape = _STRUCTURE.get(keyword)
    return shape is not None and isinstance(value, shape)


def _hidden(slot: Slot) -> Slot:
    return Slot(slot.keyword, slot.path, "json", slot.present, slot.value, slot.label, False)
