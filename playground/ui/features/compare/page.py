"""Page of lanes side by side, one column each, which scrolls sideways; one lane has the focus.

The first column contains the view of the conversation itself, so that its turns are drawn only once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QMenu, QScrollArea, QWidget

from playground.domain.costs import PriceLookup
from playground.domain.transcript import Turn
from playground.engine.compare.differences import Differences, differing, last_requests
from playground.engine.compare.lanes import Lanes
from playground.engine.compare.metrics import best, lane_metrics
from playground.engine.compare.words import not_carried, place_words, set_here
from playground.engine.library.store import StoreError
from playground.engine.session.changes import Change, ExchangeChanged, RunState, TurnGrew
from playground.engine.session.experiment import needs_results
from playground.engine.session.session import Session
from playground.ui.features.compare.lane import MIN_WIDTH, REASON, LaneColumn, next_outside
from playground.ui.features.compare.strip import LaneState, LaneStrip, lane_sign
from playground.ui.features.conversation.card_texts import Spot, mark
from playground.ui.features.conversation.pane import ConversationPane
from playground.ui.features.conversation.transcript_pane import DRAW_MS, TranscriptPane
from playground.ui.widgets.form_parts import text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import Throttle, spawn

TURN_MS = 10  # drawing interval for each lane: many lanes are drawn less often
FIGURES_MS = 250  # between two updates of the metrics while answers stream
_STATES = {
    RunState.WAITING: "waiting for the first token…",
    RunState.STREAMING: "receiving",
    RunState.RETRYING: "retrying",
    RunState.ANSWERING: "waiting for a tool result",
}


class LanesPage(QScrollArea):
    """Lanes of an experiment. ``chosen`` is emitted when the focus moves to another lane.

    If ``together`` is set, all lanes scroll with the focused one, turn by turn; if ``marking`` is set, differences
    from lane A are highlighted.
    """

    chosen = Signal(object)  # a session
    column_added = Signal(object)  # the session of a new column
    lanes_changed = Signal()  # lanes were added, removed or moved, or their heads changed
    answers_completed = Signal()  # no lane is running, and turns have changed since the last time

    def __init__(
        self,
        lanes: Lanes,
        pane: ConversationPane,
        entered: PriceLookup,
        gateway: Callable[[str], str],
        menus: Sequence[QMenu],
    ) -> None:
        """Create the page; each lane offers ``menus``, which apply to the focused lane.

        The page and its columns get their final parents at once: Qt styles a widget again, with all its turns, when
        its parent changes.
        """
        super().__init__(pane)
        self._menus = menus
        self.lanes = lanes
        self._pane = pane
        self._entered = entered
        self._gateway = gateway
        self._columns: dict[Session, LaneColumn] = {}
        self._drawing: dict[Session, Throttle] = {}
        self._front: Session = lanes.all[0]
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Lanes")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.strip = LaneStrip()
        self.strip.setParent(self)
        self.strip.hide()
        self.strip.chosen.connect(self._go_to)
        self._inner = QWidget(self.viewport())
        self._row = in_row(parent=self._inner, margins=0, spacing=1)
        self.setWidget(self._inner)
        self._hidden: set[Session] = set()  # lanes out of sight that have something to draw
        self.horizontalScrollBar().valueChanged.connect(self._draw_hidden)
        self._figures = Throttle(self._show_figures, self, interval=FIGURES_MS)
        self._heads = Throttle(self.arrange, self, interval=FIGURES_MS)
        self._losses = Throttle(self._find_losses, self, interval=FIGURES_MS)
        self._loss_inputs: dict[Session, tuple[object, ...]] = {}  # inputs of the losses shown, by lane
        self._reveal = Throttle(self._show_front, self, interval=1)
        self._is_closed = self._scrolling = False
        self.together = True
        self.marking = False
        self._states: list[LaneState] = []
        self._differences: dict[Session, Differences] = {}
        self._marks = Throttle(self._draw_marks, self, interval=FIGURES_MS)
        self._compared: tuple[tuple[Turn, ...], ...] = ()
        self._cancel = lanes.all[0].subscribe(self._changed, everywhere=True)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._focus_moved)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the columns as high as the page, which scrolls only sideways."""
        super().resizeEvent(event)
        self._place_strip()
        self._inner.setFixedHeight(self.viewport().height())
        self._reveal.poke()

    def _place_strip(self) -> None:
        """Show the strip above the columns while not all of them fit."""
        columns = len(self._columns)
        needed = columns * MIN_WIDTH + (columns - 1) * self._row.spacing() > self.width()
        height = self.strip.sizeHint().height()
        self.strip.setGeometry(0, 0, self.width(), height)
        if needed is self.strip.isHidden():
            self.strip.setVisible(needed)
            self.setViewportMargins(0, height if needed else 0, 0, 0)

    @property
    def front(self) -> TranscriptPane:
        """The pane of the lane that has the focus."""
        return self.column(self._front).pane

    @property
    def front_lane(self) -> Session:
        """The lane that has the focus."""
        return self._front

    @property
    def ticked(self) -> list[TranscriptPane]:
        """The panes of the lanes that messages go to."""
        return [self._columns[lane].pane for lane in self.lanes.ticked if lane in self._columns]

    def foot_height(self) -> int:
        """Return the height of the highest foot of a lane in pixels."""
        return max((column.foot.height() for column in self.columns), default=0)

    @property
    def columns(self) -> list[LaneColumn]:
        """The columns from left to right."""
        return [self._columns[lane] for lane in self.lanes.all if lane in self._columns]

    def column(self, lane: Session) -> LaneColumn:
        """Return the column of a lane, creating it if needed. Raises KeyError for a closed lane."""
        column = self._columns.get(lane)
        if column is None:
            if lane not in self.lanes.all:
                raise KeyError(lane)
            place = self.lanes.all.index(lane)
            column = self._columns[lane] = self._create_column(lane, first=place == 0)
            self._row.insertWidget(place, column, 1)
            self._show_head(lane, column)
            column.show_chosen(lane is self._front)
            self.column_added.emit(lane)
        return column

    def leave(self) -> None:
        """Stop following the lanes.

        The caller has to move the view of the conversation to another parent at once: this page contains it.
        """
        self._is_closed = True
        self._losses.cancel()
        self._cancel()
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.disconnect(self._focus_moved)
        self._pane.view.verticalScrollBar().valueChanged.disconnect(self._follow_main)
        self._pane.view.laid_out.disconnect(self._laid_out)
        self._pane.draw_by(None)
        for column in self._columns.values():
            if column.pane is not self._pane:
                column.pane.end()

    # Columns

    def arrange(self) -> None:
        """Update the columns to match the lanes."""
        if self._is_closed:
            return
        lanes = self.lanes.all
        for lane in [lane for lane in self._columns if lane not in lanes]:
            old_column = self._columns.pop(lane)
            self._loss_inputs.pop(lane, None)
            old_column.pane.end()
            self._drawing.pop(lane).cancel()
            self._hidden.discard(lane)
            self._row.removeWidget(old_column)
            old_column.deleteLater()
        for index, lane in enumerate(lanes):
            column = self.column(lane)
            if self._row.indexOf(column) != index:
                self._row.insertWidget(index, column, 1)
            self._show_head(lane, column)
        for lane in lanes:
            self._drawing[lane].interval = max(DRAW_MS, TURN_MS * len(lanes))
            if not (pane := self._columns[lane].pane).begun:
                pane.begin()
        if self._front not in lanes:
            self.choose(lanes[0])
        self._place_strip()
        self._losses.poke()
        self._mark()
        self._pane.show_lanes()
        self._show_figures()
        self._compare()
        self.lanes_changed.emit()

    def _show_head(self, lane: Session, column: LaneColumn) -> None:
        title, words = self.lanes.title(lane), place_words(lane, self._gateway)
        is_ticked = lane in self.lanes.ticked
        column.show_head(title, lane.settings.model, words, set_here(lane), ticked=is_ticked)

    def _find_losses(self) -> None:
        """Show which settings the protocol of a lane cannot carry, for lanes whose next request has changed."""
        for lane, column in self._columns.items():
            inputs = (lane.transcript.path, lane.editors.open, lane.settings, lane.main.settings, lane.profile)
            if self._loss_inputs.get(lane) != inputs:
                self._loss_inputs[lane] = inputs
                column.show_losses(not_carried(lane))

    def _create_column(self, lane: Session, *, first: bool) -> LaneColumn:
        if first:
            pane: TranscriptPane = self._pane
            column = LaneColumn(self._inner, pane, pane.turns, self._menus, first=True)
        else:
            pane = TranscriptPane(lane, self._entered, _empty_page())
            pane.view.set_zoom(self._pane.view.zoom)
            column = LaneColumn(self._inner, pane, pane, self._menus, first=False)
        self._drawing[lane] = Throttle(pane.draw, column, interval=DRAW_MS)
        pane.draw_by(partial(self._draw_soon, lane))
        follow = partial(self._scrolled, lane)
        pane.view.verticalScrollBar().valueChanged.connect(follow)
        if first:
            self._follow_main = follow
        pane.view.laid_out.connect(self._laid_out)
        column.chosen.connect(partial(self.choose, lane))
        column.ticked.connect(partial(self._ticked, lane))
        return column

    def _ticked(self, lane: Session, on: bool) -> None:
        self.lanes.tick(lane, on)
        self._pane.show_lanes()

    def _draw_soon(self, lane: Session) -> None:
        """Draw the new content of a lane; a hidden column waits until the page is scrolled."""
        column = self._columns.get(lane)
        if column is None or column.visibleRegion().isEmpty():
            self._hidden.add(lane)
        else:
            self._drawing[lane].poke()

    def _draw_hidden(self) -> None:
        for lane in self._hidden:
            self._drawing[lane].poke()
        self._hidden.clear()

    # Focus

    def choose(self, lane: Session) -> None:
        """Focus a lane: keys, panels and the inspector then apply to it."""
        if lane is not self._front:
            self._front = lane
            self._mark()
            self._reveal.poke()
            self.chosen.emit(lane)

    def _show_front(self) -> None:
        """Scroll sideways to the focused lane, for example after the page became narrower."""
        column = self._columns.get(self._front)
        if column is not None:
            self.ensureWidgetVisible(column.head, 0, 0)

    def step(self, by: int) -> None:
        """Focus the turns of the lane ``by`` places to the right; after the last lane comes the first."""
        lanes = self.lanes.all
        self._go_to((lanes.index(self._front) + by) % len(lanes))

    def _go_to(self, index: int) -> None:
        """Focus the turns of a lane, and scroll to it."""
        self.choose(self.lanes.all[index])
        self._show_front()
        self.front.view.focus_shown()

    def focusNextPrevChild(self, next: bool) -> bool:
        """Move the focus from the end of a lane to the start of the next, and from the last lane out of the page."""
        focus, columns = QApplication.focusWidget(), self.columns
        places = [index for index, column in enumerate(columns) if focus is not None and column.isAncestorOf(focus)]
        target = places[0] + (1 if next else -1) if places else -1
        if 0 <= target < len(columns) and (stops := columns[target].stops):
            stops[0 if next else -1].setFocus(REASON[next])
            return True
        if not next and places == [0] and not self.strip.isHidden():
            self.strip.chips[len(columns) - 1].setFocus(REASON[next])
            return True
        if focus is not None and places:
            next_widget = next_outside(focus, self, forward=next)
            if next_widget is not None:
                next_widget.setFocus(REASON[next])
                return True
        return super().focusNextPrevChild(next)

    def _mark(self) -> None:
        for lane, column in self._columns.items():
            column.show_chosen(lane is self._front)
        self._show_strip()

    def _focus_moved(self, _old: QWidget | None, new: QWidget | None) -> None:
        for lane, column in self._columns.items():
            if new is not None and column.isAncestorOf(new):
                self.choose(lane)

    # Scrolling

    def _scrolled(self, lane: Session, _value: int) -> None:
        """Scroll the other lanes to the turn that the focused lane shows; streaming lanes follow their own end."""
        if (
            self._is_closed
            or self._scrolling
            or not self.together
            or lane is not self._front
            or lane.main.experiment.busy
        ):
            return
        view = self._columns[lane].pane.view
        at_end, (row, share) = view.at_bottom, view.place
        self._scrolling = True
        try:
            for column in self.columns:
                if column.pane.view is not view and at_end:
                    column.pane.view.jump_to_latest()
                elif column.pane.view is not view:
                    column.pane.view.show_place(row, share)
        finally:
            self._scrolling = False

    # Differences

    def mark_differences(self, on: bool) -> None:
        """Turn the highlighting of differences from lane A on or off: words of answers, fields of requests, metrics.

        While answers stream, earlier highlights stay, and new comparisons wait.
        """
        self.marking = on
        self._differences, self._compared = {}, ()
        self._compare()
        self._show_differences()

    def _compare(self) -> None:
        lanes = self.lanes.all
        paths = tuple(lane.transcript.path for lane in lanes)
        if not lanes[0].experiment.busy and paths != self._compared:
            self._compared = paths
            self.answers_completed.emit()
            if self.marking:
                spawn(self._find_differences(lanes[1:], paths), name="compare lanes")

    async def _find_differences(self, lanes: Sequence[Session], paths: tuple[tuple[Turn, ...], ...]) -> None:
        results = [await _differences(lane, path, paths[0]) for lane, path in zip(lanes, paths[1:], strict=True)]
        if self._compared is paths and not self._is_closed:
            self._differences = dict(zip(lanes, results, strict=True))
            self._show_differences()

    def _show_differences(self) -> None:
        for column in self.columns[1:]:
            differences = self._differences.get(column.pane.session)
            column.show_differences(differences)
        self._draw_marks()
        self._show_figures()

    def _draw_marks(self) -> None:
        for column in [] if self._is_closed else self.columns[1:]:
            differences = self._differences.get(column.pane.session)
            for card in column.pane.view.cards.values():
                if card.turn.parts:
                    spans = differences.words.get(card.turn.id, ()) if differences is not None else ()
                    mark(card, [Spot("text", *span) for span in spans])

    def _laid_out(self) -> None:
        """Mark new cards; the view is laid out again with every piece that arrives."""
        if self._differences:
            self._marks.poke()
        if not self._is_closed and not self._front.main.experiment.busy:
            self._pane.estimate()

    # Changes of lanes

    def _changed(self, change: Change) -> None:
        if isinstance(change, TurnGrew | ExchangeChanged):
            self._figures.poke()
            if isinstance(change, TurnGrew):
                self._show_growth(change.turn_id)
        else:
            self._heads.poke()

    def _show_growth(self, turn_id: str) -> None:
        """Draw the growing turn in idle lanes that end with it, for example as an alternative of their answer."""
        for lane, column in self._columns.items():
            if lane.transcript.head == turn_id and lane.state is RunState.IDLE:
                column.pane.grew(turn_id)

    def _show_figures(self) -> None:
        lanes = [] if self._is_closed else [lane for lane in self.lanes.all if lane in self._columns]
        all_metrics = [lane_metrics(lane, self._entered) for lane in lanes]
        states = []
        for lane, metrics, best_words in zip(lanes, all_metrics, best(all_metrics), strict=True):
            base = all_metrics[0] if self.marking and metrics is not all_metrics[0] else None
            words = _run_words(lane) or [*_pause_words(lane), *metrics.words_compared(base)]
            running = lane.state is not RunState.IDLE
            column = self._columns[lane]
            column.show_figures(words, best_words, running=running, waiting=not running and lane.debugger.paused)
            column.figures.setToolTip("\n".join(metrics.totals))
            title, letter = self.lanes.title(lane), self.lanes.letter(lane)
            states.append(LaneState(letter, title, lane.settings.model, lane_sign(lane), tuple(words)))
        self._states = states
        self._show_strip()

    def _show_strip(self) -> None:
        if self._front in (lanes := self.lanes.all):
            self.strip.show_lanes(self._states, lanes.index(self._front))


