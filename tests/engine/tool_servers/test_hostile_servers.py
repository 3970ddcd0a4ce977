"""Servers that flood, lie, choke and die: each gets a clear line, and nothing waits for them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

import playground.engine.tool_servers.servers as all_servers
from playground.domain.tool_servers import TextBlock
from playground.engine.session.serving import Ticket
from playground.engine.tool_servers.live import AskCame, AskGone, FramesCame, ServersChanged, State
from playground.engine.tool_servers.servers import ServerError
from playground.tasks import Tasks
from playground.tool_host.limits import LONGEST_FRAME, MOST_ASKS
from tests.engine.tool_servers.conftest import Room, hostile

Open = Callable[..., Room]


def words(room: Room) -> str:
    """All that stands in the log."""
    return "\n".join(line.text for line in room.servers.live("h").log)


async def test_an_answer_of_100_mb_is_let_go_and_the_server_goes_on(open_servers: Open) -> None:
    room = open_servers(hostile())
    with pytest.raises(ServerError, match=r"100,000,\d+ bytes long; at most 33,554,432 are read"):
        await room.servers.call("h", "huge", {}, Ticket())
    assert (await room.servers.call("h", "echo", {"text": "still here"}, Ticket())).blocks


async def test_an_answer_that_can_be_read_is_cut_with_a_word_about_it(open_servers: Open) -> None:
    room = open_servers(hostile())
    answer = await room.servers.call("h", "huge", {"size": 20_000_000}, Ticket())
    (block,) = answer.blocks
    assert isinstance(block, TextBlock)
    assert (len(block.text), block.cut) == (2_000_000, 20_000_000)
    assert "20,000,000 characters" in answer.lost[0]


async def test_answer_without_the_end_of_a_line_stops_the_server(open_servers: Open) -> None:
    room = open_servers(hostile())
    with pytest.raises(ServerError, match="256 MiB without the end of a line"):
        await room.servers.call("h", "endless", {}, Ticket())


async def test_one_that_never_answers_is_called_off_after_its_time(open_servers: Open) -> None:
    room = open_servers(hostile(timeout=0.5))
    with pytest.raises(ServerError, match=r"For 0\.5 seconds the server did not answer"):
        await room.servers.call("h", "hang", {}, Ticket())
    await room.until(
        lambda: any(entry.method == "notifications/cancelled" for entry in room.servers.tape.entries),
        "the word to the server",
    )
    assert room.servers.live("h").state is State.READY


async def test_progress_gives_it_more_time(open_servers: Open) -> None:
    room = open_servers(hostile(timeout=1.0))
    ticket = Ticket()
    answer = await room.servers.call("h", "flood", {"seconds": 2.5}, ticket)
    assert answer.seconds > 2
    assert ticket.done is not None
    assert ticket.total == 1e9
    assert ticket.words.startswith("step ")


async def test_one_that_dies_in_a_call_fails_it_with_its_last_words(open_servers: Open) -> None:
    room = open_servers(hostile())
    await room.servers.start("h")
    with pytest.raises(ServerError, match=r"exit code 7.*out of luck"):
        await room.servers.call("h", "die", {}, Ticket())
    live = room.servers.live("h")
    assert live.state is State.FAILED
    assert "out of luck" in live.problem
    assert live.restarts_in == 1.0


async def test_one_that_died_is_started_again_by_itself_later_every_time(open_servers: Open) -> None:
    room = open_servers(hostile())
    waits = []
    for _ in range(2):
        await room.servers.start("h")
        with pytest.raises(ServerError):
            await room.servers.call("h", "die", {}, Ticket())
        waits.append(room.servers.live("h").restarts_in)
    assert waits == [1.0, 2.0]
    await room.until(lambda: room.servers.live("h").state is State.READY, "the new start")
    assert room.servers.live("h").restarts_in is None


async def test_one_that_was_stopped_after_it_died_is_not_started_again(open_servers: Open) -> None:
    room = open_servers(hostile())
    with pytest.raises(ServerError):
        await room.servers.call("h", "die", {}, Ticket())
    await room.servers.stop("h")
    assert room.servers.live("h").state is State.STOPPED
    assert room.servers.live("h").restarts_in is None


@pytest.mark.parametrize("tool", ["deep", "nothing"])
async def test_an_answer_that_breaks_the_protocol_fails_its_call_only(open_servers: Open, tool: str) -> None:
    room = open_servers(hostile())
    with pytest.raises(ServerError, match="not what JSON-RPC"):
        await room.servers.call("h", tool, {}, Ticket())
    assert (await room.servers.call("h", "echo", {"text": "x"}, Ticket())).blocks


async def test_half_a_message_at_the_end_is_told(open_servers: Open) -> None:
    room = open_servers(hostile())
    with pytest.raises(ServerError, match="ended by itself, with exit code 0"):
        await room.servers.call("h", "half", {}, Ticket())
    assert any("in the middle of a message" in entry.frame.notice for entry in room.servers.tape.entries)


async def test_noise_and_a_second_answer_do_no_harm(open_servers: Open) -> None:
    room = open_servers(hostile("chatty"))
    for tool in ("noise", "twice", "echo"):
        assert (await room.servers.call("h", tool, {"text": "x"}, Ticket())).blocks
    await room.until(lambda: "no message" in words(room), "the noise in the log")


async def test_an_error_is_said_in_the_words_of_the_server(open_servers: Open) -> None:
    room = open_servers(hostile())
    with pytest.raises(ServerError, match="refused: I will not"):
        await room.servers.call("h", "refuse", {}, Ticket())
    assert (await room.servers.call("h", "fail", {}, Ticket())).is_error


async def test_what_does_not_fit_its_schema_arrives_all_the_same(open_servers: Open) -> None:
    room = open_servers(hostile())
    assert (await room.servers.call("h", "misfit", {}, Ticket())).structured == {"count": "many"}


async def test_10_000_tools_are_listed_once(open_servers: Open) -> None:
    room = open_servers(hostile("many"))
    live = await room.servers.start("h")
    assert len(live.tools) == 10_000
    assert sum(isinstance(event, ServersChanged) for event in room.events) < 20


async def test_pages_without_end_are_cut_off(open_servers: Open) -> None:
    room = open_servers(hostile("endless"))
    assert len((await room.servers.start("h")).tools) == 20_000


async def test_schemas_that_cannot_be_kept_take_no_other_tool_with_them(open_servers: Open) -> None:
    room = open_servers(hostile("deep"))
    live = await room.servers.start("h")
    assert "echo" in {tool.name for tool in live.tools}
    await room.until(lambda: "left out" in words(room), "what is left out")


@pytest.mark.parametrize(("mode", "said"), [("huge-list", "100,00"), ("old", "1999-12-31"), ("dies", "exit code 3")])
async def test_one_that_cannot_be_spoken_with_says_why(open_servers: Open, mode: str, said: str) -> None:
    room = open_servers(hostile(mode))
    with pytest.raises(ServerError, match=said):
        await room.servers.start("h")
    assert room.servers.live("h").state is State.FAILED
    assert said in room.servers.live("h").problem
    assert room.servers.live("h").restarts_in is None


async def test_one_that_lists_nonsense_has_no_tools(open_servers: Open) -> None:
    room = open_servers(hostile("wrong-list"))
    assert (await room.servers.start("h")).tools == ()


async def test_one_that_asks_without_end_is_heard_so_many_times(open_servers: Open) -> None:
    room = open_servers(hostile("asks"))
    await room.servers.start("h")
    await room.until(lambda: len(room.servers.asks) == MOST_ASKS, "the questions")
    assert (await room.servers.call("h", "echo", {"text": "x"}, Ticket())).blocks
    assert len(room.servers.asks) <= MOST_ASKS
    await room.servers.stop("h")
    await room.until(lambda: not room.servers.asks, "their end")
    assert any(isinstance(event, AskGone) for event in room.events)
    assert any(isinstance(event, AskCame) for event in room.events)


@asynccontextmanager
async def longest_turns() -> AsyncIterator[list[float]]:
    """Seconds of this thread's own work between two turns of the loop."""
    turns: list[float] = []
    running = True

    def turn(before: float) -> None:
        now = time.thread_time()
        turns.append(now - before)
        if running:
            asyncio.get_running_loop().call_later(0.001, turn, time.thread_time())

    turn(time.thread_time())
    try:
        yield turns
    finally:
        running = False


