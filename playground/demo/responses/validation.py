"""Turns what pydantic finds wrong in a request into the errors of the Responses protocol."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from playground.demo.request_body import JsonObject, quoted
from playground.demo.request_model import NotAnObjectError, RequestModel
from playground.demo.responses.errors import MemberError, ResponsesError, listed

ModelT = TypeVar("ModelT", bound=BaseModel)
_NAMES = {
    bool: "a boolean",
    int: "an integer",
    float: "a decimal",
    str: "a string",
    dict: "an object",
    list: "an array",
}
_EXPECTED = {
    "bool": "a boolean",
    "dict": "an object",
    "float": "a decimal",
    "int": "an integer",
    "list": "an array",
    "model": "an object",
    "string": "a string",
}
#: Members that take a text in the place of a list.
_TEXT_OR_LIST = ("input", "content", "output")


class StrictModel(RequestModel):
    """An object of a request. A member that the protocol does not have is refused."""

    model_config = ConfigDict(strict=True, extra="forbid")


def validate(model: type[ModelT], body: JsonObject) -> ModelT:
    """Return ``body`` as a ``model``. Raises ResponsesError for the first fault."""
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise _error(body, error.errors(include_url=False)[0], model) from None


def _error(body: JsonObject, problem: Any, model: type[BaseModel]) -> ResponsesError:
    kind, location = problem["type"], problem["loc"]
    path = _path(body, location).removeprefix(".")
    if kind == "missing":
        path = f"{_path(body, location[:-1])}.{location[-1]}".removeprefix(".")
        return _missing(path)
    if kind == "union_tag_not_found":
        return _missing(f"{path}.type")
    if kind == "extra_forbidden":
        members = [name for name in model.model_fields if len(location) == 1]
        hint = _hint(str(location[-1]), members)
        return ResponsesError(f"Unknown parameter: '{path}'.{hint}", reason="unknown_parameter", param=path)
    message, reason = _fault(path, problem)
    fault = problem.get("ctx", {}).get("error")
    where = fault.where if isinstance(fault, MemberError) else ".type" if kind == "union_tag_invalid" else ""
    return ResponsesError(message, reason=reason, param=f"{path}{where}".removeprefix("."))


def _hint(name: str, members: list[str]) -> str:
    """Return a question that names the member most like ``name``; one with the same initial is preferred."""
    similar = difflib.get_close_matches(name, members)
    similar.sort(key=lambda candidate: candidate[0] != name[0])
    return f" Did you mean '{similar[0]}'?" if similar else ""


def _path(value: Any, location: Sequence[Any]) -> str:
    """Return the path of an error in the body ``value``, without the tags of unions in its location."""
    path = ""
    at_tag = True
    for part in location:  # a key, an index or a tag
        if at_tag and isinstance(value, dict) and part == value.get("type"):
            at_tag = False
        elif (isinstance(value, dict) and part in value) or (isinstance(value, list) and isinstance(part, int)):
            path += f"[{part}]" if isinstance(part, int) else f".{part}"
            value = value[part]
            at_tag = True
    return path


def _missing(path: str) -> ResponsesError:
    message = f"Missing required parameter: '{path}'."
    return ResponsesError(message, reason="missing_required_parameter", param=path)


def _fault(path: str, problem: Any) -> tuple[str, str]:
    """Return message and code of a fault that is neither a missing nor an unknown member."""
    kind, value = problem["type"], problem["input"]
    context: Mapping[str, Any] = problem.get("ctx", {})
    if kind == "value_error":
        fault = context["error"]
        if isinstance(fault, NotAnObjectError):
            return _wrong_type(path, "an object", value), "invalid_type"
        return (
            (fault.message, fault.reason)
            if isinstance(fault, MemberError)
            else (f"Invalid '{path}'{fault}.", "invalid_value")
        )
    if kind in ("literal_error", "union_tag_invalid"):
        expected = context["expected"] if kind == "literal_error" else context["expected_tags"]
        received = context["tag"] if kind == "union_tag_invalid" else value
        if isinstance(received, str):
            return f"Invalid value: '{received}'. Supported values are: {listed(_names(expected))}.", "invalid_value"
        return _wrong_type(path, "a string", value), "invalid_type"
    if kind in ("greater_than_equal", "less_than_equal"):
        return _out_of_range(path, value, context)
    if kind == "string_pattern_mismatch":
        expected = f"Expected a string that matches the pattern '{context['pattern']}'."
        return f"Invalid '{path}': string does not match pattern. {expected}", "invalid_value"
    if kind in ("string_too_short", "string_too_long"):
        return _wrong_length(path, "string", len(value), context)
    if kind in ("too_short", "too_long"):
        return _wrong_length(path, "object" if isinstance(value, dict) else "array", len(value), context)
    expected = _EXPECTED.get(kind.removesuffix("_type"), "another type")
    if expected == "an array" and path.rpartition(".")[2] in _TEXT_OR_LIST:
        expected = "one of a string or an array"
    return _wrong_type(path, expected, value), "invalid_type"


def _names(expected: str) -> list[str]:
    return re.findall(r"'([^']*)'", expected)


def _wrong_type(path: str, expected: str, value: object) -> str:
    got = _NAMES.get(type(value), quoted(value))
    return f"Invalid type for '{path}': expected {expected}, but got {got} instead."


def _out_of_range(path: str, value: float, context: Mapping[str, Any]) -> tuple[str, str]:
    kind = "integer" if isinstance(value, int) else "decimal"
    below = "ge" in context
    limit = f"{context['ge' if below else 'le']:g}"
    side, sign = ("below minimum", ">=") if below else ("above maximum", "<=")
    message = f"Invalid '{path}': {kind} {side} value. Expected a value {sign} {limit}, but got {value} instead."
    return message, f"{kind}_{'below_min' if below else 'above_max'}_value"


def _wrong_length(path: str, kind: str, length: int, context: Mapping[str, Any]) -> tuple[str, str]:
    article = "a" if kind == "string" else "an"
    unit = "properties" if kind == "object" else "length"
    short = "min_length" in context
    limit = context["min_length" if short else "max_length"]
    if short and not length:
        expected = f"Expected {article} {kind} with minimum length {limit}, but got an empty {kind} instead."
        return f"Invalid '{path}': empty {kind}. {expected}", f"empty_{kind}"
    side, bound, end = ("short", "minimum", "below_min") if short else ("long", "maximum", "above_max")
    expected = f"Expected {article} {kind} with {bound} {unit} {limit}, but got {article} {kind} with {unit} {length}"
    return f"Invalid '{path}': {kind} too {side}. {expected} instead.", f"{kind}_{end}_{unit}"
