"""The search in the conversation: the bar, and the match in front."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QAbstractScrollArea, QLineEdit, QTextEdit

from tests.flows.pages.page import Page
from tests.flows.pages.steps import read_label

if TYPE_CHECKING:
    from tests.flows.conftest import Person

NAME = "Find in the conversation"


class Finder(Page):
    """The bar above the conversation."""

    def __init__(self, person: Person) -> None:
        super().__init__(person, person.conversation.widget)

    async def open(self) -> QLineEdit:
        """Open the bar with its key, and wait until the cursor is in its field."""
        await self.person.key(Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
        field = await self.wait_for(QLineEdit, NAME)
        await self.wait_until(field.hasFocus, "the focus in the field")
        return field

    @property
    def is_open(self) -> bool:
        """True while the bar is in view."""
        return bool(self.find(QLineEdit, NAME))

    @property
    def text(self) -> str:
        """The number of the match in front and of all, "…" behind it while more may come; or "No results"."""
        return read_label(self.person, "findCount", self.widget)

    @property
    def total(self) -> int:
        """The number of matches."""
        match = re.search(r"([\d,]+)\+?(?: matches)?…?$", self.text)
        return int(match[1]) if match else 0

    async def wait_for_text(self, text: str) -> None:
        """Wait until the bar says this of the matches."""
        await self.wait_until(lambda: self.text == text, f"{text!r} in the bar, it says {self.text!r}")

    async def close(self) -> None:
        """Close the bar with its key."""
        await self.person.key(Qt.Key.Key_Escape)
        await self.wait_until(lambda: not self.is_open, "the bar to close")

    @property
    def match(self) -> str:
        """The text of the match in front, if it is in view; empty otherwise."""
        area = self.person.conversation.messages.widget
        assert isinstance(area, QAbstractScrollArea)
        for view in area.findChildren(QTextEdit):
            if place := view.property("current_match"):
                cursor = QTextCursor(view.document())
                cursor.setPosition(place[0])
                top = view.viewport().mapTo(area.viewport(), view.cursorRect(cursor).topLeft()).y()
                bottom = top + view.cursorRect(cursor).height()
                cursor.setPosition(place[1], QTextCursor.MoveMode.KeepAnchor)
                in_view = view.isVisible() and 0 <= top <= bottom <= area.viewport().height()
                return cursor.selectedText() if in_view else ""
        return ""

    async def wait_for_match(self, text: str) -> None:
        """Wait until this match is in front and in view."""
        await self.wait_until(lambda: self.match == text, f"the match {text!r} in view, it is {self.match!r}")


async def open_bar(person: Person) -> QLineEdit:
    """Open the bar with its key."""
    return await Finder(person).open()


async def says(person: Person, text: str) -> None:
    """Wait until the bar says this of the matches."""
    await Finder(person).wait_for_text(text)


def current(person: Person) -> str:
    """The text of the match in front."""
    return Finder(person).match