def _run_words(lane: Session) -> list[str]:
    """Return the state of a run, and about how much was received; nothing for a lane that does not run."""
    if lane.state is RunState.IDLE:
        return []
    growing = [lane.growing[turn.id] for turn in lane.transcript.path[-1:] if turn.id in lane.growing]
    return [_STATES[lane.state], *(f"≈ {choice.deltas:,} tok" for choice in growing if choice.deltas)]


def _pause_words(lane: Session) -> list[str]:
    """Return why a lane is paused, and at which request; nothing for a lane that is not."""
    if not lane.debugger.paused:
        return []
    pending = len(lane.debugger.waiting)
    return [needs_results(pending) if pending else "paused by the gateway", f"request {lane.debugger.round}"]


async def _differences(lane: Session, path: tuple[Turn, ...], base: tuple[Turn, ...]) -> Differences:
    """Compare a lane with lane A in a worker thread; request bodies no longer in memory are read from the disk."""
    requests, errors = last_requests(lane), tuple[str, ...]()
    if requests is not None:
        try:
            requests = await lane.experiment.with_bodies(requests[0]), await lane.experiment.with_bodies(requests[1])
        except StoreError as error:
            requests, errors = None, (str(error),)
    differences = await asyncio.to_thread(differing, path, base, requests)
    return replace(differences, left_out=(*differences.left_out, *errors))


def _empty_page() -> QWidget:
    page = QWidget()
    label = text_label("Nothing was asked in this lane yet.", "muted")
    in_column(1, in_row(1, label, 1), 1, parent=page)
    return page
