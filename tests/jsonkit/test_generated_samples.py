"""Each schema that is built to have valid values gets a sample, and each sample is valid as another library judges."""

from __future__ import annotations

from typing import Any

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.jsonkit.schema_sample import sample

Schema = dict[str, Any]

NAMES = st.sampled_from(["a", "b", "city", "tags", "$ref", "é", ""])
PATTERNS = ["^[A-Z]{3}-[0-9]{4}$", "^(foo|bar)+$", "[0-9]", "^$", "^[^a-z]{2,5}$"]
FORMATS = ["date", "date-time", "email", "uri", "uuid", "ipv4", "made-up"]
PLAIN: list[Schema] = [{}, {"type": "boolean"}, {"type": ["string", "null"]}, {"$ref": "#/$defs/shared"}]
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.text("ab é", max_size=4)


@st.composite
def strings(draw: st.DrawFn) -> Schema:
    least = draw(st.integers(0, 40))
    length = st.fixed_dictionaries(
        {"type": st.just("string")}, optional={"minLength": st.just(least), "maxLength": st.integers(least, 60)}
    )
    pattern = st.fixed_dictionaries({"type": st.just("string"), "pattern": st.sampled_from(PATTERNS)})
    return draw(
        length | pattern | st.fixed_dictionaries({"type": st.just("string"), "format": st.sampled_from(FORMATS)})
    )


@st.composite
def numbers(draw: st.DrawFn) -> Schema:
    low = draw(st.integers(-1000, 1000))
    bounds = {"minimum": st.just(low), "maximum": st.integers(low + 10, low + 1000)}
    exclusive = {"exclusiveMinimum": st.just(low), "exclusiveMaximum": st.integers(low + 1, low + 9)}
    integers = st.fixed_dictionaries(
        {"type": st.just("integer")}, optional={**bounds, "multipleOf": st.integers(1, 10)}
    )
    return draw(
        integers
        | st.fixed_dictionaries({"type": st.just("number")}, optional=bounds)
        | st.fixed_dictionaries({"type": st.just("number")}, optional=exclusive)
    )


@st.composite
def lists(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    least = draw(st.integers(0, 4))
    optional = {"items": inner, "minItems": st.just(least), "maxItems": st.integers(least, 6)}
    unique = {"uniqueItems": st.just(True), "items": st.sampled_from([{"type": "string"}, {"type": "integer"}])}
    return draw(
        st.fixed_dictionaries({"type": st.just("array")}, optional=optional)
        | st.fixed_dictionaries({"type": st.just("array"), **unique}, optional={"minItems": st.just(least)})
    )


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    properties = draw(st.dictionaries(NAMES, inner, max_size=4))
    required = draw(st.lists(st.sampled_from(sorted(properties)), unique=True)) if properties else []
    extra: Schema = draw(
        st.sampled_from([{}, {"additionalProperties": False}, {"additionalProperties": {"type": "null"}}])
    )
    return {"type": "object", "properties": properties, "required": required, **extra}


def combined(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    return (
        lists(inner)
        | objects(inner)
        | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)})
        | st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=1)})
        | st.fixed_dictionaries({"oneOf": st.lists(inner, min_size=1, max_size=1)})
    )


LEAVES: st.SearchStrategy[Schema] = (
    strings()
    | numbers()
    | st.sampled_from(PLAIN)
    | st.fixed_dictionaries({"const": SCALARS})
    | st.fixed_dictionaries({"enum": st.lists(SCALARS, min_size=1, max_size=3)})
)
SCHEMAS: st.SearchStrategy[Schema] = st.recursive(LEAVES, combined, max_leaves=10)


@given(schema=SCHEMAS, shared=strings() | numbers())
@settings(deadline=None, max_examples=100)
def test_sample_of_each_satisfiable_schema_is_valid(schema: Schema, shared: Schema) -> None:
    complete = {**schema, "$defs": {"shared": shared}}
    jsonschema.Draft202012Validator(complete).validate(sample(complete))
