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

from playground.engine.gateways.redaction import write_output
from playground.ui.features.evaluate.model import EvaluationModel
from playground.ui.features.evaluate.plots.kinds import KINDS, By, PlotData, cell_at, chosen_plot, plots
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
NOTHING: Final = "No answers yet: plots show up as they come. Run the evaluation to ask for them."
PICTURES: Final = "SVG picture (*.svg);;PNG picture (*.png)"
BETWEEN: Final = 0.005  # seconds between two plots, for what else is to be done
LOADING: Final = "Plots are being made…"


class PlotsView(QWidget):
    """Shows the plots of the findings. ``said`` carries a message about a saved picture."""

    said = Signal(str)

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
        in_row(self.by, 1, self.save, of=self.tools, margins=0, spacing=8)
        self.empty = empty_words(LOADING)
        inner = styled(QWidget(), "page")
        self._sides = [in_column(1, spacing=12), in_column(1, spacing=12)]
        self._row = in_row(*((side, 1) for side in self._sides), spacing=12)
        self._order: list[tuple[str, int]] = []
        self._two = True
        in_column(self.empty, self._row, 1, of=inner, margins=(18, 14, 18, 14))
        in_column(in_row(self.tools, margins=(18, 8, 18, 0)), (DownArea(inner), 1), of=self, margins=0, spacing=0)
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
            while self._stale and self.isVisible():
                self._stale = False
                # pyqtgraph needs numpy, which takes long to load; pyqtgraph itself must be imported on this thread.
                await asyncio.to_thread(import_module, "numpy")
                evaluation = self._evaluation
                if evaluation.findings is None or not evaluation.results.count:
                    if not evaluation.results.count:
                        self._arrange(())
                    continue
                results = evaluation.results.copy()
                data = PlotData(
                    results, evaluation.findings, self._by, cell_at(results, evaluation.case, evaluation.column)
                )
                drawn = await asyncio.to_thread(plots, data)
                kinds = {plot.kind for plot in drawn}
                seen = {kind for kind, card in self._cards.items() if kind in kinds and not card.isHidden()}
                for plot in drawn:
                    self._show(plot)
                    await asyncio.sleep(BETWEEN)
                    seen.add(plot.kind)
                    self._arrange(seen)
                    await asyncio.sleep(BETWEEN)
        finally:
            self._working = None

    def _chosen(self) -> None:
        """Draw the plot of the selected cell again."""
        evaluation = self._evaluation
        if self._stale or self._working is not None or not self._cards or evaluation.findings is None:
            self._stale = True
            return
        data = PlotData(
            evaluation.results,
            evaluation.findings,
            self._by,
            cell_at(evaluation.results, evaluation.case, evaluation.column),
        )
        plot = chosen_plot(data)
        kinds = [kind for kind, card in self._cards.items() if not card.isHidden() and kind != "came"]
        if plot is not None:
            self._show(plot)
        self._arrange([*kinds, *([plot.kind] if plot is not None else [])])

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
            self.said.emit(f"{path.name} could not be written: {error.strerror or error}. Choose another place.")
        else:
            self.said.emit(f"Saved as {path}.")

    async def save_to(self, path: Path, cards: Sequence[PlotCard]) -> None:
        """Write the plots as SVG or PNG, by the ending of ``path``. Raises OSError."""
        from playground.ui.features.evaluate.plots.picture import to_png, to_svg

        make = to_png if path.suffix.lower() == ".png" else to_svg
        data = make(cards, 2 if self._two else 1)
        await asyncio.to_thread(write_output, path, data, self._evaluation.store.secrets)
