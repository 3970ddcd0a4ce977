"""Results of one and of ten megabytes, one line and many: opened, leafed through, searched, exported, written as code,
pasted; is the window held up?

A gap is what an event had to wait. Everything is done three times over and the best is told, since what else the
machine does can only add to it. An experiment with a short result is opened beside it: that is what opening costs.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QMimeData

from playground.domain.parts import ToolCall, ToolResult
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn, new_id
from playground.engine.files.export import SUFFIXES, export
from playground.engine.requests.snippets import LANGUAGES
from playground.engine.session.snapshot import snapshot
from playground.ui.features.code.get_code_window import writer
from playground.ui.features.conversation.composer import MessageField
from playground.ui.features.conversation.finding import Query
from tests.benchmarks.experiment import TOOL
from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.window import Pulse, Window, play

PASSES = 3
LINE = "0123456789 some words of a line that is not long\n"
SHAPES: dict[str, Callable[[int], str]] = {
    "one line": lambda size: "abcdefghij0123456789" * (size // 20),
    "many lines": lambda size: LINE * (size // len(LINE)),
}


def run(short: bool) -> list[Figure]:
    """The figures; the short form leaves ten megabytes out."""
    return play(Large((1,) if short else (1, 10)).measure)


class Large:
    """One measurement. ``sizes`` are in megabytes."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self._sizes = sizes

    async def measure(self, window: Window) -> list[Figure]:
        """Open each of them, and do with it what a person does; the figures."""
        self._window = window
        await self._opened("short")
        out = [Figure("a short result, opened: longest gap", await self._opened("short"), "ms")]
        for size in self._sizes:
            for name, made in SHAPES.items():
                text = made(size * 1_000_000)
                what = f"{size} MB, {name}"
                out.append(at_most(f"{what}, opened: longest gap", await self._opened(text), "ms", 50))
                leafed, found = await self._used(text)
                out.append(at_most(f"{what}, all of it shown: longest gap", leafed, "ms", 50))
                out.append(at_most(f"{what}, searched: longest gap", found, "ms", 50))
                out += [
                    at_most(f"{what}, {done}: longest gap", gap, "ms", 50)
                    for done, gap in (await self._written(text)).items()
                ]
                out.append(at_most(f"{what}, pasted: longest gap", await self._pasted(text), "ms", 50))
        return out

    async def _written(self, text: str) -> dict[str, float]:
        """The longest gaps, in ms, while another thread writes all of it in each way there is, by that way."""
        app = self._window.app
        session = app.workspace.open(self._prepare(text))
        await self._window.settle()
        known = app.gateways.keys.known()
        ways: dict[str, Callable[[], object]] = {
            f"exported as {form}": partial(export, snapshot(session), form, known) for form in SUFFIXES
        }
        ways |= {f"written as {row.id}": writer(session, None, row.id, known) for row in LANGUAGES[:1]}
        out = {}
        for name, way in ways.items():
            longest = []
            for _ in range(PASSES):
                with Pulse() as pulse:
                    await asyncio.to_thread(way)
                longest.append(pulse.longest_ms)
            out[name] = min(longest)
        app.workspace.delete(session.id)
        return out

    async def _pasted(self, text: str) -> float:
        """The longest gap, in ms, while it is pasted into the message field and a letter is typed behind it."""
        (field,), longest = self._window.app.window.pane.composer.findChildren(MessageField), []
        for _ in range(PASSES):
            with Pulse() as pulse:
                data = QMimeData()
                data.setText(text)
                field.insertFromMimeData(data)
                await self._window.settle(0.5)
                field.textCursor().insertText("x")
                await self._window.settle(0.5)
            longest.append(pulse.longest_ms)
            field.clear()
            await self._window.settle(0.3)
        return min(longest)

    async def _opened(self, text: str) -> float:
        """The longest gap, in ms, while an experiment with that result is opened."""
        workspace, longest = self._window.app.workspace, []
        for _ in range(PASSES):
            experiment = self._prepare(text)
            with Pulse() as pulse:
                workspace.open(experiment)
                await self._window.settle()
            longest.append(pulse.longest_ms)
            workspace.delete(experiment)
            await self._window.settle(0.3)
        return min(longest)

    async def _used(self, text: str) -> tuple[float, float]:
        """The longest gaps, in ms, while it is leafed through and while something is looked for in it."""
        pane, workspace = self._window.app.window.pane, self._window.app.workspace
        leafed, found = [], []
        for _ in range(PASSES):
            experiment = self._prepare(text)
            workspace.open(experiment)
            await self._window.settle()
            (card,) = [card for turn in pane.view.cards.values() for card in turn.calls]
            row = card.texts[1].row
            assert row is not None, "the result is not folded"
            with Pulse() as pulse:
                for where in ("all", "after", "last", "before", "fold"):
                    row.asked.emit(where)
                    await self._window.settle(0.4)
            leafed.append(pulse.longest_ms)
            with Pulse() as pulse:
                pane.finder.open()
                pane.finder.bar.edited.emit(Query("9 some"))
                await self._window.settle(1.5)
            found.append(pulse.longest_ms)
            pane.finder.close()
            workspace.delete(experiment)
            await self._window.settle(0.3)
        return min(leafed), min(found)

    def _prepare(self, text: str) -> str:
        """An experiment with that result, in the list and not in view. Returns its id."""
        call = ToolCall(id="call_1", name=TOOL.name, arguments=json.dumps({"city": "Lisbon"}))
        outcome = Outcome(ending=Ending.COMPLETE, model="paced", finish_reason="tool_calls")
        experiment = self._window.new("paced-200-40")
        experiment.change(tools=(TOOL,))
        experiment.history.transcript = Transcript().append(
            make_turn(Role.USER, "What does the log say?"),
            Turn(id=new_id(), role=Role.ASSISTANT, parts=(call,), outcome=outcome),
            make_turn(Role.TOOL, "", ToolResult(call_id=call.id, text=text)),
        )
        other = self._window.new("paced-200-40")
        self._window.app.workspace.open(other.id)
        return experiment.id
