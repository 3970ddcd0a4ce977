"""Assertions as promptfoo spells them, as checks of ours, and back: one table, both ways.

An assertion that has no counterpart is named, never dropped in silence.
``https://www.promptfoo.dev/docs/configuration/expected-outputs`` describes them; the spelling in a cell is that of
``__expected`` in ``https://www.promptfoo.dev/docs/configuration/test-cases``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from playground.domain.checks.asked import Judge
from playground.domain.checks.calls import ToolCalled
from playground.domain.checks.check import Check
from playground.domain.checks.endings import Finish, Refused
from playground.domain.checks.figures import Cheap, Latency
from playground.domain.checks.json_answers import FitsSchema, IsJSON, PathEquals
from playground.domain.checks.texts import Contains, Equals, Matches, StartsWith
from playground.domain.reasons import shortened
from playground.domain.variables import mentions, resolve
from playground.engine.evaluation.imports.references import FILE
from playground.engine.io.yaml_text import read_yaml
from playground.jsonkit.values import JSON, JSONObject

#: Reads the value at a ``file://`` reference. Raises ValueError with the reason.
Load = Callable[[str], JSON]
Threshold = float | None

EXPECTED_TEXT: Final = "{{expected}}"
_NOT: Final = "not-"
_SECONDS: Final = 1000.0  # milliseconds
_SPECIAL: Final = re.compile(r"[\\^$.*+?()\[\]{}|/]")  # characters of a regular expression (ECMA 262)
_WORD: Final = re.compile(r'\s*(?:"(?P<quoted>(?:[^"]|"")*)"\s*|(?P<plain>[^,]*))(?:,|\Z)')
_GRADED: Final = ("llm-rubric", "model-graded-closedqa", "factuality", "model-graded-factuality", "g-eval", "grade")
_LEAST: Final = {"g-eval": 0.7}  # the threshold where none is given; 0.5 for the others


def _text(value: JSON) -> str:
    if value is None or value == "":
        raise ValueError("no value")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _words(value: JSON) -> list[str]:
    """Split a list of words; in a text they are separated by commas, and one with a comma is in quotes."""
    if isinstance(value, list):
        words = [_text(word) for word in value]
    else:
        source = _WORD.finditer(_text(value))
        words = [
            match["plain"].strip() if match["quoted"] is None else match["quoted"].replace('""', '"')
            for match in source
        ]
    words = [word for word in words if word]
    if not words:
        raise ValueError("no words")
    return words


def _any_of(value: JSON, ignore_case: bool) -> Check:
    pattern = "|".join(_SPECIAL.sub(r"\\\g<0>", word) for word in _words(value))
    return Matches(pattern=f"(?i){pattern}" if ignore_case else pattern)


def _equals(value: JSON) -> Check:
    if isinstance(value, dict | list):
        return PathEquals(path="$", value=json.dumps(value, ensure_ascii=False))
    if value is None:
        raise ValueError("no value")
    return Equals(text=value if isinstance(value, str) else json.dumps(value))


def _is_json(value: JSON, anywhere: bool) -> Check:
    """A check for JSON; a schema may be an object, or its text in YAML or JSON."""
    schema = read_yaml(value).value if isinstance(value, str) else value
    if schema is None or schema is True or schema == {}:
        return IsJSON(anywhere=anywhere)
    if not isinstance(schema, dict):
        raise ValueError("no schema")
    return FitsSchema(json_schema=schema, anywhere=anywhere)


def _limit(value: JSON, threshold: Threshold) -> float:
    return threshold if threshold is not None else float(value)


def _judge(kind: str) -> Callable[[JSON, Threshold], Check]:
    def make(value: JSON, threshold: Threshold) -> Check:
        rubric = "\n".join(map(_text, value)) if isinstance(value, list) else _text(value)
        return Judge(rubric=rubric.strip(), least=threshold if threshold is not None else _LEAST.get(kind, 0.5))

    return make


#: The check that an assertion becomes, by its type, from its value and its threshold.
_READ: Final[dict[str, Callable[[JSON, Threshold], Check]]] = {
    "contains": lambda value, _: Contains(text=_text(value)),
    "icontains": lambda value, _: Contains(text=_text(value), ignore_case=True),
    "contains-any": lambda value, _: _any_of(value, False),
    "icontains-any": lambda value, _: _any_of(value, True),
    "equals": lambda value, _: _equals(value),
    "starts-with": lambda value, _: StartsWith(text=_text(value)),
    "regex": lambda value, _: Matches(pattern=_text(value)),
    "is-json": lambda value, _: _is_json(value, False),
    "contains-json": lambda value, _: _is_json(value, True),
    "latency": lambda value, threshold: Latency(seconds=_limit(value, threshold) / _SECONDS),
    "cost": lambda value, threshold: Cheap(most=_limit(value, threshold)),
    "is-refusal": lambda _value, _: Refused(),
    "finish-reason": lambda value, _: Finish(reason=_text(value)),
    "is-valid-openai-tools-call": lambda _value, _: ToolCalled(fits=True),
    "is-valid-openai-function-call": lambda _value, _: ToolCalled(fits=True),
    "is-valid-function-call": lambda _value, _: ToolCalled(fits=True),
    **{kind: _judge(kind) for kind in _GRADED},
}
#: Assertions that become several checks; the value says whether case is ignored.
_SEVERAL: Final = {"contains-all": False, "icontains-all": True}
#: Assertions of promptfoo that have no counterpart.
_UNAVAILABLE: Final = (
    *("javascript", "fn", "eval", "python", "ruby", "webhook", "similar", "similar:cosine", "similar:dot"),
    *("similar:euclidean", "levenshtein", "bleu", "gleu", "meteor", "rouge-n", "perplexity", "perplexity-score"),
    *("answer-relevance", "context-faithfulness", "context-recall", "context-relevance", "conversation-relevance"),
    *("classifier", "moderation", "guardrails", "pi", "search-rubric", "agent-rubric", "human", "select-best"),
    *("max-score", "word-count", "tool-call-f1", "skill-used", "is-sql", "contains-sql", "is-xml", "contains-xml"),
    *("is-html", "contains-html", "trace-error-spans", "trace-span-count", "trace-span-duration"),
    *("trajectory:goal-success", "trajectory:tool-args-match", "trajectory:step-count", "trajectory:tool-sequence"),
    "trajectory:tool-used",
)
#: Assertions whose value may be missing in a cell; any other word alone is a text.
_ALONE: Final = frozenset(
    (
        *("is-json", "contains-json", "is-refusal", "is-sql", "contains-sql", "is-xml", "contains-xml", "is-html"),
        *("contains-html", "guardrails", "moderation", *(kind for kind in _READ if kind.startswith("is-valid-"))),
    )
)
_TYPES: Final = "|".join(sorted(map(re.escape, (*_READ, *_SEVERAL, *_UNAVAILABLE)), key=len, reverse=True))
_SPELLED: Final = re.compile(
    rf"\s*(?P<type>(?:not-)?(?:{_TYPES}))(?:\((?P<threshold>[0-9.]+)\))?(?P<value>:.*)?\s*\Z", re.DOTALL
)
#: Values that are taken apart when they are read: their variables are filled before.
_TAKEN_APART: Final = frozenset(("contains-any", "icontains-any", *_SEVERAL, "is-json", "contains-json"))
_MEMBERS: Final = frozenset(("type", "value", "threshold", "weight"))


def spelled_assert(text: str) -> JSONObject:
    """Return the assertion that a text spells, such as ``latency(500)``; any other text has to be equal."""
    if text.strip().startswith(FILE):
        return {"type": "file", "value": text.strip()}
    match = _SPELLED.match(text)
    kind = match["type"].removeprefix(_NOT) if match is not None else ""
    if match is None or not (match["value"] or match["threshold"] or kind in _ALONE):
        return {"type": "equals", "value": text}
    assertion: JSONObject = {"type": match["type"]}
    if match["value"]:
        assertion["value"] = match["value"][1:].strip()
    if match["threshold"]:
        assertion["threshold"] = match["threshold"]
    return assertion


def waits_for_values(source: JSON) -> bool:
    """Return whether an assertion can be read only with the values of a case: its value is taken apart here."""
    return (
        isinstance(source, dict)
        and isinstance(source.get("type"), str)
        and source["type"].removeprefix(_NOT) in _TAKEN_APART
        and _mention(source.get("value"))
    )


def _mention(value: JSON) -> bool:
    return any(mentions(entry) for entry in _listed(value) if isinstance(entry, str))


def read_assert(
    source: JSON, values: Mapping[str, str] | None = None, load: Load | None = None
) -> tuple[tuple[Check, ...], tuple[str, ...]]:
    """Return the checks that an assertion asks for, and what of it was left out, in sentences.

    ``values`` are those of the case it belongs to; ``load`` reads files that it refers to.
    """
    if isinstance(source, str):
        source = spelled_assert(source)
    if not isinstance(source, dict) or not isinstance(source.get("type"), str):
        return (), (f"An assertion without a type was left out: {shortened(json.dumps(source))}",)
    kind, value = source["type"], source.get("value")
    if kind == "assert-set" and isinstance(source.get("assert"), list):
        return _read_set(source, values, load)
    if isinstance(value, str) and value.startswith(FILE):
        try:
            if load is None:
                raise ValueError("its value is in another file")
            value = load(value)
        except ValueError as error:
            return (), (f"The assertion “{kind}” was left out: {shortened(source['value'])}: {error}.",)
        if kind == "file":
            return read_asserts(_listed(value), values, load)
    if kind.removeprefix(_NOT) in _TAKEN_APART and values:
        filled = [resolve(entry, values) if isinstance(entry, str) else entry for entry in _listed(value)]
        value = filled if isinstance(value, list) else filled[0]
    try:
        checks = _checks(kind, value, source.get("threshold"))
    except (TypeError, ValueError):
        return (), (f"“{kind}” was left out: {shortened(json.dumps(value))} is no value for it.",)
    if not checks:
        return (), (f"“{kind}” was left out: there is no such check.",)
    update: JSONObject = {"negated": True} if kind.startswith(_NOT) else {}
    if isinstance(weight := source.get("weight"), int | float) and weight >= 0:
        update["weight"] = float(weight)
    left_out = tuple(f"“{kind}”: “{member}” was left out." for member in source if member not in _MEMBERS)
    return tuple(check.model_copy(update=update) for check in checks), left_out


def _listed(value: JSON) -> list[JSON]:
    return value if isinstance(value, list) else [value]


def _checks(kind: str, value: JSON, threshold: JSON) -> tuple[Check, ...]:
    """Return the checks of a type; none where there is no such check. Raises TypeError and ValueError."""
    name = kind.removeprefix(_NOT)
    if kind in _SEVERAL:
        if _mention(value):
            raise ValueError("a variable without a value")
        return tuple(Contains(text=word, ignore_case=_SEVERAL[kind]) for word in _words(value))
    if name not in _READ:
        return ()
    if name in _TAKEN_APART and _mention(value):
        raise ValueError("a variable without a value")
    return (_READ[name](value, float(threshold) if threshold is not None else None),)


def _read_set(
    source: JSONObject, values: Mapping[str, str] | None, load: Load | None
) -> tuple[tuple[Check, ...], tuple[str, ...]]:
    checks, left_out = read_asserts(source["assert"], values, load)
    if "threshold" in source:
        left_out = (*left_out, "The threshold of a set of assertions was left out: each of them has to pass.")
    others = (member for member in source if member not in ("type", "assert", "threshold"))
    return checks, (*left_out, *(f"A set of assertions: “{member}” was left out." for member in others))


def read_asserts(
    source: Iterable[JSON], values: Mapping[str, str] | None = None, load: Load | None = None
) -> tuple[tuple[Check, ...], tuple[str, ...]]:
    """Return the checks of several assertions, and what of them was left out."""
    checks: list[Check] = []
    left_out: list[str] = []
    for assertion in source:
        added, notes = read_assert(assertion, values, load)
        checks += added
        left_out += notes
    return tuple(checks), tuple(left_out)


def read_expected(
    cell: str, threshold: Threshold = None, values: Mapping[str, str] | None = None
) -> tuple[tuple[Check, ...], str, tuple[str, ...]]:
    """Return what a cell of a column ``__expected`` asks for: checks, the expected text, and what was left out."""
    assertion = spelled_assert(cell)
    if threshold is not None:
        assertion["threshold"] = threshold
    if assertion == {"type": "equals", "value": cell}:
        return (Equals(text=EXPECTED_TEXT),), cell, ()
    checks, left_out = read_assert(assertion, values)
    value = assertion.get("value")
    return checks, value if checks and isinstance(value, str) else "", left_out


def write_assert(check: Check) -> JSONObject | None:
    """A check as an assertion; None where there is none like it."""
    written = _written(check)
    if written is None:
        return None
    if check.negated:
        written = {**written, "type": f"{_NOT}{written['type']}"}
    return {**written, "weight": check.weight} if check.weight != 1.0 else written


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
        case FitsSchema(json_schema=schema, anywhere=anywhere):
            return {"type": "contains-json" if anywhere else "is-json", "value": schema}
        case IsJSON(anywhere=anywhere):
            return {"type": "contains-json" if anywhere else "is-json"}
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
        case _:
            return None
