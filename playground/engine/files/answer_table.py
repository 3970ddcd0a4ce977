"""Answer tables: files with the answers to tool calls, for ``playground run --answers`` and for the window.

``{"playground_answers": 1, "step_limit": 20, "tools": {NAME: [ROW, …]}}``. A row is for calls with these arguments
(``"equal"``), for those a JSONPath selects something in (``"path"``), or for all (neither). ``"result"`` is a text, or
JSON that is sent as text; ``"error"``, ``"delay"`` (seconds), ``"never"``, ``"size"`` (characters, the text
repeated) and ``"images"`` (addresses) are optional. The name ``*`` is for tools without rows of their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from pydantic import ValidationError

from playground.domain.debugging import Answer, AnswerRow, Debugging, MatchKind, Policy, ToolRule, row_problem
from playground.domain.parts import Image
from playground.domain.reasons import reason_of
from playground.engine.io.weighed_json import version_problem
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON, JSONObject

VERSION = 1
LARGEST_TABLE = 16 * 1024 * 1024  # bytes of a file that is read
ANY_TOOL = "*"
_MEMBERS = {"playground_answers", "step_limit", "tools", "$schema"}
_ROW_MEMBERS = {"equal", "path", "result", "error", "delay", "never", "size", "images"}


def read_answers(text: str) -> Debugging:
    """Return the rules of a file: every tool is answered from its table. Raises ValueError in words."""
    try:
        value = parse_json(text)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError("the file must hold one JSON object")
    if problem := version_problem(value, "playground_answers", VERSION):
        raise ValueError(problem)
    _refuse_unknown(value, _MEMBERS, "")
    tools = value.get("tools", {})
    if not isinstance(tools, dict):
        raise ValueError('"tools" must be an object: the name of a tool, and its rows')
    rules = {name: ToolRule(policy=Policy.TABLE, rows=tuple(_rows(name, rows))) for name, rows in tools.items()}
    default = rules.pop(ANY_TOOL, ToolRule(policy=Policy.TABLE))
    limit = value.get("step_limit", Debugging().step_limit)
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        raise ValueError('"step_limit" must be a whole number; 0 for none')
    return Debugging(default=default, rules=rules, step_limit=limit)


def write_answers(debugging: Debugging) -> str:
    """Return the tables of the rules as a file. It has no policies or conditions, which belong to the experiment."""
    tables = {name: rule.rows for name, rule in debugging.rules.items() if rule.rows}
    if debugging.default.rows:
        tables[ANY_TOOL] = debugging.default.rows
    tools = {name: [_row_members(row) for row in rows] for name, rows in tables.items()}
    content = {"playground_answers": VERSION, "step_limit": debugging.step_limit, "tools": tools}
    return json.dumps(content, indent=2, ensure_ascii=True) + "\n"


def _rows(name: str, value: JSON) -> Iterable[AnswerRow]:
    rows = value if isinstance(value, list) else [value]
    for number, row in enumerate(rows):
        where = f"tools.{name}[{number}]"
        if not isinstance(row, dict):
            raise ValueError(f"{where} must be an object")
        _refuse_unknown(row, _ROW_MEMBERS, f"{where}: ")
        try:
            yield _row(row)
        except ValidationError as error:
            raise ValueError(f"{where}: {reason_of(error)}") from None
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None


def _row(row: JSONObject) -> AnswerRow:
    if "equal" in row and "path" in row:
        raise ValueError('"equal" and "path" exclude each other')
    if "result" not in row and not row.get("never"):
        raise ValueError('"result" is missing')
    result, images = row.get("result", ""), row.get("images", [])
    if not isinstance(images, list) or not all(isinstance(url, str) for url in images):
        raise ValueError('"images" must be a list of addresses')
    answer = Answer(
        text=result if isinstance(result, str) else json.dumps(result, ensure_ascii=False),
        is_error=row.get("error", False),
        delay=row.get("delay", 0.0),
        never=row.get("never", False),
        images=tuple(Image(url=url) for url in images),
        size=row.get("size", 0),
    )
    if "equal" in row:
        return AnswerRow(match=MatchKind.EQUAL, pattern=json.dumps(row["equal"], ensure_ascii=False), answer=answer)
    if "path" not in row:
        return AnswerRow(answer=answer)
    answer_row = AnswerRow(match=MatchKind.PATH, pattern=str(row["path"]), answer=answer)
    if problem := row_problem(answer_row):
        raise ValueError(f'"path" is no JSONPath: {problem}')
    return answer_row


def _row_members(row: AnswerRow) -> JSONObject:
    members: JSONObject = {}
    if row.match is MatchKind.EQUAL:
        members["equal"] = json.loads(row.pattern) if not row_problem(row) else row.pattern
    elif row.match is MatchKind.PATH:
        members["path"] = row.pattern
    answer = row.answer
    members["result"] = answer.text
    if answer.images:
        members["images"] = [image.url for image in answer.images]
    optional = {"error": answer.is_error, "delay": answer.delay, "never": answer.never, "size": answer.size}
    return {**members, **{name: value for name, value in optional.items() if value}}


def _refuse_unknown(value: JSONObject, allowed: set[str], where: str) -> None:
    if unknown := sorted(value.keys() - allowed):
        raise ValueError(f"{where}unknown field {', '.join(map(repr, unknown))}")
