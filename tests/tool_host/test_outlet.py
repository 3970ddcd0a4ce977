"""Messages of the tool host to the window: in parts, bounded, counted."""

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
from tests.support.eventually import eventually


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

    async def message(self, kind: str) -> JSONObject:
        """Return the first message of a kind, once it is there."""
        results: list[JSONObject] = []

        def is_there() -> bool:
            results[:] = [message for message in tuple(self.heard) if message["is"] == kind]
            return bool(results)

        await eventually(is_there, f"a message of the kind {kind}")
        return results[0]


@pytest.fixture
async def window() -> AsyncIterator[Window]:
    window = Window()
    window.reads.set()
    yield window
    window.close()


def frame(text: str = "{}") -> Frame:
    """A message on a tape."""
    return Frame(server="S", time=1.0, sent=True, text=text, size=len(text))


async def test_frames_and_lines_beyond_a_limit_are_counted(window: Window) -> None:
    for _ in range(FRAMES_A_TICK + 30):
        window.outlet.frame("s", frame())
    for number in range(LINES_A_TICK + 7):
        window.outlet.line("s", {"text": str(number)})
    frames, lines = await window.message("frames"), await window.message("log")
    assert (len(frames["frames"]), frames["missed"]) == (FRAMES_A_TICK, 30)
    assert (len(lines["lines"]), lines["missed"]) == (LINES_A_TICK, 7)
    window.heard.clear()
    window.outlet.frame("s", frame())
    assert (await window.message("frames"))["missed"] == 0


async def test_progress_is_reduced_to_the_latest(window: Window) -> None:
    for number in range(100):
        window.outlet.send_latest("progress", {"is": "progress", "done": number})
    assert (await window.message("progress"))["done"] == 99
    assert len(window.heard) == 1


async def test_answer_that_cannot_be_encoded_fails(window: Window) -> None:
    window.outlet.send({"is": "answer", "of": 7, "value": 10**5_000})
    assert (await window.message("failed"))["of"] == 7


async def test_window_that_does_not_read_blocks_nothing(window: Window) -> None:
    window.reads.clear()
    text = "x" * 100_000
    for _ in range(3 * WAITING // 100_000):
        window.outlet.frame("s", frame(text))
        window.outlet.send({"is": "state"})
        await asyncio.sleep(0)
    window.outlet.send({"is": "answer", "of": 1, "value": None})
    window.reads.set()
    assert (await window.message("answer"))["of"] == 1
