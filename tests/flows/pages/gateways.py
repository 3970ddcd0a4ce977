"""Everything about gateways: the choice in the tool bar, their settings, connecting one, checking one, its prices."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
)

from tests.flows.pages.dialogs import Window
from tests.flows.pages.page import Page, find_by_object_name, get_by_object_name, read_label
from tests.flows.pages.steps import replace_text

if TYPE_CHECKING:
    from tests.flows.conftest import Person


class GatewayBar(Page):
    """Gateway, protocol and model in the tool bar."""

    def __init__(self, person: Person) -> None:
        super().__init__(person, get_by_object_name(person, "tool-bar"))

    @property
    def gateway(self) -> QPushButton:
        """The button with the gateway in use."""
        return self.get(QPushButton, "Gateway")

    @property
    def shown_gateway(self) -> str:
        """The name of the gateway in use."""
        return self.gateway.accessibleDescription().rpartition(" · ")[0]

    @property
    def state(self) -> str:
        """The state of the gateway, from the description of its button."""
        return self.gateway.accessibleDescription().rpartition(" · ")[2]

    async def choose_api(self, name: str) -> None:
        """Choose an API by its name in the menu."""
        await self.person.choose(self.get(QPushButton, "API"), name)

    @property
    def model(self) -> QComboBox:
        """The field of the model."""
        return self.get(QComboBox, "Model")

    @property
    def unlisted(self) -> str:
        """The tooltip of the mark of a model that is not in the gateway's list, or nothing."""
        return "".join(mark.toolTip() for mark in find_by_object_name(self.person, "unlistedModel", self.widget))

    def lists(self, model: str) -> bool:
        """True if the gateway in use has listed this model."""
        profile = self.person.session.settings.profile_id
        return any(entry.id == model for entry in self.person.app.gateways.catalog(profile).models)

    async def choose_gateway(self, name: str) -> None:
        """Choose a gateway by its name in the command palette."""
        await self.person.do(self.person.app.window.action("view.palette").trigger)
        await self.person.until(lambda: find_by_object_name(self.person, "palette"), "the palette")
        palette = get_by_object_name(self.person, "palette")
        (field,) = palette.findChildren(QLineEdit)
        await self.person.do(partial(field.setText, name))
        await self.person.do(partial(QTest.keyClick, field, Qt.Key.Key_Return))
        await self.person.until(lambda: self.shown_gateway == name, f"the gateway {name}")


class GatewaysWindow(Window):
    """The settings of all gateways."""

    title = "Gateways"

    @property
    def names(self) -> list[str]:
        """The names in the list."""
        gateways = self.get(QListWidget, "Gateways")
        return [gateways.item(row).text() for row in range(gateways.count())]

    def field(self, name: str) -> QLineEdit:
        """A field of the form."""
        return self.get(QLineEdit, name)

    def value(self, name: str) -> str:
        """The text of a field of the form."""
        return self.field(name).text()

    async def enter(self, name: str, text: str) -> None:
        """Replace the text of a field of the form."""
        await self.person.do(partial((await self.wait_for(QLineEdit, name)).setText, text))

    @property
    def message(self) -> str:
        """The line above the buttons."""
        return read_label(self.person, "gatewayMessage", self.widget)

    async def save(self) -> None:
        """Save the gateway and wait until it is saved."""
        await self.wait_until(lambda: any(button.isDefault() for button in self.find(QPushButton)), "the button")
        await self.person.click(next(button for button in self.find(QPushButton) if button.isDefault()))
        await self.wait_until(lambda: "Saved." in self.message, "it to be saved")

    async def use(self) -> None:
        """Use the gateway in the open experiment."""
        await self.wait_until(lambda: self.use_buttons, "the button")
        await self.person.click(self.use_buttons[0])

    @property
    def use_buttons(self) -> list[QPushButton]:
        """The button that uses the gateway, unless it is in use."""
        return [button for button in self.find(QPushButton, "Use") if button.text().replace("&", "") == "Use"]

    async def leave(self) -> None:
        """Close the window and wait until it is closed."""
        await self.press("Close")
        await self.wait_until(lambda: QApplication.activeModalWidget() is None, "the dialog closed")

    async def discard(self) -> None:
        """Close the window without what is unsaved, and wait until it is closed."""
        await self.press("Close")
        await self.press("Discard")
        await self.wait_until(lambda: QApplication.activeModalWidget() is None, "the dialog closed")

    async def type_into(self, name: str, text: str) -> None:
        """Replace the text of a field of the form key by key."""
        await replace_text(self.person, self.field(name), text)


class PriceWindow(Window):
    """The price of the model in use."""

    title = "Price of the model"

    async def enter(self, name: str, text: str) -> None:
        """Replace an amount."""
        await replace_text(self.person, await self.wait_for(QLineEdit, name), text)


def _children(item: QTreeWidgetItem) -> list[QTreeWidgetItem]:
    return [child for row in range(item.childCount()) if (child := item.child(row)) is not None]


class CheckWindow(Window):
    """The check of a gateway: what will be asked, then a report."""

    title = "Check this gateway"

    @property
    def _items(self) -> dict[tuple[str, str], QTreeWidgetItem]:
        """The lines by the title of their check and of their group."""
        groups = _children(self.get(QTreeWidget, "Checks").invisibleRootItem())
        return {(line.text(0), group.text(0)): line for group in groups for line in _children(group)}

    @property
    def checks(self) -> list[tuple[str, str]]:
        """The checks listed, each with its group."""
        return list(self._items)

    @property
    def ticked(self) -> set[tuple[str, str]]:
        """The checks that will be made."""
        return {key for key, item in self._items.items() if item.checkState(0) is Qt.CheckState.Checked}

    async def tick_only(self, checks: set[tuple[str, str]]) -> None:
        """Untick all other checks."""
        await self.wait_until(lambda: checks <= set(self.checks), f"{checks} among the checks")

        def untick() -> None:
            for key, item in self._items.items():
                if key not in checks:
                    item.setCheckState(0, Qt.CheckState.Unchecked)

        await self.person.do(untick)  # in one event: the list is made again when more is known of the model

    async def select_check(self, check: tuple[str, str]) -> None:
        """Look at the line of a check."""
        await self.person.do(lambda: self.get(QTreeWidget, "Checks").setCurrentItem(self._items[check]))

    def verdict(self, check: tuple[str, str]) -> str:
        """The verdict in the line of a check."""
        return self._items[check].text(1)

    def result(self, check: tuple[str, str]) -> str:
        """The sentence in the line of a check."""
        return self._items[check].text(2)

    @property
    def running(self) -> bool:
        """True while it can be stopped."""
        return self.visible and self.has_button("Stop")

    async def wait_for_report(self) -> None:
        """Wait until the check has ended and its report is shown."""
        await self.wait_until(lambda: self.has_button("Check again"), "the report")

    @property
    def evidence(self) -> str:
        """The body of the request of the selected check."""
        return "".join(editor.toPlainText() for editor in self.find(QPlainTextEdit, "Request body"))

    @property
    def text(self) -> str:
        """Everything that the labels say."""
        return "\n".join(self.texts)

    async def begin(self, checks: set[tuple[str, str]]) -> None:
        """Tick only these checks and begin."""
        await self.tick_only(checks)
        await self.press("Start")
