"""The inspector: five tabs about an exchange and its experiment, the exchange in a menu, and a button to maximise it.

It holds no truth: an ``ExchangeView`` is given again while the exchange grows. Only the visible tab is drawn, a few
times a second.
"""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QSizePolicy, QStackedWidget, QTabBar, QWidget

from playground.ui.features.inspector.next_request import Preview
from playground.ui.features.inspector.request_page import RequestPage
from playground.ui.features.inspector.response_page import NO_RESPONSE, ResponsePage
from playground.ui.features.inspector.status_button import StatusButton
from playground.ui.features.inspector.timeline.page import TimelinePage
from playground.ui.features.inspector.view import ExchangeView
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import LaneChip, look, text_label, thin_line
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import Gap, in_column, in_pages, in_row
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.plain_text import short_title, show_hidden
from playground.ui.widgets.segments import Segments

DRAW_EVERY_MS = 200
MIN_PAGE_HEIGHT = 40
NARROW = 560  # pixels; the tabs of a narrower inspector are closer together
REQUEST, RESPONSE, TIMELINE, TOOL_CALLS, BRANCHES = "Request", "Response", "Timeline", "Tool calls", "Branches"


class Place(StrEnum):
    """A tab, or a segment of one."""

    RESPONSE = RESPONSE
    TIMELINE = TIMELINE
    BRANCHES = BRANCHES
    NEXT = f"{REQUEST}/Next"
    SENT = f"{REQUEST}/Sent"
    COMPARE = f"{REQUEST}/Compare"
    ASSEMBLED = f"{RESPONSE}/Assembled"
    EVENTS = f"{RESPONSE}/Events"
    RAW = f"{RESPONSE}/Raw"
    SPEC_CHECK = f"{RESPONSE}/Spec check"
    CALLS = f"{TOOL_CALLS}/List"
    SEQUENCE = f"{TOOL_CALLS}/Sequence"
    SERVERS = f"{TOOL_CALLS}/Servers"


