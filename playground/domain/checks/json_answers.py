"""Checks of JSON answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Annotated, Final, Literal

from playground.domain.checks.check import SHOWN, Check, Facts, Verdict, judged, not_judged, quoted, row
from playground.domain.debugging import path_problem, path_values
from playground.domain.tools import check_schema
from playground.domain.values import LongText
from playground.domain.variables import mentions
from playground.jsonkit import limits
from playground.jsonkit.problems import Problem, not_checked
from playground.jsonkit.reading import parse_json
from playground.jsonkit.texts import cut
from playground.jsonkit.validation import check_value
from playground.jsonkit.values import JSON, JSONObject, same

_OPENING: Final = re.compile(r"\{\s*[\"}]|\[\s*[\[\]{\"\dtfn-]")
_MOST_WORK: Final = 1_000_000  # characters read without success in search of JSON
_ATTEMPT: Final = 1_000  # the cost of a failed attempt, in characters
_FENCE: Final = re.compile(r"\A\s*```[\w-]*[ \t]*\n(.*?)\n?```\s*\Z", re.DOTALL)


class _OfJSON(Check):
    fenced: Annotated[bool, row("Allow a code fence", "switch", "```json around the answer does not count.")] = False

    anywhere: Annotated[
        bool, row("Anywhere in the answer", "switch", "An object or a list with other text around it counts, too.")
    ] = False

    def _text(self, facts: Facts) -> str:
        fence = _FENCE.match(facts.text) if self.fenced else None
        return fence[1] if fence is not None else facts.text

    def _look(self, facts: Facts) -> Verdict:
        if not self.anywhere:
            return self._look_in(self._text(facts))
        limits.bound_text(facts.text)
        verdicts = map(self._look_in, _containers(facts.text))
        first = next(verdicts, judged(False, "there is no JSON object or list in it"))
        return first if first.passed else next((verdict for verdict in verdicts if verdict.passed), first)

    def _look_in(self, text: str) -> Verdict:
        limits.bound_text(text)
        try:
            value = parse_json(text)
        except ValueError as error:
            return judged(False, f"it is not JSON: {cut(str(error), SHOWN)}")
        return self._look_at(value, text)

    def _look_at(self, value: JSON, text: str) -> Verdict:
        """Judge a JSON value and its text."""
        return judged(True, "it is JSON")


class IsJSON(_OfJSON):
    """The answer is JSON."""

    TITLE = "Is JSON"
    HELP = "Passes when the whole answer is one JSON value."
    kind: Literal["is_json"] = "is_json"


class FitsSchema(_OfJSON):
    """The answer is JSON that fits a schema."""

    TITLE = "Fits JSON Schema"
    HELP = "Passes when the answer is JSON that fits this schema (JSON Schema; $schema names the version)."
    kind: Literal["fits_schema"] = "fits_schema"
    json_schema: Annotated[JSONObject | None, row("Schema", "json", "A JSON Schema.")] = None

    @property
    def words(self) -> str:
        return _spelled(self.json_schema) if self.json_schema is not None else ""

    @property
    def lack(self) -> str:
        return "" if self.json_schema is not None else "There is no schema."

    @property
    def problem(self) -> str:
        if self.json_schema is None:
            return self.lack
        wrong = next((problem for problem in check_schema(self.json_schema) if problem.severity == "error"), None)
        if wrong is None:
            return ""
        where = Problem(wrong.path[1:], "").where  # without the first step, the name of the field
        return f"The schema cannot be used: {where + ': ' if where else ''}{wrong.message}"

    def _look_at(self, value: JSON, text: str) -> Verdict:
        problems = check_value(value, self.json_schema or {})
        if unknown := not_checked(problems):
            return not_judged(unknown.message)
        if any(not item.path and item.message.startswith("the schema cannot be applied") for item in problems):
            return not_judged(problems[0].message)
        if not problems:
            return judged(True, "it fits the schema")
        first = problems[0]
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        return judged(False, f"{first.where + ': ' if first.where else ''}{cut(first.message, 2 * SHOWN)}{more}")


class PathEquals(_OfJSON):
    """A JSONPath selects a value in the answer."""

    TITLE = "JSONPath equals"
    HELP = (
        "Passes when the answer is JSON and the path (RFC 9535) selects this value in it; of several, one that is. "
        "Without a value, when it selects anything."
    )
    kind: Literal["json_path"] = "json_path"
    path: Annotated[str, row("Path", "text", "A JSONPath such as $.city.")] = ""
    value: Annotated[LongText, row("Value", "lines", "JSON, or plain text.")] = ""

    @property
    def words(self) -> str:
        return f"{cut(self.path, SHOWN)} is {cut(self.value, SHOWN)}" if self.value else cut(self.path, SHOWN)

    @property
    def lack(self) -> str:
        return "" if self.path else "There is no path."

    @property
    def problem(self) -> str:
        return self.lack or path_lack(self.path)

    def _look_at(self, value: JSON, text: str) -> Verdict:
        values = path_values(self.path, text)
        if not values:
            return judged(False, f"{self.path} selects nothing")
        if not self.value:
            return judged(True, f"{self.path} selects {_spelled(values[0])}")
        expected = _value_or_text(self.value)
        passed = any(
            same(item, expected, exact=False) or (isinstance(item, str) and item == self.value) for item in values
        )
        return judged(passed, f"{self.path} is {_spelled(values[0])}")


def _containers(text: str) -> Iterator[str]:
    """Yield the outermost JSON objects and lists in a text. Raises TooCostlyError."""
    decoder = json.JSONDecoder()
    start, work = 0, 0
    while (opening := _OPENING.search(text, start)) is not None:
        start = opening.start()
        try:
            end = decoder.raw_decode(text, start)[1]
        except RecursionError:
            work, start = work + _ATTEMPT, start + 1
        except json.JSONDecodeError as error:
            work, start = work + _ATTEMPT + error.pos - start, start + 1
        except ValueError:  # a number with too many digits
            work, start = work + _ATTEMPT + len(text) - start, start + 1
        else:
            yield text[start:end]
            start = end
        if work > _MOST_WORK:
            limits.refuse("there are many brackets in it")


def path_lack(path: str) -> str:
    """Return why a text is not a JSONPath; empty if it is, or if that depends on variables."""
    wrong = path_problem(path) if not mentions(path) else ""
    return f"{quoted(path)} is no JSONPath: {wrong}" if wrong else ""


def _value_or_text(text: str) -> JSON:
    try:
        return parse_json(text)
    except ValueError:
        return text


def _spelled(value: JSON) -> str:
    """Return the beginning of a value as JSON, for a reason or a card."""
    text = ""
    for piece in json.JSONEncoder(ensure_ascii=False).iterencode(value):
        text += piece
        if len(text) > SHOWN:
            break
    return cut(text, SHOWN)
