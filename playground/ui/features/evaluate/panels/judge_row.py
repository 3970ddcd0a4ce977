"""The rows of a judge's gateway and model. Models are listed when the row is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QSizePolicy, QWidget

from playground.domain.errors import RunRefusedError
from playground.domain.parameters import Hint
from playground.engine.evaluation.judging import JUDGE_PROTOCOL
from playground.jsonkit.values import JSON
from playground.ui.widgets.choice_fields import CompactCombo
from playground.ui.widgets.form_parts import say, text_label
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.plain_text import shown_name
from playground.ui.widgets.rows.model_row import ModelRow
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


class GatewayRow(FieldRow):
    """The row of a judge's gateway: the id of its profile, "" for the experiment's. A missing one is named as such."""

    def __init__(self, name: str, hint: Hint, models: Models, parent: QWidget | None = None) -> None:
        super().__init__(name, hint, parent)
        self._models = models
        self.field = CompactCombo(84, 400)
        self.field.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.body.addSpacing(2)
        self.body.addWidget(self.field)
        self._introduce(self.field)
        self.field.activated.connect(lambda index: self._tell(self.field.itemData(index)))
        self._show("")

    def main_field(self) -> QWidget:
        return self.field

    def _show(self, value: JSON) -> None:
        gateways, profile_id = self._models.gateways, as_text(value)
        self.field.clear()
        self.field.addItem("Same as experiment", "")
        for profile in gateways.profiles if gateways is not None else ():
            self.field.addItem(shown_name(profile.name), profile.id)
        if self.field.findData(profile_id) < 0:
            self.field.addItem("Unknown gateway", profile_id)
        self.field.setCurrentIndex(self.field.findData(profile_id))


class JudgeModelRow(ModelRow):
    """The row of a judge's model, with the models of its gateway to choose from."""

    def __init__(self, name: str, hint: Hint, models: Models, parent: QWidget | None = None) -> None:
        super().__init__(name, hint, parent)
        self._models = models
        self._profile_id = ""
        self.failed = text_label("", "small", wrap=True)
        self.failed.hide()
        self.body.addWidget(self.failed)
        self.picker.refresh_asked.connect(self._load)

    def show_gateway(self, profile_id: str) -> None:
        """Offer the models of a gateway."""
        is_other = profile_id != self._profile_id
        self._profile_id = profile_id
        self._display(self.value)
        if is_other and self.isVisible():
            self._load()

    def _show(self, value: JSON) -> None:
        gateways, model, missing = self._models.gateways, as_text(value), ""
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
            self._display(self.value)
