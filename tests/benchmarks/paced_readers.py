"""Readers that show a paced stream in a window: ours, and a floor; each in its own process with its own server.

A reader shows a short stream, which imports all modules, then one stream to its end. Measured is the CPU time of its
process from the request of the second stream to its last token shown.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from typing import Final

RATE: Final = 200  # tokens a second
SHOWN_MS: Final = 40  # between two paints, as in the application
WARM_UP: Final = "paced-1000-400"
SIZE: Final = (1440, 900)  # of our window


def cpu_seconds(reader: str, count: int) -> float:
    """Return the CPU seconds of a reader for ``count`` tokens.

    Raises RuntimeError when the reader failed or did not show what was sent.
    """
    command = [sys.executable, "-m", "tests.benchmarks.paced_readers", reader, str(count)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=False)
    if ended.returncode != 0:
        raise RuntimeError(f"the reader {reader} failed")
    return float(ended.stdout.splitlines()[-1])


def ours(count: int) -> float:
    """Show the stream in the application, in an empty experiment."""
    from tests.benchmarks.window import Window, play

    async def stream(window: Window) -> tuple[float, str]:
        await window.run(window.new(WARM_UP))
        session = window.new(f"paced-{RATE}-{count}")
        await window.settle()
        before = time.process_time()
        await window.run(session)  # without a Pulse: its ticks would be a tenth of the figure
        return time.process_time() - before, session.transcript.path[-1].text

    spent, text = play(stream)
    _compare(text, count)
    return spent


def floor(count: int) -> float:
    """Show the stream with httpx under qasync, json and a QPlainTextEdit."""
    import os

    os.environ["QT_API"] = "pyside6"
    import httpx
    import qasync
    from PySide6.QtCore import QTimer
    from PySide6.QtGui import QTextCursor
    from PySide6.QtWidgets import QApplication, QMainWindow, QPlainTextEdit

    from tests.benchmarks.pacing import PacingServer

    qt = QApplication([])
    window = QMainWindow()
    displayed = QPlainTextEdit()
    window.setCentralWidget(displayed)
    window.resize(*SIZE)
    window.show()
    waiting: list[str] = []

    def show() -> None:
        if waiting:
            displayed.moveCursor(QTextCursor.MoveOperation.End)
            displayed.insertPlainText("".join(waiting))
            waiting.clear()

    timer = QTimer(displayed, interval=SHOWN_MS)
    timer.timeout.connect(show)

    async def read(url: str) -> float:
        async with httpx.AsyncClient(trust_env=False) as client:
            timer.start()
            await take(client, url, WARM_UP)
            show()
            displayed.clear()
            await asyncio.sleep(1)
            before = time.process_time()
            await take(client, url, f"paced-{RATE}-{count}")
            timer.stop()
            show()
            return time.process_time() - before

    async def take(client: httpx.AsyncClient, url: str, model: str) -> None:
        rest = b""
        body = {"model": model, "stream": True}
        async with client.stream("POST", f"{url}/chat/completions", json=body, timeout=None) as response:
            async for data in response.aiter_raw():
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    if line.startswith(b"data: {"):
                        content = json.loads(line[6:])["choices"][0]["delta"].get("content")
                        if content:
                            waiting.append(content)

    with PacingServer() as gateway, qasync.QEventLoop(qt) as loop:
        spent: float = loop.run_until_complete(read(gateway.url))
    _compare(displayed.toPlainText(), count)
    return spent


def _compare(text: str, count: int) -> None:
    """Raise RuntimeError when ``text`` is not the text sent: a reader that skips work fails."""
    from tests.benchmarks.pacing import rounds

    if text != "".join(rounds(count)):
        raise RuntimeError(f"{len(text)} characters were shown, which are not those sent")


if __name__ == "__main__":
    from tests.support.surroundings import settle

    settle()
    print(json.dumps({"ours": ours, "floor": floor}[sys.argv[1]](int(sys.argv[2]))))
