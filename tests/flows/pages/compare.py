"""Page objects of the lanes of Compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QMenu,
    QPushButton,
    QTextEdit,
    QToolButton,
    QWidget,
)

from playground.engine.compare.lanes import Lanes
from playground.engine.session.session import Session
from tests.flows.pages.conversation import CallCard, MessageCard, MessageList, menu_entries
from tests.flows.pages.page import Page, find_by_object_name, get_by_object_name, read_label

if TYPE_CHECKING:
    from tests.flows.conftest import Person


class Lane(Page):
    """A column: its settings above, its messages, its metrics below."""

    @property
    def settings(self) -> str:
        """The gateway, and the settings that differ from those of lane A."""
        return read_label(self.person, "laneSettings", self.widget)

    @property
    def losses(self) -> str:
        """The warning about parts that the protocol cannot carry."""
        return read_label(self.person, "laneLosses", self.widget)

    @property
    def metrics(self) -> str:
        """The metrics of the last answer."""
        return read_label(self.person, "laneMetrics", self.widget)

    @property
    def best(self) -> str:
        """The metrics in which this lane is the best."""
        return read_label(self.person, "laneBest", self.widget)

    @property
    def request_difference(self) -> str:
        """The number of differing request fields, as its button says; empty without a comparison."""
        buttons = find_by_object_name(self.person, "laneRequest", self.widget)
        return "".join(button.text() for button in buttons if isinstance(button, QPushButton))

    @property
    def model(self) -> str:
        """The model in the field above the messages."""
        return self.get(QComboBox, "Model of lane").currentText()

    @property
    def tick(self) -> QCheckBox:
        """The check box for sending messages to this lane."""
        return self.get(QCheckBox, "Messages go to lane")

    @property
    def messages(self) -> MessageList:
        """The messages of the lane.

        They are searched from the conversation: ``findChildren`` of the lane would make PySide take the lane for the
        owner of the list, which outlives it, and drawing the list afterwards would crash.
        """
        lists = find_by_object_name(self.person, "messageList", self.person.conversation.widget)
        (match,) = [widget for widget in lists if self.widget.isAncestorOf(widget)]
        return MessageList(self.person, match)

    @property
    def scroll_area(self) -> QAbstractScrollArea:
        """The area that scrolls the messages."""
        area = self.messages.widget
        assert isinstance(area, QAbstractScrollArea)
        return area

    def first_in_view(self, session: Session) -> int:
        """The place on the lane's path of the first message in view; -1 without one."""
        area = self.scroll_area
        for number, turn in enumerate(session.transcript.path):
            card = self.messages.find_message(turn)
            if card is not None and card.widget.mapTo(area, QPoint(0, card.widget.height())).y() > 0:
                return number
        return -1

    def marked_texts(self) -> list[str]:
        """The descriptions of the marked passages."""
        descriptions = (view.accessibleDescription() for view in self.find(QTextEdit))
        return [description for description in descriptions if description]

    @property
    def has_focus(self) -> bool:
        """True while the focus is in this lane."""
        focus = QApplication.focusWidget()
        return focus is not None and self.widget.isAncestorOf(focus)

    async def select(self) -> None:
        """Click the head of the lane, so that panels show its settings."""
        await self.person.click(get_by_object_name(self.person, "laneSettings", self.widget))

    async def choose(self, entry: str) -> None:
        """Choose an entry of the lane's menu."""
        await self.person.choose(await self.wait_for(QToolButton, "More about this lane"), entry)

    async def show_request_difference(self) -> None:
        """Click the number of differing request fields."""
        await self.person.click(get_by_object_name(self.person, "laneRequest", self.widget))


