"""Mock tables: conditions on requests in each protocol, answers, and mistakes in words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.engine.listen.mock_table import MockTable, read_mock_table
from playground.engine.listen.pauses import Fail, MadeCall, Reply
from tests.engine.listen.test_answer_streams import TOOLS
from tests.support.each_case import each_case


def table(*rows: Any) -> MockTable:
    return read_mock_table(json.dumps({"playground_mock": 1, "rows": rows}))


def number(table: MockTable, protocol: str, body: dict[str, Any]) -> int:
    """The number of the row that fits; 0 for none."""
    match = table.find(protocol, body)
    return match.number if match is not None else 0


def conversation(protocol: str, *, answered: bool) -> dict[str, Any]:
    """A question about the weather, and with ``answered`` a call and its result after it."""
    text = "What is the weather?"
    if protocol == "responses":
        items: list[Any] = [
            {"role": "user", "content": text},
            {"type": "function_call", "call_id": "c", "name": "get_weather", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "4 degrees"},
        ]
        return {"model": "m-1", "input": items if answered else text, "tools": TOOLS[protocol]}
    messages: list[Any] = [{"role": "user", "content": text}]
    if protocol == "chat" and answered:
        call = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": "c", "content": "4 degrees"})
    elif answered:
        use = {"type": "tool_use", "id": "c", "name": "get_weather", "input": {}}
        messages.append({"role": "assistant", "content": [use]})
        result = {"type": "tool_result", "tool_use_id": "c", "content": "4 degrees"}
        messages.append({"role": "user", "content": [result]})
    return {"model": "m-1", "messages": messages, "tools": TOOLS[protocol]}


PROTOCOLS = ("chat", "messages", "responses")
CONDITIONS = [
    ({}, True, True),
    ({"model": "m-1"}, True, True),
    ({"model": "m-*"}, True, True),
    ({"model": "claude-*"}, False, False),
    ({"contains": "WEATHER?"}, True, False),
    ({"contains": "4 degrees"}, False, True),
    ({"result": True}, False, True),
    ({"result": False}, True, False),
    ({"result": "get_weather"}, False, True),
    ({"result": "get_time"}, False, False),
    ({"offers": "get_time"}, True, True),
    ({"offers": "get_sun"}, False, False),
    ({"protocol": "none"}, False, False),
    ({"contains": "weather", "result": True}, False, False),
]


@each_case("protocol", PROTOCOLS)
def test_conditions_hold_in_each_protocol(protocol: str) -> None:
    for when, before, after in CONDITIONS:
        rows = table({"when": when, "answer": {"text": "Hi"}})
        for answered, expected in ((False, before), (True, after)):
            assert number(rows, protocol, conversation(protocol, answered=answered)) == int(expected), (when, answered)


def test_first_row_that_fits_answers() -> None:
    rows = table(
        {"when": {"result": True}, "answer": {"text": "It is 4 °C."}},
        {"answer": {"text": "Now.", "calls": [{"name": "get_weather", "arguments": {"city": "Å"}}, {"name": "now"}]}},
        {"answer": {"status": 500}},
    )
    first = rows.find("chat", conversation("chat", answered=False))
    assert first is not None
    calls = (MadeCall("get_weather", '{"city": "Å"}'), MadeCall("now", "{}"))
    assert (first.number, first.decision) == (2, Reply("Now.", calls))
    second = rows.find("chat", conversation("chat", answered=True))
    assert second is not None
    assert (second.number, second.decision) == (1, Reply("It is 4 °C."))


def test_error_and_plain_arguments_are_answers() -> None:
    match = table({"answer": {"status": 529, "message": "Overloaded."}}).find("chat", {})
    assert match is not None
    assert match.decision == Fail(529, "Overloaded.")
    match = table({"answer": {"calls": [{"name": "sql", "arguments": "SELECT 1", "id": "c-1"}]}}).find("chat", {})
    assert match is not None
    assert match.decision == Reply("", (MadeCall("sql", "SELECT 1", "c-1"),))


def test_undocumented_message_does_not_hide_the_others() -> None:
    """Claude Code sends system messages in the middle of a conversation."""
    body = conversation("messages", answered=True)
    body["messages"].insert(1, {"role": "system", "content": "Available agents: none"})
    body["messages"].append({"role": "system", "content": "The file was read before."})
    rows = table({"when": {"result": "get_weather", "contains": "degrees"}, "answer": {"text": "It is 4 °C."}})
    assert number(rows, "messages", body) == 1


def test_request_whose_messages_cannot_be_read_fits_rows_without_text_only() -> None:
    rows = table(
        {"when": {"contains": "a"}, "answer": {"text": "1"}}, {"when": {"model": "m"}, "answer": {"text": "2"}}
    )
    for messages in (5, [7], [{"role": 1}], None):
        assert number(rows, "chat", {"model": "m", "messages": messages}) == 2


MISTAKES = [
    ("[", "not JSON"),
    ("[]", "one JSON object"),
    ("{}", '"playground_mock": 1 is missing'),
    ('{"playground_answers": 1, "tools": {}}', "results for tool calls"),
    ('{"playground_mock": 2, "rows": []}', "newer application"),
    ('{"playground_mock": 1}', '"rows" must be a list'),
    ('{"playground_mock": 1, "rows": [], "row": 1}', "unknown field 'row'"),
    ('{"playground_mock": 1, "rows": [5]}', r"rows\[0\]: .*object"),
    ('{"playground_mock": 1, "rows": [{"answer": {"text": "a"}}, {}]}', r"rows\[1\]: .*answer.*missing"),
    ('{"playground_mock": 1, "rows": [{"when": {"modle": "m"}, "answer": {"text": "a"}}]}', "modle.*unknown"),
    ('{"playground_mock": 1, "rows": [{"answer": {}}]}', "neither text, calls nor status"),
    ('{"playground_mock": 1, "rows": [{"answer": {"status": 200}}]}', "must not be less than 400"),
    ('{"playground_mock": 1, "rows": [{"answer": {"status": 500, "text": "a"}}]}', "is an error"),
    ('{"playground_mock": 1, "rows": [{"answer": {"text": "a", "message": "b"}}]}', "needs a “status”"),
    ('{"playground_mock": 1, "rows": [{"answer": {"calls": [{"name": ""}]}}]}', "name"),
]


@each_case("text, words", MISTAKES)
def test_mistake_in_a_table_is_told_in_words(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_mock_table(text)
