"""Items that a gateway ran itself, in words for people."""

from __future__ import annotations

from typing import Any

from playground.domain.parts import Text, Unknown
from playground.engine.inspect.hosted_items import LARGEST_PICTURE, HostedItem, generated_picture, hosted_item
from playground.engine.inspect.unknown_members import unknown_in_part
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


@each_case(
    ("result", "url"),
    [
        ("aGk=", "data:image/png;base64,aGk="),
        ("data:image/webp;base64,aGk=", "data:image/webp;base64,aGk="),
        ("not base64 \x00 <script>", "data:image/png;base64,not base64 \x00 <script>"),
        ("x" * (LARGEST_PICTURE + 1), None),
        ("https://example.org/a.png", None),
        ("", None),
        (None, None),
        ({"b64_json": "aGk="}, None),
    ],
)
def test_generated_image_is_its_result_as_a_data_url(result: Any, url: str | None) -> None:
    item = HostedItem({"type": "image_generation_call", "id": "a", "result": result}, "", "")
    picture = generated_picture(item)
    assert (picture.url if picture is not None else None) == url
    assert generated_picture(HostedItem({**item.value, "type": "web_search_call"}, "", "")) is None


def test_documented_members_of_an_item_are_shown_without_its_marks() -> None:
    item = {"id": "msg_1", "type": "message", "status": "completed", "phase": "commentary"}
    extra = {"annotations": [{"type": "url_citation"}], "order": ["annotations"], "digest": 5, "item": item}
    (members,) = unknown_in_part(Text(text="x", extra={"responses": extra}))
    assert members.title == "also received"
    assert members.members == {"annotations": [{"type": "url_citation"}], "phase": "commentary"}
    assert members.fate == "sent back over Responses"
    assert unknown_in_part(Text(text="x", extra={"responses": {"item": {"id": "msg_1"}}})) == []
