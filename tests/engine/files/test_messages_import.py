"""Files of messages as people keep them: what they are taken for, what is kept, and where something is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.domain.parts import Reasoning, Text, ToolCall, ToolResult, Unknown
from playground.domain.transcript import Role
from playground.engine.files.messages import (
    Conversation,
    ImportedConversations,
    MessagesImportError,
    into,
    open_file,
    read,
)
from playground.engine.session.session import Session
from playground.protocols.protocol import get_protocol
from tests.support.each_case import each_case

CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "input_audio", "input_audio": {"data": ""}}]},
    {"role": "assistant", "content": None, "tool_calls": [CALL], "audio": None},
    {"role": "tool", "tool_call_id": "c1", "content": "rain", "name": "weather"},
    {"role": "assistant", "content": "Rain."},
]
NATIVE: list[dict[str, Any]] = [
    {"role": "user", "content": "Weather in Oslo?"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "I must ask.", "signature": "sig"},
            {"type": "text", "text": "One moment."},
            {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Oslo"}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "rain"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "Rain.", "citations": []}]},
]
PLAIN: list[dict[str, Any]] = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


def lines(*values: Any) -> str:
    return "\n".join(json.dumps(value) for value in values) + "\n"


def only(result: ImportedConversations) -> Conversation:
    (conversation,) = result.conversations
    assert result.total == 1
    return conversation


def sent(conversation: Conversation) -> Any:
    return get_protocol(conversation.request.protocol).encode(conversation.request)


# ---- what is read ----------------------------------------------------------------------------------------------------


def test_chat_messages_are_read() -> None:
    result = read(json.dumps(CHAT))
    request = only(result).request
    assert result.words == "a list of messages"
    assert (request.protocol, request.model) == ("chat", "")
    assert sent(only(result))["messages"] == CHAT
    assert request.turns[1].parts[1] == Unknown(value=CHAT[1]["content"][1])
    assert request.turns[3].members == {"name": "weather"}
    assert only(result).notes == ()


def test_native_messages_are_read() -> None:
    conversation = only(read(json.dumps(NATIVE, indent=4)))
    assert conversation.request.protocol == "messages"
    roles = [turn.role.value for turn in conversation.request.turns]
    assert roles == ["user", "assistant", "tool", "assistant"]
    assert conversation.request.turns[1].parts == (
        Reasoning(text="I must ask.", field="thinking", signature="sig"),
        Text(text="One moment."),
        ToolCall(id="t1", name="weather", arguments='{"city": "Oslo"}'),
    )
    assert conversation.request.turns[2].results == (ToolResult(call_id="t1", text="rain"),)
    assert sent(conversation)["messages"] == NATIVE


def test_system_message_moves_to_the_top() -> None:
    system = {"role": "system", "content": "Be brief."}
    conversation = only(read(json.dumps([system, *NATIVE])))
    assert conversation.request.protocol == "messages"
    assert conversation.request.turns[0].role is Role.SYSTEM
    assert sent(conversation)["system"] == "Be brief."
    assert conversation.notes == ("The system message is at the top, where the Messages protocol has it.",)
    broken = lines(system, *NATIVE, {"role": "user", "content": [{"type": "tool_result", "content": "x"}]})
    assert only(read(broken)).notes[-1].startswith("Left out. Line 6, column 1: message 6: “tool_use_id”")


def test_ambiguous_messages_get_the_preferred_protocol() -> None:
    assert only(read(json.dumps(PLAIN))).request.protocol == "chat"
    assert only(read(json.dumps(PLAIN), prefer="messages")).request.protocol == "messages"
    assert only(read(json.dumps(CHAT), prefer="messages")).request.protocol == "chat"
    assert only(read(json.dumps(PLAIN))).notes == ()


def test_request_body_is_read() -> None:
    body = {"model": "m-1", "system": "s", "max_tokens": 9, "messages": NATIVE, "metadata": {"user_id": "u"}, "odd": 1}
    conversation = only(read("\ufeff" + json.dumps(body)))
    assert conversation.request.model == "m-1"
    assert sent(conversation) == body
    assert conversation.rest == {}
    assert conversation.notes == ("Kept in the extra body: odd.",)


def test_fine_tuning_file_is_read() -> None:
    weighed = [PLAIN[0], {**PLAIN[1], "weight": 0}]
    result = read(
        lines(
            {"messages": CHAT, "tools": [TOOL], "parallel_tool_calls": False, "source": "a.txt", "title": "First"},
            {"messages": weighed},
            CHAT,
        )
    )
    assert (result.words, result.total) == ("one conversation a line", 3)
    first, second, third = result.conversations
    assert [tool.name for tool in first.request.tools] == ["weather"]
    assert (first.title, first.rest) == ("First", {"source": "a.txt", "title": "First"})
    assert sent(first) == {"model": "", "messages": CHAT, "parallel_tool_calls": False, "tools": [TOOL]}
    assert first.notes == ("Not sent, since no request has it: “source”, “title”.",)
    assert sent(second)["messages"] == PLAIN
    assert second.notes == ("“weight” was left out: it is for training, and no request has it.",)
    assert (second.number, third.number, len(third.request.turns)) == (2, 3, 5)


def test_batch_file_is_read() -> None:
    chat = {
        "custom_id": "one",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": "m", "messages": CHAT},
    }
    native = {"custom_id": "two", "params": {"model": "n", "max_tokens": 5, "messages": NATIVE}}
    first, second = read(lines(chat, native)).conversations
    assert (first.title, first.request.model, first.request.protocol) == ("one", "m", "chat")
    assert (second.title, second.request.model, second.request.protocol) == ("two", "n", "messages")


# ---- what is wrong ---------------------------------------------------------------------------------------------------

BAD_ROLE = {"role": "narrator", "content": "x"}


@each_case(
    ("text", "words"),
    [
        ("  \n", "There is nothing to import: the text is empty."),
        ('[{"role": "user",\n "content": "a"\n "x": 1}]', "Line 3, column 2: this is not JSON: a comma is missing."),
        ('{"messages":\n  []}', "Line 2, column 3: there are no messages: the list is empty."),
        ('{"a": 1}', "Line 1, column 1: there are no messages. Expected are"),
        ('{"messages":\n {}}', "Line 2, column 2: “messages” must be a list."),
        (json.dumps({"messages": [BAD_ROLE]}), "Line 1, column 15: message 1: "),
        ('{"playground": 1, "exchanges": 2}', "Line 1, column 1: this is a file of this application."),
        ("[1, 2]", "Line 1, column 2: message 1: must be an object"),
        ("[" * 100_000 + "]" * 100_000, "Line 1, column 1: this JSON cannot be read: it is nested too deeply"),
    ],
)
def test_invalid_file_is_refused_with_the_place(text: str, words: str) -> None:
    with pytest.raises(MessagesImportError) as raised:
        read(text)
    assert str(raised.value).startswith(words)
    assert (raised.value.line > 0) is words.startswith("Line")


def test_file_is_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + lines(*CHAT).encode())
    assert len(only(open_file(path)).request.turns) == 5
    path.write_bytes(b'{"role": "user",\n "content": "\xff"}')
    with pytest.raises(MessagesImportError, match=r"^Line 2, column 14: this is not UTF-8 text"):
        open_file(path)
    with pytest.raises(MessagesImportError, match="not a file"):
        open_file(tmp_path)
    with path.open("wb") as file:
        file.truncate(300 * 1024 * 1024)  # sparse: it takes no room
    with pytest.raises(MessagesImportError, match="larger than 256 MiB"):
        open_file(path)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "messages", "type", "text", "body", "tool_calls", "system"]), inner
        )
    ),
    max_leaves=8,
)


@given(st.lists(_JSON, max_size=3), st.booleans())
def test_any_json_is_read_or_refused(values: list[Any], by_line: bool) -> None:
    text = lines(*values) if by_line else json.dumps(values)
    message = "."
    try:
        read(text)
    except MessagesImportError as error:
        message = str(error)
    assert message.endswith(".")


# ---- into an experiment ----------------------------------------------------------------------------------------------


def test_settings_missing_in_the_file_are_unchanged(session: Session) -> None:
    session.set_parameters(session.settings.current.with_value("temperature", 0.5))
    into(session, only(read(json.dumps({"messages": CHAT, "seed": 4, "tools": [TOOL], "title": "T"}))))
    assert (session.settings.model, session.settings.protocol, session.title) == ("demo-chat", "chat", "T")
    parameters = session.settings.current.to_wire()
    assert parameters == {"temperature": 0.5, "seed": 4, "stream": True, "stream_options": {"include_usage": True}}
    assert len(session.transcript.path) == 5
    assert session.settings.model_extra == {"imported": {"title": "T"}}
    assert session.undo()
    assert list(session.transcript.path) == []
    assert (session.settings.tools, session.title) == ((), "New experiment")
    assert "seed" not in session.settings.current.to_wire()


def test_parameters_are_kept_in_another_protocol(session: Session) -> None:
    session.set_parameters(session.settings.current.with_value("temperature", 0.5))
    into(session, only(read(json.dumps(NATIVE))))
    assert session.settings.protocol == "messages"
    assert session.settings.current.to_wire() == {"temperature": 0.5, "stream": True}
    assert session.settings.model == "demo-chat"


@each_case(
    ("text", "words"),
    [
        (lines(PLAIN[0]) + '{"role": "user", "content" "x"}', "Line 2, column 28: this is not JSON: "),
        (json.dumps([*PLAIN, BAD_ROLE], indent=1), "Line 10, column 2: message 3: “role” is 'narrator'; it must be"),
        (lines(PLAIN[0], BAD_ROLE), "Line 2, column 1: message 2: "),
        (lines(PLAIN[0], {"messages": PLAIN}), "Line 2, column 1: this is no message, but line 1 is one."),
        (lines({"messages": PLAIN}, PLAIN[0]), "Line 2, column 1: this is a message, but the record before it"),
        (lines({"messages": PLAIN}, {"messages": [BAD_ROLE]}), "Line 2, column 15: message 1: "),
        (lines({"messages": PLAIN}, {}, {"messages": []}), "Line 2, column 1: there are no messages."),
        ("{broken\n" + lines({"messages": PLAIN}), "Line 1, column 2: this is not JSON"),
        (json.dumps([[], PLAIN]), "Line 1, column 2: there are no messages: the list is empty."),
    ],
)
def test_unreadable_part_is_reported(text: str, words: str) -> None:
    result = read(text)
    conversation = only(result)
    reasons = (*result.problems, *(note.removeprefix("Left out. ") for note in conversation.notes))
    assert any(line.startswith(words) for line in reasons), reasons
    assert [turn.text for turn in conversation.request.turns][:1] == ["a"]


def test_long_list_of_other_records_is_refused_with_the_place_of_the_first() -> None:
    tools = [{"type": "function", "function": {"name": f"tool_{number}"}} for number in range(5_000)]
    with pytest.raises(MessagesImportError, match="Line 1, column 2: there are no messages"):
        read(json.dumps(tools))
    with pytest.raises(MessagesImportError, match="Line 1, column 1: there are no messages"):
        read("\n".join(map(json.dumps, tools)))
