"""Assertions as promptfoo spells them, as checks of ours, and back: one table, both ways.

What we do not have is named, never dropped in silence. ``https://www.promptfoo.dev/docs/configuration/expected-outputs``
describes them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from playground.domain.checks.asked import Judge
from playground.domain.checks.calls import Calls, ToolCalled
from playground.domain.checks.check import Check
from playground.domain.checks.endings import Finish, Refused
from playground.domain.checks.figures import Cheap, Latency
from playground.domain.checks.json_answers import FitsSchema, IsJSON
from playground.domain.checks.texts import Contains, Equals, Matches, StartsWith
from playground.domain.reasons import shortened
from playground.jsonkit.values import JSON, JSONObject

_NOT: Final = "not-"
_SECONDS: Final = 1000.0  # milliseconds
_SHORTHAND: Final = re.compile(r"\s*(?P<type>[a-z][a-z-]*)(?:\((?P<threshold>[0-9.]+)\))?:(?P<value>.*)\Z", re.DOTALL)
_RUBRICS: Final = ("llm-rubric", "model-graded-closedqa", "factuality", "g-eval", "grade")


def _any_of(value: JSON, ignore_case: bool) -> Check:
    words = value if isinstance(value, list) else [one.strip() for one in str(value).split(",")]
    pattern = "|".join(re.escape(str(one)) for one in words)
    return Matches(pattern=f"(?i){pattern}" if ignore_case else pattern)


def _schema(value: JSON) -> Check:
    return FitsSchema(json_schema=value) if isinstance(value, dict) and value else IsJSON()


#: What becomes of an assertion by its type: checks made of its value and its threshold.
_READ: Final[dict[str, Callable[[Any, float | None], Check]]] = {
    "contains": lambda value, _: Contains(text=str(value)),
    "icontains": lambda value, _: Contains(text=str(value), ignore_case=True),
    "contains-any": lambda value, _: _any_of(value, False),
    "icontains-any": lambda value, _: _any_of(value, True),
    "equals": lambda value, _: Equals(text=value if isinstance(value, str) else json.dumps(value)),
    "starts-with": lambda value, _: StartsWith(text=str(value)),
    "regex": lambda value, _: Matches(pattern=str(value)),
    "is-json": lambda value, _: _schema(value),
    "latency": lambda value, threshold: Latency(seconds=(threshold or float(value)) / _SECONDS),
    "cost": lambda value, threshold: Cheap(most=threshold if threshold is not None else float(value)),
    "is-refusal": lambda _value, _: Refused(),
    "finish-reason": lambda value, _: Finish(reason=str(value)),
    "is-valid-openai-tools-call": lambda _value, _: ToolCalled(fits=True),
    **{
        name: lambda value, threshold: Judge(rubric=str(value), least=threshold if threshold is not None else 0.5)
        for name in _RUBRICS
    },
}
#: Those that are several of ours.
_SEVERAL: Final = {"contains-all": False, "icontains-all": True}


def read_assert(found: JSON) -> tuple[tuple[Check, ...], tuple[str, ...]]:
    """The checks that an assertion asks for, and what of it was left out, in sentences."""
    if isinstance(found, str):
        found = {"type": "equals", "value": found}
    if not isinstance(found, dict) or not isinstance(found.get("type"), str):
        return (), (f"An assertion without a type was left out: {shortened(json.dumps(found))}",)
    kind, value = found["type"], found.get("value")
    if kind == "assert-set" and isinstance(found.get("assert"), list):
        checks, left = read_asserts(found["assert"])
        return checks, (*left, "The threshold of a set of assertions was left out: each of them has to pass.")
    name = kind.removeprefix(_NOT)
    if isinstance(value, str) and value.startswith("file://"):
        return (), (f"The assertion “{kind}” was left out: its value stands in another file.",)
    threshold = found.get("threshold")
    try:
        if name in _SEVERAL and name == kind:
            words = value if isinstance(value, list) else [one.strip() for one in str(value).split(",")]
            made: tuple[Check, ...] = tuple(Contains(text=str(one), ignore_case=_SEVERAL[name]) for one in words)
        elif name in _READ:
            made = (_READ[name](value, float(threshold) if threshold is not None else None),)
        else:
            return (), (f"“{kind}” was left out: there is no such check here.",)
    except (TypeError, ValueError):
        return (), (f"“{kind}” was left out: {shortened(json.dumps(value))} is no value for it.",)
    update: JSONObject = {"negated": True} if name != kind else {}
    if isinstance(weight := found.get("weight"), int | float) and weight >= 0:
        update["weight"] = float(weight)
    left = tuple(
        f"“{kind}”: “{member}” was left out." for member in ("transform", "metric", "provider") if member in found
    )
    return tuple(one.model_copy(update=update) for one in made), left


def read_asserts(found: Iterable[JSON]) -> tuple[tuple[Check, ...], tuple[str, ...]]:
    """The same for several."""
    checks: list[Check] = []
    left: list[str] = []
    for one in found:
        made, notes = read_assert(one)
        checks += made
        left += notes
    return tuple(checks), tuple(left)


def read_expected(cell: str) -> tuple[tuple[Check, ...], str, tuple[str, ...]]:
    """What a cell of a column ``__expected`` asks for: checks, the text it expects, what was left out."""
    shorthand = _SHORTHAND.match(cell)
    if shorthand is None:
        return (Equals(text="{{expected}}"),), cell, ()
    value = shorthand["value"].strip()
    asked: JSONObject = {"type": shorthand["type"], "value": value}
    if shorthand["threshold"]:
        asked["threshold"] = float(shorthand["threshold"])
    if shorthand["type"].removeprefix(_NOT) not in {*_READ, *_SEVERAL}:
        if shorthand["type"] in ("fn", "eval", "javascript", "python", "similar", "levenshtein"):
            return (), "", (f"“{shorthand['type']}” was left out: there is no such check here.",)
        return (Equals(text="{{expected}}"),), cell, ()  # a text with a colon in it
    checks, left = read_assert(asked)
    return checks, value, left


def write_assert(check: Check) -> JSONObject | None:
    """A check as an assertion; None where there is none like it."""
    found = _written(check)
    if found is None:
        return None
    if check.negated:
        found = {**found, "type": f"{_NOT}{found['type']}"}
    return {**found, "weight": check.weight} if check.weight != 1.0 else found


def _written(check: Check) -> JSONObject | None:
    match check:
        case Contains(text=text, ignore_case=ignore):
            return {"type": "icontains" if ignore else "contains", "value": text}
        case Equals(text=text):
            return {"type": "equals", "value": text}
        case StartsWith(text=text):
            return {"type": "starts-with", "value": text}
        case Matches(pattern=pattern):
            return {"type": "regex", "value": pattern}
        case FitsSchema(json_schema=schema):
            return {"type": "is-json", "value": schema}
        case IsJSON():
            return {"type": "is-json"}
        case Latency(seconds=seconds):
            return {"type": "latency", "threshold": seconds * _SECONDS}
        case Cheap(most=most):
            return {"type": "cost", "threshold": most}
        case Refused():
            return {"type": "is-refusal"}
        case Finish(reason=reason):
            return {"type": "finish-reason", "value": reason}
        case Judge(rubric=rubric, least=least):
            return {"type": "llm-rubric", "value": rubric, "threshold": least}
        case ToolCalled(tool="", fits=True, path="", arguments=""):
            return {"type": "is-valid-openai-tools-call"}
        case Calls():
            return None
        case _:
            return None
