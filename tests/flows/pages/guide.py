"""The guide through the first experiment, one hint at a time, and the windows of the help menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.flows.pages.dialogs import Window
from tests.flows.pages.page import find_by_object_name, get_by_object_name

if TYPE_CHECKING:
    from tests.flows.conftest import Person


def skip_reading_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each hint give way to the next one at once."""
    monkeypatch.setattr("playground.ui.features.first_start.guide.READ_S", 0.0)


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

    async def press(self, button: str) -> None:
        """Press a button of the hint."""
        await self.person.press(button, get_by_object_name(self.person, "guideBar"))


class HelpWindow(Window):
    """The pages of the help."""

    title = "Help"


class AboutWindow(Window):
    """The version and the libraries of the application."""

    title = "About Gateway Playground"