@pytest.mark.parametrize("mode", ["flood", "stderr", "restless", "asks"])
async def test_a_flood_is_told_in_parts_and_never_holds_the_loop(open_servers: Open, mode: str) -> None:
    room = open_servers(hostile(mode), own_host=True)
    await room.servers.start("h")
    room.events.clear()
    async with longest_turns() as turns:
        began = time.monotonic()
        for _ in range(4):
            assert (await room.servers.call("h", "echo", {"text": "x"}, Ticket())).blocks
            await asyncio.sleep(0.2)
        seconds = time.monotonic() - began
    told = [event for event in room.events if isinstance(event, ServersChanged | FramesCame)]
    assert len(told) < 80 * seconds
    assert all(len(event.frames) <= 201 for event in told if isinstance(event, FramesCame))
    turns.sort()
    assert turns[int(len(turns) * 0.99)] < 0.016


async def test_frames_are_cut(open_servers: Open) -> None:
    room = open_servers(hostile())
    await room.servers.call("h", "huge", {"size": 1_000_000}, Ticket())
    await room.until(lambda: any(entry.frame.size > 1_000_000 for entry in room.servers.tape.entries), "the frame")
    assert max(len(entry.frame.text) for entry in room.servers.tape.entries) <= LONGEST_FRAME


async def test_one_that_dies_at_every_start_is_tried_a_few_times_only(
    open_servers: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_servers, "RESTARTS", (0.01, 0.02, 0.03))
    room = open_servers(hostile())
    await room.servers.start("h")
    server = room.servers.book.get("h")
    assert server is not None
    changed = hostile("dies").model_copy(update={"timeout": 61.0})
    with pytest.raises(ServerError):
        await room.servers.call("h", "die", {}, Ticket())
    room.servers.book.update(changed)
    await room.until(
        lambda: room.servers.live("h").state is State.FAILED and room.servers.live("h").restarts_in is None,
        "the end of trying",
    )
    assert "exit code 3" in room.servers.live("h").problem


async def test_a_stop_while_it_starts_leaves_it_stopped(open_servers: Open) -> None:
    room = open_servers(hostile("silent"))
    tasks = Tasks(ServerError)
    starting = tasks.start(room.servers.start("h"))
    await room.until(lambda: any(entry.method == "initialize" for entry in room.servers.tape.entries), "the first word")
    await room.servers.stop("h")
    with pytest.raises(ServerError):
        await starting
    assert room.servers.live("h").state is State.STOPPED


async def test_what_was_asked_for_a_call_ends_with_it_and_holds_no_other(open_servers: Open) -> None:
    room = open_servers(hostile(timeout=0.5))
    await room.servers.call("h", "ask_much", {}, Ticket())
    await room.until(lambda: not room.servers.asks, "the end of the questions")
    with pytest.raises(ServerError, match="the server did not answer"):
        await room.servers.call("h", "hang", {}, Ticket())
