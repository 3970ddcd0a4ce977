"""The variants of an evaluation: what is asked besides the experiment as it is set, and what is otherwise in each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import QMenu, QVBoxLayout
from shiboken6 import isValid

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
from playground.ui.features.evaluate.look import Look
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

AS_SET = "as set"
_OF_PANELS = "what the panels of the conversation say"
_NOTHING = "nothing is otherwise yet: edit it"


@dataclass(frozen=True, slots=True)
class Sources:
    """Where variants come from, besides the lanes of the experiment.

    ``models`` gives what the experiment's gateway lists; nothing is in it where it does not tell.
    """

    presets: Callable[[], Sequence[Preset]]
    models: Callable[[], Awaitable[ModelCatalog]]


class VariantsPanel(ScrollPage):
    """``lane_opened``: one of them is a lane of Compare now."""

    lane_opened = Signal()

    def __init__(self, look: Look, sources: Sources) -> None:
        super().__init__()
        self._look, self._sources = look, sources
        self.add = push_button("Variant")
        self.add.setIcon(icon("plus"))
        self.add.setAccessibleName("Add a variant")
        self.menu = QMenu(self.add)
        self.menu.aboutToShow.connect(self._fill_menu)
        self.add.setMenu(self.menu)
        self.sweep = push_button("Sweep…")
        self.sweep.setToolTip("Variants out of a range of one or two parameters")
        self.sweep.clicked.connect(self.ask_sweep)
        self._problem = text_label("", "flag-error", wrap=True)
        self.as_set = VariantCard(as_set=True)
        self.as_set.part_set.connect(self._set_part)
        self.cards: dict[str, VariantCard] = {}
        self._cards = QVBoxLayout()
        self._cards.setSpacing(8)
        self._of_card = QMenu(self)
        column = self.fill(8)
        column.addLayout(in_row(self.add, self.sweep, 1, spacing=6))
        column.addWidget(self._problem)
        column.addWidget(self.as_set)
        column.addLayout(self._cards)
        column.addStretch(1)
        self._throttle = Throttle(self._show, self)
        look.planned.connect(self._throttle.poke)
        self._show()

    @property
    def busy(self) -> bool:
        """Return whether the cards are out of date."""
        return self._throttle.pending

    # Showing them

    def _show(self) -> None:
        session, plan = self._look.session, self._look.plan
        problems = {one.id: one.words for one in self._look.problems if one.place == "variants"}
        system = system_text(session.transcript)
        say(self._problem, "" if plan.as_set else problems.get("", ""))
        first = 0 if plan.as_set else None
        self.as_set.show_variant(first, AS_SET, (), _OF_PANELS, problems.get("", "") if plan.as_set else "")
        gone = [card for key, card in self.cards.items() if all(one.id != key for one in plan.variants)]
        self.cards = {key: card for key, card in self.cards.items() if card not in gone}
        discard(self._cards, *gone)
        for place, variant in enumerate(plan.variants):
            card = self.cards.get(variant.id) or self._make(variant.id)
            if self._cards.indexOf(card) != place:
                self._cards.insertWidget(place, card)
            words = variant_differences(session.settings, system, variant, self._gateway)
            card.show_variant(place + plan.as_set, variant.name, words, _NOTHING, problems.get(variant.id, ""))

    def _make(self, key: str) -> VariantCard:
        card = self.cards[key] = VariantCard()
        card.more_asked.connect(partial(self._open_menu, key))
        card.edit_asked.connect(partial(self.edit, key))
        return card

    def _gateway(self, profile_id: str) -> str:
        profile_of = self._look.session.experiment.profile_of
        return profile_of(profile_id).name if profile_of is not None else ""

    # Changing them

    def _put(self, variants: Iterable[Variant], **more: object) -> None:
        self._look.change_apart(variants=tuple(variants), **more)
        self._throttle.poke()

    def _add(self, variants: Iterable[Variant], _checked: bool = False) -> None:
        self._put((*self._look.plan.variants, *variants))

    def _set_part(self, on: bool) -> None:
        self._look.change_apart(as_set=on)
        self._throttle.poke()

    def _find(self, key: str) -> Variant | None:
        return next((one for one in self._look.plan.variants if one.id == key), None)

    def _replace(self, made: Variant) -> None:
        self._put(made if one.id == made.id else one for one in self._look.plan.variants)

    def duplicate(self, key: str, _checked: bool = False) -> None:
        """Put the same once more behind it, and let that be edited."""
        if (found := self._find(key)) is not None:
            made = copied_variant(found)
            variants = list(self._look.plan.variants)
            variants.insert(variants.index(found) + 1, made)
            self._put(variants)
            self.edit(made.id)

    def move_by(self, key: str, by: int, _checked: bool = False) -> None:
        """Put it so many places further down."""
        if (found := self._find(key)) is not None:
            variants = list(self._look.plan.variants)
            at = variants.index(found)
            variants.insert(min(max(at + by, 0), len(variants) - 1), variants.pop(at))
            self._put(variants)

    def delete(self, key: str, _checked: bool = False) -> None:
        """Take it away; its answers are stale then. Undo brings it back."""
        self._put(one for one in self._look.plan.variants if one.id != key)

    def edit(self, key: str, _checked: bool = False) -> None:
        """Let it be set."""
        if (found := self._find(key)) is not None:
            dialog = VariantDialog(self._look.session, found, self)
            dialog.made.connect(self._replace)
            dialog.open()
            spawn(self._offer_models(dialog), name="offer models")

    async def _offer_models(self, dialog: VariantDialog) -> None:
        """A gateway may take its time to list them."""
        catalog = await self._sources.models()
        if isValid(dialog):
            dialog.model.show_catalog(catalog)

    def rename(self, key: str, _checked: bool = False) -> None:
        """Ask for another name."""
        if (found := self._find(key)) is not None:
            spawn(self._rename(found), name="rename a variant")

    async def _rename(self, variant: Variant) -> None:
        dialog = line_dialog(self, "Rename variant", "Name", variant.name, "Rename")
        if await ask(dialog) and (found := self._find(variant.id)) is not None:
            self._replace(found.model_copy(update={"name": " ".join(dialog.textValue().split())}))
        dialog.deleteLater()

    def open_as_lane(self, key: str, _checked: bool = False) -> None:
        """Make a lane of Compare of it."""
        if (found := self._find(key)) is None:
            return
        try:
            Lanes(self._look.session).add_variant(found)
        except LanesError as error:
            self._look.refused.emit(str(error))
        else:
            self.lane_opened.emit()

    def _open_menu(self, key: str, at: QPoint) -> None:
        variants = self._look.plan.variants
        place = next((place for place, one in enumerate(variants) if one.id == key), None)
        if place is None:
            return
        menu = self._of_card
        menu.clear()
        for words, act in (
            ("Edit…", partial(self.edit, key)),
            ("Rename…", partial(self.rename, key)),
            ("Duplicate…", partial(self.duplicate, key)),
            ("Open as a lane of Compare", partial(self.open_as_lane, key)),
        ):
            menu.addAction(words).triggered.connect(act)
        menu.addSeparator()
        for words, by, on in (("Move up", -1, place > 0), ("Move down", 1, place < len(variants) - 1)):
            action = menu.addAction(words)
            action.setEnabled(on)
            action.triggered.connect(partial(self.move_by, key, by))
        menu.addSeparator()
        menu.addAction("Delete").triggered.connect(partial(self.delete, key))
        menu.popup(at)

    # Adding some

    def _fill_menu(self) -> None:
        menu = self.menu
        menu.clear()
        menu.addAction("As set, to be edited…").triggered.connect(self.add_copy)
        menu.addAction("Other models…").triggered.connect(self.ask_models)
        lanes = Lanes(self._look.session)
        found = menu.addMenu("From a lane of Compare")
        for lane in lanes.all[1:]:
            action = found.addAction(shown_name(lanes.title(lane)).replace("&", "&&"))
            action.triggered.connect(partial(self._add, (variant_of_lane(lane),)))
        presets = menu.addMenu("From a preset")
        for preset in self._sources.presets():
            action = presets.addAction(shown_name(preset.name).replace("&", "&&"))
            action.triggered.connect(partial(self._add_preset, preset))
        for one in (found, presets):
            one.setEnabled(not one.isEmpty())
        menu.addSeparator()
        every = menu.addAction("Delete all of them")
        every.setEnabled(bool(self._look.plan.variants))
        every.triggered.connect(partial(self._put_none))

    def _put_none(self, _checked: bool = False) -> None:
        self._put(())

    def add_copy(self, _checked: bool = False) -> None:
        """One in which nothing is otherwise yet, to be set."""
        plan = self._look.plan
        made = Variant(name=f"variant {letter_of(len(plan.variants) + plan.as_set)}")
        self._add((made,))
        self.edit(made.id)

    def _add_preset(self, preset: Preset, _checked: bool = False) -> None:
        try:
            self._add((variant_of_preset(self._look.session, preset),))
        except PresetError as error:
            self._look.refused.emit(str(error))

    def ask_models(self, _checked: bool = False) -> None:
        """One for each of some models, chosen in one go."""
        spawn(self._ask_models(), name="add variants")

    async def _ask_models(self) -> None:
        from playground.ui.widgets.models_dialog import ModelsDialog

        catalog = await self._sources.models()
        dialog = ModelsDialog(catalog, MOST_VARIANTS, self, what="variant", how="each is otherwise as set")
        dialog.picked.connect(self._add_models)
        dialog.open()

    def _add_models(self, models: list[str]) -> None:
        try:
            self._add(over_models(self._look.session.settings, models))
        except SweepError as error:
            self._look.refused.emit(str(error))

    def ask_sweep(self, _checked: bool = False) -> None:
        """Ask for a range."""
        plan = self._look.plan
        dialog = SweepDialog(self._look.session.settings, len(plan.variants), plan.as_set, self)
        dialog.made.connect(self._sweep)
        dialog.models_asked.connect(self.ask_models)
        dialog.open()

    def _sweep(self, variants: tuple[Variant, ...], instead: bool, as_set: bool) -> None:
        before = () if instead else self._look.plan.variants
        self._put((*before, *variants), as_set=as_set)
