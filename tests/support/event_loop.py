"""Coroutines on the event loop of Qt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from playground.ui.widgets import loop


def play(app: QApplication, scene: Callable[[], Coroutine[Any, Any, None]], *, limit: float = 60) -> None:
    """Run ``scene`` on the event loop, for at most ``limit`` seconds, and raise what it raises.

    At its end the tasks left are cancelled, and the widgets that are to be deleted are.
    """
    raised: list[BaseException] = []
    ended = False

    async def main() -> None:
        nonlocal ended
        try:
            async with asyncio.timeout(limit):
                await scene()
            ended = True
        except BaseException as error:
            raised.append(error)
        finally:
            await loop.cancel_all()
            loop.finish()

    loop.run(app, main)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    if raised:
        raise raised[0]
    assert ended, "the loop ended before the scene did"
