"""Scenes of calls that a tool server is asked: under way, answered with all that there can be, not to be asked."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterable

from playground.domain.debugging import draft_of
from playground.domain.served import answer_of
from playground.domain.tool_servers import (
    Block,
    DataBlock,
    LinkBlock,
    ServerAnswer,
    TextBlock,
)
from playground.domain.tools import ToolDefinition
from playground.engine.session.serving import ServingError, Ticket
from playground.jsonkit.values import JSON, JSONObject
from tests.scenes.registry import scene
from tests.scenes.stage import Stage

OUTPUT: JSONObject = {
    "type": "object",
    "properties": {"temp": {"type": "number"}, "sky": {"type": "string"}},
    "required": ["temp", "sky"],
}


def _picture() -> DataBlock:
    """A small drawing, made here."""
    from PySide6.QtCore import QBuffer, QByteArray, QIODevice
    from PySide6.QtGui import QColor, QImage, QImageWriter, QPainter

    image = QImage(320, 200, QImage.Format.Format_RGB32)
    image.fill(QColor("#2F5BEA"))
    painter = QPainter(image)
    painter.setBrush(QColor("#F2B460"))
    painter.drawEllipse(200, 20, 80, 80)
    painter.fillRect(0, 150, 320, 50, QColor("#157A45"))
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return DataBlock(kind="image", data=base64.b64encode(buffer.data().data()).decode(), mime="image/png")


def came(*blocks: Block, structured: JSON = None, is_error: bool = False) -> ServerAnswer:
    """What it answered."""
    return ServerAnswer(
        server="weather station",
        tool="get_weather",
        blocks=blocks,
        structured=structured,
        is_error=is_error,
        seconds=1.24,
    )


class Slow:
    """Tells how far it is, and never answers."""

    def __init__(self, refused: str = "") -> None:
        self.refused = refused

    def refusal(self, tool: ToolDefinition) -> str:
        return self.refused

    def mendable(self, tool: ToolDefinition) -> bool:
        return False

    async def mend(self, tool: ToolDefinition) -> None:
        raise AssertionError("there is nothing to agree to")

    def trusted(self, tool: ToolDefinition) -> bool:
        return False

    def allowed(self, tool: ToolDefinition) -> bool:
        return False

    def expect(self, tools: Iterable[ToolDefinition]) -> None:
        """There is nothing to start."""

    async def ask(self, tool: ToolDefinition, arguments: str, ticket: Ticket) -> ServerAnswer:
        ticket.done, ticket.total, ticket.words = 7, 20, "reading the stations of the north"
        ticket.log.extend(f"info: station {number} of 20 answered after {number * 3} ms" for number in range(1, 8))
        ticket.changed()
        await asyncio.Event().wait()
        raise ServingError("ended")


async def _three(stage: Stage, protocol: str = "chat", refused: str = "") -> None:
    stage.open_sample()
    tools = stage.session.settings.tools
    stage.session.change(
        tools=tuple(tool.model_copy(update={"server": "weather station", "output": OUTPUT}) for tool in tools)
    )
    slow = Slow(refused)
    stage.session.experiment.ask_servers = lambda: slow
    await stage.ask("Compare the weather in Lisbon, Oslo and Rome. !calls=3")
    if protocol != "chat":
        stage.session.change(protocol=protocol)


@scene()
async def call_served(stage: Stage) -> None:
    """What a server answered, to be looked at before it is sent: everything that can come."""
    await _three(stage)
    (turn_id, first), (_, second), (_, third) = stage.session.debugger.waiting
    notes = stage.session.debugger.notes
    whole = came(
        TextBlock(text="Lisbon: 21 °C, clear"),
        _picture(),
        DataBlock(kind="audio", data="UklGRg==" * 4_000, mime="audio/wav"),
        LinkBlock(uri="https://weather.example/lisbon", name="lisbon", title="Lisbon today", mime="text/html"),
        structured={"temp": 21, "sky": "clear"},
    )
    notes.set_draft(turn_id, first.id, draft_of(answer_of(whole)))
    wrong = came(structured={"temp": "nine", "sky": "rain"})
    notes.set_draft(turn_id, second.id, draft_of(answer_of(wrong)).typed('{"temp": 9, "sky": "rain"}'))
    failed = came(TextBlock(text="No station answers for Rome"), is_error=True)
    notes.set_draft(turn_id, third.id, draft_of(answer_of(failed)))
    stage.window.bottom_dock.hide()
    await stage.settle()
    await stage.scroll_to_turn(-1)
