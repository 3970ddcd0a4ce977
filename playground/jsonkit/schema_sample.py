"""Samples: small values that are valid against a schema, each checked before it is returned.

`Taste` decides where a schema leaves a choice. The default one is for people who read and edit the sample: it is
deterministic, prefers values from the schema (``default``, ``examples``, ``enum``) and fills in optional members.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator
from random import Random
from typing import Final

from playground.jsonkit import limits
from playground.jsonkit.drafts import to_newest
from playground.jsonkit.pattern_text import PatternError as UnknownPatternError
from playground.jsonkit.pattern_text import text_for, texts_for
from playground.jsonkit.patterns import PatternError, found_in
from playground.jsonkit.schema_refs import reach, target_of
from playground.jsonkit.validation import check_value
from playground.jsonkit.values import JSON, JSONObject, is_number, same

_NUMBERS: Final = (1, 1, 2, 1, 0, 0.5, -1, 10, 3, 0.25, 100, 7)  # one for each attempt
_TRIES: Final = len(_NUMBERS)
_DEEPEST: Final = 6  # levels with optional members
_LAST: Final = 40  # levels after which an attempt ends
_MOST_VALUES: Final = 2000
_MOST_ITEMS: Final = 1000  # of one list
_MOST_UNIQUE: Final = 200  # of one list with unique items
_LONGEST: Final = 100_000  # characters of one text
#: A value of each format, and a template for further values.
_FORMATS: Final = {
    "date": ("2026-01-31", "2026-02-%02d"),
    "time": ("09:30:00Z", "09:30:%02dZ"),
    "date-time": ("2026-01-31T09:30:00Z", "2026-01-31T09:30:%02dZ"),
    "duration": ("PT90M", "PT%dM"),
    "email": ("ada@example.org", "ada%d@example.org"),
    "idn-email": ("ada@example.org", "ada%d@example.org"),
    "hostname": ("example.org", "host%d.example.org"),
    "idn-hostname": ("example.org", "host%d.example.org"),
    "ipv4": ("192.0.2.1", "192.0.2.%d"),
    "ipv6": ("2001:db8::1", "2001:db8::%d"),
    "uri": ("https://example.org/", "https://example.org/%d"),
    "uri-reference": ("/path", "/path/%d"),
    "uri-template": ("https://example.org/{id}", "https://example.org/{id}/%d"),
    "iri": ("https://example.org/", "https://example.org/%d"),
    "iri-reference": ("/path", "/path/%d"),
    "url": ("https://example.org/", "https://example.org/%d"),
    "uuid": ("123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-42d3-a456-426614174%03d"),
    "json-pointer": ("/a/0", "/a/%d"),
    "relative-json-pointer": ("0/a", "%d/a"),
    "regex": ("^a+$", "^a{%d}$"),
    "byte": ("YWJj", "YWJ%d"),
}
#: Candidates for schemas with ``not``.
_CANDIDATES: Final[tuple[JSON, ...]] = ("other", "a", "B", "0", 1, 0, -1, 1.5, True, False, None, [], {})
_VARIANTS: Final = 30  # values tried until one differs from those before it
_BY_NAME: Final = {
    "city": "Lisbon",
    "location": "Lisbon",
    "country": "Portugal",
    "email": "ada@example.org",
    "url": "https://example.org/",
    "date": "2026-01-31",
    "query": "search words",
    "language": "en",
    "name": "Ada",
}


class Taste:
    """Choices where a schema allows several values. ``attempt`` and ``variant`` count from 0."""

    def fits(self, value: JSON, schema: JSONObject) -> bool:
        """Return whether a value is valid against a schema. Raises TooCostlyError."""
        return not check_value(value, schema)

    def offered(self, schema: JSONObject) -> list[JSON]:
        """Return the values that the schema suggests, the best first."""
        offered = [schema[word] for word in ("default", "example") if word in schema and schema[word] is not None]
        examples = schema.get("examples")
        return offered + (examples if isinstance(examples, list) else [])

    def choice(self, values: list[JSON], attempt: int) -> JSON:
        """Return one of the allowed values."""
        return values[attempt % len(values)]

    def flag(self, variant: int = 0) -> bool:
        """Return a boolean."""
        return variant % 2 == 0

    def number(self, low: float, high: float, grain: float, integer: bool, attempt: int) -> float:
        """Return a number, between or near the bounds, which may be infinite."""
        return int(_NUMBERS[attempt]) if integer else _NUMBERS[attempt]

    def length(self, anything: bool) -> int:
        """Return the length of a list without bounds; ``anything``: without a schema for its items."""
        return 0 if anything else 1

    def words(self, name: str) -> str:
        """Return a text for a member with this name, which may be empty."""
        return _BY_NAME.get(name.lower()) or name.replace("_", " ") or "text"

    def anything(self, name: str) -> JSON:
        """Return a value where everything is allowed."""
        return name or "text"

    def texts_matching(self, pattern: str, least: int, variant: int) -> Iterator[str]:
        """Yield texts that may match a pattern, the best first."""
        return texts_for(pattern, least, Random(variant) if variant else None)  # noqa: S311 - not for secrets


class _EndlessError(Exception):
    """An attempt does not end."""


class NoSampleError(ValueError):
    """No attempt is valid against the schema. ``nearest`` is the first one."""

    def __init__(self, nearest: JSON) -> None:
        super().__init__("no sample fits the schema")
        self.nearest = nearest


def sample(schema: JSON) -> JSON:
    """Return a value that is valid against ``schema``. Raises NoSampleError and TooCostlyError."""
    limits.bound_schema(schema)
    return make_sample(schema, Taste())


def sample_text(schema: JSON) -> str:
    """Return a sample as JSON text, one member a line; empty where none fits. Raises TooCostlyError."""
    try:
        return json.dumps(sample(schema), ensure_ascii=False, indent=2)
    except NoSampleError:
        return ""


def make_sample(schema: JSON, taste: Taste) -> JSON:
    """Return a value that is valid against ``schema``, chosen by ``taste``. Raises NoSampleError and TooCostlyError."""
    newest = to_newest(schema)
    first: JSON = None
    for attempt in range(_TRIES):
        try:
            value = _Maker(newest, taste, attempt).make(newest, "", 0)
        except (_EndlessError, RecursionError, ArithmeticError, TypeError, ValueError, LookupError, AttributeError):
            continue
        if schema is True or (isinstance(schema, dict) and taste.fits(value, schema)):
            return value
        first = value if attempt == 0 else first
    raise NoSampleError({} if first is None else first)


class _Maker:
    """One attempt; each takes other branches, and later ones leave out optional members."""

    def __init__(self, root: JSON, taste: Taste, attempt: int) -> None:
        self._root = root
        self._taste = taste
        self._attempt = attempt
        self._values = 0
        self._variant = 0  # number of the value for a place where values must differ

    def _distinct(self, schema: JSON, name: str, depth: int, used: Collection[JSON]) -> JSON:
        """Return a value that differs from the ``used`` ones, if an attempt finds one."""
        outer, value = self._variant, None
        try:
            for variant in range(len(used), len(used) + _VARIANTS):
                self._variant = variant
                value = self.make(schema, name, depth)
                if not any(same(value, item) for item in used):
                    break
        finally:
            self._variant = outer
        return value

    def make(self, schema: JSON, name: str, depth: int) -> JSON:
        """Return a value for the subschema of a member called ``name``."""
        self._values += 1
        if self._values > _MOST_VALUES or depth > _LAST:
            raise _EndlessError
        schema = self._flat(schema, depth)
        if not isinstance(schema, dict):
            return self._taste.anything(name)
        value = self._make_flat(schema, name, depth)
        if "not" in schema and not self._fits(value, schema):
            return next((candidate for candidate in _CANDIDATES if self._fits(candidate, schema)), value)
        return value

    def _make_flat(self, schema: JSONObject, name: str, depth: int) -> JSON:
        """Return a value for a schema without references and combinations."""
        if "const" in schema:
            return schema["const"]
        if self._attempt < _TRIES // 2:
            offered = self._taste.offered(schema)
            fitting = [value for value in offered if self._fits(value, schema)]
            if self._variant < len(fitting):
                return fitting[self._variant]
        choices = schema.get("enum")
        if isinstance(choices, list) and choices:
            usable = [choice for choice in choices if self._fits(choice, schema)] or choices
            if self._variant:
                return usable[self._variant % len(usable)]
            return self._taste.choice(usable, self._attempt)
        match self._kind(schema, depth):
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, name, depth)
            case "integer" | "number" as kind:
                return self._number(schema, kind == "integer")
            case "boolean":
                return self._taste.flag(self._variant)
            case "null":
                return None
            case _:
                return self._text(schema, name)

    def _fits(self, value: JSON, schema: JSONObject) -> bool:
        """Return whether a value is valid against a subschema with the definitions of the root."""
        root = self._root if isinstance(self._root, dict) else {}
        return self._taste.fits(value, {key: root[key] for key in ("$defs", "definitions") if key in root} | schema)

    def _flat(self, schema: JSON, depth: int) -> JSON:
        """Return a schema without references and combinations at its top; one branch of each union is chosen."""
        for _ in range(_LAST):
            if not isinstance(schema, dict):
                return schema
            rest = dict(schema)
            if isinstance(rest.get("$ref"), str):
                path = target_of(self._root, rest.pop("$ref"))
                target = reach(self._root, path) if path is not None else True
                schema = _merged(target, rest) if isinstance(target, dict) else rest
            elif isinstance(rest.get("allOf"), list):
                parts = rest.pop("allOf")
                schema = rest
                for part in parts:
                    schema = _merged(schema, self._flat(part, depth + 1) if depth < _LAST else True)
            elif union := next((word for word in ("anyOf", "oneOf") if isinstance(rest.get(word), list)), ""):
                branches = [part for part in rest.pop(union) if part is not False] or [{}]
                if depth > _DEEPEST:  # the shortest branch most likely ends a recursion
                    branches.sort(key=lambda part: len(json.dumps(part)))
                shift = self._attempt if self._attempt < len(branches) or self._attempt % 2 else 0
                schema = _merged(rest, branches[shift % len(branches)])
            elif isinstance(rest.get("if"), dict | bool):
                condition, then = rest.pop("if"), rest.pop("then", True)
                otherwise = rest.pop("else", True)
                schema = _merged(rest, otherwise) if self._attempt % 2 else _merged(_merged(rest, condition), then)
            else:
                return rest
        raise _EndlessError

    def _kind(self, schema: JSONObject, depth: int) -> str:
        kind = schema.get("type")
        if isinstance(kind, list) and kind:
            plain = [name for name in kind if name != "null"] or kind
            return "null" if depth > _DEEPEST and "null" in kind else str(plain[self._attempt % len(plain)])
        if isinstance(kind, str):
            return kind
        for guess, words in (
            ("object", ("properties", "required", "additionalProperties", "patternProperties", "minProperties")),
            ("array", ("items", "prefixItems", "minItems", "contains")),
            ("number", ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum")),
        ):
            if any(word in schema for word in words):
                return guess
        return "object" if depth == 0 and self._attempt < _TRIES - 2 else "string"

    def _object(self, schema: JSONObject, depth: int) -> JSONObject:
        for name, inner in _mapping(schema, "dependentSchemas").items():
            if name in schema.get("required", ()) or name in _mapping(schema, "properties"):
                schema = _merged(schema, self._flat(inner, depth + 1))
        required = [name for name in schema.get("required") or () if isinstance(name, str)]
        brief = depth > _DEEPEST or self._attempt in (3, 5) or self._attempt > 7
        properties, extra = _mapping(schema, "properties"), schema.get("additionalProperties", True)
        least = int(schema.get("minProperties") or 0)
        members = {
            name: inner
            for name, inner in properties.items()
            if name in required or not (brief or (depth > 2 and _refers(inner)))
        }
        patterns = _mapping(schema, "patternProperties")
        for name in required:
            if name not in members:
                members[name] = next((inner for pattern, inner in patterns.items() if found_in(pattern, name)), extra)
        for name, inner in _names_by_pattern(patterns):
            if not brief or len(members) < least:
                members.setdefault(name, inner)
        out = {name: self.make(inner, name, depth + 1) for name, inner in members.items() if inner is not False}
        least = least or (1 if isinstance(extra, dict) and not out and not brief else 0)
        for number in range(1, min(least - len(out), 50) + 1):
            out[self._name(schema.get("propertyNames"), number, depth, out)] = self.make(extra, "", depth + 1)
        for name, dependents in _mapping(schema, "dependentRequired").items():
            for dependent in dependents if name in out else ():
                out.setdefault(dependent, self.make(properties.get(dependent, extra), dependent, depth + 1))
        most = schema.get("maxProperties")
        if isinstance(most, int) and len(out) > most:
            first = sorted(out, key=lambda name: name not in required)[:most]
            out = {name: value for name, value in out.items() if name in first}
        return out

    def _name(self, names: JSON, number: int, depth: int, used: JSONObject) -> str:
        """Return a new name for a member of an object."""
        if not isinstance(names, dict):
            return f"key_{number}"
        name = self._distinct({"type": "string"} | names, f"key_{number}", depth + 1, list(used))
        return name if isinstance(name, str) else f"key_{number}"

    def _array(self, schema: JSONObject, name: str, depth: int) -> list[JSON]:
        least, most = int(schema.get("minItems") or 0), schema.get("maxItems")
        lead = schema.get("prefixItems")
        lead = lead if isinstance(lead, list) else []
        items, contains = schema.get("items", True), schema.get("contains")
        usual = 0 if items is False or depth > _DEEPEST else self._taste.length(items is True)
        count = least if depth > 2 and _refers(items) else max(least, len(lead) or usual)
        count = min(count, int(most)) if isinstance(most, int | float) else count
        singular = name[:-1] if name.endswith("s") and len(name) > 3 else name
        unique = schema.get("uniqueItems") is True
        out: list[JSON] = []
        for number in range(min(count, _MOST_UNIQUE if unique else _MOST_ITEMS)):
            inner = lead[number] if number < len(lead) else items
            if unique and number:
                out.append(self._distinct(inner, singular, depth + 1, out))
            else:
                out.append(self.make(inner, singular, depth + 1))
        if isinstance(contains, dict) and not any(self._fits(value, contains) for value in out):
            fewest = int(schema.get("minContains", 1))
            matches = [self.make(contains, singular, depth + 1) for _ in range(min(fewest, 50))]
            out = [*(out if most is None or len(out) + fewest <= most else out[: int(most) - fewest]), *matches]
        return out

    def _number(self, schema: JSONObject, integer: bool) -> JSON:
        step = schema.get("multipleOf")
        step = step if isinstance(step, int | float) and step > 0 else None
        grain = step or (1 if integer else 0.5)
        low, high = _limit(schema, "minimum", -math.inf), _limit(schema, "maximum", math.inf)
        above, below = _limit(schema, "exclusiveMinimum", -math.inf), _limit(schema, "exclusiveMaximum", math.inf)
        if not (integer or step) and below - above < 4 * grain:
            grain = (below - above) / 4
        low = max(low, above + grain) if above > -math.inf else low
        high = min(high, below - grain) if below < math.inf else high
        value: JSON = min(max(self._taste.number(low, high, grain, integer, self._attempt), low), high)
        if self._variant:
            value = self._varied(value, low, high, 1 if integer and not step else grain)
        if step:
            value = math.ceil(round(value / step, 9)) * step
            value = value - step if value > high else value
        if integer or (isinstance(value, float) and value.is_integer() and not isinstance(step, float)):
            value = math.ceil(value)
        return round(value, 10) if isinstance(value, float) else value

    def _varied(self, value: float, low: float, high: float, grain: float) -> float:
        """Return a number between the bounds that differs for each variant."""
        moved = value + self._variant * grain
        if moved <= high:
            return moved
        if math.isinf(low):
            return high - self._variant * grain
        steps = math.floor((high - low) / grain) + 1
        return (
            low + (self._variant % steps) * grain if steps > self._variant else low + (high - low) / self._variant / 3
        )

    def _text(self, schema: JSONObject, name: str) -> str:
        least, most = min(int(schema.get("minLength") or 0), _LONGEST), schema.get("maxLength")
        pattern = schema.get("pattern")
        if isinstance(pattern, str):
            texts = self._taste.texts_matching(pattern, least, self._variant)
            matching = next((text for text in texts if self._fits(text, schema)), None)
            if matching is not None:
                return matching
        first, template = _FORMATS.get(str(schema.get("format")), ("", ""))
        if first:
            text = template % self._variant if self._variant else first
        else:
            text = self._taste.words(name) + (f" {self._variant + 1}" if self._variant else "")
        if len(text) < least and schema.get("format") in ("email", "idn-email"):
            text = text.rjust(least, "a")
        elif len(text) < least:
            text = ((text + " ") * (least // (len(text) + 1) + 1))[:least].rstrip().ljust(least, ".")
        if not is_number(most):
            return text
        return text[-int(most) :] if self._variant else text[: int(most)]  # variants differ at the end


def _merged(first: JSON, second: JSON) -> JSON:
    """Return a schema for values that two schemas allow: names are united, the tighter bound counts."""
    if not isinstance(first, dict) or not isinstance(second, dict):
        return False if first is False or second is False else first if isinstance(first, dict) else second
    out = dict(first)
    for key, value in second.items():
        have = out.get(key)
        if key in ("properties", "patternProperties") and isinstance(have, dict) and isinstance(value, dict):
            both = {name: _merged(have[name], value[name]) for name in have.keys() & value.keys()}
            out[key] = {**have, **value, **both}
        elif key == "required" and isinstance(have, list) and isinstance(value, list):
            out[key] = [*have, *(name for name in value if name not in have)]
        elif key == "enum" and isinstance(have, list) and isinstance(value, list):
            out[key] = [item for item in have if item in value] or value
        elif key in ("minimum", "minLength", "minItems", "exclusiveMinimum", "minProperties") and key in out:
            out[key] = max(out[key], value)
        elif key in ("maximum", "maxLength", "maxItems", "exclusiveMaximum", "maxProperties") and key in out:
            out[key] = min(out[key], value)
        elif key == "type" and key in out:
            out[key] = _common_types(have, value)
        elif key == "not" and key in out:
            out[key] = {"anyOf": [have, value]}
        elif key == "items" and isinstance(have, dict) and isinstance(value, dict):
            out[key] = _merged(have, value)
        elif key in ("anyOf", "oneOf", "allOf", "$ref", "if") and key in out:
            out["allOf"] = [*(out.get("allOf") or []), {key: value}]
        else:
            out[key] = value
    return out


def _common_types(types: JSON, more: JSON) -> JSON:
    """Return the types in both of two ``type`` keywords; those of the second if there are none."""
    first, second = ([names] if isinstance(names, str) else names for names in (types, more))
    if not isinstance(first, list) or not isinstance(second, list):
        return more
    common = [kind for kind in first if kind in second or (kind == "integer" and "number" in second)]
    common += [kind for kind in second if kind == "integer" and "number" in first and kind not in common]
    return common[0] if len(common) == 1 else common or more


def _refers(schema: JSON) -> bool:
    return isinstance(schema, dict) and '"$ref"' in json.dumps(schema)


def _names_by_pattern(patterns: JSONObject) -> Iterator[tuple[str, JSON]]:
    for pattern, inner in patterns.items():
        try:
            name = text_for(pattern, 1)
            if found_in(pattern, name) and inner is not False:
                yield name, inner
        except (UnknownPatternError, PatternError):
            continue


def _mapping(schema: JSONObject, keyword: str) -> JSONObject:
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}


def _limit(schema: JSONObject, keyword: str, without: float) -> float:
    value = schema.get(keyword)
    return value if is_number(value) else without
