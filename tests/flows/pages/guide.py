"""The guide through the first experiment, one hint at a time, and the windows of the help menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QAbstractButton

from tests.flows.pages.dialogs import Window
from tests.flows.pages.page import find_by_object_name, get_by_object_name

if TYPE_CHECKING:
    from tests.flows.conftest import Person


class Guide:
    """The hints above the composer."""

    def __init__(self, person: Person) -> None:
        self.person = person

    @property
    def hint(self) -> str:
        """The hint in view with its number; empty without one."""
        bars = find_by_object_name(self.person, "guideBar")
        return bars[0].accessibleName() if bars else ""

    async def wait_for_hint(self, text: str = "Hint") -> None:
        """Wait until the hint in view contains a text."""
        await self.person.until(lambda: text in self.hint, f"the hint {text!r}, it is {self.hint!r}")

    @property
    def can_go_on(self) -> bool:
        """True if the button to the next hint is enabled."""
        return self._next_button.isEnabled()

    async def go_on_to(self, text: str) -> None:
        """Press Next as often as it is enabled, until the hint in view contains a text."""
        while text not in self.hint:
            await self.person.until(lambda: text in self.hint or self.can_go_on, f"the way to the hint {text!r}")
            if text not in self.hint:
                await self.person.do(self._next_button.click)

    @property
    def _next_button(self) -> QAbstractButton:
        return self.person.get(QAbstractButton, "Next", get_by_object_name(self.person, "guideBar"))

    async def press(self, button: str) -> None:
        """Press a button of the hint, once it is enabled."""
        await self.person.press(button, get_by_object_name(self.person, "guideBar"))


class HelpWindow(Window):
    """The pages of the help."""

    title = "Help"


class AboutWindow(Window):
    """The version and the libraries of the application."""

    title = "About Gateway Playground"
