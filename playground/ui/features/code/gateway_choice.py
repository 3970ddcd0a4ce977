"""Which gateway an imported request goes to, and whether the key that came with it is stored there.

A key is offered only where it belongs: to the origin that it came with. It is never shown.
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
NEW = ""  # stands for a gateway that is still to be set up
CAME_AS = {
    Auth.BEARER: "as Authorization: Bearer",
    Auth.X_API_KEY: "as x-api-key",
    Auth.BOTH: "under both headers",
}


class GatewayChoice(QWidget):
    """``show_found`` offers what fits; ``profile_id`` and ``keep`` are what a person chose."""

    changed = Signal()

    def __init__(self, profiles: Sequence[Profile], current: str) -> None:
        super().__init__()
        self._profiles = {profile.id: profile for profile in profiles}
        self._current = current
        self._found: Imported | None = None
        self.gateway = styled(QComboBox(), "field")
        self.gateway.setAccessibleName("Gateway for the imported request")
        self.keep_box = QCheckBox()
        self.says = paragraph("", "small")
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
        grid.addWidget(self.says, 2, 1, 1, 2)
        self.gateway.currentIndexChanged.connect(self._chosen)

    @property
    def profile_id(self) -> str:
        """The gateway chosen; ``NEW`` for one that is to be set up."""
        return str(self.gateway.currentData())

    @property
    def keep(self) -> bool:
        """Whether the secrets found are to be stored for that gateway."""
        return self.keep_box.isEnabled() and self.keep_box.isChecked() and not self.keep_box.isHidden()

    def show_found(self, found: Imported) -> None:
        """Offer the gateways, the one that fits the request's address chosen; a person's own choice stays."""
        before = self._found
        self._found = found
        if before is not None and (before.base_url, _has_secrets(before)) == (found.base_url, _has_secrets(found)):
            return
        self.gateway.blockSignals(True)
        self.gateway.clear()
        for profile in self._profiles.values():
            self.gateway.addItem(shown_name(profile.name), profile.id)
        if found.base_url or _has_secrets(found):
            where = plain_origin(_origin(found.base_url)) or "another address"
            self.gateway.addItem(f"New gateway for {show_hidden(where)}…", NEW)
        metrics = self.gateway.fontMetrics()
        longest = max(metrics.horizontalAdvance(self.gateway.itemText(n)) for n in range(self.gateway.count()))
        self.gateway.setFixedWidth(min(longest + ARROW_ROOM, WIDEST))
        self.gateway.setCurrentIndex(max(self.gateway.findData(self._best(found)), 0))
        self.gateway.blockSignals(False)
        self._chosen()

    def _best(self, found: Imported) -> str:
        """The gateway of the same address, else of the same host, else a new one. No address: the present one."""
        origin = _origin(found.base_url)
        if not origin:
            return self._current
        fitting = [profile for profile in self._profiles.values() if profile.origin == origin]
        same = [profile.id for profile in fitting if profile.base_url.rstrip("/") == found.base_url.rstrip("/")]
        here = [profile.id for profile in fitting if profile.id == self._current]
        return next(iter([*(one for one in here if one in same), *same, *here, *(p.id for p in fitting)]), NEW)

    def _chosen(self) -> None:
        found = self._found
        if found is None:
            return
        profile = self._profiles.get(self.profile_id)
        what = "key" if found.key is not None else "secret header" + "s" * (len(found.secret_headers) > 1)
        came = f" It came {CAME_AS[found.auth]}." if found.key is not None and found.auth is not None else ""
        fits = profile is None or (bool(found.base_url) and profile.origin == _origin(found.base_url))
        usable = fits and not (profile is not None and profile.demo)
        stored = profile is not None and bool(profile.key_origin) and found.key is not None
        self.keep_box.setVisible(_has_secrets(found) and usable)
        self.keep_box.setChecked(not stored)
        name = shown_name(profile.name).replace("&", "&&") if profile is not None else ""
        if profile is None:
            self.keep_box.setText(f"Fill the {what} that was found into the new gateway's form")
        elif stored:
            self.keep_box.setText(f"Replace the key stored for “{name}” with the one that was found")
        else:
            self.keep_box.setText(f"Store the {what} that was found for “{name}”")
        self.keep_box.setAccessibleName(self.keep_box.text().replace("&&", "&"))
        says = ""
        if _has_secrets(found) and usable:
            says = f"It is not shown, and is kept in the system keyring only.{came}"
        elif _has_secrets(found) and profile is not None and profile.demo:
            says = f"A {what} was found and is left out: the demo gateway needs none."
        elif _has_secrets(found):
            says = f"A {what} was found and is left out: it belongs to the address that it came with."
        self.says.setText(show_hidden(says))
        self.says.setVisible(bool(says))
        self.changed.emit()


def _has_secrets(found: Imported) -> bool:
    return found.key is not None or bool(found.secret_headers)


def _origin(base_url: str) -> str:
    return Profile(base_url=base_url).origin if base_url else ""
