"""What the window is told comes in parts, and what is too much is counted."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator

import pytest

from playground.domain.tool_servers import Frame
from playground.jsonkit.framed import unpack
from playground.jsonkit.values import JSONObject
from playground.tool_host.limits import FRAMES_A_TICK, LINES_A_TICK, WAITING
from playground.tool_host.outlet import Outlet


class Window:
    """The other end of the pipe. ``reads`` lets it read."""

    def __init__(self) -> None:
        inbox, outbox = os.pipe()
        self._inbox = os.fdopen(inbox, "rb")
        self._outbox = os.fdopen(outbox, "wb")
        self.outlet = Outlet(self._outbox)
        self.heard: list[JSONObject] = []
        self.reads = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            while True:
                self.reads.wait()
                self.heard.append(unpack(self._inbox))
        except EOFError:
            pass

    def close(self) -> None:
        """End both ends."""
        self.reads.set()
        self.outlet.close()
        self._outbox.close()
        self._thread.join()
        self._inbox.close()

    async def until(self, kind: str) -> JSONObject:
        """The first message of a kind."""
        for _ in range(1_000):
            found = next((message for message in tuple(self.heard) if message["is"] == kind), None)
            if found is not None:
                return found
            await asyncio.sleep(0.01)
        pytest.fail(f"nothing of {kind} came")


@pytest.fixture
async def window() -> AsyncIterator[Window]:
    """A window that reads."""
    made = Window()
    made.reads.set()
    yield made
    made.close()


def frame(text: str = "{}") -> Frame:
    """A message on a tape."""
    return Frame(server="S", at=1.0, sent=True, text=text, size=len(text))


async def test_frames_and_lines_come_together_and_the_rest_is_counted(window: Window) -> None:
    for _ in range(FRAMES_A_TICK + 30):
        window.outlet.frame("s", frame())
    for number in range(LINES_A_TICK + 7):
        window.outlet.line("s", {"text": str(number)})
    frames, lines = await window.until("frames"), await window.until("log")
    assert (len(frames["frames"]), frames["missed"]) == (FRAMES_A_TICK, 30)
    assert (len(lines["lines"]), lines["missed"]) == (LINES_A_TICK, 7)
    window.heard.clear()
    window.outlet.frame("s", frame())
    assert (await window.until("frames"))["missed"] == 0


async def test_answers_come_at_once_and_after_what_was_before_them(window: Window) -> None:
    window.outlet.frame("s", frame())
    window.outlet.say({"is": "answer", "of": 1, "value": None})
    await window.until("answer")
    assert [message["is"] for message in window.heard] == ["frames", "answer"]


async def test_of_what_is_soon_another_only_the_last_is_told(window: Window) -> None:
    for number in range(100):
        window.outlet.say_latest("progress", {"is": "progress", "done": number})
    assert (await window.until("progress"))["done"] == 99
    assert len(window.heard) == 1


async def test_an_answer_that_cannot_be_spelled_fails(window: Window) -> None:
    window.outlet.say({"is": "answer", "of": 7, "value": 10**5_000})
    assert (await window.until("failed"))["of"] == 7


async def test_a_window_that_does_not_read_holds_nothing_up(window: Window) -> None:
    window.reads.clear()
    text = "x" * 100_000
    for _ in range(3 * WAITING // 100_000):
        window.outlet.frame("s", frame(text))
        window.outlet.say({"is": "state"})
        await asyncio.sleep(0)
    await asyncio.sleep(0.2)
    window.outlet.say({"is": "answer", "of": 1, "value": None})
    window.reads.set()
    assert (await window.until("answer"))["of"] == 1
