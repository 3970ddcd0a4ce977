"""Choice of the gateway for an imported request, and of storing the request's key there.

A key is offered only for the origin that it was imported with. It is never shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QLabel, QWidget

from playground.engine.gateways.credentials import plain_origin
from playground.engine.gateways.profiles import Auth, Profile
from playground.engine.requests.pasted import Imported
from playground.ui.widgets.form_parts import paragraph, styled
from playground.ui.widgets.plain_text import show_hidden, shown_name

WIDEST = 460
ARROW_ROOM = 48
NEW = ""  # id of a gateway that is not set up yet
HEADER_WORDS = {
    Auth.BEARER: "as Authorization: Bearer",
    Auth.X_API_KEY: "as x-api-key",
    Auth.BOTH: "under both headers",
}


class GatewayChoice(QWidget):
    """Offer gateways for an imported request; ``profile_id`` and ``keep`` are the choices made."""

    changed = Signal()

    def __init__(self, profiles: Sequence[Profile], current: str) -> None:
        super().__init__()
        self._profiles = {profile.id: profile for profile in profiles}
        self._current = current
        self._imported: Imported | None = None
        self.gateway = styled(QComboBox(), "field")
        self.gateway.setAccessibleName("Gateway for the imported request")
        self.keep_box = QCheckBox()
        self.note = paragraph("", "small")
        caption = QLabel("Gateway")
        caption.setBuddy(self.gateway)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(2, 1)
        grid.addWidget(caption, 0, 0)
        grid.addWidget(self.gateway, 0, 1)
        grid.addWidget(self.keep_box, 1, 1, 1, 2)
        grid.addWidget(self.note, 2, 1, 1, 2)
        self.gateway.currentIndexChanged.connect(self._chosen)

    @property
    def profile_id(self) -> str:
        """The id of the chosen gateway, or ``NEW``."""
        return str(self.gateway.currentData())

    @property
    def keep(self) -> bool:
        """The choice to store the request's secrets for the gateway."""
        return self.keep_box.isEnabled() and self.keep_box.isChecked() and not self.keep_box.isHidden()

    def show_request(self, imported: Imported) -> None:
        """Offer the gateways and choose that of the request's address; an unchanged address keeps the choice."""
        previous = self._imported
        self._imported = imported
        if previous is not None and (previous.base_url, _has_secrets(previous)) == (
            imported.base_url,
            _has_secrets(imported),
        ):
            return
        self.gateway.blockSignals(True)
        self.gateway.clear()
        for profile in self._profiles.values():
            self.gateway.addItem(shown_name(profile.name), profile.id)
        if imported.base_url or _has_secrets(imported):
            where = plain_origin(_origin(imported.base_url)) or "another address"
            self.gateway.addItem(f"New gateway for {show_hidden(where)}…", NEW)
        metrics = self.gateway.fontMetrics()
        longest = max(metrics.horizontalAdvance(self.gateway.itemText(n)) for n in range(self.gateway.count()))
        self.gateway.setFixedWidth(min(longest + ARROW_ROOM, WIDEST))
        self.gateway.setCurrentIndex(max(self.gateway.findData(self._best(imported)), 0))
        self.gateway.blockSignals(False)
        self._chosen()

    def _best(self, imported: Imported) -> str:
        """Return the gateway of the same address, else of the same host, else `NEW`; the current without an address."""
        origin = _origin(imported.base_url)
        if not origin:
            return self._current
        fitting = [profile for profile in self._profiles.values() if profile.origin == origin]
        same = [profile.id for profile in fitting if profile.base_url.rstrip("/") == imported.base_url.rstrip("/")]
        current = [profile.id for profile in fitting if profile.id == self._current]
        return next(iter([*(id_ for id_ in current if id_ in same), *same, *current, *(p.id for p in fitting)]), NEW)

    def _chosen(self) -> None:
        imported = self._imported
        if imported is None:
            return
        profile = self._profiles.get(self.profile_id)
        secret_name = "key" if imported.key is not None else "secret header" + "s" * (len(imported.secret_headers) > 1)
        header_note = (
            f" It came {HEADER_WORDS[imported.auth]}." if imported.key is not None and imported.auth is not None else ""
        )
        fits = profile is None or (bool(imported.base_url) and profile.origin == _origin(imported.base_url))
        usable = fits and not (profile is not None and profile.demo)
        stored = profile is not None and bool(profile.key_origin) and imported.key is not None
        self.keep_box.setVisible(_has_secrets(imported) and usable)
        self.keep_box.setChecked(not stored)
        name = shown_name(profile.name).replace("&", "&&") if profile is not None else ""
        if profile is None:
            self.keep_box.setText(f"Fill the {secret_name} that was found into the new gateway's form")
        elif stored:
            self.keep_box.setText(f"Replace the key stored for “{name}” with the one that was found")
        else:
            self.keep_box.setText(f"Store the {secret_name} that was found for “{name}”")
        self.keep_box.setAccessibleName(self.keep_box.text().replace("&&", "&"))
        note = ""
        if _has_secrets(imported) and usable:
            note = f"It is not shown, and is stored in the system keyring only.{header_note}"
        elif _has_secrets(imported) and profile is not None and profile.demo:
            note = f"A {secret_name} was found and is left out: the demo gateway needs none."
        elif _has_secrets(imported):
            note = f"A {secret_name} was found and is left out: it belongs to the address that it came with."
        self.note.setText(show_hidden(note))
        self.note.setVisible(bool(note))
        self.changed.emit()


def _has_secrets(imported: Imported) -> bool:
    return imported.key is not None or bool(imported.secret_headers)


def _origin(base_url: str) -> str:
    return Profile(base_url=base_url).origin if base_url else ""
