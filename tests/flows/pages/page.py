"""The base of all page objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtWidgets import QAbstractButton, QLabel, QPlainTextEdit, QWidget
from shiboken6 import isValid

if TYPE_CHECKING:
    from tests.flows.conftest import Person

W = TypeVar("W", bound=QWidget)
#: What scenes with longer texts add to a text, after a space: a letter that no text of the application has.
PADDING = "ñ"


class Page:
    """A part of the window, below one widget.

    ``widget`` is the part's outermost widget. A subclass gives the names of what is in it and the steps that a person
    takes there; what is expected of it is asserted in the flow.
    """

    def __init__(self, person: Person, widget: QWidget) -> None:
        self.person = person
        self.widget = widget

    @property
    def visible(self) -> bool:
        """True while a person sees it."""
        return isValid(self.widget) and self.widget.isVisible()

    def find(self, kind: type[W], name: str = "") -> list[W]:
        """The visible widgets inside that have this accessible name or text, or begin with it."""
        return self.person.find(kind, name, self.widget)

    def get(self, kind: type[W], name: str = "") -> W:
        """The only visible widget inside with this accessible name or text. Raises AssertionError otherwise."""
        return self.person.get(kind, name, self.widget)

    async def wait_for(self, kind: type[W], name: str = "") -> W:
        """Wait until there is exactly one such widget, and return it."""
        return await self.person.seen(kind, name, self.widget)

    async def press(self, name: str) -> None:
        """Click the button of this name."""
        await self.person.press(name, self.widget)

    async def fill(self, name: str, text: str) -> None:
        """Replace the text of the text field of this name by typing."""
        await self.person.type_into(await self.wait_for(QPlainTextEdit, name), text)

    async def wait_until(self, condition: Callable[[], object], description: str = "") -> None:
        """Wait until ``condition`` holds while the application goes on."""
        await self.person.until(condition, description)

    def has_button(self, name: str) -> bool:
        """True if a person sees a button of this name."""
        return bool(self.find(QAbstractButton, name))

    @property
    def texts(self) -> list[str]:
        """The texts of all visible labels, top to bottom."""
        labels = self.find(QLabel)
        labels.sort(key=lambda label: (label.mapTo(self.widget, label.rect().topLeft()).y(), label.x()))
        return [label.text() for label in labels if label.text()]


def text_of(button: QAbstractButton) -> str:
    """Return the text of a button without padding."""
    return button.text().partition(f" {PADDING}")[0]


def find_by_object_name(person: Person, object_name: str, inside: QWidget | None = None) -> list[QWidget]:
    """All visible widgets with this object name below ``inside`` or, without it, in any window of the application."""
    if inside is not None:
        return [widget for widget in inside.findChildren(QWidget, object_name) if widget.isVisible()]
    windows = [person.app.window, *person.windows]
    matches = [widget for window in windows for widget in window.findChildren(QWidget, object_name)]
    matches += [window for window in windows if window.objectName() == object_name]
    return [widget for widget in dict.fromkeys(matches) if widget.isVisible()]


def read_label(person: Person, object_name: str, inside: QWidget | None = None) -> str:
    """The text of the visible labels with this object name; empty if there is none."""
    labels = find_by_object_name(person, object_name, inside)
    return "\n".join(label.text() for label in labels if isinstance(label, QLabel))


def get_by_object_name(person: Person, object_name: str, inside: QWidget | None = None) -> QWidget:
    """The only visible widget with this object name. Raises AssertionError if there is none or more than one."""
    matches = find_by_object_name(person, object_name, inside)
    assert len(matches) == 1, f"{len(matches)} widgets are named {object_name!r}"
    return matches[0]
