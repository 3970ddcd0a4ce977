"""The rules that answer tool calls, and the dialog that compares several answers to one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from PySide6.QtWidgets import QAbstractButton, QLineEdit, QListWidget, QPlainTextEdit, QWidget

from tests.flows.pages.compare import ComparePage
from tests.flows.pages.dialogs import Window
from tests.flows.pages.steps import open_tab, replace_text

if TYPE_CHECKING:
    from playground.engine.compare.lanes import Lanes
    from tests.flows.conftest import Person


class RulesWindow(Window):
    """The rule of each tool and the default rule."""

    title = "Tool results"

    @classmethod
    async def open(cls, person: Person) -> Self:
        """Open it from the Tools tab."""
        await open_tab(person, "Tools")
        await person.press("Tool results")
        return await cls.opened(person)

    @property
    def tool(self) -> str:
        """The selected tool, or "Default"."""
        return self.get(QListWidget, "Tools").currentItem().text()

    async def select_row(self, row: int) -> None:
        """Select a row of the list; the first is the default rule."""
        await self.person.do(lambda: self.get(QListWidget, "Tools").setCurrentRow(row))

    @property
    def answer_field(self) -> str:
        """The name of the answer in view: a row's, or the fixed reply."""
        return "Fixed reply" if self.find(QPlainTextEdit, "Fixed reply") else "Answer"

    async def type_answer(self, text: str) -> None:
        """Replace the fixed answer, or that of the selected row of the table."""
        await replace_text(self.person, self.get(QPlainTextEdit, self.answer_field), text)

    async def add_row(self, path: str, answer: str) -> None:
        """Add a row to the table: for the arguments that a JSONPath selects, or for any without one."""
        await self.press("Add row")
        if path:
            await self.press("JSONPath")
            await replace_text(self.person, await self.wait_for(QLineEdit, "JSONPath"), path)
        await self.type_answer(answer)

    async def leave(self) -> None:
        """Close it; a desktop then gives the focus back to the window behind it."""
        await self.press("Close")
        await self.wait_until(lambda: not self.visible, "the rules to close")
        await self.person.do(self.person.app.window.activateWindow)
        await self.wait_until(self.person.app.window.isActiveWindow, "the window in front")


class AnswersWindow(Window):
    """Several answers to one call of get_weather, each to go on in a lane of its own."""

    title = "Compare answers to get_weather"

    @property
    def arguments(self) -> str:
        """The arguments of the call."""
        return self.get(QWidget, "Arguments:").accessibleName()

    async def type_answer(self, lane: str, text: str) -> None:
        """Replace the answer of a lane."""
        await replace_text(self.person, await self.wait_for(QPlainTextEdit, f"Answer of lane {lane}"), text)

    async def start(self, count: int) -> Lanes:
        """Start so many lanes, and wait until they are shown."""
        before = len(self.person.session.experiment.lanes)
        await self.press(f"Start {count} lanes")
        lanes = await ComparePage(self.person).wait_for_lanes(before + count)
        await self.person.do(self.person.app.window.activateWindow)
        await self.wait_until(self.person.app.window.isActiveWindow, "the window in front")
        return lanes

    async def cancel(self) -> None:
        """Close it without a lane."""
        await self.person.click(self.get(QAbstractButton, "Cancel"))
        await self.wait_until(lambda: not self.visible, "the dialog to close")
        await self.person.do(self.person.app.window.activateWindow)
