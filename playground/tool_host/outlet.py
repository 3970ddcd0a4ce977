"""Messages to the window: answers and states at once, frames and log lines in batches, as fast as it can draw them.

Excess frames and lines are counted. A window that does not read blocks nothing here: its answers wait, the rest is
counted.
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
        self._unread = 0  # bytes
        self._lock = threading.Lock()
        self._frames: dict[str, list[JSONObject]] = {}
        self._logs: dict[str, list[JSONObject]] = {}
        self._latest: dict[object, JSONObject] = {}
        self._missed: dict[tuple[str, str], int] = {}
        self._frames_left = FRAMES_A_TICK
        self._chars_left = FRAME_CHARS_A_TICK
        self._timer: asyncio.TimerHandle | None = None
        self._thread = threading.Thread(target=self._write, name="outlet", daemon=True)
        self._thread.start()

    def send(self, message: JSONObject) -> None:
        """Send a message at once, after everything that waits."""
        self.flush()
        self._put(message)

    def send_latest(self, key: object, message: JSONObject) -> None:
        """Send a message soon, in place of waiting ones with the same key."""
        self._latest[key] = message
        self._schedule()

    def frame(self, server_id: str, frame: Frame) -> None:
        """Send a frame soon, or count it."""
        if self._frames_left <= 0 or self._chars_left < len(frame.text):
            self._miss(server_id, "frames")
        else:
            self._frames_left -= 1
            self._chars_left -= len(frame.text)
            self._frames.setdefault(server_id, []).append(frame.model_dump(mode="json", exclude_defaults=True))
        self._schedule()

    def line(self, server_id: str, line: JSONObject) -> None:
        """Send a line of a log soon, or count it."""
        lines = self._logs.setdefault(server_id, [])
        if len(lines) >= LINES_A_TICK:
            self._miss(server_id, "lines")
        else:
            lines.append(line)
        self._schedule()

    def flush(self) -> None:
        """Send everything that waits."""
        frames, logs, latest, missed = self._frames, self._logs, self._latest, self._missed
        self._frames, self._logs, self._latest, self._missed = {}, {}, {}, {}
        for message in latest.values():
            self._put(message)
        is_behind = self._unread > WAITING
        for server_id in {*frames, *logs, *(server_id for server_id, _ in missed)}:
            server_frames, lines = frames.get(server_id, []), logs.get(server_id, [])
            missed_frames, missed_lines = missed.get((server_id, "frames"), 0), missed.get((server_id, "lines"), 0)
            if is_behind:
                self._missed[server_id, "frames"] = len(server_frames) + missed_frames
                self._missed[server_id, "lines"] = len(lines) + missed_lines
                continue
            if server_frames or missed_frames:
                self._put({"is": "frames", "server": server_id, "frames": server_frames, "missed": missed_frames})
            if lines or missed_lines:
                self._put({"is": "log", "server": server_id, "lines": lines, "missed": missed_lines})

    def _tick(self) -> None:
        self._timer = None
        self.flush()
        if self._unread <= WAITING:
            self._frames_left, self._chars_left = FRAMES_A_TICK, FRAME_CHARS_A_TICK
        if self._missed or self._frames_left < FRAMES_A_TICK:
            self._schedule()

    def close(self) -> None:
        """Send everything that waits, and end."""
        self.flush()
        self._queue.put(_END)
        self._thread.join(1.0)

    def _miss(self, server_id: str, kind: str) -> None:
        self._missed[server_id, kind] = self._missed.get((server_id, kind), 0) + 1

    def _schedule(self) -> None:
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
            self._unread += len(data)
        self._queue.put(data)

    def _write(self) -> None:
        try:
            while (data := self._queue.get()) != _END:
                self._pipe.write(data)
                self._pipe.flush()
                with self._lock:
                    self._unread -= len(data)
        except (OSError, ValueError):
            pass  # the window has ended, which the reader of its pipe notices, too
