"""The variants of an evaluation: the current settings, and variants with their differences."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import QMenu, QVBoxLayout

from playground.engine.compare.lanes import Lanes, LanesError
from playground.engine.compare.words import variant_differences
from playground.engine.evaluation.variants import (
    MOST_VARIANTS,
    SweepError,
    copied_variant,
    over_models,
    variant_of_lane,
    variant_of_preset,
)
from playground.engine.files.presets import Preset, PresetError
from playground.engine.session.branching import system_text
from playground.engine.session.variants import Variant, letter_of
from playground.ui.features.evaluate.model import EvaluationModel
from playground.ui.features.evaluate.panels.sweep_dialog import SweepDialog
from playground.ui.features.evaluate.panels.variant_card import VariantCard
from playground.ui.features.evaluate.panels.variant_dialog import VariantDialog
from playground.ui.widgets.dialogs import line_dialog
from playground.ui.widgets.form_parts import push_button, say, text_label
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import discard, in_row
from playground.ui.widgets.loop import Throttle, ask, spawn
from playground.ui.widgets.plain_text import shown_name
from playground.ui.widgets.scroll_page import ScrollPage

if TYPE_CHECKING:
    from playground.engine.gateways.model_catalog import ModelCatalog

CURRENT = "current settings"
_NO_DIFFERENCES = "Uses conversation settings"
_NO_CHANGES = "No changes yet"


@dataclass(frozen=True, slots=True)
class Sources:
    """Sources of new variants besides lanes.

    ``models`` lists the models of the experiment's gateway; the catalog is empty if it lists none.
    """

    presets: Callable[[], Sequence[Preset]]
    models: Callable[[], Awaitable[ModelCatalog]]


class VariantsPanel(ScrollPage):
    """The panel of variants. ``lane_opened`` is emitted when a variant became a lane of Compare."""

    lane_opened = Signal()

    def __init__(self, evaluation: EvaluationModel, sources: Sources) -> None:
        super().__init__()
        self._evaluation, self._sources = evaluation, sources
        self.add = push_button("Variant")
        self.add.setIcon(icon("plus"))
        self.add.setAccessibleName("Add a variant")
        self.menu = QMenu(self.add)
        self.menu.aboutToShow.connect(self._fill_menu)
        self.add.setMenu(self.menu)
        self.sweep = push_button("Sweep…")
        self.sweep.setToolTip("Add variants for a range of one or two parameters")
        self.sweep.clicked.connect(self.ask_sweep)
        self.delete_all = push_button("Delete all")
        self.delete_all.setToolTip("Delete all variants; their answers become outdated. Can be undone.")
        self.delete_all.clicked.connect(self._delete_all)
        self._problem = text_label("", "flag-error", wrap=True)
        self.as_set = VariantCard(as_set=True)
        self.as_set.part_set.connect(self._set_part)
        self.cards: dict[str, VariantCard] = {}
        self._cards = QVBoxLayout()
        self._cards.setSpacing(8)
        self._card_menu = QMenu(self)
        column = self.fill(8)
        column.addLayout(in_row(self.add, self.sweep, 1, self.delete_all, spacing=6))
        column.addWidget(self._problem)
        column.addWidget(self.as_set)
        column.addLayout(self._cards)
        column.addStretch(1)
        self._throttle = Throttle(self._show, self)
        evaluation.planned.connect(self._throttle.poke)
        self._show()

    @property
    def busy(self) -> bool:
        """Return whether the cards are out of date."""
        return self._throttle.pending

    # Cards

    def _show(self) -> None:
        session, plan = self._evaluation.session, self._evaluation.plan
        problems = {problem.id: problem.words for problem in self._evaluation.problems if problem.place == "variants"}
        system = system_text(session.transcript)
        say(self._problem, "" if plan.as_set else problems.get("", ""))
        self.delete_all.setVisible(bool(plan.variants))
        first = 0 if plan.as_set else None
        self.as_set.show_variant(first, CURRENT, (), _NO_DIFFERENCES, problems.get("", "") if plan.as_set else "")
        deleted = [card for key, card in self.cards.items() if all(variant.id != key for variant in plan.variants)]
        self.cards = {key: card for key, card in self.cards.items() if card not in deleted}
        discard(self._cards, *deleted)
        for place, variant in enumerate(plan.variants):
            card = self.cards.get(variant.id) or self._make(variant.id)
            if self._cards.indexOf(card) != place:
                self._cards.insertWidget(place, card)
            words = variant_differences(session.settings, system, variant, self._gateway)
            card.show_variant(place + plan.as_set, variant.name, words, _NO_CHANGES, problems.get(variant.id, ""))

    def _make(self, key: str) -> VariantCard:
        card = self.cards[key] = VariantCard()
        card.more_asked.connect(partial(self._open_menu, key))
        card.edit_asked.connect(partial(self.edit, key))
        return card

    def _gateway(self, profile_id: str) -> str:
        profile_of = self._evaluation.session.experiment.profile_of
        return profile_of(profile_id).name if profile_of is not None else ""

    # Changes

    def _put(self, variants: Iterable[Variant], **more: object) -> None:
        self._evaluation.change_apart(variants=tuple(variants), **more)
        self._throttle.poke()

    def _add(self, variants: Iterable[Variant], _checked: bool = False) -> None:
        self._put((*self._evaluation.plan.variants, *variants))

    def add_lanes(self, _checked: bool = False) -> None:
        """Add a variant for each lane of Compare."""
        lanes = Lanes(self._evaluation.session)
        self._add([variant_of_lane(lane) for lane in lanes.all[1:]])

    def _set_part(self, on: bool) -> None:
        self._evaluation.change_apart(as_set=on)
        self._throttle.poke()

    def _find(self, key: str) -> Variant | None:
        return next((variant for variant in self._evaluation.plan.variants if variant.id == key), None)

    def _replace(self, changed: Variant) -> None:
        self._put(changed if variant.id == changed.id else variant for variant in self._evaluation.plan.variants)

    def duplicate(self, key: str, _checked: bool = False) -> None:
        """Insert a copy behind a variant and edit it."""
        if (original := self._find(key)) is not None:
            copy = copied_variant(original)
            variants = list(self._evaluation.plan.variants)
            variants.insert(variants.index(original) + 1, copy)
            self._put(variants)
            self.edit(copy.id)

    def move_by(self, key: str, by: int, _checked: bool = False) -> None:
        """Move a variant down by a number of places."""
        if (variant := self._find(key)) is not None:
            variants = list(self._evaluation.plan.variants)
            index = variants.index(variant)
            variants.insert(min(max(index + by, 0), len(variants) - 1), variants.pop(index))
            self._put(variants)

    def delete(self, key: str, _checked: bool = False) -> None:
        """Delete a variant; its answers become outdated. Can be undone."""
        self._put(variant for variant in self._evaluation.plan.variants if variant.id != key)

    def edit(self, key: str, _checked: bool = False) -> None:
        """Open the dialog of a variant."""
        if (variant := self._find(key)) is not None:
            dialog = VariantDialog(self._evaluation.session, variant, self)
            dialog.submitted.connect(self._replace)
            dialog.open()
            spawn(self._offer_models(dialog), name="offer models", owner=dialog)

    async def _offer_models(self, dialog: VariantDialog) -> None:
        """Show the models in the dialog once the gateway has listed them."""
        catalog = await self._sources.models()
        dialog.model.show_catalog(catalog)

    def rename(self, key: str, _checked: bool = False) -> None:
        """Ask for a new name of a variant."""
        if (variant := self._find(key)) is not None:
            spawn(self._rename(variant), name="rename a variant")

    async def _rename(self, variant: Variant) -> None:
        dialog = line_dialog(self, "Rename variant", "Name", variant.name, "Rename")
        if await ask(dialog) and (current := self._find(variant.id)) is not None:
            self._replace(current.model_copy(update={"name": " ".join(dialog.textValue().split())}))
        dialog.deleteLater()

    def open_as_lane(self, key: str, _checked: bool = False) -> None:
        """Add a variant as a lane of Compare."""
        if (variant := self._find(key)) is None:
            return
        try:
            Lanes(self._evaluation.session).add_variant(variant)
        except LanesError as error:
            self._evaluation.refused.emit(str(error))
        else:
            self.lane_opened.emit()

    def _open_menu(self, key: str, position: QPoint) -> None:
        variants = self._evaluation.plan.variants
        place = next((place for place, variant in enumerate(variants) if variant.id == key), None)
        if place is None:
            return
        menu = self._card_menu
        menu.clear()
        for words, act in (
            ("Edit…", partial(self.edit, key)),
            ("Rename…", partial(self.rename, key)),
            ("Duplicate…", partial(self.duplicate, key)),
            ("Open in Compare", partial(self.open_as_lane, key)),
        ):
            menu.addAction(words).triggered.connect(act)
        menu.addSeparator()
        for words, by, on in (("Move up", -1, place > 0), ("Move down", 1, place < len(variants) - 1)):
            action = menu.addAction(words)
            action.setEnabled(on)
            action.triggered.connect(partial(self.move_by, key, by))
        menu.addSeparator()
        menu.addAction("Delete").triggered.connect(partial(self.delete, key))
        menu.popup(position)

    # New variants

    def _fill_menu(self) -> None:
        menu = self.menu
        menu.clear()
        menu.addAction("Copy of settings…").triggered.connect(self.add_copy)
        menu.addAction("Other models…").triggered.connect(self.ask_models)
        lanes = Lanes(self._evaluation.session)
        lane_menu = menu.addMenu("From a lane of Compare")
        for lane in lanes.all[1:]:
            action = lane_menu.addAction(shown_name(lanes.title(lane)).replace("&", "&&"))
            action.triggered.connect(partial(self._add, (variant_of_lane(lane),)))
        lanes_action = menu.addAction("Use my lanes")
        lanes_action.setEnabled(not lane_menu.isEmpty())
        lanes_action.triggered.connect(self.add_lanes)
        presets = menu.addMenu("From a preset")
        for preset in self._sources.presets():
            action = presets.addAction(shown_name(preset.name).replace("&", "&&"))
            action.triggered.connect(partial(self._add_preset, preset))
        for submenu in (lane_menu, presets):
            submenu.setEnabled(not submenu.isEmpty())

    def _delete_all(self, _checked: bool = False) -> None:
        self._put(())

    def add_copy(self, _checked: bool = False) -> None:
        """Add a variant without differences and edit it."""
        plan = self._evaluation.plan
        variant = Variant(name=f"variant {letter_of(len(plan.variants) + plan.as_set)}")
        self._add((variant,))
        self.edit(variant.id)

    def _add_preset(self, preset: Preset, _checked: bool = False) -> None:
        try:
            self._add((variant_of_preset(self._evaluation.session, preset),))
        except PresetError as error:
            self._evaluation.refused.emit(str(error))

    def ask_models(self, _checked: bool = False) -> None:
        """Ask for models, and add a variant for each."""
        spawn(self._ask_models(), name="add variants")

    async def _ask_models(self) -> None:
        from playground.ui.widgets.models_dialog import ModelsDialog

        catalog = await self._sources.models()
        dialog = ModelsDialog(catalog, MOST_VARIANTS, self, what="variant", how="Variants use the current settings")
        dialog.picked.connect(self._add_models)
        dialog.open()

    def _add_models(self, models: list[str]) -> None:
        try:
            self._add(over_models(self._evaluation.session.settings, models))
        except SweepError as error:
            self._evaluation.refused.emit(str(error))

    def ask_sweep(self, _checked: bool = False) -> None:
        """Open the dialog of a sweep."""
        plan = self._evaluation.plan
        dialog = SweepDialog(self._evaluation.session.settings, len(plan.variants), plan.as_set, self)
        dialog.submitted.connect(self._sweep)
        dialog.models_asked.connect(self.ask_models)
        dialog.open()

    def _sweep(self, variants: tuple[Variant, ...], instead: bool, as_set: bool) -> None:
        before = () if instead else self._evaluation.plan.variants
        self._put((*before, *variants), as_set=as_set)