class ComparePage:
    """All lanes of the experiment that is shown, and the tool bar above them."""

    def __init__(self, person: Person) -> None:
        self.person = person

    @property
    def bar(self) -> Page:
        """The tool bar of the window."""
        return Page(self.person, get_by_object_name(self.person, "tool-bar"))

    @property
    def lanes(self) -> list[Lane]:
        """The columns, left to right."""
        widgets = find_by_object_name(self.person, "lane", self.person.conversation.widget)
        widgets.sort(key=lambda widget: widget.mapTo(widget.window(), QPoint(0, 0)).x())
        return [Lane(self.person, widget) for widget in widgets]

    @property
    def sessions(self) -> Lanes:
        """The sessions of the lanes."""
        return Lanes(self.person.session.main)

    async def wait_for_lanes(self, count: int) -> Lanes:
        """Wait until there are so many columns."""
        await self.person.until(lambda: len(self.lanes) == count, f"{count} lanes")
        return self.sessions

    async def open(self, count: int = 2) -> Lanes:
        """Press Compare, and add lanes until there are so many."""
        await self.bar.press("Compare")
        await self.person.until(lambda: self.lanes, "the lanes")
        lanes = self.sessions
        for _ in range(count - len(lanes.all)):
            await self.person.do(lanes.add)
        return await self.wait_for_lanes(count)

    async def close(self) -> None:
        """Go back to the conversation alone."""
        await self.bar.press("Conversation")
        await self.wait_until_closed()

    async def wait_until_closed(self) -> None:
        """Wait until no lane is shown."""
        await self.person.until(lambda: not self.lanes, "the conversation alone")

    async def wait_for_answers(self, turns: int) -> None:
        """Wait until each lane has so many turns, the last of them complete."""
        lanes = self.sessions

        def complete() -> bool:
            paths = [lane.transcript.path for lane in lanes.all]
            return not lanes.all[0].experiment.busy and all(len(path) == turns and path[-1].outcome for path in paths)

        await self.person.until(complete, f"{turns} turns in each lane")

    @property
    def chips(self) -> list[QAbstractButton]:
        """The chips of the strip above the columns; none while all columns fit."""
        strips = find_by_object_name(self.person, "laneStrip", self.person.conversation.widget)
        return [chip for strip in strips for chip in Page(self.person, strip).find(QAbstractButton)]

    @property
    def lane_chips(self) -> list[str]:
        """The lane that the side panel and the inspector name, as far as they are visible."""
        chips = find_by_object_name(self.person, "laneChip", self.person.app.window)
        return [chip.text() for chip in chips if isinstance(chip, QLabel)]

    @property
    def add_button(self) -> QPushButton:
        """The button whose menu adds a lane."""
        return self.bar.get(QPushButton, "Add a lane")

    async def add(self, entry: str) -> None:
        """Choose an entry of the menu that adds a lane."""
        await self.person.choose(self.add_button, entry)

    async def add_preset(self, name: str) -> None:
        """Add a lane from a saved preset."""

        def entries() -> list[QAction]:
            menu_entries(self.add_button)
            menus = [action.menu() for action in self.add_button.menu().actions() if action.text() == "From a preset"]
            return [action for menu in menus if isinstance(menu, QMenu) for action in menu.actions()]

        await self.person.until(lambda: [action for action in entries() if action.text().startswith(name)], name)
        await self.person.do(next(action for action in entries() if action.text().startswith(name)).trigger)

    def message(self, number: int, index: int = -1) -> MessageCard:
        """The card of a message of the lane with this number, from 0."""
        card = self.lanes[number].messages.find_message(self.sessions.all[number].transcript.path[index])
        assert card is not None, "the message is not in view"
        return card

    async def wait_for_call(self, number: int) -> CallCard:
        """Wait until a tool call waits in a lane, and return its card."""
        lane = self.sessions.all[number]

        def ready() -> bool:
            turns = [turn for turn in lane.transcript.path if turn.calls]
            card = self.lanes[number].messages.find_message(turns[-1]) if turns else None
            return card is not None and bool(card.calls) and card.calls[0].waiting

        await self.person.until(ready, "a waiting tool call in the lane")
        return self.message(number).calls[0]

    @property
    def focused_lane(self) -> str:
        """The letter of the lane with the focus; "-" for none."""
        letters = [letter for letter, lane in zip("ABCDEF", self.lanes, strict=False) if lane.has_focus]
        return letters[0] if letters else "-"


def find_docks(person: Person) -> list[QWidget]:
    """The visible dock panels around the conversation."""
    docks = [dock for dock in person.app.window.findChildren(QWidget) if dock.objectName().startswith("dock-")]
    return [dock for dock in docks if dock.isVisible()]
