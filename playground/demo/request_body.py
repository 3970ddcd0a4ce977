"""The JSON body of a request: parsing, its text for seeds, and the refusal of fields on demand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from playground.demo.problems import NOT_JSON, ApiError, invalid
from playground.jsonkit.reading import parse_json
from playground.jsonkit.texts import cut

JsonObject = Mapping[str, Any]
MAX_NESTING = 100
_DELIVERY = ("stream", "stream_options", "stop", "stop_sequences", "max_tokens", "max_completion_tokens")
_ROLES = ("system", "developer", "user", "assistant", "tool")
#: The field that services recommend in the place of a refused one.
_REPLACEMENTS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


def parse(body: bytes) -> JsonObject:
    """Return the JSON object in ``body``. Raises ApiError 400 for anything else."""
    try:
        value = parse_json(body.decode("utf-8-sig"))
    except ValueError as error:
        reason = str(error).partition(": line")[0][:200]
        raise ApiError(400, NOT_JSON, f"The body is not valid JSON: {reason}.") from None
    if not isinstance(value, dict):
        raise ApiError(400, NOT_JSON, f"The body must be a JSON object; it is {quoted(value)}.")
    level: list[Any] = [value]
    for _ in range(MAX_NESTING):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
        if not level:
            return value
    raise ApiError(400, NOT_JSON, f"The JSON body is nested more than {MAX_NESTING} levels deep.")


def refuse_fields(body: JsonObject, names: tuple[str, ...]) -> None:
    """Raise ApiError 400 where the valid ``body`` has one of these fields, or a message of that role.

    A field inside another one is named with dots, such as "tools.function.strict".
    """
    member = "messages" if "messages" in body else "input"
    entries = body[member] if isinstance(body[member], list) else []
    roles = [entry.get("role") for entry in entries]
    for name in names:
        if name in _ROLES and name in roles:
            supported = ", ".join(f"'{role}'" for role in _ROLES if role != name)
            path = f"{member}[{roles.index(name)}].role"
            raise invalid(f"Invalid value: '{name}'. Supported values for {path} are: {supported}.")
        if name not in _ROLES and _has_path(body, name.split(".")):
            remedy = f" Use '{_REPLACEMENTS[name]}' instead." if name in _REPLACEMENTS else ""
            raise invalid(f"Unsupported parameter: '{name}' is not supported with this model.{remedy}")


def _has_path(value: object, path: list[str]) -> bool:
    if isinstance(value, list):
        return any(_has_path(entry, path) for entry in value)
    if not isinstance(value, dict) or path[0] not in value:
        return False
    return len(path) == 1 or _has_path(value[path[0]], path[1:])


def quoted(value: object) -> str:
    """Return ``value`` as JSON, cut to 60 characters for a message or a table cell."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except ValueError:  # an integer of thousands of digits
        return "a number too large to show"
    return escape_surrogates(cut(text, 60))


def escape_surrogates(text: str) -> str:
    """Return ``text`` with lone surrogates as JSON escapes, so that it can be encoded."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def parameters(body: JsonObject, structure: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return the fields of ``body`` but those named in ``structure``, with their values as short texts."""
    return tuple((name, quoted(value)) for name, value in body.items() if name not in structure)


def fingerprint(body: JsonObject) -> str:
    """Return one text for all requests that ask for the same content, in any order of fields, streamed or not."""
    return json.dumps({name: value for name, value in body.items() if name not in _DELIVERY}, sort_keys=True)
