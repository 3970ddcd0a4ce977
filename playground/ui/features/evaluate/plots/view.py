"""The plots of an evaluation, in two columns if the window is wide enough; computed on a worker thread."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QActionGroup, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QWidget

from playground.engine.evaluation.results import Findings
from playground.engine.gateways.redaction import write_output
from playground.ui.features.evaluate.model import EvaluationModel
from playground.ui.features.evaluate.plots.kinds import KINDS, AnswerCounts, By, PlotData, cell_at, chosen_plot, plots
from playground.ui.features.evaluate.plots.scene import Plot, Target
from playground.ui.widgets.dialogs import ask_where
from playground.ui.widgets.form_parts import push_button, styled
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.scroll_page import DownArea

if TYPE_CHECKING:
    from playground.ui.features.evaluate.plots.card import PlotCard

ROOM: Final = 860  # pixels of width for two plots side by side
NOTHING: Final = "No answers yet. Run the evaluation to get plots."
PICTURES: Final = "SVG picture (*.svg);;PNG picture (*.png)"
LOADING: Final = "Loading plots…"


class PlotsView(QWidget):
    """Shows the plots of the findings. ``reported`` carries a message about a saved picture."""

    reported = Signal(str)

    def __init__(self, evaluation: EvaluationModel) -> None:
        super().__init__()
        self._evaluation = evaluation
        self._by = By.VARIANT
        self._working: asyncio.Task[None] | None = None
        self._stale = True
        self._cards: dict[str, PlotCard] = {}
        self.by = push_button(self._by.value)
        self.by.setAccessibleName("Rows of the plots")
        self.by.setMenu(self._menu())
        self.save = push_button("Save picture…")
        self.save.clicked.connect(partial(self._save, None))
        self.tools = QWidget()
        in_row(self.by, 1, self.save, parent=self.tools, margins=0, spacing=8)
        self.empty = empty_words(LOADING)
        inner = styled(QWidget(), "page")
        self._sides = [in_column(1, spacing=12), in_column(1, spacing=12)]
        self._row = in_row(*((side, 1) for side in self._sides), spacing=12)
        self._order: list[tuple[str, int]] = []
        self._two = True
        in_column(self.empty, self._row, 1, parent=inner, margins=(18, 14, 18, 14))
        in_column(in_row(self.tools, margins=(18, 8, 18, 0)), (DownArea(inner), 1), parent=self, margins=0, spacing=0)
        self.setFocusProxy(self.by)
        evaluation.figured.connect(self._changed)
        evaluation.planned.connect(self._changed)
        evaluation.chosen.connect(self._chosen)

    @property
    def cards(self) -> list[PlotCard]:
        """The visible cards."""
        return [card for card in self._cards.values() if not card.isHidden()]

    def card(self, kind: str) -> PlotCard:
        """Return the card of a kind. Raises KeyError if it does not exist."""
        return self._cards[kind]

    def _menu(self) -> QMenu:
        menu, group = QMenu(self), QActionGroup(self)
        for by in By:
            action = QAction(by.value, menu, checkable=True, checked=by is self._by)
            action.triggered.connect(partial(self.show_by, by))
            group.addAction(action)
            menu.addAction(action)
        return menu

    def show_by(self, by: By, _checked: bool = True) -> None:
        """Select what the rows of plots are."""
        self._by = by
        self.by.setText(by.value)
        self._changed()

    # What is drawn

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._changed()

    def _changed(self) -> None:
        self._stale = True
        if self.isVisible() and self._working is None:
            self._working = spawn(self._draw(), name="draw the plots")

    async def _draw(self) -> None:
        try:
            # pyqtgraph needs numpy, which takes long to load; pyqtgraph itself must be imported on this thread.
            await asyncio.to_thread(import_module, "numpy")
            while self._stale and self.isVisible():
                self._stale = False
                evaluation = self._evaluation
                if not evaluation.results.count:
                    self._arrange(())
                elif evaluation.findings is not None:
                    drawn = await asyncio.to_thread(plots, self._data(evaluation.findings))
                    for plot in drawn:
                        self._show(plot)
                    self._arrange([plot.kind for plot in drawn])
        finally:
            self._working = None

    def _data(self, findings: Findings) -> PlotData:
        evaluation = self._evaluation
        results = evaluation.results.copy()
        return PlotData(results, findings, self._by, cell_at(results, evaluation.case, evaluation.column))

    def _chosen(self) -> None:
        """Draw the plot of the selected cell again."""
        findings = self._evaluation.findings
        if self._stale or self._working is not None or not self._cards or findings is None:
            self._stale = True
            return
        plot = chosen_plot(self._data(findings))
        kinds = [kind for kind, card in self._cards.items() if not card.isHidden() and kind != AnswerCounts.kind]
        if plot is not None:
            self._show(plot)
            kinds.append(plot.kind)
        self._arrange(kinds)

    def _show(self, plot: Plot) -> None:
        from playground.ui.features.evaluate.plots.card import PlotCard

        card = self._cards.get(plot.kind)
        if card is None:
            card = self._cards[plot.kind] = PlotCard()
            card.pressed.connect(self._choose)
            card.save_asked.connect(partial(self._save, plot.kind))
        card.show_plot(plot)

    def _choose(self, target: Target) -> None:
        self._evaluation.choose(*target)

    # Layout

    def _arrange(self, kinds: Collection[str]) -> None:
        """Show the cards of these kinds in the order of the page, each in the shorter column."""
        order = [(kind.kind, self._cards[kind.kind].maximumHeight()) for kind in KINDS if kind.kind in kinds]
        self.empty.setText(NOTHING)
        self.empty.setVisible(not order)
        self.save.setEnabled(bool(order))
        if order != self._order:
            self._order = order
            self._place()

    def _place(self) -> None:
        sides: list[list[PlotCard]] = [[], []]
        filled = [0, 0]
        for kind, high in self._order:
            side_index = 1 if self._two and filled[1] < filled[0] else 0
            sides[side_index].append(self._cards[kind])
            filled[side_index] += high
        for card in self._cards.values():
            if not any(card in cards for cards in sides):
                card.hide()
        for side, cards in zip(self._sides, sides, strict=True):
            for place, card in enumerate(cards):
                if side.indexOf(card) != place:
                    side.insertWidget(place, card)
                card.show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        two = self.width() >= ROOM
        if two != self._two:
            self._two = two
            self._row.setStretch(1, int(two))
            self._row.setSpacing(12 if two else 0)
            self._place()

    # Pictures

    def _save(self, kind: str | None, _checked: bool = False) -> None:
        cards = self.cards if kind is None else [self._cards[kind]]
        if cards:
            spawn(self._save_picture(cards), name="save a picture of plots")

    async def _save_picture(self, cards: list[PlotCard]) -> None:
        name = cards[0].title.text() if len(cards) == 1 else "Plots"
        path = await ask_where(self.window(), "Save picture", f"{name}.svg", PICTURES, "svg")
        if path is None:
            return
        try:
            await self.save_to(path, cards)
        except OSError as error:
            self.reported.emit(f"{path.name} could not be written: {error.strerror or error}. Choose another place.")
        else:
            self.reported.emit(f"Saved as {path}.")

    async def save_to(self, path: Path, cards: Sequence[PlotCard]) -> None:
        """Write the plots as SVG or PNG, by the ending of ``path``. Raises OSError."""
        from playground.ui.features.evaluate.plots.picture import to_png, to_svg

        make = to_png if path.suffix.lower() == ".png" else to_svg
        data = make(cards, 2 if self._two else 1)
        await asyncio.to_thread(write_output, path, data, self._evaluation.store.secrets)
