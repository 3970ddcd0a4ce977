"""Page of all known services and servers, where the user's own can be edited and deleted."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from playground.engine.gateways.services import KnownGateway, find
from playground.ui.features.gateways.service_panel import ServiceList, service_words
from playground.ui.widgets.form_parts import quiet_button, say, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.search_field import SearchField


class ServicesPage(QWidget):
    """Searchable list of services. ``chosen``: double click or Enter, ``picked``: the selection changed.

    ``edit_asked`` and ``delete_asked`` carry a service of the user's own, ``add_asked`` asks for a new one, and
    ``restore_asked`` asks to restore the deleted one.
    """

    chosen = Signal()
    picked = Signal()
    add_asked = Signal()
    edit_asked = Signal(object)
    delete_asked = Signal(object)
    restore_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services: tuple[KnownGateway, ...] = ()
        self.search = SearchField("Search by name or address", "Search services")
        self.list = ServiceList("Known services and servers")
        self.words = text_label(kind="small", wrap=True)
        self.message = text_label(kind="warning", wrap=True)
        say(self.message, "")
        self.add = quiet_button("Add your own…", "Add a service of your own", "plus")
        self.edit = quiet_button("Edit…", "Edit this service of your own")
        self.delete = quiet_button("Delete", "Delete this service of your own", "delete")
        self.restore = quiet_button("Undo", "Have the deleted service back")
        message_row = in_row((self.message, 1), self.restore, spacing=8)
        buttons = in_row(self.add, 1, self.edit, self.delete, spacing=8)
        in_column(
            self.search,
            (self.list, 1),
            self.words,
            message_row,
            buttons,
            of=self,
            margins=(24, 4, 24, 8),
            spacing=6,
        )
        self.search.installEventFilter(self)
        self.search.results_asked.connect(self.chosen)
        self.search.textChanged.connect(self._filter)
        self.list.currentRowChanged.connect(self._picked)
        self.list.itemActivated.connect(self.chosen)
        self.add.clicked.connect(self.add_asked)
        self.edit.clicked.connect(self._edit)
        self.delete.clicked.connect(self._delete)
        self.restore.clicked.connect(self.restore_asked)

    @property
    def current(self) -> KnownGateway | None:
        """The selected service."""
        return self.list.current

    def show_services(
        self, services: tuple[KnownGateway, ...], current: str = "", message: str = "", deleted: str = ""
    ) -> None:
        """Show these services and select the one with the id ``current``.

        ``message`` is an error about the user's own services, ``deleted`` the name of one that can be restored.
        """
        self._services = services
        say(
            self.message, message or (f"“{deleted}” was deleted." if deleted else ""), "small" if deleted else "warning"
        )
        self.restore.setVisible(bool(deleted))
        self._filter(self.search.text())
        self.list.select(current)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move in the list with the arrow keys from the search field."""
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
            if step is not None:
                self.list.setCurrentRow(min(max(self.list.currentRow() + step, 0), self.list.count() - 1))
                return True
        return super().eventFilter(watched, event)

    def _filter(self, text: str) -> None:
        self.list.show_services(find(text, self._services) if text.strip() else self._services)
        if text.strip() and self.list.count():
            self.list.setCurrentRow(0)
        self._picked(self.list.currentRow())

    def _picked(self, _row: int) -> None:
        service = self.current
        is_own = service is not None and service.own
        self.edit.setVisible(is_own)
        self.delete.setVisible(is_own)
        if service is not None:
            source = f"Looked up {service.date} at {service.source}." if service.source else ""
            say(self.words, f"{service_words(service)} {source}".strip())
        else:
            say(self.words, "" if self.list.count() else "No service fits. Go back and type its address, or add it.")
        self.picked.emit()

    def _edit(self) -> None:
        if self.current is not None:
            self.edit_asked.emit(self.current)

    def _delete(self) -> None:
        if self.current is not None:
            self.delete_asked.emit(self.current)
