"""Below an address: the known services that fit what is typed, what was filled in of one, and what it wants filled in.

The field for the address is the search as well. What a service is, and what is meant by an address, is known by
``engine.gateways.services``; here it is only shown and chosen.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

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
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.two_lines import HEIGHT, LINE, TwoLines

MOST_SHOWN: Final = 50  # matches; whoever wants to see all has a page for it
ROWS_IN_VIEW: Final = 4
_NO_NAME: Final = frozenset("/:@?#")  # what is in an address, and in no part of a name


def second_line(known: KnownGateway) -> str:
    """What a list says of a service besides its name."""
    key = "no key needed" if known.keyless else f"key made at {QUrl(known.keys_url).host()}" if known.keys_url else ""
    return " · ".join(filter(None, (known.host, key, "your own" if known.own else "")))


class ServiceList(QListWidget):
    """Services, two lines each. ``taken`` carries the one that was clicked."""

    taken = Signal(object)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._shown: tuple[KnownGateway, ...] = ()
        styled(self, "choices")
        self.setAccessibleName(name)
        self.setItemDelegate(TwoLines(self))
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def show_services(self, found: Iterable[KnownGateway]) -> None:
        """Show these, in this order, none of them selected."""
        self.clear()
        self._shown = tuple(found)
        for known in self._shown:
            item = QListWidgetItem(show_hidden(known.name))
            line = show_hidden(second_line(known))
            item.setData(LINE, line)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{item.text()}, {line}")
            self.addItem(item)
        self.setCurrentRow(-1)

    def select(self, service: str) -> None:
        """Select the one of that id, in view; none where it is not shown."""
        row = next((row for row, known in enumerate(self._shown) if known.id == service), -1)
        self.setCurrentRow(row)
        if row >= 0:
            self.scrollToItem(self.item(row))

    @property
    def current(self) -> KnownGateway | None:
        """The selected one."""
        row = self.currentRow()
        return self._shown[row] if 0 <= row < len(self._shown) else None


class KeysPlace(QWidget):
    """Where the keys of a service are made: opened only when its button is pressed, and to be copied."""

    def __init__(self) -> None:
        super().__init__()
        self._url = ""
        self.open = OfferButton()
        self.copy = CopyButton("Copy", "quiet")
        self.copy.setAccessibleName("Copy the address of the page where keys are made")
        in_row(self.open, self.copy, 1, of=self, margins=0, spacing=4)
        self.open.clicked.connect(self._open)
        self.copy.clicked.connect(self._copy)
        self.show_service(None)

    def show_service(self, known: KnownGateway | None) -> None:
        """Lead to that service's page; hidden where none is known that a browser may open."""
        self._url = known.keys_url if known is not None and is_page(known.keys_url) else ""
        self.open.set_offer("Make a key at", self._url.removeprefix("https://"))
        self.setVisible(bool(self._url))

    def _open(self) -> None:
        QDesktopServices.openUrl(QUrl(self._url))

    def _copy(self) -> None:
        self.copy.copy(self._url)


def words_on(known: KnownGateway) -> str:
    """What is known of a service besides its address: its note, and what it refuses."""
    left_out = [rule.field for rule in known.adaptations if rule.kind is AdaptationKind.OMIT]
    roles = [f"{rule.field} is sent as {rule.to}" for rule in known.adaptations if rule.kind is AdaptationKind.ROLE]
    what = "that is" if len(left_out) == 1 else "they are"
    refused = [f"It refuses {listed(left_out)}, so {what} left out."] if left_out else []
    return " ".join((known.note, *refused, *(f"The role {words}." for words in roles))).strip()


def count_inserted(before: str, after: str) -> int:
    """Count the characters that an edit inserted between the common beginning and the common end of both texts."""
    start = _count_common(before, after)
    return len(after) - start - _count_common(before[start:][::-1], after[start:][::-1])


def _count_common(before: str, after: str) -> int:
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))))


#: The ways of the focus that close the list of matches.
LEAVES = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.MouseFocusReason)