class SegmentedPage(QWidget):
    """A tab of the experiment with a segment for each page that other features add."""

    def __init__(self, name: str, titles: tuple[str, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._titles = titles
        self.switch = Segments(titles, name)
        self._pages = in_pages(*(QWidget() for _ in titles))
        bar = in_row(self.switch, 1, margins=(12, 4, 12, 4))
        in_column(bar, (self._pages, 1), parent=self, margins=0, spacing=0)
        self.switch.chosen.connect(self._pages.setCurrentIndex)

    def set_page(self, title: str, page: QWidget) -> None:
        """Put a page into its segment."""
        number = self._titles.index(title)
        if (blank := self._pages.widget(number)) is not None:
            self._pages.removeWidget(blank)
            blank.deleteLater()
        self._pages.insertWidget(number, page)
        self._pages.setCurrentIndex(self.switch.index)

    def show_segment(self, title: str) -> None:
        """Show a segment by its title."""
        self.switch.set_index(self._titles.index(title))
        self._pages.setCurrentIndex(self.switch.index)


class Inspector(QWidget):
    """``maximise_toggled``: the inspector takes the place of the centre, or gives it back.

    With ``sent_only`` it shows finished exchanges: there is no next request, and nothing to compare with.
    """

    maximise_toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None, *, sent_only: bool = False) -> None:
        super().__init__(parent)
        self._exchange: ExchangeView | None = None
        self._preview: Preview | None = None
        self._unsent = ""
        self._drawn: dict[int, tuple[ExchangeView | None, str]] = {}  # what each tab shows
        self._drawn_preview: Preview | None = None
        self.setObjectName("inspector")
        self.setProperty("kind", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.tabs = QTabBar(drawBase=False, expanding=False)
        self.tabs.setAccessibleName("Inspector")
        self.tabs.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.status = StatusButton()
        self.scope = ElidedLabel("Scope", elide=Qt.TextElideMode.ElideRight)
        self.scope.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.lane = LaneChip()
        self.maximise_button = IconButton("expand", "Maximise the inspector")
        self.maximise_button.setCheckable(True)
        if sent_only:  # the button has no parent yet, so that to show it would open a window
            self.maximise_button.hide()
        self._call_count = text_label("", "chip")
        self._call_count.setParent(self)
        self._call_count.hide()
        self.request = RequestPage(sent_only=sent_only)
        self.response = ResponsePage()
        self.events = TimelinePage()
        self._timeline_area = QWidget()
        in_column(self.events, parent=self._timeline_area, margins=0, spacing=0)
        self._no_events = empty_words(NO_RESPONSE)
        self._timeline = in_pages(self._no_events, self._timeline_area)
        self.tool_calls = SegmentedPage("Tool calls view", ("List", "Sequence", "Servers"))
        self._stack = QStackedWidget(self)
        self._stack.setMinimumHeight(MIN_PAGE_HEIGHT)
        for title, page in ((REQUEST, self.request), (RESPONSE, self.response), (TIMELINE, self._timeline)):
            self.tabs.addTab(title)
            self._stack.addWidget(page)
        if sent_only:
            self.tool_calls.setParent(self)
            self.tool_calls.hide()
        else:
            self.tabs.addTab(TOOL_CALLS)
            self._stack.addWidget(self.tool_calls)
            self.tabs.addTab(BRANCHES)
            self._stack.addWidget(QWidget())
        row = in_row(
            *(
                (self.tabs, 0),
                Gap(8),
                1,
                (self.lane, 0, Qt.AlignmentFlag.AlignVCenter),
                (self.scope, 1000),
                (self.status, 1000),
                self.maximise_button,
            ),
            margins=(12, 0, 8, 0),
            spacing=4,
        )
        in_column(row, thin_line(), (self._stack, 1), parent=self, margins=0, spacing=0)
        self._throttle = Throttle(self._draw_if_visible, self, DRAW_EVERY_MS)
        self.tabs.currentChanged.connect(self._tab_changed)
        self.response.segment_shown.connect(self._place_events)
        self.response.check.event_asked.connect(self.show_event)
        self.maximise_button.toggled.connect(self._maximise)
        self._tab_changed(0)

    def minimumSizeHint(self) -> QSize:
        return QSize(260, super().minimumSizeHint().height())

    # What is shown

    def set_exchange(self, view: ExchangeView | None, unsent: str = "") -> None:
        """Show this exchange, or none; call it again with a new view whenever more is received.

        ``unsent`` is the reason why the last run sent nothing; the exchange is then only in the menu.
        """
        self._exchange, self._unsent = view, unsent
        self._show_status()
        self._throttle.poke()

    def set_preview(self, preview: Preview) -> None:
        """Set the request that a run would send now."""
        self._preview = preview
        self._throttle.poke()

    def show_lane(self, title: str) -> None:
        """Name the lane of Compare whose exchange is shown; empty outside Compare."""
        self.lane.show_lane(title)

    def set_scope(self, experiment: str, calls: int = 0) -> None:
        """Name the experiment and the number of its tool calls."""
        self.scope.set_text(show_hidden(f"Experiment: {short_title(experiment)}"))
        self._call_count.setText(f"{calls:,}")
        number, side = self._number_of(TOOL_CALLS), QTabBar.ButtonPosition.RightSide
        self._call_count.setVisible(bool(calls))
        if calls and self.tabs.tabButton(number, side) is None:
            self.tabs.setTabButton(number, side, self._call_count)
        elif not calls:
            self.tabs.setTabButton(number, side, None)
        self.tabs.setAccessibleTabName(number, f"{TOOL_CALLS}, {calls:,}" if calls else TOOL_CALLS)

    def add_page(self, place: Place, page: QWidget) -> None:
        """Add the page of another feature: a segment of the tool calls, or the branches."""
        tab, _, segment = place.partition("/")
        if segment:
            self.tool_calls.set_page(segment, page)
            return
        number = self._number_of(tab)
        if (blank := self._stack.widget(number)) is not None:
            self._stack.removeWidget(blank)
            blank.deleteLater()
        self._stack.insertWidget(number, page)

    def show_tab(self, place: str) -> None:
        """Bring a tab to the front, with the segment that the place names."""
        tab, _, segment = place.partition("/")
        self.tabs.setCurrentIndex(self._number_of(tab))
        page = self._stack.currentWidget()
        if segment and isinstance(page, RequestPage | ResponsePage | SegmentedPage):
            page.show_segment(segment)
        self.draw_now()

    def show_event(self, number: int) -> None:
        """Show one event of the exchange in the list of events."""
        self.show_tab(Place.EVENTS)
        self.events.choose([number])
        self.events.table.setFocus()

    def draw_now(self) -> None:
        """Bring the visible tab up to date at once."""
        number = self._stack.currentIndex()
        if not self._shows_exchange:
            return
        if number == 0 and self._preview is not None and self._drawn_preview is not self._preview:
            self._drawn_preview = self._preview
            self.request.show_preview(self._preview)
        state = self._exchange, self._unsent
        if self._drawn.get(number) == state:
            return
        self._drawn[number] = state
        page = self._stack.currentWidget()
        if isinstance(page, RequestPage | ResponsePage):
            page.show_exchange(self._sent_exchange, self._unsent)
        self._show_events()

    def _show_events(self) -> None:
        """Show the events of the exchange where the list of events is visible."""
        view = self._sent_exchange
        self._no_events.setText(show_hidden(self._unsent) or NO_RESPONSE)
        self._timeline.setCurrentIndex(0 if view is None else 1)
        if self._stack.currentWidget() is self._timeline or self.response.shows_events:
            self.events.show_trace(view.trace if view is not None else None)

    def _place_events(self) -> None:
        """Move the list of events to the tab in front: below the timeline, or alone in the response."""
        in_timeline = self._stack.currentWidget() is self._timeline
        if not in_timeline and not self.response.shows_events:
            return
        area = self._timeline_area if in_timeline else self.response.events_area
        self.events.picture.setVisible(in_timeline)
        if self.events.parentWidget() is not area:
            layout = area.layout()
            if layout is not None:
                layout.addWidget(self.events)
                self.events.show()  # the layout would show it later
        self._show_events()

    @property
    def _sent_exchange(self) -> ExchangeView | None:
        """The exchange that the tabs show: none after a run that sent nothing."""
        return None if self._unsent else self._exchange

    def _show_status(self) -> None:
        self.status.show_exchange(self._exchange if self._shows_exchange else None, unsent=bool(self._unsent))

    @property
    def _shows_exchange(self) -> bool:
        """Return whether the tab in front is about one exchange."""
        return self._stack.currentIndex() <= self._number_of(TIMELINE)

    def _number_of(self, tab: str) -> int:
        titles = [self.tabs.tabText(number) for number in range(self.tabs.count())]
        return titles.index(tab) if tab in titles else 0

    def _draw_if_visible(self) -> None:
        if self.isVisible():
            self.draw_now()

    def _tab_changed(self, number: int) -> None:
        self._stack.setCurrentIndex(number)
        self._show_status()
        self.scope.setVisible(not self._shows_exchange)
        self._place_events()
        self.draw_now()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.draw_now()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = "little" if self.width() < NARROW else ""
        if self.tabs.property("room") != room:
            look(self.tabs, room, "room")
            # A tab bar measures its tabs again only after a change of its style.
            QApplication.sendEvent(self.tabs, QEvent(QEvent.Type.StyleChange))

    # Maximised

    @property
    def maximised(self) -> bool:
        """Return whether the inspector takes the place of the centre."""
        return self.maximise_button.isChecked()

    def restore(self) -> None:
        """Give the centre its place back."""
        self.maximise_button.setChecked(False)

    def _maximise(self, maximised: bool) -> None:
        self.maximise_button.say("Restore the inspector (Esc)" if maximised else "Maximise the inspector")
        self.maximise_toggled.emit(maximised)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not event.spontaneous():  # the window was not just minimised
            self.restore()

    # Keys

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and self._restores(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape restores a maximised inspector; Ctrl+Tab and Ctrl+Page Down go to the next tab."""
        steps = {Qt.Key.Key_Tab: 1, Qt.Key.Key_PageDown: 1, Qt.Key.Key_Backtab: -1, Qt.Key.Key_PageUp: -1}
        step = steps.get(Qt.Key(event.key()), 0)
        if self._restores(event):
            self.restore()
        elif step and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.tabs.setCurrentIndex((self.tabs.currentIndex() + step) % self.tabs.count())
            self.tabs.setFocus(Qt.FocusReason.TabFocusReason)
        else:
            super().keyPressEvent(event)

    def _restores(self, event: QKeyEvent) -> bool:
        return self.maximised and event.key() == Qt.Key.Key_Escape
