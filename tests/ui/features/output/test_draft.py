"""Drafts of the response format."""

from __future__ import annotations

import json

from playground.domain.output import SchemaShape
from playground.jsonkit.values import JSONObject
from playground.ui.features.output.panel import CUSTOM, DEFAULT, EXAMPLE, SCHEMA, OutputDraft
from tests.support.each_case import each_case

EXAMPLE_SCHEMA = json.loads(EXAMPLE)


@each_case(
    "value, kind",
    [
        (None, DEFAULT),
        ({"type": "text"}, "text"),
        ({"type": "json_object"}, "json_object"),
        ({"type": "json_schema", "json_schema": {"name": "a", "schema": EXAMPLE_SCHEMA}}, SCHEMA),
        (
            {"type": "json_schema", "json_schema": {"name": "a", "description": "d", "schema": {}, "strict": False}},
            SCHEMA,
        ),
        ({"type": "json_schema", "json_schema": {"name": "a", "schema": {}, "vendor": 1}}, CUSTOM),
        ({"type": "json_schema", "json_schema": {"name": "a", "schema": {}, "strict": None}}, CUSTOM),
        ({"type": "json_schema", "json_schema": {"name": 7, "schema": {}}}, CUSTOM),
        ({"type": "json_schema", "json_schema": {"name": "a"}}, CUSTOM),
        ({"type": "json_schema", "schema": {}}, CUSTOM),
        ({"type": "grammar", "value": "root"}, CUSTOM),
        ({"type": "text", "more": 1}, CUSTOM),
    ],
)
def test_response_formats_are_kept_unchanged(value: JSONObject | None, kind: str) -> None:
    draft = OutputDraft.from_value(value, shape=SchemaShape.NESTED)
    assert draft.kind == kind
    assert draft.read_draft(shape=SchemaShape.NESTED).value == value
    assert OutputDraft.from_json(json.loads(json.dumps(draft.to_json()))) == draft


@each_case("text", ["", "  ", '{"type": ', "[1]", "null", '{"a": NaN}'])
def test_unsendable_draft_gives_its_reason(text: str) -> None:
    for draft in (OutputDraft(kind=SCHEMA, name="a", schema=text), OutputDraft(kind=CUSTOM, custom=text)):
        reading = draft.read_draft(shape=SchemaShape.NESTED)
        assert reading.value is None
        assert "o format is sent" in reading.unsent
        assert OutputDraft.from_json(draft.to_json()) == draft


@each_case("value", [None, 7, [], {}, {"kind": "new in a later version"}])
def test_invalid_saved_draft_is_ignored(value: object) -> None:
    assert OutputDraft.from_json(value) is None
