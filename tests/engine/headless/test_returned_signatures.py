"""A loop at the command line returns signatures, custom calls and replaced ids with its second request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from playground.domain.request import ReasoningReturn, SendReasoning
from playground.engine.headless.exit_codes import ExitCode
from tests.engine.headless.runs import Desk
from tests.protocols.messages.test_decode import block, start, stop
from tests.protocols.streams import DONE, call_chunk, chunk, fragment
from tests.support.fault_server import FaultServer, head, send

ANSWERED = chunk({"content": "done"}, "stop") + DONE
TABLE = {"playground_answers": 1, "tools": {"code": [{"equal": "print(1)", "result": "1"}], "f": [{"result": "2"}]}}


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as made:
        yield made


async def looped(server: FaultServer, folder: Path, first: bytes, last: bytes = ANSWERED, **fields: Any) -> list[Any]:
    """The messages of the second request of a loop."""
    server.play_next(send(head()), send(first))
    server.play(send(head()), send(last))
    desk = Desk(folder, server.url)
    content = {"playground": 1, "model": "m", "messages": [{"role": "user", "content": "?"}], **fields}
    rule = ReasoningReturn(when=SendReasoning.AFTER_TOOL_CALLS) if "tools" not in fields else None
    ended = await desk.run(content, answers=desk.write("table.json", TABLE), reasoning=rule)
    assert ended.code == ExitCode.OK
    messages: list[Any] = server.requests[1].json["messages"]
    return messages


async def test_thinking_blocks_of_a_stream_are_returned(server: FaultServer, tmp_path: Path) -> None:
    pieces = [("a", ""), ("b", ""), ("", "S")]
    blocks = [{"type": "thinking", "thinking": text, "signature": signature} for text, signature in pieces]
    stream = [chunk({"reasoning_content": item["thinking"], "thinking_blocks": [item]}) for item in blocks]
    end = call_chunk(fragment("{}", index=0, id="a", name="f")) + chunk({}, "tool_calls") + DONE
    answer = (await looped(server, tmp_path, b"".join(stream) + end))[1]
    assert answer["thinking_blocks"] == [{"type": "thinking", "thinking": "ab", "signature": "S"}]
    assert answer["reasoning_content"] == "ab"


async def test_a_custom_call_is_answered_by_its_row_and_returned(server: FaultServer, tmp_path: Path) -> None:
    tool = {"type": "custom", "custom": {"name": "code", "format": {"type": "text"}}}
    call = {"id": "a", "type": "custom", "custom": {"name": "code", "input": "print(1)"}}
    first = call_chunk({"index": 0, **call}) + chunk({}, "tool_calls") + DONE
    messages = await looped(server, tmp_path, first, tools=[tool])
    assert messages[1:] == [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
    ]
    assert server.requests[0].json["tools"] == [tool]


async def test_late_arguments_are_returned_with_their_call(server: FaultServer, tmp_path: Path) -> None:
    late = block(0, {"type": "tool_use", "id": "a", "name": "f", "input": "{}"})
    delta = {"type": "input_json_delta", "partial_json": '{"x":1}'}
    late += block(1, {}, delta).split(b"\n\n", 1)[1]
    last = start() + block(0, {"type": "text", "text": "done"}) + stop()
    server.play_next(send(head()), send(start() + late + stop("tool_use")))
    server.play(send(head()), send(last))
    desk = Desk(tmp_path, server.url)
    content = {"playground": 1, "protocol": "messages", "model": "m", "messages": [{"role": "user", "content": "?"}]}
    ended = await desk.run(content, answers=desk.write("table.json", TABLE))
    assert ended.code == ExitCode.OK
    assert "under the index of no call" in ended.err
    (call,) = server.requests[1].json["messages"][1]["content"]
    assert call == {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}


async def test_ids_of_chat_messages_are_replaced_over_native_messages(server: FaultServer, tmp_path: Path) -> None:
    server.play(send(head()), send(start() + block(0, {"type": "text", "text": "done"}) + stop()))
    call = {"id": "functions.f:0", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "functions.f:0", "content": "1"},
    ]
    content = {"playground": 1, "protocol": "messages", "model": "m", "messages": messages}
    ended = await Desk(tmp_path, server.url).run(content)
    assert ended.code == ExitCode.OK
    assert "“functions.f:0” as “functions_f_0”" in ended.err
    _, called, answered = server.requests[0].json["messages"]
    assert called["content"][0]["id"] == answered["content"][0]["tool_use_id"] == "functions_f_0"
