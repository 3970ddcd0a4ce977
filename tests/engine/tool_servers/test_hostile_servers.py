"""Tool servers that flood, lie, choke and die: each is reported in words, and no other call waits for them."""

from __future__ import annotations

import pytest

import playground.engine.tool_servers.servers as servers_module
from playground.domain.tool_servers import TextBlock
from playground.engine.session.tool_calls import Ticket
from playground.engine.tool_servers.events import FramesReceived, RequestClosed, RequestReceived, ServersChanged, State
from playground.engine.tool_servers.servers import ServerError
from playground.system.tasks import Tasks
from playground.tool_host.limits import LONGEST_FRAME, MOST_ASKS
from tests.engine.tool_servers.conftest import OpenServers, Room, hostile
from tests.support.eventually import eventually

SLOW_MODES = [pytest.param(mode, marks=pytest.mark.slow) for mode in ("stderr", "restless", "asks")]


def has_logged(room: Room, text: str) -> bool:
    return any(text in line.text for line in room.live.log)


async def test_call_with_a_bad_answer_fails_alone(open_servers: OpenServers) -> None:
    room = open_servers(hostile("chatty"))
    for tool, words in (
        ("huge", r"100,000,\d+ bytes long; at most 33,554,432 are read"),
        ("deep", "violates JSON-RPC"),
        ("nothing", "violates JSON-RPC"),
        ("refuse", "refused: I will not"),
    ):
        with pytest.raises(ServerError, match=words):
            await room.call(tool)
    for tool in ("noise", "twice", "echo"):
        assert (await room.call(tool, text="x")).blocks
    assert (await room.call("fail")).is_error
    assert (await room.call("misfit")).structured == {"count": "many"}
    await eventually(lambda: has_logged(room, "no message"), "the noise in the log")


async def test_large_answer_and_its_frame_are_cut(open_servers: OpenServers) -> None:
    room = open_servers(hostile())
    answer = await room.call("huge", size=3_000_000)
    (block,) = answer.blocks
    assert isinstance(block, TextBlock)
    assert (len(block.text), block.cut) == (2_000_000, 3_000_000)
    assert "3,000,000 characters" in answer.lost[0]
    tape = room.servers.tape
    await eventually(lambda: any(entry.frame.size > 3_000_000 for entry in tape.entries), "the frame")
    assert max(len(entry.frame.text) for entry in tape.entries) <= LONGEST_FRAME


@pytest.mark.parametrize(
    ("tool", "words", "notice"),
    [
        ("endless", "256 MiB without the end of a line", ""),
        ("half", "ended by itself, with exit code 0", "in the middle of a message"),
    ],
)
async def test_unfinished_answer_fails_its_call(open_servers: OpenServers, tool: str, words: str, notice: str) -> None:
    room = open_servers(hostile())
    with pytest.raises(ServerError, match=words):
        await room.call(tool)
    await room.wait_for_frame(notice)


async def test_call_without_an_answer_is_cancelled_and_its_questions_hold_no_other(open_servers: OpenServers) -> None:
    room = open_servers(hostile(timeout=1.5))
    await room.call("ask_much")
    await eventually(lambda: not room.servers.asks, "the end of the questions")
    with pytest.raises(ServerError, match=r"For 1\.5 seconds the server sent neither"):
        await room.call("hang")
    await eventually(lambda: "notifications/cancelled" in room.methods, "the notification")
    assert room.live.state is State.READY


async def test_progress_extends_the_time_of_a_call(open_servers: OpenServers) -> None:
    ticket = Ticket()
    answer = await open_servers(hostile(timeout=1.0)).call("flood", ticket, seconds=1.2)
    assert answer.seconds > 1
    assert ticket.done is not None
    assert (ticket.total, ticket.words[:5]) == (1e9, "step ")


async def test_server_that_dies_is_restarted_later_each_time_unless_it_is_stopped(open_servers: OpenServers) -> None:
    room = open_servers(hostile())
    delays = []
    for _ in range(2):
        await room.start()
        with pytest.raises(ServerError, match=r"exit code 7.*out of luck"):
            await room.call("die")
        assert (room.live.state, "out of luck" in room.live.problem) == (State.FAILED, True)
        delays.append(room.live.restarts_in)
    assert delays == [1.0, 2.0]
    await eventually(lambda: room.live.state is State.READY, "the new start")
    assert room.live.restarts_in is None
    with pytest.raises(ServerError):
        await room.call("die")
    await room.servers.stop("h")
    assert (room.live.state, room.live.restarts_in) == (State.STOPPED, None)


async def test_server_that_dies_at_every_start_is_tried_a_few_times_only(
    open_servers: OpenServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers_module, "RESTARTS", (0.01, 0.02, 0.03))
    room = open_servers(hostile())
    await room.start()
    room.servers.book.update(hostile("dies").model_copy(update={"timeout": 61.0}))  # for the next start
    with pytest.raises(ServerError):
        await room.call("die")
    await eventually(
        lambda: room.live.state is State.FAILED and room.live.restarts_in is None, "the end of the last attempt"
    )
    assert "exit code 3" in room.live.problem


async def test_lists_of_tools_without_end_or_with_bad_entries_are_cut(open_servers: OpenServers) -> None:
    room = open_servers(hostile("endless"))
    assert len((await room.start()).tools) == 20_000
    assert sum(isinstance(event, ServersChanged) for event in room.events) < 20
    room = open_servers(hostile("deep"))
    assert "echo" in {tool.name for tool in (await room.start()).tools}
    await eventually(lambda: has_logged(room, "left out"), "the line on the tool")
    assert (await open_servers(hostile("wrong-list")).start()).tools == ()


@pytest.mark.parametrize(("mode", "words"), [("huge-list", "100,00"), ("old", "1999-12-31"), ("dies", "exit code 3")])
async def test_server_that_cannot_be_used_fails_to_start_with_a_reason(
    open_servers: OpenServers, mode: str, words: str
) -> None:
    room = open_servers(hostile(mode))
    with pytest.raises(ServerError, match=words):
        await room.start()
    assert (room.live.state, room.live.restarts_in) == (State.FAILED, None)
    assert words in room.live.problem


async def test_server_that_asks_without_end_is_heard_up_to_a_limit(open_servers: OpenServers) -> None:
    room = open_servers(hostile("asks"))
    await room.start()
    await eventually(lambda: len(room.servers.asks) == MOST_ASKS, "the questions")
    assert (await room.call("echo", text="ready")).blocks
    assert len(room.servers.asks) <= MOST_ASKS
    await room.servers.stop("h")
    await eventually(lambda: not room.servers.asks, "the end of the questions")
    assert {RequestReceived, RequestClosed} <= set(map(type, room.events))


@pytest.mark.parametrize("mode", ["flood", *SLOW_MODES])
async def test_flood_is_handed_over_in_parts_while_calls_are_answered(open_servers: OpenServers, mode: str) -> None:
    room = open_servers(hostile(mode), own_host=True)
    await room.start()
    await eventually(lambda: any(isinstance(event, FramesReceived) for event in room.events), "frames of the flood")
    for _ in range(4):
        assert (await room.call("echo", text="ready")).blocks
    assert max(len(event.frames) for event in room.events if isinstance(event, FramesReceived)) <= 201


async def test_server_stopped_while_it_starts_is_stopped(open_servers: OpenServers) -> None:
    room = open_servers(hostile("silent"))
    start = Tasks(ServerError).start(room.start())
    await eventually(lambda: "initialize" in room.methods, "the request")
    await room.servers.stop("h")
    with pytest.raises(ServerError):
        await start
    assert room.live.state is State.STOPPED
