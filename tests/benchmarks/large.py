"""Measure the window with results of one and ten megabytes: opened, shown in full, searched, exported, pasted.

Each is done several times and the best is taken: noise only adds.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

from PySide6.QtCore import QMimeData

from playground.domain.parts import ToolCall, ToolResult
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn, new_id
from playground.engine.files.export import FORMATS, export
from playground.engine.requests.snippets import LANGUAGES
from playground.engine.session.snapshot import snapshot
from playground.ui.features.code.get_code_window import writer
from playground.ui.features.conversation.composer import MessageField
from playground.ui.features.conversation.finding import Query
from tests.benchmarks.experiment import TOOL
from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.window import Pulse, Window, play

PASSES = 3
LONGEST_MS = 300
LINE = "0123456789 some words of a line that is not long\n"
SHAPES: dict[str, Callable[[int], str]] = {
    "one line": lambda size: "abcdefghij0123456789" * (size // 20),
    "many lines": lambda size: LINE * (size // len(LINE)),
}


def run(short: bool) -> list[Figure]:
    """Return the longest gap of each step; the short form leaves ten megabytes out."""

    async def measure(window: Window) -> list[Figure]:
        figures = []
        for size in (1,) if short else (1, 10):
            for shape, make in SHAPES.items():
                result = LargeResult(window, make(size * 1_000_000))
                for words, step in result.steps.items():
                    gap = min([await step() for _ in range(PASSES)])
                    figures.append(at_most(f"{size} MB, {shape}, {words}: longest gap", gap, "ms", LONGEST_MS))
        return figures

    return play(measure)


class LargeResult:
    """A result of a tool, and what a person does with it; each step returns the longest gap in milliseconds."""

    def __init__(self, window: Window, text: str) -> None:
        self._window = window
        self._text = text
        self.steps: dict[str, Callable[[], Awaitable[float]]] = {
            "opened": self._open,
            "shown in full": self._page,
            "searched": self._search,
            "exported": self._export,
            "pasted": self._paste,
        }

    async def _open(self) -> float:
        experiment_id = self._prepare()
        with Pulse() as pulse:
            self._window.app.workspace.open(experiment_id)
            await self._window.settle()
        await self._delete(experiment_id)
        return pulse.longest_ms

    async def _page(self) -> float:
        experiment_id = await self._show()
        (card,) = [card for turn in self._window.app.window.pane.view.cards.values() for card in turn.calls]
        row = card.texts()[1][0].row
        assert row is not None, "the result is not folded"
        with Pulse() as pulse:
            for button in (row.more, row.more, row.collapse):
                button.click()
                await self._window.settle(0.4)
        await self._delete(experiment_id)
        return pulse.longest_ms

    async def _search(self) -> float:
        experiment_id = await self._show()
        finder = self._window.app.window.pane.finder
        with Pulse() as pulse:
            finder.open()
            finder.bar.edited.emit(Query("9 some"))
            await self._window.settle(1.5)
        finder.close()
        await self._delete(experiment_id)
        return pulse.longest_ms

    async def _export(self) -> float:
        """Export in all formats and write code on another thread, as the window does."""
        app = self._window.app
        experiment_id = await self._show()
        session = app.workspace.current
        secrets = app.gateways.keys.known_secrets()
        with Pulse() as pulse:
            for form in FORMATS:
                await asyncio.to_thread(export, snapshot(session), form, secrets)
            await asyncio.to_thread(writer(session, None, LANGUAGES[0].id, secrets))
        await self._delete(experiment_id)
        return pulse.longest_ms

    async def _paste(self) -> float:
        (field,) = self._window.app.window.pane.composer.findChildren(MessageField)
        data = QMimeData()
        data.setText(self._text)
        with Pulse() as pulse:
            field.insertFromMimeData(data)
            await self._window.settle(0.5)
            field.textCursor().insertText("x")
            await self._window.settle(0.5)
        field.clear()
        await self._window.settle(0.3)
        return pulse.longest_ms

    async def _show(self) -> str:
        experiment_id = self._prepare()
        self._window.app.workspace.open(experiment_id)
        await self._window.settle()
        return experiment_id

    async def _delete(self, experiment_id: str) -> None:
        self._window.app.workspace.delete(experiment_id)
        await self._window.settle(0.3)

    def _prepare(self) -> str:
        """Make an experiment with the result, in the list and not in view; return its id."""
        call = ToolCall(id="call_1", name=TOOL.name, arguments=json.dumps({"city": "Lisbon"}))
        outcome = Outcome(ending=Ending.COMPLETE, model="paced", finish_reason="tool_calls")
        experiment = self._window.new("paced-200-40")
        experiment.change(tools=(TOOL,))
        experiment.history.transcript = Transcript().append(
            make_turn(Role.USER, "What does the log say?"),
            Turn(id=new_id(), role=Role.ASSISTANT, parts=(call,), outcome=outcome),
            make_turn(Role.TOOL, "", ToolResult(call_id=call.id, text=self._text)),
        )
        self._window.app.workspace.open(self._window.new("paced-200-40").id)
        return experiment.id
