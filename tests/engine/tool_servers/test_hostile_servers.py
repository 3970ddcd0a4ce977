"""Tool servers that flood, lie, choke and die: each is reported in words, and no other call waits for them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import playground.engine.tool_servers.servers as all_servers
from playground.domain.tool_servers import TextBlock
from playground.engine.session.tool_calls import Ticket
from playground.engine.tool_servers.events import AskCame, AskGone, FramesCame, ServersChanged, State
from playground.engine.tool_servers.servers import ServerError
from playground.tasks import Tasks
from playground.tool_host.limits import LONGEST_FRAME, MOST_ASKS
from tests.engine.tool_servers.conftest import Room, hostile
from tests.support.eventually import eventually

Open = Callable[..., Room]


def log_of(room: Room) -> str:
    return "\n".join(line.text for line in room.servers.live("h").log)


async def assert_answers(room: Room) -> None:
    assert (await room.servers.call("h", "echo", {"text": "still here"}, Ticket())).blocks


async def test_call_with_a_bad_answer_fails_alone(open_servers: Open) -> None:
    room = open_servers(hostile("chatty"))
    for tool, words in (
        ("huge", r"100,000,\d+ bytes long; at most 33,554,432 are read"),
        ("deep", "not what JSON-RPC"),
        ("nothing", "not what JSON-RPC"),
        ("refuse", "refused: I will not"),
    ):
        with pytest.raises(ServerError, match=words):
            await room.servers.call("h", tool, {}, Ticket())
    for tool in ("noise", "twice", "echo"):
        assert (await room.servers.call("h", tool, {"text": "x"}, Ticket())).blocks
    assert (await room.servers.call("h", "fail", {}, Ticket())).is_error
    assert (await room.servers.call("h", "misfit", {}, Ticket())).structured == {"count": "many"}
    await eventually(lambda: "no message" in log_of(room), "the noise in the log")


async def test_large_answer_and_its_frame_are_cut(open_servers: Open) -> None:
    room = open_servers(hostile())
    answer = await room.servers.call("h", "huge", {"size": 3_000_000}, Ticket())
    (block,) = answer.blocks
    assert isinstance(block, TextBlock)
    assert (len(block.text), block.cut) == (2_000_000, 3_000_000)
    assert "3,000,000 characters" in answer.lost[0]
    tape = room.servers.tape
    await eventually(lambda: any(entry.frame.size > 3_000_000 for entry in tape.entries), "the frame")
    assert max(len(entry.frame.text) for entry in tape.entries) <= LONGEST_FRAME


async def test_answer_without_the_end_of_a_line_stops_the_server(open_servers: Open) -> None:
    room = open_servers(hostile())
    with pytest.raises(ServerError, match="256 MiB without the end of a line"):
        await room.servers.call("h", "endless", {}, Ticket())


async def test_call_without_an_answer_is_cancelled_and_its_questions_hold_no_other(open_servers: Open) -> None:
    room = open_servers(hostile(timeout=1.5))
    await room.servers.call("h", "ask_much", {}, Ticket())
    await eventually(lambda: not room.servers.asks, "the end of the questions")
    with pytest.raises(ServerError, match=r"For 1\.5 seconds the server did not answer"):
        await room.servers.call("h", "hang", {}, Ticket())
    await eventually(
        lambda: "notifications/cancelled" in {entry.method for entry in room.servers.tape.entries}, "the notification"
    )
    assert room.servers.live("h").state is State.READY


async def test_progress_extends_the_time_of_a_call(open_servers: Open) -> None:
    room = open_servers(hostile(timeout=1.0))
    ticket = Ticket()
    answer = await room.servers.call("h", "flood", {"seconds": 1.2}, ticket)
    assert answer.seconds > 1
    assert ticket.done is not None
    assert (ticket.total, ticket.words[:5]) == (1e9, "step ")


async def test_server_that_dies_is_restarted_later_each_time_unless_it_is_stopped(open_servers: Open) -> None:
    room = open_servers(hostile())
    delays = []
    for _ in range(2):
        await room.servers.start("h")
        with pytest.raises(ServerError, match=r"exit code 7.*out of luck"):
            await room.servers.call("h", "die", {}, Ticket())
        live = room.servers.live("h")
        assert live.state is State.FAILED
        assert "out of luck" in live.problem
        delays.append(live.restarts_in)
    assert delays == [1.0, 2.0]
    await eventually(lambda: room.servers.live("h").state is State.READY, "the new start")
    assert room.servers.live("h").restarts_in is None
    with pytest.raises(ServerError):
        await room.servers.call("h", "die", {}, Ticket())
    await room.servers.stop("h")
    assert (room.servers.live("h").state, room.servers.live("h").restarts_in) == (State.STOPPED, None)


async def test_server_that_dies_at_every_start_is_tried_a_few_times_only(
    open_servers: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_servers, "RESTARTS", (0.01, 0.02, 0.03))
    room = open_servers(hostile())
    await room.servers.start("h")
    with pytest.raises(ServerError):
        await room.servers.call("h", "die", {}, Ticket())
    room.servers.book.update(hostile("dies").model_copy(update={"timeout": 61.0}))
    await eventually(
        lambda: room.servers.live("h").state is State.FAILED and room.servers.live("h").restarts_in is None,
        "the last attempt",
    )
    assert "exit code 3" in room.servers.live("h").problem


async def test_half_a_message_at_the_end_is_reported(open_servers: Open) -> None:
    room = open_servers(hostile())
    with pytest.raises(ServerError, match="ended by itself, with exit code 0"):
        await room.servers.call("h", "half", {}, Ticket())
    assert any("in the middle of a message" in entry.frame.notice for entry in room.servers.tape.entries)


async def test_tools_on_pages_without_end_are_cut_off(open_servers: Open) -> None:
    room = open_servers(hostile("endless"))
    assert len((await room.servers.start("h")).tools) == 20_000
    assert sum(isinstance(event, ServersChanged) for event in room.events) < 20


async def test_tool_with_an_unusable_schema_is_left_out_alone(open_servers: Open) -> None:
    room = open_servers(hostile("deep"))
    live = await room.servers.start("h")
    assert "echo" in {tool.name for tool in live.tools}
    await eventually(lambda: "left out" in log_of(room), "the line on the tool")


async def test_list_that_is_none_gives_no_tools(open_servers: Open) -> None:
    room = open_servers(hostile("wrong-list"))
    assert (await room.servers.start("h")).tools == ()


@pytest.mark.parametrize(("mode", "words"), [("huge-list", "100,00"), ("old", "1999-12-31"), ("dies", "exit code 3")])
async def test_server_that_cannot_be_used_fails_to_start_with_a_reason(
    open_servers: Open, mode: str, words: str
) -> None:
    room = open_servers(hostile(mode))
    with pytest.raises(ServerError, match=words):
        await room.servers.start("h")
    live = room.servers.live("h")
    assert (live.state, live.restarts_in) == (State.FAILED, None)
    assert words in live.problem


async def test_server_that_asks_without_end_is_heard_up_to_a_limit(open_servers: Open) -> None:
    room = open_servers(hostile("asks"))
    await room.servers.start("h")
    await eventually(lambda: len(room.servers.asks) == MOST_ASKS, "the questions")
    await assert_answers(room)
    assert len(room.servers.asks) <= MOST_ASKS
    await room.servers.stop("h")
    await eventually(lambda: not room.servers.asks, "the end of the questions")
    assert {AskCame, AskGone} <= set(map(type, room.events))


@pytest.mark.parametrize(
    "mode", ["flood", *(pytest.param(mode, marks=pytest.mark.slow) for mode in ("stderr", "restless", "asks"))]
)
async def test_flood_is_handed_over_in_parts_while_calls_are_answered(open_servers: Open, mode: str) -> None:
    room = open_servers(hostile(mode), own_host=True)
    await room.servers.start("h")
    await eventually(lambda: any(isinstance(event, FramesCame) for event in room.events), "frames of the flood")
    for _ in range(4):
        await assert_answers(room)
    parts = [event.frames for event in room.events if isinstance(event, FramesCame)]
    assert max(map(len, parts)) <= 201


async def test_server_stopped_while_it_starts_is_stopped(open_servers: Open) -> None:
    room = open_servers(hostile("silent"))
    starting = Tasks(ServerError).start(room.servers.start("h"))
    await eventually(lambda: any(entry.method == "initialize" for entry in room.servers.tape.entries), "the request")
    await room.servers.stop("h")
    with pytest.raises(ServerError):
        await starting
    assert room.servers.live("h").state is State.STOPPED
