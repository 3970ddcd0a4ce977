"""The last page of the connect wizard: model and name of the gateway."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from playground.engine.gateways.model_catalog import ModelCatalog
from playground.ui.widgets.form_parts import say, text_label
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.models.browser import ModelBrowser
from playground.ui.widgets.models.listing import Listing

GAP = 6  # pixels between a field and its text


class ModelPage(QWidget):
    """Page for model and name. The model need not be in the list. ``chosen`` is emitted by a double click."""

    chosen = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._listing = Listing()
        self.model = QLineEdit(placeholderText="Type to search, or type a model id")
        self.model.setAccessibleName("Model")
        self.model.installEventFilter(self)
        self.models = ModelBrowser()
        self.none = text_label(
            "This gateway listed no models. Type a model id, or leave it for later.", "muted", wrap=True
        )
        self.name = QLineEdit()
        self.name.setAccessibleName("Name")
        self.place = text_label(kind="small", wrap=True)
        self.message = text_label(kind="error", wrap=True)
        say(self.message, "")
        column = in_column(parent=self, margins=(24, 4, 24, 8), spacing=GAP)
        for title, buddy in (("&Model", self.model), ("&Name of this gateway", self.name)):
            label = text_label(title, "heading")
            label.setBuddy(buddy)
            if buddy is self.name:
                column.addWidget(self.none)
                column.addWidget(self.models, 1)
                label.setContentsMargins(0, 10, 0, 0)
            column.addWidget(label)
            column.addWidget(buddy)
        column.addWidget(self.place)
        column.addWidget(self.message)
        column.addStretch(0)
        self.model.textEdited.connect(self.models.look_for)
        self.models.moved.connect(self._picked)
        self.models.list.doubleClicked.connect(self.chosen)

    @property
    def picked(self) -> str:
        """The id of the selected or typed model."""
        return self._listing.meant(self.model.text())

    def offer(self, catalog: ModelCatalog, model: str, name: str, place: str) -> None:
        """Show the listed models; ``name`` is the placeholder of the name, ``place`` says where the key is stored."""
        self._listing = Listing(catalog)
        models = catalog.models
        model = model or (models[0].id if models else "")
        self.none.setVisible(not models)
        self.models.setVisible(bool(models))
        self.models.show_listing(self._listing, "", model_id=model)
        self.model.setText(self._listing.spelled(model))
        self.name.setPlaceholderText(name)
        say(self.place, place)
        say(self.message, "")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move in the list with the arrow keys while the field has the focus."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and self.models.take_key(event):
            return True
        return super().eventFilter(watched, event)

    def _picked(self, model: str) -> None:
        if model:
            self.model.setText(self._listing.spelled(model))
