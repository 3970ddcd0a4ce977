"""The format of the answer as it stands in the form: whole, half typed, or in a shape of its own. No widgets.

A draft says what would be sent. It never loses text: what is not sendable yet is kept as it was typed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final

from playground.jsonkit.faults import JsonTextError
from playground.jsonkit.reading import READ_AT_MOST, read_typed
from playground.jsonkit.values import JSON, JSONObject
from playground.ui.widgets.json_text import pretty_value

DEFAULT, TEXT, JSON_MODE, SCHEMA, CUSTOM = "default", "text", "json_object", "json_schema", "custom"
KINDS: Final = (DEFAULT, TEXT, JSON_MODE, SCHEMA, CUSTOM)
FIRST_NAME: Final = "answer"

EXAMPLE_NAME: Final = "invoice"
EXAMPLE: Final = """{
  "type": "object",
  "properties": {
    "vendor": {"type": "string"},
    "items": {
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "name": {"type": "string"},
          "price": {"type": "number"}
        },
        "required": ["name", "price"],
        "additionalProperties": false
      }
    },
    "total": {"type": "number"}
  },
  "required": ["vendor", "items", "total"],
  "additionalProperties": false
}"""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a draft would send: a value (None: nothing), and why it is not sent although it is meant to be."""

    value: JSONObject | None = None
    unsent: str = ""


@dataclass(frozen=True, slots=True)
class OutputDraft:
    """The form's content. ``schema`` and ``custom`` are texts as typed; ``strict`` None is default."""

    kind: str = DEFAULT
    name: str = ""
    description: str = ""
    strict: bool | None = None
    schema: str = ""
    custom: str = ""

    @classmethod
    def of(cls, value: JSONObject | None, *, named: bool) -> OutputDraft:
        """The draft of a value; one that the form does not understand to the last field is custom.

        ``named`` says that the schema stands in an object of its own (chat completions).
        """
        if value is None:
            return cls()
        for kind in (TEXT, JSON_MODE):
            if value == {"type": kind}:
                return cls(kind=kind)
        return _schema_of(value, named) or cls(kind=CUSTOM, custom=laid_out(value))

    @classmethod
    def from_json(cls, value: JSON) -> OutputDraft | None:
        """A draft kept with the experiment; None when it is not one."""
        if not isinstance(value, dict) or value.get("kind") not in KINDS:
            return None
        texts = {key: str(value.get(key) or "") for key in ("name", "description", "schema", "custom")}
        strict = value.get("strict")
        return cls(kind=value["kind"], strict=strict if isinstance(strict, bool) else None, **texts)

    def to_json(self) -> JSONObject:
        """The draft as it is kept with the experiment."""
        return asdict(self)

    def read_draft(self, *, named: bool) -> Reading:
        """What this would send."""
        if self.kind in (TEXT, JSON_MODE):
            return Reading({"type": self.kind})
        if self.kind == SCHEMA:
            schema, why = _object(self.schema, "schema")
            return Reading(None, why) if schema is None else Reading(self._spelled(schema, named))
        if self.kind == CUSTOM:
            value, why = _object(self.custom, "format")
            return Reading(value, why)
        return Reading()

    def _spelled(self, schema: JSONObject, named: bool) -> JSONObject:
        if not named:
            return {"type": SCHEMA, "schema": schema}
        inner: JSONObject = {"name": self.name}
        if self.description:
            inner["description"] = self.description
        inner["schema"] = schema
        if self.strict is not None:
            inner["strict"] = self.strict
        return {"type": SCHEMA, "json_schema": inner}


def _schema_of(value: JSONObject, named: bool) -> OutputDraft | None:
    """The draft of a schema format, when every field of it has a place in the form."""
    inner = value.get("json_schema") if named else {k: v for k, v in value.items() if k != "type"}
    if value.get("type") != SCHEMA or not isinstance(inner, dict) or not isinstance(inner.get("schema"), dict):
        return None
    draft = OutputDraft(
        kind=SCHEMA,
        name=inner["name"] if isinstance(inner.get("name"), str) else "",
        description=inner["description"] if isinstance(inner.get("description"), str) else "",
        strict=inner["strict"] if isinstance(inner.get("strict"), bool) else None,
        schema=laid_out(inner["schema"]),
    )
    return draft if draft.read_draft(named=named).value == value else None


def _object(text: str, what: str) -> tuple[JSONObject | None, str]:
    if not text.strip():
        return None, f"There is no {what} yet, so no format is sent."
    try:
        value = read_typed(text)
    except JsonTextError as error:
        if len(text) > READ_AT_MOST:
            return None, f"The {what} is {error.message}. It is kept, and no format is sent."
        return None, f"The {what} is not valid JSON yet. It is kept, and no format is sent."
    if not isinstance(value, dict):
        return None, f"The {what} must be a JSON object, in braces. It is kept, and no format is sent."
    return value, ""


def laid_out(value: JSON) -> str:
    """A value as text, one member a line."""
    return pretty_value(value)
