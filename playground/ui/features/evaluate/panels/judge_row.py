"""The row of a judge's model and gateway. Models are listed when the row is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from playground.domain.errors import RunRefusedError
from playground.domain.parameters import Hint
from playground.engine.evaluation.judging import JUDGE_PROTOCOL
from playground.jsonkit.values import JSON
from playground.ui.widgets.choice_fields import CompactCombo
from playground.ui.widgets.form_parts import say, text_label
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.model_picker import ModelPicker
from playground.ui.widgets.plain_text import shown_name
from playground.ui.widgets.rows.row import FieldRow, as_text

if TYPE_CHECKING:
    from playground.engine.gateways.gateways import Gateways


class Models:
    """The gateways with their models. ``current`` returns the id of the experiment's gateway."""

    def __init__(self, gateways: Gateways | None, current: Callable[[], str]) -> None:
        self.gateways = gateways
        self._current = current

    def resolve(self, profile_id: str) -> str:
        """Return a gateway's id; "" means that of the experiment."""
        return profile_id or self._current()


class JudgeRow(FieldRow):
    """The row. ``edited`` carries the model, ``gateway_picked`` the id of the gateway ("" for the experiment's)."""

    gateway_picked = Signal(str)

    def __init__(self, name: str, hint: Hint, models: Models, parent: QWidget | None = None) -> None:
        super().__init__(name, hint, parent)
        self._models = models
        self._profile_id = ""
        self._ids: tuple[str, ...] = ()
        self.gateway = CompactCombo(84, 400)
        self.gateway.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.gateway.setAccessibleName("Gateway of the judge")
        self.picker = ModelPicker(120)
        self.picker.setMaximumWidth(400)
        self.failed = text_label("", "small", wrap=True)
        self.failed.hide()
        below = in_column(self.gateway, self.picker, self.picker.unlisted, self.failed, spacing=6)
        self.body.addSpacing(2)
        self.body.addLayout(below)
        self._introduce(self.picker)
        self.picker.chosen.connect(self._tell)
        self.picker.refresh_asked.connect(self._load)
        self.gateway.activated.connect(self._picked)
        self.show_gateway("")

    def main_field(self) -> QWidget:
        return self.picker

    def show_gateway(self, profile_id: str) -> None:
        """Show the gateway of the judge. A missing one is named as such."""
        self._profile_id = profile_id
        gateways = self._models.gateways
        self.gateway.setVisible(gateways is not None)
        self.gateway.clear()
        self.gateway.addItem("Same as experiment", "")
        for profile in gateways.profiles if gateways is not None else ():
            self.gateway.addItem(shown_name(profile.name), profile.id)
        if self.gateway.findData(profile_id) < 0:
            self.gateway.addItem("Unknown gateway", profile_id)
        self.gateway.setCurrentIndex(self.gateway.findData(profile_id))
        self._show_models()

    def _picked(self, index: int) -> None:
        self.show_gateway(self.gateway.itemData(index))
        self.gateway_picked.emit(self._profile_id)
        self._load()

    def _show(self, value: JSON) -> None:
        self._show_models(as_text(value))

    def _show_models(self, model: str | None = None) -> None:
        gateways, model = self._models.gateways, as_text(self._value) if model is None else model
        missing = ""
        if gateways is not None:
            profile = gateways.get(self._models.resolve(self._profile_id))
            listed = gateways.listed(profile.id)
            self.picker.show_catalog(gateways.catalog(profile.id))
            if listed is not None and listed.ids and model and model not in listed:
                missing = profile.name
        self.picker.show_model(model, missing)

    def showEvent(self, event: object) -> None:
        """Load the models before the list is opened."""
        gateways = self._models.gateways
        if gateways is not None and gateways.listed(self._models.resolve(self._profile_id)) is None:
            self._load()

    def _load(self) -> None:
        if self._models.gateways is not None:
            spawn(
                self._list(self._models.gateways, self._models.resolve(self._profile_id)),
                name="list the judge's models",
                owner=self,
            )

    async def _list(self, gateways: Gateways, profile_id: str) -> None:
        words = ""
        try:
            listing = await gateways.models(profile_id, JUDGE_PROTOCOL)
            words = listing.failure.message if listing.failure is not None else ""
        except (RunRefusedError, OSError) as error:
            words = str(error)
        if profile_id == self._models.resolve(self._profile_id):
            say(self.failed, f"Could not list models: {words} You can type an id." if words else "")
            self._show_models()
