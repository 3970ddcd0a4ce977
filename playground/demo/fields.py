"""Reading one field of a hostile JSON object: the right type, in range, or a 400 that names the field.

``null`` counts as absent, as it does in most services. Nothing here knows a protocol.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from playground.demo import from_schema
from playground.demo.ask import Choice, Form, Tool
from playground.demo.images import Picture
from playground.demo.models import BY_ID, Model
from playground.demo.problems import NO_MODEL, NOT_JSON, ApiError, invalid
from playground.jsonkit.reading import parse_json
from playground.jsonkit.texts import cut

Fields = Mapping[str, Any]  # a JSON object as it came in
MOST_NESTED = 100
_DELIVERY = ("stream", "stream_options", "stop", "stop_sequences", "max_tokens", "max_completion_tokens")
_ROLES = ("system", "developer", "user", "assistant", "tool")
#: What takes the place of a field that is refused, as services say it.
_INSTEAD = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def parse(body: bytes) -> Fields:
    """The JSON object in ``body``. Raises ApiError 400 for anything else."""
    try:
        value = parse_json(body.decode("utf-8-sig"))
    except ValueError as error:
        reason = str(error).partition(": line")[0][:200]
        raise ApiError(400, NOT_JSON, f"The body is not valid JSON: {reason}.") from None
    if not isinstance(value, dict):
        raise ApiError(400, NOT_JSON, f"The body must be a JSON object, not {kind_of(value)}.")
    level: list[Any] = [value]
    for _ in range(MOST_NESTED):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
        if not level:
            return value
    raise ApiError(400, NOT_JSON, f"The JSON body is nested more than {MOST_NESTED} levels deep.")


def refuse(given: Fields, names: tuple[str, ...]) -> None:
    """Raise ApiError 400 where a body has one of these fields, or a message of that role, as a service that knows
    neither does.
    """
    for name in names:
        if name in _ROLES:
            messages = given.get("messages")
            roles = [one.get("role") for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []
            if name in roles:
                others = ", ".join(f"'{role}'" for role in _ROLES if role != name)
                at = f"messages[{roles.index(name)}].role"
                raise invalid(f"Invalid value: '{name}'. Supported values for {at} are: {others}.")
        elif _has(given, name.split(".")):
            instead = f" Use '{_INSTEAD[name]}' instead." if name in _INSTEAD else ""
            raise invalid(f"Unsupported parameter: '{name}' is not supported with this model.{instead}")


def _has(value: object, path: list[str]) -> bool:
    if isinstance(value, list):
        return any(_has(entry, path) for entry in value)
    if not isinstance(value, dict) or path[0] not in value:
        return False
    return len(path) == 1 or _has(value[path[0]], path[1:])


def kind_of(value: object) -> str:
    """The JSON name of a value's type, with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    names = {str: "a string", int: "an integer", float: "a number", list: "an array", dict: "an object"}
    return names.get(type(value), "a value")


def number(fields: Fields, name: str, low: float, high: float) -> float | None:
    """A number from ``low`` to ``high``, both included, or None when absent."""
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise invalid(f"{name} must be a number, not {kind_of(value)}.")
    if not low <= value <= high or not math.isfinite(value):
        raise invalid(f"{name} must be between {low:g} and {high:g}; it is {shown(value)}.")
    return float(value)


def integer(fields: Fields, name: str, low: int, high: int = 2**63 - 1, *, required: bool = False) -> int | None:
    """A whole number from ``low`` to ``high``, both included, or None when absent and not required."""
    value = fields.get(name)
    if value is None:
        if required:
            raise invalid(f"{name} is required.")
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise invalid(f"{name} must be an integer, not {kind_of(value)}.")
    if not low <= value <= high:
        bound = f"at least {low}" if value < low else f"at most {high}"
        raise invalid(f"{name} must be {bound}; it is {shown(value)}.")
    return value


def boolean(fields: Fields, name: str, default: bool = False, where: str = "") -> bool:
    """true or false; ``default`` when absent."""
    value = fields.get(name)
    if value is not None and not isinstance(value, bool):
        raise invalid(f"{where}{'.' if where else ''}{name} must be true or false, not {kind_of(value)}.")
    return default if value is None else value


def string(fields: Fields, name: str, where: str = "", *, required: bool = False, filled: bool = False) -> str:
    """A string, "" when absent and not required; ``filled`` refuses an empty one."""
    value = fields.get(name)
    title = f"{where}.{name}" if where else name
    if value is None:
        if required:
            raise invalid(f"{title} is required.")
        return ""
    if not isinstance(value, str):
        raise invalid(f"{title} must be a string, not {kind_of(value)}.")
    if filled and not value:
        raise invalid(f"{title} must not be empty.")
    return value


def obj(value: object, where: str) -> Fields:
    """``value`` as a JSON object."""
    if not isinstance(value, dict):
        raise invalid(f"{where} must be an object, not {kind_of(value)}.")
    return value


def array(value: object, where: str, *, filled: bool = False) -> list[Any]:
    """``value`` as a JSON array; ``filled`` refuses an empty one."""
    if not isinstance(value, list):
        raise invalid(f"{where} must be an array, not {kind_of(value)}.")
    if filled and not value:
        raise invalid(f"{where} must not be empty.")
    return value


