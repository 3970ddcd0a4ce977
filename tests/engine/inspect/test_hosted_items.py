"""Items that a gateway ran itself, in words for people."""

from __future__ import annotations

from typing import Any

from playground.domain.parts import Text, Unknown
from playground.engine.inspect.hosted_items import hosted_item
from playground.engine.inspect.unknown_members import beside_part
from tests.support.each_case import each_case


@each_case(
    ("value", "title", "subject"),
    [
        (
            {"type": "web_search_call", "id": "a", "status": "completed", "action": {"type": "search", "query": "x"}},
            "Web search · completed",
            "x",
        ),
        ({"type": "file_search_call", "id": "a", "queries": ["x", "y"]}, "File search", "x, y"),
        (
            {"type": "code_interpreter_call", "id": "a", "status": "in_progress", "code": "1\n+1"},
            "Code interpreter · in progress",
            "1 +1",
        ),
        ({"type": "mcp_call", "id": "a", "name": "roll", "arguments": "{}"}, "MCP", "roll"),
        ({"type": "mcp_list_tools", "id": "a", "server_label": "dice"}, "MCP list tools", "dice"),
        ({"type": "image_generation_call", "id": "a", "status": "completed"}, "Image generation · completed", ""),
    ],
)
def test_item_has_a_title_and_its_subject(value: dict[str, Any], title: str, subject: str) -> None:
    item = hosted_item(Unknown(value=value))
    assert item is not None
    assert (item.title, item.subject, item.value) == (title, subject, value)


@each_case("value", [{"type": "input_audio"}, {"type": "server_tool_use", "id": "a"}, {"type": 5}, {}])
def test_other_unknown_parts_are_no_items(value: dict[str, Any]) -> None:
    assert hosted_item(Unknown(value=value)) is None


def test_documented_members_of_an_item_are_shown_without_its_marks() -> None:
    item = {"id": "msg_1", "type": "message", "status": "completed", "phase": "commentary"}
    text = Text(text="x", extra={"responses": {"annotations": [], "item": item}})
    (beside,) = beside_part(text)
    assert (beside.title, beside.members) == ("also received", {"phase": "commentary"})
    assert beside.fate == "sent back over Responses"
    assert beside_part(Text(text="x", extra={"responses": {"item": {"id": "msg_1"}}})) == []
