"""Values and schemas checked against JSON Schema, in the version that ``$schema`` names, with messages for people.

`jsonschema_rs` does the work: it takes patterns and unique items in linear time, where the pure-Python validator takes
seconds for a few lines. It holds the interpreter lock, so checks beyond ``limits`` are refused here and left to a
worker process. It is imported on first use, and fetches nothing.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from playground.jsonkit import limits
from playground.jsonkit.drafts import meta_validator_for, validator_for
from playground.jsonkit.limits import TooCostlyError
from playground.jsonkit.patterns import engine
from playground.jsonkit.problems import Problem, short
from playground.jsonkit.texts import listed
from playground.jsonkit.values import JSON, JSONObject

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator

TYPES: Final = "string", "number", "integer", "boolean", "object", "array", "null"  # of JSON Schema
NO_ALTERNATIVE: Final = "fits none of the alternatives"
_DRAFT_07: Final = '"$schema": "http://json-schema.org/draft-07/schema#"'
_DRAFT_04: Final = '"$schema": "http://json-schema.org/draft-04/schema#"'
MOST_PROBLEMS: Final = 2_000  # reported for one value


def check_value(value: JSON, schema: JSONObject) -> list[Problem]:
    """Return the problems of a value against a schema, in document order; an invalid schema is one problem.

    Raises TooCostlyError where the check may take long.
    """
    limits.bound_schema(schema)
    limits.bound_value(value, schema)
    if limits.lifted() and limits.circles(schema):
        return [Problem((), "the schema cannot be applied: it refers to itself without end")]
    try:
        validator = _validator(schema)
        if validator.is_valid(value):
            return []
        limits.know("does not fit the schema")
        errors = sorted(validator.iter_errors(value), key=lambda error: list(map(str, error.instance_path)))
    except UnicodeEncodeError:  # the validator takes no lone surrogates
        return check_value(_without_surrogates(value), _without_surrogates(schema))
    except TooCostlyError:
        raise
    except Exception as error:  # noqa: BLE001 - a hostile schema can fail anywhere inside the validator
        return [Problem((), f"the schema cannot be applied: {_message(error)}")]
    problems = (problem for error in errors for problem in _problems_of(error, schema))
    return list(islice(dict.fromkeys(problems), MOST_PROBLEMS))


def fits(value: JSON, schema: JSON) -> bool:
    """Return whether a value fits; an invalid schema fits nothing. Raises TooCostlyError."""
    return schema is True or (isinstance(schema, dict) and not check_value(value, schema))


def schema_problem(schema: JSONObject) -> Problem | None:
    """Return the problem of a schema itself that is nearest to its root. Raises TooCostlyError."""
    from jsonschema_rs import ReferencingError, ValidationError

    limits.bound_schema(schema)
    try:
        wrong = min(
            meta_validator_for(schema).iter_errors(schema), key=lambda error: len(error.instance_path), default=None
        )
        if wrong is None:
            _validator(schema)
    except UnicodeEncodeError:
        return schema_problem(_without_surrogates(schema))
    except ValidationError as error:  # a pattern, or a reference, which `domain.tools` checks
        wrong = error if error.kind.name != "$ref" else None
    except ReferencingError:
        return None
    except (RecursionError, ValueError, TypeError) as error:
        return Problem((), f"cannot be read as a schema: {short(str(error))}")
    return Problem(tuple(wrong.instance_path), _phrase(wrong, None)) if wrong is not None else None


def _validator(schema: JSON) -> Validator:
    """A validator that fetches nothing. Raises what the library raises for a schema that cannot be used."""
    from jsonschema_rs import ValidationError

    try:
        return validator_for(schema, engine(linear=True))
    except ValidationError as error:
        if error.kind.name != "format":
            raise
    try:
        validator = validator_for(schema, engine(linear=False))
    except ValidationError as error:
        if "{" in error.message:  # repeated so often that it is too large here, perhaps
            limits.refuse("a pattern is large")
        raise
    limits.refuse("a pattern looks ahead or back")
    return validator


def _without_surrogates(value: Any) -> Any:
    text = json.dumps(value, ensure_ascii=False)
    return json.loads(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))


def _message(error: Exception) -> str:
    from jsonschema_rs import ValidationError

    if isinstance(error, ValidationError):
        if error.kind.name == "$ref":
            return short(error.message.partition(" and retrieving it failed")[0])
        where = Problem(tuple(error.instance_path), "").where
        return short(f"{where}: {_phrase(error, None)}" if where else _phrase(error, None))
    return short(str(error))


def _problems_of(error: ValidationError, schema: JSON) -> list[Problem]:
    """Return the problems of a violation: one for each member that is not allowed."""
    path = tuple(error.instance_path)
    if error.kind.name in ("additionalProperties", "unevaluatedProperties"):
        return [Problem((*path, name), "is not allowed by the schema") for name in error.kind.value]
    if error.kind.name == "required":
        return [Problem(path, f"“{error.kind.value}” is missing")]
    return [Problem(path, _phrase(error, schema))]


def _phrase(error: ValidationError, schema: JSON) -> str:
    """Return the message of a violation in plain words."""
    keyword, value = error.kind.name, error.instance
    last = error.instance_path[-1] if error.instance_path else None
    if keyword == "enum":
        allowed = ", ".join(str(item) for item in error.kind.value)
        return short(f"{_spelled(value)} is not one of {allowed}")
    if keyword == "anyOf" and last == "type":
        unknown = [name for name in value if name not in TYPES] if isinstance(value, list) else []
        return short(f"{_spelled(unknown[0] if unknown else value)} is not a type; use {listed(TYPES, 'or')}")
    if last == "items" and isinstance(value, list):
        return f"a list of schemas is the form of draft-07: add {_DRAFT_07}, or use prefixItems"
    if last in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(value, bool):
        return f"true and false are the form of draft-04: add {_DRAFT_04}, or use a number"
    if keyword in ("anyOf", "oneOf") and "more than one" not in error.message[-80:]:
        text = _spelled(value)
        return f"{text if len(text) <= 200 else text[:197] + '...'} {NO_ALTERNATIVE}"
    if keyword == "type":
        return short(f"{_spelled(value)} is not of type {' or '.join(_expected_types(error, schema))}")
    if keyword == "format" and error.kind.value == "regex":
        return short(f"{_spelled(value)} is not a regular expression")
    return short(error.message)


def _expected_types(error: ValidationError, schema: JSON) -> list[str]:
    """Return the types that the schema allows, in its order."""
    types: Any = schema
    for step in error.schema_path:
        try:
            types = types[step]
        except (LookupError, TypeError):
            return list(error.kind.value)
    return [types] if isinstance(types, str) else list(types) if isinstance(types, list) else list(error.kind.value)


def _spelled(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)
