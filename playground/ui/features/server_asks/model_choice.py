"""Choice of the gateway, the protocol and the model that answer a sampling request of a tool server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from playground.domain.errors import RunRefusedError
from playground.engine.requests.protocol_info import TITLES
from playground.ui.widgets.choice_fields import CompactCombo
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import say, text_label
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.model_picker import ModelPicker
from playground.ui.widgets.plain_text import shown_name

if TYPE_CHECKING:
    from playground.engine.gateways.gateways import Gateways


class ModelChoice(QWidget):
    """Fields for gateway, protocol and model. ``changed`` is emitted when one of them changes."""

    changed = Signal()

    def __init__(self, gateways: Gateways, profile_id: str, protocol: str, model: str) -> None:
        super().__init__()
        self._gateways = gateways
        self.model = model
        self.gateway, self.protocol = CompactCombo(84, 300), CompactCombo(84, 300)
        for combo, name in ((self.gateway, "Gateway"), (self.protocol, "Protocol")):
            combo.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
            combo.setAccessibleName(name)
        for profile in gateways.profiles:
            self.gateway.addItem(shown_name(profile.name), profile.id)
        self.gateway.setCurrentIndex(max(self.gateway.findData(profile_id), 0))
        for protocol_name, title in TITLES.items():
            self.protocol.addItem(title, protocol_name)
        self.protocol.setCurrentIndex(max(self.protocol.findData(protocol), 0))
        self.picker = ModelPicker()
        self.failed = text_label("", "small", wrap=True)
        self.failed.hide()
        row = QWidget()
        flow = FlowLayout(row, 6)
        for widget in (self.gateway, self.protocol, self.picker, self.picker.unlisted):
            flow.addWidget(widget)
        in_column(row, self.failed, parent=self, margins=0, spacing=4)
        self.gateway.activated.connect(self._change_gateway)
        self.protocol.activated.connect(self._change_protocol)
        self.picker.chosen.connect(self._change_model)
        self.picker.refresh_asked.connect(self._load)
        self._show()

    @property
    def profile_id(self) -> str:
        """The id of the selected gateway."""
        return str(self.gateway.currentData())

    @property
    def protocol_name(self) -> str:
        """The name of the selected protocol."""
        return str(self.protocol.currentData())

    def _show(self) -> None:
        listed = self._gateways.listed(self.profile_id)
        self.picker.show_catalog(self._gateways.catalog(self.profile_id))
        is_missing = listed is not None and listed.models and self.model and self.model not in listed
        unlisted_at = self._gateways.get(self.profile_id).name if is_missing else ""
        self.picker.show_model(self.model, unlisted_at)

    def _change_gateway(self, _index: int) -> None:
        self._show()
        self._load()
        self.changed.emit()

    def _change_protocol(self, _index: int) -> None:
        self.changed.emit()

    def _change_model(self, model: str) -> None:
        self.model = model
        self._show()
        self.changed.emit()

    def showEvent(self, event: object) -> None:
        """Load the models before the user opens the list."""
        if self._gateways.listed(self.profile_id) is None:
            self._load()

    def _load(self) -> None:
        spawn(self._list(self.profile_id), name="list models for a tool server", owner=self)

    async def _list(self, profile_id: str) -> None:
        problem = ""
        try:
            result = await self._gateways.models(profile_id, self.protocol_name)
            problem = result.failure.message if result.failure is not None else ""
        except (RunRefusedError, OSError) as error:
            problem = str(error)
        if profile_id == self.profile_id:
            say(self.failed, f"Its models could not be listed: {problem} An id can be typed." if problem else "")
            self._show()
