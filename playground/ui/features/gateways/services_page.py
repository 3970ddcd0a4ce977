"""All known services and servers, to be looked through; a person's own can be edited and deleted there."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from playground.engine.gateways.services import KnownGateway, find
from playground.ui.features.gateways.service_panel import ServiceList, words_on
from playground.ui.widgets.form_parts import quiet_button, say, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.search_field import SearchField


class ServicesPage(QWidget):
    """``chosen``: a double click or Enter on one. ``edit_asked`` and ``delete_asked`` carry one of the person's own,
    ``add_asked`` wants a new one, ``restore_asked`` the one back that was deleted.
    """

    chosen = Signal()
    picked = Signal()
    add_asked = Signal()
    edit_asked = Signal(object)
    delete_asked = Signal(object)
    restore_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._among: tuple[KnownGateway, ...] = ()
        self.search = SearchField("Search by name or address", "Search services")
        self.list = ServiceList("Known services and servers")
        self.words = text_label(kind="small", wrap=True)
        self.message = text_label(kind="warning", wrap=True)
        say(self.message, "")
        self.add = quiet_button("Add your own…", "Add a service of your own", "plus")
        self.edit = quiet_button("Edit…", "Edit this service of your own")
        self.delete = quiet_button("Delete", "Delete this service of your own", "delete")
        self.restore = quiet_button("Undo", "Have the deleted service back")
        told = in_row((self.message, 1), self.restore, spacing=8)
        buttons = in_row(self.add, 1, self.edit, self.delete, spacing=8)
        in_column(
            self.search,
            (self.list, 1),
            self.words,
            told,
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
        """The selected one."""
        return self.list.current

    def show_services(
        self, among: tuple[KnownGateway, ...], current: str = "", message: str = "", deleted: str = ""
    ) -> None:
        """Show these, with the one of that id selected; ``message`` says what went wrong with the person's own.

        ``deleted`` is the name of one that can be had back.
        """
        self._among = among
        say(
            self.message, message or (f"“{deleted}” was deleted." if deleted else ""), "small" if deleted else "warning"
        )
        self.restore.setVisible(bool(deleted))
        self._filter(self.search.text())
        self.list.select(current)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The list is walked through from the search field."""
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
            if step is not None:
                self.list.setCurrentRow(min(max(self.list.currentRow() + step, 0), self.list.count() - 1))
                return True
        return super().eventFilter(watched, event)

    def _filter(self, text: str) -> None:
        self.list.show_services(find(text, self._among) if text.strip() else self._among)
        if text.strip() and self.list.count():
            self.list.setCurrentRow(0)
        self._picked(self.list.currentRow())

    def _picked(self, _row: int) -> None:
        known = self.current
        own = known is not None and known.own
        self.edit.setVisible(own)
        self.delete.setVisible(own)
        if known is not None:
            from_where = f"Looked up {known.date} at {known.source}." if known.source else ""
            say(self.words, f"{words_on(known)} {from_where}".strip())
        else:
            say(self.words, "" if self.list.count() else "No service fits. Go back and type its address, or add it.")
        self.picked.emit()

    def _edit(self) -> None:
        if self.current is not None:
            self.edit_asked.emit(self.current)

    def _delete(self) -> None:
        if self.current is not None:
            self.delete_asked.emit(self.current)
