"""Dialog to add several models at once: from the gateway's list, or by a typed id."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QPushButton, QWidget

from playground.engine.gateways.model_catalog import ModelCatalog
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.models.browser import ModelBrowser
from playground.ui.widgets.models.listing import Listing
from playground.ui.widgets.plain_text import one_line_of, show_hidden

SIZE = 620, 520  # pixels


class ModelsDialog(QDialog):
    """A list of models with check boxes. ``picked`` carries the list of ticked models, at most ``room`` of them.

    ``what`` names the thing that each model becomes; ``how`` describes its settings.
    """

    picked = Signal(object)

    def __init__(
        self,
        catalog: ModelCatalog,
        room: int,
        parent: QWidget,
        *,
        what: str = "lane",
        how: str = "New lanes use the selected lane's settings",
    ) -> None:
        super().__init__(parent)
        self._what = what
        self.setWindowTitle(f"Add {what}s of other models")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._room = room
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find a model, or type an id")
        self.search.setAccessibleName("Find a model, or type an id")
        self.search.setClearButtonEnabled(True)
        self.search.installEventFilter(self)
        self.models = ModelBrowser(ticking=True, typed=True)
        self._summary = text_label("", "small", wrap=True)
        self.add = styled(QPushButton(), "primary")
        cancel = QPushButton("Cancel")
        source_label = text_label(f"Models of {show_hidden(catalog.gateway)}. {how}.", "small", wrap=True)
        row = in_row((self._summary, 1), cancel, self.add, spacing=8)
        in_column(source_label, self.search, (self.models, 1), row, parent=self, margins=(18, 14, 18, 14), spacing=8)
        window_size = parent.window().size()
        self.resize(min(SIZE[0], window_size.width() - 40), min(SIZE[1], window_size.height() - 40))
        self.search.textChanged.connect(self.models.look_for)
        self.search.returnPressed.connect(self._tick_current)
        self.models.ticked.connect(self._count)
        self.add.clicked.connect(self._add)
        cancel.clicked.connect(self.reject)
        for button in (self.add, cancel):
            button.setAutoDefault(False)
        self.models.show_listing(Listing(catalog))
        self._count()
        self.search.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the keys of the list while the cursor stays in the field."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and self._take_key(event):
            return True
        return super().eventFilter(watched, event)

    def _take_key(self, event: QKeyEvent) -> bool:
        """Move with the arrow keys, tick with Space in an empty field, add the ticked models with Ctrl+Enter."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            adds = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            if adds and self.add.isEnabled():
                self._add()
            return adds
        if event.key() == Qt.Key.Key_Space and not self.search.text() and self.models.current:
            self.models.rows.toggle(self.models.list.currentIndex())
            return True
        return self.models.take_key(event)

    def _tick_current(self) -> None:
        """Tick the current or the first matching model; without a search text, add the ticked ones."""
        if self.search.text() or self.models.current:
            current = self.models.list.currentIndex()
            self.models.rows.toggle(current if current.isValid() else self.models.first())
            self.search.selectAll()
        elif self.add.isEnabled():
            self._add()

    def _count(self) -> None:
        ticked = self.models.rows.ticked
        count = len(ticked)
        self.add.setText(f"Add {count} {self._what}s" if count > 1 else f"Add a {self._what}")
        self.add.setEnabled(0 < count <= self._room)
        room = f"Enter selects a model, Ctrl+Enter adds up to {self._room} {self._what}{'s' * (self._room != 1)}."
        self._summary.setText(", ".join(map(one_line_of, ticked)) if 0 < count <= self._room else room)

    def _add(self) -> None:
        self.accept()  # first, so that the focus moves to the lanes
        self.picked.emit(list(self.models.rows.ticked))
