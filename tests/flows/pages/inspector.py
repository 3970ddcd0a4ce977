"""The inspector below the conversation: its tabs, and the exchange that it shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QHelpEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QGraphicsView,
    QLabel,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QTabBar,
    QTableView,
    QTextEdit,
    QToolButton,
    QWidget,
)

from playground.engine.inspect.frames import FrameIndex
from tests.flows.conftest import Person, click_at
from tests.flows.pages.dialogs import select_entry
from tests.flows.pages.page import Page, find_by_object_name, get_by_object_name, read_label
from tests.flows.pages.steps import column_texts

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange


def read_frames(exchange: Exchange) -> FrameIndex:
    """The frames of an exchange that has ended, read from its bytes."""
    index = FrameIndex(exchange)
    index.extend()
    return index


class Inspector(Page):
    """The tabs, the menu of exchanges, and the pages."""

    def __init__(self, person: Person) -> None:
        super().__init__(person, get_by_object_name(person, "inspector"))

    @property
    def tabs(self) -> QTabBar:
        """The row of tabs."""
        return self.get(QTabBar, "Inspector")

    @property
    def titles(self) -> list[str]:
        """The titles of all tabs."""
        return [self.tabs.tabText(number) for number in range(self.tabs.count())]

    @property
    def tabs_fit(self) -> bool:
        """True if all tabs are inside the inspector, and none is cut off."""
        tabs = self.tabs
        right = tabs.mapTo(self.widget, tabs.rect().topRight()).x()
        return tabs.sizeHint().width() <= tabs.width() and right < self.widget.width()

    @property
    def front_title(self) -> str:
        """The title of the tab in front."""
        return self.tabs.tabText(self.tabs.currentIndex())

    async def show_tab(self, title: str, segment: str = "") -> None:
        """Bring a tab to the front, and press one of its segments."""
        await self.wait_until(lambda: title in self.titles, f"the tab {title}")
        await self.person.do(lambda: self.tabs.setCurrentIndex(self.titles.index(title)))
        if segment == "Spec check":
            await self.person.click(self._badge)
        elif segment:
            await self.press(segment)

    @property
    def _badge(self) -> QPushButton:
        buttons = self.find(QPushButton)
        (badge,) = [button for button in buttons if "problem" in button.text() or button.text() == "Spec check"]
        return badge

    @property
    def scope(self) -> list[str]:
        """The experiment of a tab that is about all of it, and the lane."""
        scopes = [label.accessibleName() for label in self.find(QWidget, "Scope:")]
        return [*scopes, *(label.text() for label in self.find(QLabel) if label.text().startswith("Lane "))]

    @property
    def is_maximised(self) -> bool:
        """True if the inspector is in the place of the conversation."""
        return self.find(QToolButton, "Restore the inspector") != []

    async def show_exchange(self, number: int) -> None:
        """Choose the exchange of this number, from 1, from the menu of exchanges."""
        button = await self.wait_for(QToolButton, "Exchange:")
        await self.person.do(button.menu().aboutToShow.emit)
        (entry,) = [a.text() for a in button.menu().actions() if a.text().startswith(f"#{number} ")]
        await self.person.choose(button, entry)

    @property
    def shown_exchange(self) -> int:
        """The number of the exchange shown, as the menu of exchanges marks it."""
        menu = self.get(QToolButton, "Exchange:").menu()
        menu.aboutToShow.emit()
        (entry,) = [action.text() for action in menu.actions() if action.isChecked()]
        return int(entry.partition(" ")[0].removeprefix("#"))

    @property
    def status(self) -> str:
        """The details of the exchange shown, from the tooltip of its line."""
        return get_by_object_name(self.person, "exchangeStatus").toolTip()

    def text_of(self, name: str) -> str:
        """The text of the editor of this name, or nothing if it is not in view."""
        return "".join(editor.toPlainText() for editor in self.find(QPlainTextEdit, name))


class Timeline(Inspector):
    """The list of events: in the Timeline tab, or alone in the Response tab."""

    @property
    def visible(self) -> bool:
        """True while a person sees the list of frames."""
        return bool(self.find(QTableView, "Events"))

    @property
    def frames(self) -> QTableView:
        """The list of frames."""
        return self.get(QTableView, "Events")

    @property
    def count(self) -> int:
        """How many frames are listed."""
        return self.frames.model().rowCount() if self.visible else 0

    @property
    def selected(self) -> list[int]:
        """The numbers of the selected frames, from 0."""
        if not self.visible:
            return []
        ranges = self.frames.selectionModel().selection().toList()
        return sorted({row for part in ranges for row in range(part.top(), part.bottom() + 1)})

    async def select(self, number: int) -> None:
        """Select a frame in the list, once it is there."""
        await self.wait_until(lambda: self.count > number, f"frame {number}")
        frames = self.frames
        await self.person.do(lambda: frames.selectRow(number))
        await self.person.do(frames.setFocus)

    @property
    def frame_text(self) -> str:
        """The text of the selected frame."""
        return self.text_of("Selected event")

    @property
    def summary(self) -> str:
        """The line above the text of the selected frame."""
        lines = find_by_object_name(self.person, "frameSummary", self.widget)
        return " ".join(line.accessibleName() for line in lines)

    @property
    def deviations(self) -> str:
        """The deviations of the selected frame."""
        return read_label(self.person, "frameDeviations", self.widget)

    async def show_raw(self) -> str:
        """Show the selected event as received. Returns its text."""
        buttons = self.find(QPushButton, "Raw")
        (button,) = [button for button in buttons if _parent_name(button) != "Response view"]
        await self.person.click(button)
        await self.wait_until(lambda: self.frame_text, "the text of the frame")
        return self.frame_text

    @property
    def exchange_text(self) -> str:
        """The figures of the whole exchange, shown while no frame is selected."""
        return self.text_of("Summary of the exchange")

    # The picture

    @property
    def picture(self) -> QGraphicsView:
        """The picture above the list."""
        return self.get(QGraphicsView, "Timeline")

    @property
    def description(self) -> str:
        """The figures of the picture, in words."""
        return self.picture.accessibleDescription() if self.visible else ""

    @property
    def stalls(self) -> list[tuple[int, str]]:
        """The frame behind each stall, from 0, and the seconds that it lasted, longest first."""
        matches = re.findall(r"stall before event (\d+) ([\d.]+) s", self.description)
        return [(int(frame) - 1, seconds) for frame, seconds in matches]

    def tooltip_at(self, x: int) -> str:
        """The tooltip of the picture at a horizontal position."""
        place = QPoint(x, 30)
        hover = QHelpEvent(QEvent.Type.ToolTip, place, self.picture.mapToGlobal(place))
        QApplication.sendEvent(self.picture.viewport(), hover)
        return next((item.toolTip() for item in self.picture.items(place) if item.toolTip()), "")

    def find_in_picture(self, text: str) -> QPoint:
        """The middle of the stretch whose tooltip contains ``text``."""
        places = [x for x in range(0, self.picture.width(), 3) if text in self.tooltip_at(x)]
        assert places, f"“{text}” is nowhere in the picture"
        return QPoint(places[len(places) // 2], 30)

    @property
    def span(self) -> tuple[float, float]:
        """The first and the last moment in view, in seconds."""
        match = re.search(r"Shows ([\d.]+) s to ([\d.]+) s", self.description)
        assert match is not None
        return float(match[1]), float(match[2])

    async def click_picture(self, place: QPoint) -> None:
        """Click into the picture."""
        await self.person.do(lambda: click_at(self.picture.viewport(), place))

    async def zoom_in(self, place: QPoint) -> None:
        """Turn the wheel by one notch above a place of the picture."""
        spot = QPointF(self.picture.mapToGlobal(place))
        none, keys, phase = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase
        event = QWheelEvent(QPointF(place), spot, QPoint(), QPoint(0, 120), none, keys, phase, False)
        await self.person.do(lambda: QApplication.sendEvent(self.picture.viewport(), event))

    async def drag(self, start: QPoint, end: QPoint) -> None:
        """Drag the picture from one place to another."""

        def move() -> None:
            QTest.mousePress(self.picture.viewport(), Qt.MouseButton.LeftButton, pos=start)
            for step in range(1, 11):
                QTest.mouseMove(self.picture.viewport(), start + (end - start) * step / 10)
            QTest.mouseRelease(self.picture.viewport(), Qt.MouseButton.LeftButton, pos=end)

        await self.person.do(move)


class Comparison(Inspector):
    """The segment Compare of the Request tab: two exchanges of an experiment compared."""

    @property
    def text(self) -> str:
        """The differences."""
        return "".join(view.toPlainText() for view in self.find(QTextEdit, "Differences"))

    @property
    def summary(self) -> str:
        """The line beside the choices."""
        labels = find_by_object_name(self.person, "compareSummary", self.widget)
        return " ".join(label.accessibleName() for label in labels)

    @property
    def metrics(self) -> dict[str, str]:
        """The table of times and tokens, empty while it is not in view."""
        return {name: value for table in self.find(QTableView, "Times and tokens") for name, value in _rows(table)}

    async def compare_part(self, part: str) -> None:
        """Choose the part to compare: Request, Answer, Reasoning or Metrics."""
        await select_entry(self.person, await self.wait_for(QComboBox, "Part to compare"), part)

    async def compare_with(self, entry: str) -> None:
        """Choose the other exchange by the beginning of its entry."""
        await select_entry(self.person, await self.wait_for(QComboBox, "Compare with"), entry)

    @property
    def other_exchange(self) -> str:
        """The entry of the other exchange."""
        return self.get(QComboBox, "Compare with").currentText()

    @property
    def others(self) -> list[str]:
        """The entries of all exchanges to compare with."""
        box = self.get(QComboBox, "Compare with")
        return [box.itemText(number) for number in range(box.count())]


def _parent_name(widget: QWidget) -> str:
    parent = widget.parentWidget()
    return parent.accessibleName() if parent is not None else ""


def _rows(table: QTableView) -> Iterator[tuple[str, str]]:
    model = table.model()
    for row in range(model.rowCount()):
        yield str(model.index(row, 0).data()), str(model.index(row, 1).data())


class ResponseTab(Inspector):
    """The Response tab: the assembled response, the bytes as received, and the spec check."""

    @property
    def assembled_text(self) -> str:
        """The response as one body."""
        return self.text_of("Assembled response")

    @property
    def raw_text(self) -> str:
        """The body as received."""
        return self.text_of("Response body")

    @property
    def badge(self) -> str:
        """The words of the badge of the spec check."""
        return self._badge.text()


class SpecCheck(ResponseTab):
    """The spec check of the Response tab: deviations from the specification."""

    @property
    def rows(self) -> list[tuple[str, str]]:
        """Event and problem of each row."""
        return [row for table in self.find(QTableView, "Problems") for row in _rows(table) if row[0] != "None"]

    async def click_row(self, number: int) -> None:
        """Click the problem of a row."""
        table = self.get(QTableView, "Problems")
        place = table.visualRect(table.model().index(number, 1)).center()
        await self.person.do(lambda: click_at(table.viewport(), place))


class RequestPage(Inspector):
    """The Request tab: the next request, or the one that was sent."""

    @property
    def sent_text(self) -> str:
        """The body of the request that was sent."""
        return self.text_of("Request body")

    @property
    def next_text(self) -> str:
        """The body of the next request."""
        return self.text_of("Body of the next request")

    async def edit_next(self, text: str) -> None:
        """Replace the body of the next request."""
        editor = await self.wait_for(QPlainTextEdit, "Body of the next request")
        await self.person.click(editor)
        await self.person.key(Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        await self.person.do(lambda: editor.insertPlainText(text))


class CallsPage(Inspector):
    """The segment List of the Tool calls tab: all tool calls of the experiment."""

    @property
    def table(self) -> QTableView:
        """The list of calls."""
        return self.get(QTableView, "Calls of the experiment")

    @property
    def row_count(self) -> int:
        """How many calls are listed."""
        return sum(table.model().rowCount() for table in self.find(QTableView, "Calls of the experiment"))

    def column(self, title: str) -> list[str]:
        """The texts of a column: Message, Tool, Arguments, Status, Answered or Time."""
        number = ("Message", "Tool", "Arguments", "Status", "Answered", "Time").index(title)
        return column_texts(self.table, number)

    async def choose(self, row: int, entry: str) -> None:
        """Open the menu of a row, and click an entry."""
        centre = self.table.visualRect(self.table.model().index(row, 0)).center()
        await self.person.do(lambda: self.table.customContextMenuRequested.emit(centre))
        await self.person.until(QApplication.activePopupWidget, "the menu")
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        await self.person.pick(menu, entry)

    @property
    def status(self) -> str:
        """The number of calls, or the result of the last export."""
        labels = [widget.accessibleName() for widget in self.find(QWidget, "Calls:")]
        return "".join(labels).removeprefix("Calls: ")


class SequencePage(Inspector):
    """The segment Sequence of the Tool calls tab: requests, calls and answers over time."""

    @property
    def picture(self) -> QWidget | None:
        """The picture; None while there is nothing to show."""
        pictures = self.find(QWidget, "Sequence of requests, calls and answers")
        return pictures[0] if pictures else None

    @property
    def summary(self) -> str:
        """The line above the picture."""
        labels = [widget.accessibleName() for widget in self.find(QWidget, "Sequence:")]
        return "".join(labels).removeprefix("Sequence: ")

    async def select(self, text: str) -> None:
        """Go through the picture with the keyboard until the description of a bar contains a text."""
        picture = self.picture
        assert picture is not None
        await self.person.do(picture.setFocus)
        await self.person.do(partial(QTest.keyClick, picture, Qt.Key.Key_Home))
        for _ in range(100):
            if text in picture.accessibleDescription():
                return
            await self.person.do(partial(QTest.keyClick, picture, Qt.Key.Key_Right))
        raise AssertionError(f"nothing in the picture says {text!r}")
