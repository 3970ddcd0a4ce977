"""Panel below an address: matching known services, the filled-in service, and fields for its placeholders.

The address field is also the search field. ``engine.gateways.services`` finds and recognises services; this module
shows them and lets the user choose.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QListWidgetItem, QVBoxLayout, QWidget

from playground.domain.adaptations import AdaptationKind
from playground.engine.gateways.services import (
    KnownGateway,
    Recognised,
    filled,
    filling_problem,
    find,
    is_page,
    recognise,
)
from playground.jsonkit.texts import listed
from playground.ui.features.gateways.address_field import AddressField
from playground.ui.widgets.copy_button import CopyButton
from playground.ui.widgets.form_parts import OfferButton, quiet_button, say, styled, text_label
from playground.ui.widgets.layouts import discard, in_column, in_row
from playground.ui.widgets.list_detail import EntryList, ListEntry
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.row_delegate import TWO_LINES

MOST_SHOWN: Final = 50  # matches; the page of all services shows the rest
ROWS_IN_VIEW: Final = 4
_NO_NAME: Final = frozenset("/:@?#")  # characters of addresses that no name has


def service_entry(service: KnownGateway) -> ListEntry:
    """Return the row of a service: host, key, and whether it is the user's own."""
    key = f"key made at {QUrl(service.keys_url).host()}" if service.keys_url else ""
    key = "no key needed" if service.keyless else key
    line = " · ".join(filter(None, (service.host, key, "your own" if service.own else "")))
    return ListEntry(service.id, service.name, line, words=" ".join((service.id, *service.hosts)))


class KeysPlace(QWidget):
    """Buttons that open or copy the address of the page where a service's keys are made."""

    def __init__(self) -> None:
        super().__init__()
        self._url = ""
        self.open = OfferButton()
        self.copy = CopyButton("Copy", "quiet")
        self.copy.setAccessibleName("Copy the address of the page where keys are made")
        in_row(self.open, self.copy, 1, parent=self, margins=0, spacing=4)
        self.open.clicked.connect(self._open)
        self.copy.clicked.connect(self._copy)
        self.show_service(None)

    def show_service(self, service: KnownGateway | None) -> None:
        """Show the page of that service; hide the buttons without a page that a browser may open."""
        self._url = service.keys_url if service is not None and is_page(service.keys_url) else ""
        self.open.set_offer("Make a key at", self._url.removeprefix("https://"))
        self.setVisible(bool(self._url))

    def _open(self) -> None:
        QDesktopServices.openUrl(QUrl(self._url))

    def _copy(self) -> None:
        self.copy.copy(self._url)


def service_words(service: KnownGateway) -> str:
    """Return the note of a service and the fields and roles that it does not accept."""
    left_out = [rule.field for rule in service.adaptations if rule.kind is AdaptationKind.OMIT]
    roles = [f"{rule.field} is sent as {rule.to}" for rule in service.adaptations if rule.kind is AdaptationKind.ROLE]
    subject = "that is" if len(left_out) == 1 else "they are"
    refused = [f"It refuses {listed(left_out)}, so {subject} left out."] if left_out else []
    return " ".join((service.note, *refused, *(f"The role {words}." for words in roles))).strip()


def count_inserted(before: str, after: str) -> int:
    """Count the characters that an edit inserted between the common beginning and the common end of both texts."""
    start = _count_common(before, after)
    return len(after) - start - _count_common(before[start:][::-1], after[start:][::-1])


def _count_common(before: str, after: str) -> int:
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))))


#: Reasons of a lost focus that close the list of matches.
LEAVES = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.MouseFocusReason)


