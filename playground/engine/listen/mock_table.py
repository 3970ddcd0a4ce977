"""Mock tables: files with answers to requests of other programs, for ``playground listen --mock`` and for the window.

``{"playground_mock": 1, "rows": [ROW, …]}``. A row is ``{"when": {…}, "answer": {…}}``. The first row whose conditions
all hold answers; a request that no row fits goes to the gateway. The new messages of a request are those after the
last answer of the model.
"""

from __future__ import annotations

import json
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

from pydantic import ConfigDict, Field, ValidationError, model_validator

from playground.domain.reasons import reason_of
from playground.domain.transcript import Role, Turn
from playground.domain.values import Value
from playground.engine.io.weighed_json import version_problem
from playground.engine.listen.pauses import Fail, MadeCall, Reply
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.protocol import get_protocol

VERSION: Final = 1
LARGEST_TABLE: Final = 16 * 1024 * 1024  # bytes of a file that is read
_VERSION_MEMBER: Final = "playground_mock"


class _Strict(Value):
    """A part of a row, in which unknown members are errors."""

    model_config = ConfigDict(extra="forbid")


class MockConditions(_Strict):
    """The conditions of a row; one that is not set always holds."""

    protocol: str = Field(default="", description="chat, messages or responses")
    model: str = Field(default="", description="The model's name; * matches any characters")
    contains: str = Field(default="", description="Text in the new messages or results, in capitals or not")
    result: bool | str | None = Field(
        default=None,
        description="True: there is a new tool result. False: there is none. A name: one of this tool is there",
    )
    offers: str = Field(default="", description="The name of a tool that the request offers")


class MockedCall(_Strict):
    """A tool call of an answer; ``arguments`` is JSON, or a text that is sent unchanged."""

    name: str = Field(min_length=1)
    arguments: Any = Field(default_factory=dict)
    id: str = ""


class MockedAnswer(_Strict):
    """Text and calls, or an error with a status and a message."""

    text: str = ""
    calls: tuple[MockedCall, ...] = ()
    status: int | None = Field(default=None, ge=400, le=599)
    message: str = ""

    @model_validator(mode="after")
    def _check_members(self) -> MockedAnswer:
        if self.status is not None and (self.text or self.calls):
            raise ValueError("an answer with “status” is an error and has no text or calls")
        if self.status is None and self.message:
            raise ValueError("“message” needs a “status”")
        if not self.model_fields_set & {"text", "calls", "status"}:
            raise ValueError("the answer has neither text, calls nor status")
        return self

    @property
    def decision(self) -> Reply | Fail:
        """The answer as a decision about a paused request."""
        if self.status is not None:
            return Fail(self.status, self.message or "This error is from a mock table.")
        return Reply(self.text, tuple(MadeCall(call.name, _text_of(call.arguments), call.id) for call in self.calls))


class MockRow(_Strict):
    """A row: an answer, and when it is given."""

    when: MockConditions = MockConditions()
    answer: MockedAnswer


class MockMatch(NamedTuple):
    """A row that fits a request; ``number`` counts from 1."""

    number: int
    decision: Reply | Fail


class MockTable(Value):
    """Answers to requests. The first row that fits a request answers it."""

    rows: tuple[MockRow, ...] = ()

    def find(self, protocol: str, body: JSONObject) -> MockMatch | None:
        """Return the first row that fits the body of a request; None if there is none."""
        request = _Request(protocol, body)
        for number, row in enumerate(self.rows, 1):
            if request.meets(row.when):
                return MockMatch(number, row.answer.decision)
        return None


def read_mock_table(text: str) -> MockTable:
    """Return the table of a file. Raises ValueError in words."""
    try:
        value = parse_json(text)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError("the file must hold one JSON object")
    if _VERSION_MEMBER not in value and "playground_answers" in value:
        raise ValueError("this is a table of results for tool calls; a mock table of requests has “playground_mock”")
    if problem := version_problem(value, _VERSION_MEMBER, VERSION):
        raise ValueError(problem)
    if unknown := sorted(value.keys() - {_VERSION_MEMBER, "rows", "$schema"}):
        raise ValueError(f"unknown field {', '.join(map(repr, unknown))}")
    rows = value.get("rows")
    if not isinstance(rows, list):
        raise ValueError('"rows" must be a list')
    return MockTable(rows=tuple(_read_row(number, row) for number, row in enumerate(rows)))


def _read_row(number: int, value: JSON) -> MockRow:
    try:
        return MockRow.model_validate(value)
    except ValidationError as error:
        raise ValueError(f"rows[{number}]: {reason_of(error)}") from None


def _text_of(arguments: JSON) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


class _Request:
    """A request as conditions see it; its conversation is read when the first condition needs it."""

    def __init__(self, protocol: str, body: JSONObject) -> None:
        self._protocol = protocol
        self._body = body
        self._turns: tuple[Turn, ...] | None = None

    def meets(self, when: MockConditions) -> bool:
        """Return whether all conditions hold."""
        model = self._body.get("model")
        return (
            when.protocol in ("", self._protocol)
            and (not when.model or (isinstance(model, str) and fnmatchcase(model, when.model)))
            and (not when.offers or when.offers in offered_tools(self._body))
            and (not when.contains or when.contains.casefold() in self._new_text().casefold())
            and (when.result is None or self._has_result(when.result))
        )

    def _conversation(self) -> tuple[Turn, ...]:
        """Return the turns of all messages or items that can be read; programs send some that are not documented."""
        if self._turns is None:
            protocol = get_protocol(self._protocol)
            member = protocol.conversation[-1]
            turns: list[Turn] = []
            for entry in protocol.entries(self._body):
                with suppress(ValueError, RecursionError):
                    turns += protocol.read_body({member: [entry]})[0].turns
            self._turns = tuple(turns)
        return self._turns

    def _new_turns(self) -> tuple[Turn, ...]:
        """Return the turns after the last answer."""
        turns = self._conversation()
        last = max((number for number, turn in enumerate(turns, 1) if turn.role is Role.ASSISTANT), default=0)
        return turns[last:]

    def _new_text(self) -> str:
        texts = [part for turn in self._new_turns() for part in (turn.text, *(item.text for item in turn.results))]
        return "\n".join(texts)

    def _has_result(self, expected: bool | str) -> bool:
        results = [result for turn in self._new_turns() for result in turn.results]
        if isinstance(expected, bool):
            return bool(results) is expected
        names = {call.id: call.name for turn in self._conversation() for call in turn.calls}
        return any(names.get(result.call_id) == expected for result in results)


def offered_tools(body: JSONObject) -> frozenset[str]:
    """Return the names of the tools that a request offers, in any protocol; also those of the form before tools."""
    names = set()
    for member in ("tools", "functions"):
        entries = body.get(member)
        for entry in entries if isinstance(entries, list) else ():
            inner = entry.get("function", entry.get("custom", entry)) if isinstance(entry, dict) else None
            name = inner.get("name") if isinstance(inner, dict) else None
            if isinstance(name, str):
                names.add(name)
    return frozenset(names)
