"""Columns to which promptfoo gives a meaning: ``__expected1`` and its like, and the members of a test.

``https://www.promptfoo.dev/docs/configuration/test-cases`` describes them.
"""

from __future__ import annotations

import re
from typing import Final

from playground.engine.evaluation.imports.asserts import spelled_assert
from playground.jsonkit.values import JSON, JSONObject

_THRESHOLD: Final = "threshold of an assertion"
_KINDS: Final = (
    (re.compile(r"__expected\d*\Z|assert\Z"), "assert"),
    (re.compile(r"__config:__expected\d*:threshold\Z"), _THRESHOLD),
    (re.compile(r"__(prefix|suffix|description|providerOutput|metric|threshold)\Z"), ""),
    (re.compile(r"__(metadata|config)(:.*)?\Z"), "metadata"),
)
#: Why a member of a test is left out; the others have nothing like them here.
REASONS: Final = {
    "metric": "checks have no names here",
    "threshold": "each check has to pass",
    "transform": "answers are not transformed",
    "env": "variables of the environment are not filled in",
    "prompts": "every test is a case with every prompt",
    "providers": "every variant gets every case",
}
#: Members of a test that no case has.
_MEMBERS: Final = frozenset(
    ("options", "metadata", "threshold", "provider", "providers", "prompts", "providerOutput", "assertScoringFunction")
)


def kind_of(column: str) -> str:
    """Return what a column means to promptfoo: "assert", "prefix", … ; empty for a variable."""
    name = column.strip()
    for pattern, kind in _KINDS:
        if match := pattern.match(name):
            return kind or match[1]
    return ""


def is_special(column: str) -> bool:
    """Return whether a column is no variable to promptfoo."""
    return bool(kind_of(column))


def reason_left_out(column: str) -> str:
    """Say why a column has no use where its rows become cases of an experiment; empty where it has one."""
    kind = kind_of(column)
    if kind in ("prefix", "suffix"):
        return f"“{column}” was left out: put its text into the prompt, or choose a variable for it."
    if kind in ("metric", "threshold", "providerOutput", "metadata") or column in _MEMBERS:
        return f"“{column}” was left out: {REASONS.get(kind or column, 'there is nothing like it here')}."
    return ""


def threshold_of(cells: JSONObject, column: str) -> float | None:
    """Return the threshold that a row sets for the assertion in a column; None without one. Raises ValueError."""
    for name, cell in cells.items():
        if kind_of(name) != _THRESHOLD or cell in (None, ""):
            continue
        if _number(name.split(":")[1]) == _number(column):
            try:
                return float(cell)
            except (TypeError, ValueError):
                raise ValueError(f"“{name}” must be a number, not {cell!r:.40}") from None
    return None


def _number(column: str) -> int:
    """Return the number of a column such as ``__expected2``; the one without a number is the first."""
    digits = column.strip().lstrip("_expctd")
    return int(digits) if digits.isdecimal() else 1


def test_of(cells: JSONObject) -> JSONObject:
    """Return the test that a row of a table stands for, with members as in a configuration."""
    test: JSONObject = {"vars": {}, "assert": [], "options": {}}
    for column, cell in cells.items():
        kind = kind_of(column)
        if not kind:
            test["vars"][column] = cell
        elif cell is None or cell == "" or kind == _THRESHOLD:
            continue
        elif kind == "assert":
            test["assert"] += _asserts(cells, column, cell)
        elif kind in ("prefix", "suffix"):
            test["options"][kind] = cell
        else:
            test[kind] = cell
    return {name: value for name, value in test.items() if value or name == "vars"}


def _asserts(cells: JSONObject, column: str, cell: JSON) -> list[JSON]:
    if not isinstance(cell, str):
        return cell if isinstance(cell, list) else [cell]
    if not cell.strip():
        return []
    assertion = spelled_assert(cell.strip())
    threshold = threshold_of(cells, column.strip())
    return [{**assertion, "threshold": threshold} if threshold is not None else assertion]