class ServicePanel(QWidget):
    """Panel that finds services for the text in ``address``.

    ``changed``: the service or a value of its placeholders changed. ``chosen``: the user chose a service.
    ``all_asked`` asks for the page of all services, ``keep_asked`` to save the address as a service.
    """

    changed = Signal()
    chosen = Signal()
    all_asked = Signal()
    keep_asked = Signal()

    def __init__(self, address: AddressField) -> None:
        super().__init__()
        self._address = address
        self._services: tuple[KnownGateway, ...] = ()
        self._service: KnownGateway | None = None
        self._base = ""  # the service's address with its placeholders
        self._previous_address = ""  # the address before a service was filled in
        self._last_address = ""  # the address before the current edit
        self._recognised: Recognised | None = None
        self._rows: list[QWidget] = []
        self.fields: dict[str, QLineEdit] = {}
        self.matches = styled(
            EntryList("Services that fit"), "choices"
        )  # floats above the page, so that the layout below stays
        self.matches.setParent(self)
        self.matches.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the address field keeps the keyboard
        self.status = text_label(wrap=True)
        self.undo = quiet_button("Undo", "Take back what was filled in")
        self.note = text_label(kind="small", wrap=True)
        self.all = quiet_button("All services…", "Show all known services and servers")
        self.keep = quiet_button("Save as service…", "Save this address as a service of your own")
        self._fields_column = QVBoxLayout()
        self._fields_column.setSpacing(4)
        self._status_row = QWidget()
        in_row((self.status, 1), self.undo, parent=self._status_row, margins=0, spacing=8)
        buttons = in_row(self.all, self.keep, 1, spacing=8)
        in_column(self._status_row, self._fields_column, self.note, buttons, parent=self, margins=0, spacing=6)
        address.edit.installEventFilter(self)
        address.edit.textEdited.connect(self._typed)
        address.edit.textChanged.connect(self._changed)
        self.matches.itemClicked.connect(self._clicked)
        self.undo.clicked.connect(self._undo)
        self.all.clicked.connect(self.all_asked)
        self.keep.clicked.connect(self.keep_asked)
        self._offer("")
        self._show({})

    @property
    def service(self) -> KnownGateway | None:
        """The service that the address belongs to, or None."""
        return self._service

    @property
    def values(self) -> dict[str, str]:
        """The typed values of the placeholders by name."""
        return {name: field.text().strip() for name, field in self.fields.items()}

    @property
    def problem(self) -> str:
        """The problem of the first invalid placeholder value; empty without one."""
        return next(filter(None, (filling_problem(_title(name), value) for name, value in self.values.items())), "")

    def set_services(self, services: tuple[KnownGateway, ...]) -> None:
        """Set the services to search."""
        self._services = services

    def focus_first(self) -> bool:
        """Focus the first placeholder field that needs a value; return False if there is none."""
        field = next((it for name, it in self.fields.items() if filling_problem(name, it.text())), None)
        if field is not None:
            field.setFocus()
        return field is not None

    def take(self, service: KnownGateway, base_url: str = "") -> None:
        """Fill in the chosen service; ``base_url`` is its address if that is not the usual one."""
        match = Recognised(service=service, base_url=base_url or service.base_url)
        self._fill_in(match, f"{service.name} is filled in")
        self.chosen.emit()

    def resume(self, service: KnownGateway, base_url: str, values: dict[str, str]) -> None:
        """Restore a service that was filled in earlier; ``values`` are those of its placeholders."""
        self._service = service
        self._base = service.base_url if filled(service.base_url, values) == base_url else base_url
        self._show(values)
        self._say(f"{service.name} is filled in")
        self._address.set_expected(base_url)

    # ---- user input

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and self.matches.isVisible():
            return self._pressed(event.key())
        if event.type() is QEvent.Type.FocusOut and isinstance(event, QFocusEvent) and event.reason() in LEAVES:
            self._offer("")
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_matches()

    def _place_matches(self) -> None:
        """Place the list of matches below the address, on top of the rest of the page."""
        page = self.parentWidget()
        if page is not None:
            if self.matches.parentWidget() is not page:
                visible = self.matches.isVisibleTo(self)
                self.matches.setParent(page)
                self.matches.setVisible(visible)
            edit = self._address.edit
            corner = edit.mapTo(page, QPoint(0, edit.height() + 2)) if page.isAncestorOf(edit) else QPoint()
            self.matches.setGeometry(corner.x(), corner.y(), edit.width(), self.matches.height())
            self.matches.raise_()

    def _pressed(self, key: int) -> bool:
        row, last = self.matches.currentRow(), self.matches.count() - 1
        if key == Qt.Key.Key_Down:
            self.matches.setCurrentRow(min(row + 1, last))
        elif key == Qt.Key.Key_Up:
            self.matches.setCurrentRow(max(row - 1, 0))
        elif key == Qt.Key.Key_Escape:
            self._offer("")
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.matches.current_id:
            self._take_match()
        else:
            return False
        return True

    def _take_match(self) -> None:
        if self._recognised is not None:
            self._fill_in(self._recognised, f"{self._recognised.service.name} is filled in")
            self.chosen.emit()
        elif service := next((it for it in self._services if it.id == self.matches.current_id), None):
            self.take(service)

    def _clicked(self, _item: QListWidgetItem) -> None:
        self._take_match()

    def _typed(self, text: str) -> None:
        is_paste = count_inserted(self._last_address, text) > 1
        match = recognise(text, self._services)
        if match is not None and self._service is None and (is_paste or match.base_url == text.strip()):
            self._fill_in(match, f"Recognised as {match.service.name}")
        else:
            self._offer(text, match if self._service is None else None)

    def _changed(self, text: str) -> None:
        self._last_address = self._address.text()
        self._update_save_button()
        if self._service is None or text == filled(self._base, self.values):
            return
        if recognise(text, (self._service,)) is None:  # the address is no longer one of that service
            self._forget()

    def _fill_in(self, match: Recognised, words: str) -> None:
        if self._service is None:
            self._previous_address = self._address.text()
        self._service = match.service
        is_usual = filled(match.service.base_url, match.values) == match.base_url
        self._base = match.service.base_url if is_usual else match.base_url
        self._show(match.values)
        self._say(words)
        self._offer("")
        self._show_address()
        self.changed.emit()

    def _undo(self) -> None:
        self._forget()
        self._address.edit.setText(self._previous_address)
        self._address.edit.setFocus()

    def _forget(self) -> None:
        self._service, self._base = None, ""
        self._show({})
        self._address.set_expected("")
        self._address.set_quiet(False)
        self.changed.emit()

    # ---- display

    def _offer(self, text: str, recognised: Recognised | None = None) -> None:
        """Show the services that match a name, with the first selected, or the service recognised by its address."""
        is_name = bool(text.strip()) and not _NO_NAME & set(text)
        matches = find(text, self._services)[:MOST_SHOWN] if is_name else ()
        self._recognised = recognised
        if recognised is not None:
            matches = (recognised.service,)
        self.matches.show_entries(map(service_entry, matches), "")
        self.matches.setFixedHeight(min(len(matches), ROWS_IN_VIEW) * TWO_LINES + 2 * self.matches.frameWidth() + 6)
        self.matches.setVisible(bool(matches))
        self._place_matches()
        self.matches.setCurrentRow(0 if matches and is_name else -1)
        self._address.set_quiet(bool(matches and is_name) or "{" in filled(self._base, self.values))
        self._update_save_button()

    def _update_save_button(self) -> None:
        """Show the button to save a service only for an address, not for part of a name."""
        self.keep.setVisible(self._service is None and self._address.is_address)

    def _show_address(self) -> None:
        """Put the address of the service into the address field."""
        address = filled(self._base, self.values)
        self._address.set_expected(address)
        self._address.edit.setText(address)
        self._address.set_quiet("{" in address)

    def _filling(self, _text: str) -> None:
        self._show_address()
        self.changed.emit()

    def _say(self, words: str) -> None:
        self.status.setText(show_hidden(f"{words}: its address, and how the key is sent."))

    def _show(self, values: dict[str, str]) -> None:
        """Show the service's placeholder fields and note, or none."""
        discard(self._fields_column, *self._rows)
        service = self._service
        self.fields, self._rows = {}, []
        self._status_row.setVisible(service is not None)
        self._address.set_protocols(service.protocols if service is not None else ())
        self._update_save_button()
        say(self.note, service_words(service) if service is not None else "")
        for name in service.placeholders if service is not None else ():
            field, row = QLineEdit(values.get(name, "")), QWidget()
            field.setAccessibleName(_title(name))
            field.textChanged.connect(self._filling)
            label = text_label(_title(name))
            label.setBuddy(field)
            in_row(label, (field, 1), parent=row, margins=0, spacing=8)
            self.fields[name] = field
            self._rows.append(row)
            self._fields_column.addWidget(row)
            QWidget.setTabOrder(self._address.edit if len(self.fields) == 1 else list(self.fields.values())[-2], field)


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()
