"""A value that fits a JSON schema, made from the schema and from words of the prompt.

It covers what people write for tools and structured answers: types, enum and const, $ref, objects, arrays, bounds,
formats, simple patterns, allOf, anyOf and oneOf. What is made is tried against the schema, and made again with other
draws when it does not fit.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from playground.demo import from_pattern
from playground.demo.dice import Dice

# Schemas come from outside and have no fixed shape, so they are Any here.
Schema = Any
_ATTEMPTS = 12
_MOST_VALUES = 5000
_MOST_REFS = 24
_DEEPEST = 8  # below this, everything that may be left out is

_FORMATS = {
    "date": "2026-03-14",
    "time": "09:26:53Z",
    "date-time": "2026-03-14T09:26:53Z",
    "duration": "PT90M",
    "email": "zoe@example.org",
    "idn-email": "zoe@example.org",
    "hostname": "gateway.example",
    "ipv4": "192.0.2.7",
    "ipv6": "2001:db8::7",
    "uri": "https://example.org/demo",
    "uri-reference": "/demo",
    "iri": "https://example.org/日本",
    "uuid": "3f2b8c1e-5d4a-4e7b-9c60-1a2b3c4d5e6f",
    "json-pointer": "/demo/0",
    "regex": "^demo$",
}
_BY_NAME = {
    "name": ("Zoé", "Haruki", "Ingrid"),
    "first_name": ("Zoé", "Haruki", "Ingrid"),
    "last_name": ("Moreau", "Tanaka", "Berg"),
    "title": ("A café in Lisbon", "Notes from 日本", "Two rivers"),
    "city": ("Lisbon", "Oslo", "Kyōto"),
    "location": ("Lisbon", "Oslo", "Kyōto"),
    "country": ("Portugal", "Norway", "Japan"),
    "language": ("English", "português", "日本語"),
    "email": ("zoe@example.org",),
    "url": ("https://example.org/demo",),
    "date": ("2026-03-14",),
    "description": ("A short description, made by the demo gateway.",),
    "summary": ("A short summary, made by the demo gateway.",),
    "color": ("teal", "amber", "violet"),
    "currency": ("EUR", "NOK", "JPY"),
    "phone": ("+351 210 000 000",),
}
_PLAIN = ("sample text", "déjà vu", "north → south", "a quiet morning")


def fits(value: object, schema: Schema) -> bool:
    """Whether ``value`` fits ``schema``; a schema that cannot be used fits nothing.

    One with many references is not asked: it can be made so that asking takes for ever.
    """
    from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError  # late: only answers in JSON need it

    try:
        if json.dumps(schema).count('"$ref"') > _MOST_REFS:
            return True
        return Draft202012Validator(schema, pattern_options=RegexOptions(), offline=True).is_valid(value)
    except (ValidationError, RecursionError, ValueError, TypeError, ArithmeticError):
        return False


def fault(schema: object) -> str | None:
    """Why ``schema`` is not a JSON schema, in a sentence; None when it is one."""
    from jsonschema_rs import Draft202012Validator, ReferencingError, ValidationError

    try:
        meta = Draft202012Validator({"$ref": "https://json-schema.org/draft/2020-12/schema"}, offline=True)
        wrong = min(meta.iter_errors(schema), key=lambda error: len(error.instance_path), default=None)
        if wrong is None and isinstance(schema, dict | bool):
            Draft202012Validator(schema, offline=True)
    except ValidationError as error:
        wrong = error if error.kind.name == "format" else None
    except (ReferencingError, ValueError):
        return None  # what it refers to is looked at when it is needed
    if wrong is None:
        return None
    if wrong.kind.name == "format":
        return f"a pattern is not a regular expression: {wrong.instance}"
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in wrong.instance_path)
    return f"{wrong.message} (at ${where})"


def generate(schema: Schema, dice: Dice, prompt: str = "") -> Any:
    """A value for ``schema``; the best try when none fits, as with a schema nothing can satisfy."""
    value: object = None
    for attempt in range(_ATTEMPTS):
        try:
            value = _Maker(schema, dice, prompt, attempt).make(schema, "", 0)
        except (RecursionError, _EndlessError, ArithmeticError):  # a schema beyond all measure
            continue
        if fits(value, schema):
            break
    return value


class _EndlessError(Exception):
    """The value would grow beyond all use."""


class _Maker:
    """One try; later attempts leave out optional fields and draw other values."""

    def __init__(self, root: Schema, dice: Dice, prompt: str, attempt: int) -> None:
        self._root = root
        self._dice = dice
        self._prompt = prompt
        self._attempt = attempt
        self._made = 0

    def make(self, schema: Schema, name: str, depth: int) -> Any:
        self._made += 1
        if self._made > _MOST_VALUES:
            raise _EndlessError
        schema = self._resolved(schema)
        if not isinstance(schema, Mapping):
            return self._dice.choice(_PLAIN)
        if "const" in schema:
            return schema["const"]
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return self._from_enum(schema["enum"])
        if "default" in schema and self._attempt == 0:
            return schema["default"]
        examples = schema.get("examples")
        if isinstance(examples, list) and examples and self._attempt < 2:
            return self._dice.choice(examples)
        kind = self._kind(schema, depth)
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return self._array(schema, name, depth)
        if kind in ("integer", "number"):
            return self._number(schema, whole=kind == "integer")
        if kind == "boolean":
            return self._dice.random() < 0.5
        if kind == "null":
            return None
        return self._string(schema, name)

    def _resolved(self, schema: Schema) -> Schema:
        """Follow $ref inside the document and fold allOf, anyOf, oneOf and if into one plain schema."""
        for _ in range(24):
            if not isinstance(schema, Mapping):
                return schema
            here = dict(schema)
            if isinstance(here.get("$ref"), str):
                target = self._target(here.pop("$ref"))
                schema = _merged(target, here) if isinstance(target, Mapping) else here
            elif isinstance(here.get("allOf"), list) and here["allOf"]:
                folded: Schema = {key: value for key, value in here.items() if key != "allOf"}
                for part in here["allOf"]:
                    folded = _merged(folded, self._resolved(part))
                schema = folded
            elif union := next((key for key in ("anyOf", "oneOf") if isinstance(here.get(key), list)), ""):
                branches = here.pop(union) or [{}]
                # The first branch first; later attempts try the others.
                branch = branches[self._attempt % len(branches)] if self._attempt else branches[0]
                schema = _merged(here, self._resolved(branch))
            else:
                return here
        return schema

    def _target(self, reference: str) -> Schema:
        node: Any = self._root
        if reference in ("#", ""):
            return node
        if not reference.startswith("#/"):
            return {}
        for step in reference[2:].split("/"):
            key = step.replace("~1", "/").replace("~0", "~").replace("%20", " ")
            if isinstance(node, Mapping) and key in node:
                node = node[key]
            elif isinstance(node, list) and key.isdigit() and int(key) < len(node):
                node = node[int(key)]
            else:
                return {}
        return node

    def _kind(self, schema: Mapping[str, Any], depth: int) -> str:
        kind = schema.get("type")
        if isinstance(kind, list) and kind:
            ordinary = [one for one in kind if one != "null"]
            return "null" if (depth > _DEEPEST and "null" in kind) or not ordinary else str(ordinary[0])
        if isinstance(kind, str):
            return kind
        for guess, words in (
            ("object", ("properties", "required", "additionalProperties", "minProperties")),
            ("array", ("items", "prefixItems", "minItems", "maxItems", "contains")),
            ("number", ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum")),
        ):
            if any(word in schema for word in words):
                return guess
        return "string"

    def _from_enum(self, values: list[Any]) -> Any:
        spoken = self._prompt.casefold()
        for value in values:
            if isinstance(value, str) and value and value.casefold() in spoken:
                return value
        return values[0] if self._attempt == 0 else self._dice.choice(values)

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        properties = schema.get("properties")
        properties = properties if isinstance(properties, Mapping) else {}
        required = [key for key in schema.get("required") or () if isinstance(key, str)]
        spare = depth > _DEEPEST or self._attempt > 5
        wanted = [key for key in properties if key in required or not spare]
        if depth > 3:  # keep recursive schemas small
            wanted = [key for key in wanted if key in required or self._dice.random() < 0.4]
        most = schema.get("maxProperties")
        if isinstance(most, int):
            optional = [key for key in wanted if key not in required]
            wanted = [key for key in wanted if key in required or key in optional[: max(0, most - len(required))]]
        made = {key: self.make(properties[key], key, depth + 1) for key in wanted if properties[key] is not False}
        extra = schema.get("additionalProperties", True)
        for key in required:
            if key not in made:
                made[key] = self.make(extra if isinstance(extra, Mapping) else {"type": "string"}, key, depth + 1)
        fewest = schema.get("minProperties", 1 if isinstance(extra, Mapping) and not properties and not spare else 0)
        for number in range(1, 1 + min(int(fewest) - len(made), 100)):
            made[f"key_{number}"] = self.make(extra if isinstance(extra, Mapping) else {}, "", depth + 1)
        return made

    def _array(self, schema: Mapping[str, Any], name: str, depth: int) -> list[Any]:
        fewest = min(int(schema.get("minItems", 0)), 1000)
        most = int(schema.get("maxItems", max(fewest, 3)))
        wanted = fewest if depth > 3 else max(fewest, min(most, 2 + self._dice.randint(0, 1)))
        leading = schema.get("prefixItems")
        leading = leading if isinstance(leading, list) else []
        items = schema.get("items", {"type": "string"})
        if items is False or (leading and "items" not in schema):
            wanted = max(fewest, min(len(leading), most))
        made: list[Any] = []
        unique = schema.get("uniqueItems") is True
        # Several draws for each place: a list of distinct things may meet the same thing twice.
        for _ in range(wanted * 20):
            if len(made) >= wanted:
                break
            part = leading[len(made)] if len(made) < len(leading) else items
            value = self.make(part, name.removesuffix("s"), depth + 1)
            if unique and value in made:
                value = self._other(part, value, len(made))
            if not unique or value not in made:
                made.append(value)
        if isinstance(schema.get("contains"), Mapping) and most > 0:
            made[-1:] = [self.make(schema["contains"], name, depth + 1)]
        return made

    def _other(self, schema: Schema, value: Any, turn: int) -> Any:
        schema = self._resolved(schema)
        if isinstance(schema, Mapping) and isinstance(schema.get("enum"), list):
            return self._dice.choice(schema["enum"])
        if isinstance(value, str):
            return f"{value} {turn + 1}"
        if isinstance(value, int) and not isinstance(value, bool):
            return value + turn
        return value

    def _number(self, schema: Mapping[str, Any], whole: bool) -> int | float:
        step = schema.get("multipleOf")
        step = step if isinstance(step, int | float) and step > 0 else None
        low = schema.get("minimum", -math.inf)
        high = schema.get("maximum", math.inf)
        grain: float = step or (1 if whole else 0.5)
        above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
        if isinstance(below, int | float) and isinstance(above, int | float) and not (step or whole):
            grain = min(grain, (below - above) / 4) or grain
        if isinstance(above, int | float):
            low = max(low, above + grain)
        if isinstance(below, int | float):
            high = min(high, below - grain)
        if math.isinf(low):
            low = min(1, high)
        if math.isinf(high):
            high = low + 40 * grain
        value: int | float = low + (high - low) * self._dice.random()
        if step and (isinstance(step, int) or whole):
            value = math.ceil(low / step) * step + step * self._dice.randint(0, max(0, int((high - low) // step) - 1))
        elif step:
            value = round(math.ceil(low / step) * step, 10)
        elif whole:
            value = self._dice.randint(math.ceil(low), max(math.ceil(low), math.floor(high)))
        else:
            value = min(max(round(value, 1), low), high)
        return int(value) if whole else value

    def _string(self, schema: Mapping[str, Any], name: str) -> str:
        pattern = schema.get("pattern")
        if isinstance(pattern, str):
            try:
                return from_pattern.text_for(pattern, self._dice)
            except from_pattern.PatternError:
                return self._dice.choice(_PLAIN)
        known = _FORMATS.get(str(schema.get("format", "")))
        if known is not None:
            return known
        text = self._dice.choice(_BY_NAME.get(name.casefold(), _PLAIN))
        fewest = min(int(schema.get("minLength", 0)), 10_000)
        most = int(schema.get("maxLength", max(len(text), fewest)))
        while len(text) < fewest:
            text += " " + self._dice.choice(_PLAIN)
        return text[: max(most, 0)]


def _merged(one: Schema, other: Schema) -> Schema:
    """Two schemas that must both hold, as one: properties and required add up, the tighter bound wins."""
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return one if isinstance(one, Mapping) else other
    merged = dict(one)
    for key, value in other.items():
        have = merged.get(key)
        if key == "properties" and isinstance(have, Mapping) and isinstance(value, Mapping):
            both = {name: _merged(have[name], value[name]) for name in have.keys() & value.keys()}
            merged[key] = {**have, **value, **both}
        elif key == "required" and isinstance(have, list) and isinstance(value, list):
            merged[key] = [*have, *(name for name in value if name not in have)]
        elif key in ("minimum", "minLength", "minItems", "exclusiveMinimum") and key in merged:
            merged[key] = max(merged[key], value)
        elif key in ("maximum", "maxLength", "maxItems", "exclusiveMaximum") and key in merged:
            merged[key] = min(merged[key], value)
        elif key == "enum" and isinstance(have, list) and isinstance(value, list):
            merged[key] = [item for item in have if item in value] or value
        elif key in ("allOf", "anyOf", "oneOf") and isinstance(have, list):
            merged["allOf"] = [*(merged.get("allOf") or []), {key: value}]
        else:
            merged[key] = value
    return merged
