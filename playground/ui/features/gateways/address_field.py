"""Field for the base URL, with offered repairs, the endpoint URLs, and the warning about plain http."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFrame, QGridLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from playground.engine.gateways.profiles import Address, needs_consent, resolve_address
from playground.engine.requests.protocol_info import TITLES, endpoint_urls
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import OfferButton, say, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row


class AddressField(QWidget):
    """Field for a base URL. It uses the resolver of runs, so the shown URLs are those that runs request."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.edit = QLineEdit(placeholderText="https://gateway.example/v1")
        self.edit.setAccessibleName("Base URL")
        self.note = text_label(kind="small", wrap=True)
        self._quiet = False
        self._expected = ""
        self._protocols: Collection[str] = ()
        self._offers = ("", "")
        self.repair_buttons: tuple[OfferButton, OfferButton] = (OfferButton(), OfferButton())
        offers = QVBoxLayout()
        offers.setSpacing(4)
        for number, button in enumerate(self.repair_buttons):
            button.clicked.connect(partial(self._take_offer, number))
            line = in_row(button, 1)
            offers.addLayout(line)
            button.hide()
        self.urls = styled(QFrame(), "card")
        grid = QGridLayout(self.urls)
        grid.setContentsMargins(12, 8, 12, 8)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        self.url_labels: dict[str, ElidedLabel] = {}
        self._titles: dict[str, QLabel] = {}
        titles = {name: title.partition(" ")[0] for name, title in TITLES.items()}
        for row, (key, title) in enumerate({**titles, "models": "Models"}.items()):
            self.url_labels[key] = ElidedLabel(f"{title} endpoint")
            self._titles[key] = text_label(title, "small")
            grid.addWidget(self._titles[key], row, 0)
            grid.addWidget(self.url_labels[key], row, 1)
        self.warning = text_label(kind="warning", wrap=True)
        self.consent = QCheckBox("Send the key unencrypted")
        self.consent.setAccessibleName("Send the key unencrypted")
        in_column(
            self.edit, self.note, offers, self.urls, self.warning, self.consent, parent=self, margins=0, spacing=8
        )
        self.edit.textChanged.connect(self._edited)
        self.consent.toggled.connect(self._consented)
        self._show()

    def text(self) -> str:
        """Return the address as typed."""
        return self.edit.text()

    def set_text(self, text: str, *, consent: bool) -> None:
        """Show an address; ``consent`` allows sending a key to it unencrypted."""
        self.edit.setText(text)
        self.consent.setChecked(consent)
        self._show()

    def set_quiet(self, on: bool) -> None:
        """Show no errors and no endpoints while the text is not an address yet."""
        if on is not self._quiet:
            self._quiet = on
            self._show()

    def set_expected(self, base_url: str) -> None:
        """Set the base URL that is correct and gets no suggestion."""
        self._expected = base_url

    def set_protocols(self, protocols: Collection[str]) -> None:
        """Show only the endpoints of these protocols; all without protocols."""
        if protocols != self._protocols:
            self._protocols = protocols
            self._show()

    @property
    def is_address(self) -> bool:
        """True if the text is an address and its endpoints are shown."""
        return self.urls.isVisibleTo(self)

    def consented(self) -> bool:
        """Return whether the user agreed to send the key unencrypted to this address."""
        return self.consent.isVisibleTo(self) and self.consent.isChecked()

    def _edited(self) -> None:
        if self.consent.isChecked():
            self.consent.setChecked(False)  # the consent was for another address
        self._show()
        self.changed.emit()

    def _take_offer(self, number: int) -> None:
        self.edit.setText(self._offers[number])
        self.edit.setFocus()

    def _consented(self) -> None:
        self.changed.emit()

    def _show(self) -> None:
        try:
            address: Address | None = resolve_address(self.edit.text())
            wrong = ""
        except ValueError as error:
            address, wrong = None, str(error)
        typed = self.edit.text()
        bad = bool(wrong and typed.strip()) and not self._quiet
        if self.edit.property("bad") != bad:
            self.edit.setProperty("bad", bad)
            self.edit.style().unpolish(self.edit)
            self.edit.style().polish(self.edit)
        if self._quiet:
            address, typed, wrong = None, "", ""
        self._offer(address, typed, wrong)
        self.note.setVisible(not self._quiet and bool(self.note.text()))
        self.urls.setVisible(address is not None)
        unencrypted = address is not None and needs_consent(address.base)
        self.consent.setVisible(unencrypted)
        say(self.warning, "")
        if address is None:
            return
        for key, url in {**endpoint_urls(address), "models": address.models}.items():
            self.url_labels[key].set_text(url)
            for label in (self._titles[key], self.url_labels[key]):
                label.setVisible(key == "models" or not self._protocols or key in self._protocols)
        if unencrypted:
            say(self.warning, "Not encrypted: anyone between here and there can read the key and all messages.")

    def _offer(self, address: Address | None, typed: str, wrong: str) -> None:
        """Show problems of the address, and a button for each repaired address."""
        offers: list[str] = []
        if address is None:
            empty = (
                "The address that ends in the version, such as https://gateway.example/v1, without an endpoint path."
            )
            say(self.note, wrong if typed.strip() else empty, "error" if typed.strip() else "small")
        else:
            words = ""
            if address.base != typed:
                words = "; ".join(address.repairs) or "written in its plain form"
                words = f"{words[0].upper()}{words[1:]}. "
                offers.append(address.base)
            if address.suggestion and address.base != self._expected:
                words += address.note
                offers.insert(0, address.suggestion)
            say(self.note, words.strip(), "small")
        first, second = (*offers, "", "")[:2]
        self._offers = (first, second)
        for button, url in zip(self.repair_buttons, self._offers, strict=True):
            button.setVisible(bool(url))
            button.set_offer("Use", url)
