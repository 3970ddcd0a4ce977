"""What the window is told: answers and states at once, frames and logs together and no more often than it can draw.

Frames and lines that come faster than they may go are counted instead. A window that does not read holds nothing up
here: its answers wait, the rest is counted.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from io import BufferedWriter
from typing import Final

from playground.domain.tool_servers import Frame
from playground.jsonkit.framed import pack
from playground.jsonkit.values import JSONObject
from playground.tool_host.limits import FRAME_CHARS_A_TICK, FRAMES_A_TICK, LINES_A_TICK, TICK, WAITING

_END: Final = b""


class Outlet:
    """Writes to a pipe from a thread of its own."""

    def __init__(self, pipe: BufferedWriter) -> None:
        self._pipe = pipe
        self._queue: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._waiting = 0
        self._lock = threading.Lock()
        self._frames: dict[str, list[JSONObject]] = {}
        self._logs: dict[str, list[JSONObject]] = {}
        self._latest: dict[object, JSONObject] = {}
        self._missed: dict[tuple[str, str], int] = {}
        self._room = FRAMES_A_TICK
        self._chars = FRAME_CHARS_A_TICK
        self._timer: asyncio.TimerHandle | None = None
        self._thread = threading.Thread(target=self._write, name="outlet", daemon=True)
        self._thread.start()

    def say(self, message: JSONObject) -> None:
        """Tell something now, after all that waits to be told."""
        self.flush()
        self._put(message)

    def say_latest(self, key: object, message: JSONObject) -> None:
        """Tell something soon; what is said of the same ``key`` before that is not told."""
        self._latest[key] = message
        self._soon()

    def frame(self, server_id: str, frame: Frame) -> None:
        """Tell of a frame soon, or that there was one."""
        if self._room <= 0 or self._chars < len(frame.text):
            self._miss(server_id, "frames")
        else:
            self._room -= 1
            self._chars -= len(frame.text)
            self._frames.setdefault(server_id, []).append(frame.model_dump(mode="json", exclude_defaults=True))
        self._soon()

    def line(self, server_id: str, line: JSONObject) -> None:
        """Tell of a line of a log soon, or that there was one."""
        lines = self._logs.setdefault(server_id, [])
        if len(lines) >= LINES_A_TICK:
            self._miss(server_id, "lines")
        else:
            lines.append(line)
        self._soon()

    def flush(self) -> None:
        """Tell what waits to be told."""
        frames, logs, latest, missed = self._frames, self._logs, self._latest, self._missed
        self._frames, self._logs, self._latest, self._missed = {}, {}, {}, {}
        for message in latest.values():
            self._put(message)
        behind = self._waiting > WAITING
        for server_id in {*frames, *logs, *(server_id for server_id, _ in missed)}:
            found, lines = frames.get(server_id, []), logs.get(server_id, [])
            more, unsaid = missed.get((server_id, "frames"), 0), missed.get((server_id, "lines"), 0)
            if behind:
                self._missed[server_id, "frames"] = len(found) + more
                self._missed[server_id, "lines"] = len(lines) + unsaid
            else:
                if found or more:
                    self._put({"is": "frames", "server": server_id, "frames": found, "missed": more})
                if lines or unsaid:
                    self._put({"is": "log", "server": server_id, "lines": lines, "missed": unsaid})

    def _tick(self) -> None:
        self._timer = None
        self.flush()
        if self._waiting <= WAITING:
            self._room, self._chars = FRAMES_A_TICK, FRAME_CHARS_A_TICK
        if self._missed or self._room < FRAMES_A_TICK:
            self._soon()

    def close(self) -> None:
        """Tell what waits, and end."""
        self.flush()
        self._queue.put(_END)
        self._thread.join(1.0)

    def _miss(self, server_id: str, what: str) -> None:
        self._missed[server_id, what] = self._missed.get((server_id, what), 0) + 1

    def _soon(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(TICK, self._tick)

    def _put(self, message: JSONObject) -> None:
        try:
            data = pack(message)
        except (ValueError, RecursionError, TypeError):
            if "of" not in message:
                return
            data = pack({"is": "failed", "of": message["of"], "words": "The answer holds what JSON cannot spell."})
        with self._lock:
            self._waiting += len(data)
        self._queue.put(data)

    def _write(self) -> None:
        try:
            while (data := self._queue.get()) != _END:
                self._pipe.write(data)
                self._pipe.flush()
                with self._lock:
                    self._waiting -= len(data)
        except (OSError, ValueError):
            pass  # the window is gone: whoever reads from it hears of that, too