def objects(value: object, where: str, *, filled: bool = False) -> Iterator[tuple[str, Fields]]:
    """The objects of a JSON array, each with the words for where it stands."""
    for at, entry in enumerate(array(value, where, filled=filled)):
        yield f"{where}[{at}]", obj(entry, f"{where}[{at}]")


def texts(value: object, where: str) -> tuple[str, ...]:
    """``value`` as strings that are not empty."""
    entries = array(value, where)
    for entry in entries:
        if not isinstance(entry, str) or not entry:
            raise invalid(f"{where} must hold strings that are not empty.")
    return tuple(entries)


def one_of(value: object, where: str, allowed: tuple[str, ...]) -> str:
    """``value`` as one of the ``allowed`` words."""
    if not isinstance(value, str) or value not in allowed:
        raise invalid(f"{where} must be one of {', '.join(allowed)}; it is {shown(value)}.")
    return value


def shown(value: object) -> str:
    """A value short enough for a message or a table cell."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except ValueError:  # an integer of thousands of digits
        return "a number too large to show"
    return cut(text, 60)


def model(fields: Fields) -> Model:
    """The model asked for. Raises ApiError 404 when there is none of that id."""
    return model_of(string(fields, "model", required=True, filled=True))


def model_of(wanted: str) -> Model:
    """The model of that id. Raises ApiError 404 when there is none."""
    if wanted not in BY_ID:
        raise ApiError(
            404,
            NO_MODEL,
            f"The model {shown(wanted)} does not exist or is not available to this account. "
            f"Available: {', '.join(BY_ID)}.",
        )
    return BY_ID[wanted]


def tool(value: Fields, where: str, schema_field: str) -> Tool:
    """A tool definition's name, description and schema (a missing schema takes no arguments)."""
    name = string(value, "name", where, required=True)
    if not _NAME.fullmatch(name):
        raise invalid(f"{where}.name must be 1 to 64 letters, digits, _ or -; it is {shown(name)}.")
    schema = value.get(schema_field)
    if schema is None:
        schema = {"type": "object", "properties": {}}
    check_schema(schema, f"{where}.{schema_field}")
    if schema.get("type", "object") != "object":
        raise invalid(f"{where}.{schema_field}.type must be object; it is {shown(schema['type'])}.")
    return Tool(name, string(value, "description", where), schema)


def named(name: str, tools: tuple[Tool, ...], *, parallel: bool) -> Choice:
    """The choice of one of the tools that are offered."""
    if all(tool.name != name for tool in tools):
        raise invalid(f"tool_choice names the tool {shown(name)}, which is not in tools.")
    return Choice("named", name, parallel)


def distinct(tools: list[Tool]) -> tuple[Tool, ...]:
    """The tools, refusing two of one name."""
    names = [tool.name for tool in tools]
    for name in names:
        if names.count(name) > 1:
            raise invalid(f"tools holds two tools named {name}; names must differ.")
    return tuple(tools)


def check_schema(schema: object, where: str) -> None:
    """Refuse what is not a JSON schema object."""
    wrong = from_schema.fault(obj(schema, where))
    if wrong:
        raise invalid(f"{where} is not a valid JSON schema: {wrong[:300]}")


def form(value: Fields, where: str) -> Form:
    """A ``json_schema`` object ({name, schema, strict, description}) as a Form."""
    name = string(value, "name", where, required=True)
    if not _NAME.fullmatch(name):
        raise invalid(f"{where}.name must be 1 to 64 letters, digits, _ or -; it is {shown(name)}.")
    string(value, "description", where)
    boolean(value, "strict", where=where)
    if value.get("schema") is None:
        raise invalid(f"{where}.schema is required.")
    check_schema(value["schema"], f"{where}.schema")
    return Form("json_schema", value["schema"])


def picture(media_type: str, encoded: str, where: str, detail: str = "auto") -> Picture:
    """An image from its base64 text."""
    if not media_type.startswith("image/"):
        raise invalid(f"{where}: the media type must be an image, not {shown(media_type)}.")
    try:
        data = base64.b64decode("".join(encoded.split()), validate=True)
    except (binascii.Error, ValueError):
        raise invalid(f"{where}: the image data is not valid base64.") from None
    if not data:
        raise invalid(f"{where}: the image has no data.")
    return Picture(media_type, data, "", detail)


def address(url: str, where: str, detail: str = "auto") -> Picture:
    """An image from a data URL or an http(s) address."""
    if url.startswith("data:"):
        head, comma, rest = url[5:].partition(",")
        media_type, _, coding = head.partition(";")
        if not comma or not coding.rstrip().endswith("base64"):
            raise invalid(f"{where} must be a data URL in base64, such as data:image/png;base64,…")
        return picture(media_type, rest, where, detail)
    if not url.startswith(("http://", "https://")):
        raise invalid(f"{where} must be an http(s) address or a data URL; it is {shown(url)}.")
    return Picture("", b"", url, detail)


def fingerprint(fields: Fields) -> str:
    """The request as one text, in whatever order its fields came, without those that do not change what is said."""
    return json.dumps({name: value for name, value in fields.items() if name not in _DELIVERY}, sort_keys=True)
