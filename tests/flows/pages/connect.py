"""Connecting a gateway step by step, and the services that are known or kept by a person."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Self

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QListWidget, QPushButton, QWidget

from tests.flows.pages.dialogs import Window
from tests.flows.pages.page import Page, find_by_object_name
from tests.flows.pages.steps import replace_text

if TYPE_CHECKING:
    from tests.flows.conftest import Person

NO_KEYS = Qt.KeyboardModifier.NoModifier


class NearbyGateway(Page):
    """A gateway that was found on this computer."""

    @property
    def text(self) -> str:
        """Its name and its details."""
        return "\n".join(self.texts)


class ConnectWindow(Window):
    """The dialog that connects a gateway: address and key, test, model."""

    title = "Connect a gateway"

    @classmethod
    async def open(cls, person: Person) -> Self:
        """Open it from the page of an empty experiment."""
        await person.conversation.press("Connect a gateway")
        return await cls.opened(person)

    @property
    def step(self) -> str:
        """The number and the title of the step, as a screen reader says them."""
        names = [widget.accessibleName() for widget in self.find(QWidget, "Step")]
        return names[0] if names else ""

    @property
    def address(self) -> QLineEdit:
        """The field of the address."""
        return self.get(QLineEdit, "Base URL")

    @property
    def key(self) -> QLineEdit:
        """The field of the key."""
        return self.get(QLineEdit, "Key")

    @property
    def variable(self) -> QLineEdit:
        """The field of the environment variable that holds the key."""
        return self.get(QLineEdit, "Variable of the environment that holds the key")

    @property
    def names_variable(self) -> bool:
        """True while a variable is named in place of a key."""
        return bool(self.find(QLineEdit, "Variable of the environment that holds the key"))

    async def type_into(self, field: QLineEdit, text: str) -> None:
        """Replace the text of a field key by key."""
        await self.person.do(field.setFocus)
        await replace_text(self.person, field, text)

    async def paste_address(self, text: str) -> None:
        """Replace the address by what is pasted."""
        QGuiApplication.clipboard().setText(text)
        await self.person.do(self.address.setFocus)
        await self.person.do(self.address.selectAll)
        await self.person.do(self.address.paste)

    async def press_key(self, key: Qt.Key, modifier: Qt.KeyboardModifier = NO_KEYS) -> None:
        """Press a key where the focus is."""
        focused: QWidget | None = self.widget.focusWidget()
        await self.person.do(partial(QTest.keyClick, focused if focused is not None else self.widget, key, modifier))

    async def wait_for_text(self, text: str) -> None:
        """Wait until the dialog shows this text."""
        await self.wait_until(lambda: text in self.text, f"{text!r} in the dialog")

    async def press_main_button(self) -> None:
        """Press the button that goes on."""
        await self.person.click(next(button for button in self.find(QPushButton) if button.isDefault()))

    async def cancel(self) -> None:
        """Close it without a gateway."""
        await self.press("Cancel")
        await self.wait_until(lambda: not self.visible, "the dialog to close")

    # Known services

    @property
    def matches(self) -> QListWidget | None:
        """The list of services that fit what is typed."""
        lists = self.find(QListWidget, "Services that fit")
        return lists[0] if lists else None

    @property
    def endpoints(self) -> list[str]:
        """The endpoints that the address leads to, as a screen reader says them."""
        names = [widget.accessibleName() for widget in self.find(QWidget)]
        return [name for name in names if " endpoint: " in name]

    # Gateways on this computer

    @property
    def searching(self) -> bool:
        """True while gateways are looked for."""
        return "Looking…" in self.texts

    @classmethod
    async def search_nearby(cls, person: Person) -> Self:
        """Open it to look for gateways on this computer, and wait for the end of the search."""
        window = await cls.opened(person, "gateway.nearby")
        await window.wait_until(lambda: not window.searching, "the end of the search")
        return window

    def nearby(self, port: int) -> NearbyGateway:
        """The gateway that listens on this port."""
        rows = [
            NearbyGateway(self.person, row) for row in find_by_object_name(self.person, "nearbyGateway", self.widget)
        ]
        (match,) = [row for row in rows if f"127.0.0.1:{port}" in row.text]
        return match


class ServicesWindow(Window):
    """All known services, and the settings of one's own."""

    title = "Services"

    @property
    def names(self) -> list[str]:
        """The names of the listed services."""
        services = self.get(QListWidget, "Known services and servers")
        return [services.item(row).text() for row in range(services.count())]

    @property
    def search(self) -> QLineEdit:
        """The field for the search."""
        return self.get(QLineEdit, "Search known services and servers")

    async def enter(self, name: str, text: str) -> None:
        """Replace the text of a field."""
        await replace_text(self.person, self.get(QLineEdit, name), text)

    async def save(self) -> None:
        """Save the service without using it."""
        (button,) = [button for button in self.find(QPushButton, "Save") if button.text() == "&Save"]
        await self.person.click(button)