class ServicePanel(QWidget):
    """Finds services for what is typed into ``address``.

    ``changed``: another service counts, or none, or its blanks were filled in. ``taken``: a person chose one.
    ``all_asked``: the person wants to see all; ``keep_asked``: what is typed is to become one of their own.
    """

    changed = Signal()
    taken = Signal()
    all_asked = Signal()
    keep_asked = Signal()

    def __init__(self, address: AddressField) -> None:
        super().__init__()
        self._address = address
        self._among: tuple[KnownGateway, ...] = ()
        self._known: KnownGateway | None = None
        self._base = ""  # the service's address, with those names in braces that are filled in here
        self._before = ""  # the address that was typed before a service took its place
        self._last = ""  # the address before an edit
        self._meant: Recognised | None = None
        self._rows: list[QWidget] = []
        self.fields: dict[str, QLineEdit] = {}
        self.matches = ServiceList("Services that fit")  # floats above the page, so that nothing below moves
        self.matches.setParent(self)
        self.matches.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the keys stay in the address
        self.told = text_label(wrap=True)
        self.undo = quiet_button("Undo", "Take back what was filled in")
        self.note = text_label(kind="small", wrap=True)
        self.all = quiet_button("All services…", "Show all known services and servers")
        self.keep = quiet_button("Save as service…", "Keep this address among your own known services")
        self._blanks = QVBoxLayout()
        self._blanks.setSpacing(4)
        self._line = QWidget()
        in_row((self.told, 1), self.undo, of=self._line, margins=0, spacing=8)
        buttons = in_row(self.all, self.keep, 1, spacing=8)
        in_column(self._line, self._blanks, self.note, buttons, of=self, margins=0, spacing=6)
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
        """The service that the address is one of."""
        return self._known

    @property
    def values(self) -> dict[str, str]:
        """What stands for the names in braces, as typed."""
        return {name: field.text().strip() for name, field in self.fields.items()}

    @property
    def problem(self) -> str:
        """Why it cannot go on, in words: a name in braces is not filled in; empty when it can."""
        return next(filter(None, (filling_problem(_title(name), value) for name, value in self.values.items())), "")

    def set_services(self, among: tuple[KnownGateway, ...]) -> None:
        """Look among these."""
        self._among = among

    def focus_first(self) -> bool:
        """Put the focus into the first field that is to be filled in; False where there is none."""
        field = next((it for name, it in self.fields.items() if filling_problem(name, it.text())), None)
        if field is not None:
            field.setFocus()
        return field is not None

    def take(self, known: KnownGateway, base_url: str = "") -> None:
        """Fill in that service, as chosen; ``base_url`` is where it was found, if that is not its usual address."""
        self._take(Recognised(service=known, base_url=base_url or known.base_url), f"{known.name} is filled in")
        self.taken.emit()

    def go_on(self, known: KnownGateway, base_url: str, values: dict[str, str]) -> None:
        """Go on with a service that was filled in earlier; ``values`` stand for its names in braces."""
        self._known = known
        self._base = known.base_url if filled(known.base_url, values) == base_url else base_url
        self._show(values)
        self._say(f"{known.name} is filled in")
        self._address.set_usual(base_url)

    # ---- what a person does

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
        """Put the list of matches below the address, above what follows on the page."""
        page = self.parentWidget()
        if page is not None:
            if self.matches.parentWidget() is not page:
                shown = self.matches.isVisibleTo(self)
                self.matches.setParent(page)
                self.matches.setVisible(shown)
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
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.matches.current is not None:
            self._take_match()
        else:
            return False
        return True

    def _take_match(self) -> None:
        if self._meant is not None:
            self._take(self._meant, f"{self._meant.service.name} is filled in")
            self.taken.emit()
        elif (known := self.matches.current) is not None:
            self.take(known)

    def _clicked(self, _item: QListWidgetItem) -> None:
        self._take_match()

    def _typed(self, text: str) -> None:
        pasted = count_inserted(self._last, text) > 1
        found = recognise(text, self._among)
        if found is not None and self._known is None and (pasted or found.base_url == text.strip()):
            self._take(found, f"Recognised as {found.service.name}")
        else:
            self._offer(text, found if self._known is None else None)

    def _changed(self, text: str) -> None:
        self._last = self._address.text()
        self._offer_keeping()
        if self._known is None or text == filled(self._base, self.values):
            return
        if recognise(text, (self._known,)) is None:  # it leads elsewhere now
            self._forget()

    def _take(self, found: Recognised, words: str) -> None:
        if self._known is None:
            self._before = self._address.text()
        self._known = found.service
        as_usual = filled(found.service.base_url, found.values) == found.base_url
        self._base = found.service.base_url if as_usual else found.base_url
        self._show(found.values)
        self._say(words)
        self._offer("")
        self._put()
        self.changed.emit()

    def _undo(self) -> None:
        self._forget()
        self._address.edit.setText(self._before)
        self._address.edit.setFocus()

    def _forget(self) -> None:
        self._known, self._base = None, ""
        self._show({})
        self._address.set_usual("")
        self._address.hush(False)
        self.changed.emit()

    # ---- what is shown

    def _offer(self, text: str, meant: Recognised | None = None) -> None:
        """Show the services that fit a name, the first ready to be taken; or the one that an address may mean."""
        name = bool(text.strip()) and not _NO_NAME & set(text)
        found = find(text, self._among)[:MOST_SHOWN] if name else ()
        self._meant = meant
        if meant is not None:
            found = (meant.service,)
        self.matches.show_services(found)
        self.matches.setFixedHeight(min(len(found), ROWS_IN_VIEW) * HEIGHT + 2 * self.matches.frameWidth() + 6)
        self.matches.setVisible(bool(found))
        self._place_matches()
        self.matches.setCurrentRow(0 if found and name else -1)
        self._address.hush(bool(found and name) or "{" in filled(self._base, self.values))
        self._offer_keeping()

    def _offer_keeping(self) -> None:
        """An address can be kept, the part of a name cannot."""
        self.keep.setVisible(self._known is None and self._address.leads_somewhere)

    def _put(self) -> None:
        """The address of the service into its field."""
        address = filled(self._base, self.values)
        self._address.set_usual(address)
        self._address.edit.setText(address)
        self._address.hush("{" in address)

    def _filling(self, _text: str) -> None:
        self._put()
        self.changed.emit()

    def _say(self, words: str) -> None:
        self.told.setText(show_hidden(f"{words}: its address, and how the key is sent."))

    def _show(self, values: dict[str, str]) -> None:
        """The service's own fields and words, or none."""
        discard(self._blanks, *self._rows)
        known = self._known
        self.fields, self._rows = {}, []
        self._line.setVisible(known is not None)
        self._address.set_spoken(known.protocols if known is not None else ())
        self._offer_keeping()
        say(self.note, words_on(known) if known is not None else "")
        for name in known.placeholders if known is not None else ():
            field, row = QLineEdit(values.get(name, "")), QWidget()
            field.setAccessibleName(_title(name))
            field.textChanged.connect(self._filling)
            label = text_label(_title(name))
            label.setBuddy(field)
            in_row(label, (field, 1), of=row, margins=0, spacing=8)
            self.fields[name] = field
            self._rows.append(row)
            self._blanks.addWidget(row)
            QWidget.setTabOrder(self._address.edit if len(self.fields) == 1 else list(self.fields.values())[-2], field)


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()
