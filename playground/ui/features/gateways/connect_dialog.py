"""Wizard that connects a gateway: enter address and key, test the connection, choose a model.

The input is a draft, as in the gateway settings, and saved only in the last step; ``draft`` returns it for the next
dialog. Like the gateway settings, the dialog opens no socket itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

import shiboken6
from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QDialog, QPushButton, QWidget

from playground.engine.gateways.connection_test import ConnectionReport, Mends, Offer
from playground.engine.gateways.credentials import NeedsConsent
from playground.engine.gateways.model_catalog import ModelCatalog
from playground.engine.gateways.nearby import LocalGateway, LocalKind
from playground.engine.gateways.profiles import Auth, Profile, ProfileError, ProfileStore
from playground.engine.gateways.secrets import Keys, Secret
from playground.engine.gateways.services import KnownGateway, KnownGateways, values_of
from playground.engine.requests.protocol_info import TITLES
from playground.engine.tool_servers.secret_values import key_like
from playground.ui.features.gateways.address_page import AddressPage
from playground.ui.features.gateways.connection_page import ConnectionPage
from playground.ui.features.gateways.draft import (
    Draft,
    HeaderRow,
    connection_of,
    credentials_of,
    problem,
    save,
    with_service,
    without_service,
)
from playground.ui.features.gateways.key_field import describe_key, variable_words
from playground.ui.features.gateways.model_page import ModelPage
from playground.ui.features.gateways.nearby_list import NearbyList, Tell
from playground.ui.features.gateways.services_dialog import NEW, ServicesDialog
from playground.ui.features.gateways.test_result import Tester
from playground.ui.widgets.drafts_dialog import Spawn
from playground.ui.widgets.form_parts import look, push_button, say, text_label, thin_line
from playground.ui.widgets.layouts import in_column, in_pages, in_row
from playground.ui.widgets.mark_label import MarkLabel

STEPS = ("Address and key", "Test", "Model")
ADDRESS, TEST, MODEL = range(3)
SIZE, AROUND = QSize(600, 600), QSize(40, 60)  # pixels: the usual size, and what stays free in a small window

#: Searches this computer for gateways; takes the known services, the saved profiles, and a function for each result.
LookNearby = Callable[[Sequence[KnownGateway], Sequence[Profile], Tell], Coroutine[Any, Any, None]]


class StepsRow(QWidget):
    """Row with the titles of the steps; ``show_step`` marks the current one, and earlier ones as done."""

    def __init__(self, titles: Sequence[str]) -> None:
        super().__init__()
        self._titles = tuple(titles)
        self._labels: list[MarkLabel] = []
        line = in_row(parent=self, margins=0, spacing=10)
        for number in range(len(self._titles)):
            if number:
                line.addWidget(text_label("›", "small"))
            label = MarkLabel()
            self._labels.append(label)
            line.addWidget(label)
        line.addStretch(1)
        self.show_step(0)

    def show_step(self, current: int, skipped: Collection[int] = ()) -> None:
        """Mark the step of that number, counted from 0, and earlier ones except those ``skipped``."""
        for number, (label, title) in enumerate(zip(self._labels, self._titles, strict=True)):
            done = number < current
            label.setText(title if done else f"{number + 1} {title}")
            label.set_mark("check" if done and number not in skipped else "", "muted")
            look(label, "heading" if number == current else "muted")
        self.setAccessibleName(f"Step {current + 1} of {len(self._titles)}: {self._titles[current]}")


class ConnectDialog(QDialog):
    """Wizard to be opened with ``open()``; its tasks run in the background.

    ``connected`` carries the stored ``Profile`` and a text on where the key is ("" without one); ``settings_asked``
    carries the ``Draft`` for the dialog with all settings.
    """

    connected = Signal(object, str)
    settings_asked = Signal(object)

    def __init__(
        self,
        store: ProfileStore,
        keys: Keys,
        services: KnownGateways,
        tester: Tester,
        spawn: Spawn,
        look_nearby: LookNearby,
        parent: QWidget | None = None,
        *,
        draft: Draft | None = None,
    ) -> None:
        super().__init__(parent)
        self._store, self._keys, self._services = store, keys, services
        self._tester, self._spawn = tester, spawn
        # The draft with and without the values of the chosen service.
        self._base = self._plain_base = draft or Draft.from_profile(Profile(name=""))
        self._key_variables: tuple[str, ...] = ()  # usual environment variables for the service's key
        self._task: asyncio.Task[Any] | None = None
        self._verdict: ConnectionReport | None = None
        self._skip_result = False  # continue to the models after a successful test
        self.nearby = NearbyList(lambda tell: look_nearby(self._services.all, store.profiles, tell), spawn)
        self._build()
        profile = self._base.profile
        self.address.set_text(profile.base_url, consent=profile.plain_http_origin == profile.origin != "")
        self.key.set_key(self._base.key, forget=False, move=False, variable=self._base.variable)
        self.services.set_services(self._services.all)
        if (service := self._services.get(profile.service)) is not None:
            self._plain_base = without_service(self._base, service)
            values = {row.name: row.value for row in self._base.headers}
            self.services.resume(service, profile.base_url, values_of(service, profile.base_url, values))
            self._describe_service(service)
        self._go_to(ADDRESS)
        self._describe_key()
        spawn(describe_key(keys, self._describe_key), name="look for a keyring", owner=self)

    # ---- input

    def draft(self) -> Draft:
        """Return the input of all pages."""
        address, service = self.address, self.services.service
        profile = self._base.profile.model_copy(
            update={
                "base_url": address.text(),
                "name": self.model_page.name.text().strip() or (service.name if service is not None else ""),
                "default_model": self.model_page.picked,
            }
        )
        consent_origin = profile.origin if address.consented() else ""
        profile = profile.model_copy(update={"plain_http_origin": consent_origin})
        return replace(self._base, profile=profile, key=self.key.key(), variable=self.key.variable())

    # ---- user actions

    def next(self) -> None:
        """Go to the next step: start the test, show the models, or save. Stop a running test."""
        if self._task is not None:
            if self._step == TEST:
                self._task.cancel()
            return
        if self._step == ADDRESS:
            self.test()
        elif self._step == TEST:
            self._go_to(MODEL)
        else:
            self._task = self._spawn(self._save(), name="save gateway")
            self._refresh()

    def back(self) -> None:
        """Go to the previous step, after a failed test to the field with the problem."""
        if self._task is not None:
            self._task.cancel()
            return
        self._go_to(max(self._step - 1, ADDRESS))
        if self._step == ADDRESS and self._verdict is not None and self._verdict.about_key:
            self.key.setFocus()

    def test(self, *, skip_result: bool = False) -> None:
        """Test the input, or show what is missing. With ``skip_result``, a successful test leads to the models."""
        draft = self.draft()
        typed = draft.profile.base_url
        if "://" not in typed and key_like(typed):  # a DNS lookup would reveal the key to name servers
            self._move_to_key_field(typed)
            return
        if service_problem := self.services.problem:
            self.address_page.say(service_problem)
            self.services.focus_first()
            return
        reason = "Enter an address first." if not draft.profile.base_url.strip() else problem(draft)
        if reason:
            self.address_page.say(reason)
            self.address.edit.setFocus()
            return
        self._skip_result = skip_result
        self._task = self._spawn(self._test(draft), name="test gateway")

    def _move_to_key_field(self, typed: str) -> None:
        """Move a key out of the address field, if the key field is empty."""
        if self.key.key() or self.key.variable():
            self.address_page.say("Nothing was sent: the address looks like a key.")
        else:
            self.address.set_text("", consent=False)
            self.key.set_key(typed, forget=False, move=False)
            self.address_page.say(
                "Nothing was sent: that looks like a key. It is under Key now; the address is missing."
            )
        self.address.edit.setFocus()

    def done(self, result: int) -> None:
        """Close, and stop the search on this computer."""
        self.nearby.stop()
        super().done(result)

    def reject(self) -> None:
        """Close, and stop a running test; stay open while the gateway is being saved."""
        if self._task is not None:
            if self._step == MODEL:
                return
            self._task.cancel()
        super().reject()

    # ---- tasks

    async def _test(self, draft: Draft) -> None:
        self._verdict = None
        try:
            credentials = await credentials_of(draft, self._keys)
            if isinstance(credentials, NeedsConsent):
                self.address_page.say(f"Nothing was sent. {credentials.words} Tick the box above to agree.")
                self.address.consent.setFocus()
                return
            if draft.variable and credentials.key is None:
                self.address_page.say("Nothing was sent: that variable is not set.")
                self.key.setFocus()
                return
            self.test_page.begin(draft.host)
            self._go_to(TEST)
            self.next_button.setFocus()
            self._verdict = await self._tester(connection_of(draft, credentials))
            self.test_page.show_verdict(self._verdict)
        except asyncio.CancelledError:
            if shiboken6.isValid(self):
                self.test_page.show_stopped()
            raise
        finally:
            if shiboken6.isValid(self):
                self._task = None
                self._refresh()
                if self._step == TEST and self._skip_result and self._verdict is not None and self._verdict.ok:
                    self._go_to(MODEL)
                elif self._step == TEST:
                    self._button_after_test().setFocus()

    def _button_after_test(self) -> QPushButton:
        """Return the button for the next step after a test: Next, an offered fix, or Back."""
        if self._verdict is not None and self._verdict.ok:
            return self.next_button
        return self.test_page.test_result.offers[0] if self.test_page.test_result.offers else self.back_button

    async def _save(self) -> None:
        try:
            say(self.model_page.message, "")
            profile, state = await save(self.draft(), self._store, self._keys)
        except ProfileError as error:
            if shiboken6.isValid(self):
                say(self.model_page.message, str(error))
            return
        finally:
            if shiboken6.isValid(self):
                self._task = None
                self._refresh()
        if shiboken6.isValid(self):
            self.accept()
            self.connected.emit(profile, state.words if state is not None else "")

    # ---- display

    def _place(self) -> str:
        state, service = self._keys.state, self.services.service
        if self.key.variable():
            return variable_words(self.key.variable())
        if not self.key.key() and service is not None and service.keyless:
            return f"{service.name} usually needs no key. Continue without one."
        if not self.key.key() and service is not None and (service.keys_url or service.key_variables):
            return f"{service.name} usually needs a key."
        if not self.key.key():
            return "Leave empty if no key is needed."
        return "On saving, the key goes to the system keyring, never to a file." if state.available else state.words

    def _describe_key(self) -> None:
        self.key.describe(stored=False, place=self._place(), question="")

    def _edited(self) -> None:
        self._verdict = None
        self._describe_key()

    # ---- services

    def _service_changed(self) -> None:
        """Apply the settings of the service, if any, to the input."""
        services = self.services
        service = services.service
        self._base = (
            with_service(self._plain_base, service, services.values) if service is not None else self._plain_base
        )
        if (variable := self.key.variable()) in self._key_variables and (
            service is None or variable not in service.key_variables
        ):
            self.key.drop_variable()  # the key belongs to the previous service
        self._describe_service(service)
        self._edited()

    def _describe_service(self, service: KnownGateway | None) -> None:
        self.address_page.keys_place.show_service(service)
        self._key_variables = service.key_variables if service is not None else ()
        self.key.offer_variables(self._key_variables)

    def _service_chosen(self) -> None:
        """Focus the next field that needs input."""
        service = self.services.service
        if self.services.focus_first() or service is None:
            return
        if service.keyless:
            self.next_button.setFocus()
        else:
            self.key.setFocus()

    def _take_nearby(self, gateway: LocalGateway) -> None:
        """Fill in a gateway of this computer, and go to its models or to the missing key."""
        if self._task is not None:
            return
        if gateway.sure:
            self.services.take(gateway.services[0], gateway.base_url)
        else:
            self.address.set_text(gateway.base_url, consent=False)
        keyed = bool(self.key.key() or self.key.variable())
        if gateway.kind is LocalKind.KEY and not keyed:
            self.address_page.say(f"{gateway.place} needs a key. Enter it above, then test.")
            self.key.setFocus()
        elif gateway.kind is LocalKind.GATEWAY and not keyed:
            self.test(skip_result=True)
        else:
            words = f"The key above goes to {gateway.place} when you test. Remove it if it is another one's."
            self.address_page.say(words if keyed else "")
            self.next_button.setFocus()

    def _open_services(self, draft: KnownGateway | None = None) -> None:
        """Open the list of services, with a new one in it."""
        current = self.services.service
        dialog = ServicesDialog(self._services, self._spawn, self, current.id if current is not None else "")
        dialog.chosen.connect(self.services.take)
        dialog.finished.connect(lambda _result: self.services.set_services(self._services.all))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        if draft is not None:
            dialog.begin(draft)

    def _save_as_service(self) -> None:
        """Open the list of services with the input as a service of the user's own."""
        draft = self.draft()
        profile, variable = draft.profile, self.key.variable()
        service = KnownGateway(
            id=uuid4().hex,
            name=profile.name or draft.host or NEW,
            base_url=profile.base_url,
            protocols={protocol: profile.auth.get(protocol, Auth.BEARER) for protocol in TITLES},
            key_variables=(variable,) if variable else (),
            own=True,
        )
        self._open_services(service)

    # ---- pages

    def _go_to(self, step: int) -> None:
        self._step = step
        if step == MODEL:
            models = self._verdict.models if self._verdict is not None else ()
            draft = self.draft()
            key = draft.key  # the only secret that may be echoed in a model list
            catalog = ModelCatalog(models, draft.host, secrets=lambda: (Secret(key),) if key else ())
            place = self._place() if key or self.key.variable() else ""
            self.model_page.offer(catalog, draft.profile.default_model, draft.profile.name or draft.host, place)
            self.model_page.model.setFocus()
            self.model_page.model.selectAll()
        elif step == ADDRESS:
            self.address.edit.setFocus()
        self.pages.setCurrentIndex(step)
        works = self._verdict is not None and self._verdict.ok
        self.steps.show_step(step, () if works else (TEST,))
        self._refresh()

    def _refresh(self) -> None:
        running, works = self._task is not None, self._verdict is not None and self._verdict.ok
        words = {ADDRESS: "&Test", TEST: "Stop" if running else "&Next", MODEL: "&Save and start"}
        self.next_button.setText(words[self._step])
        self.next_button.setEnabled(running or works if self._step == TEST else not running)
        failed = self._verdict if self._step == TEST and not works else None
        subject = "key" if failed is not None and failed.about_key else "address"
        self.back_button.setText(f"&Change the {subject}" if failed is not None else "&Back")
        self.back_button.setVisible(self._step != ADDRESS and not running)
        self.model_page.setEnabled(not (running and self._step == MODEL))

    def _open_settings(self) -> None:
        """Continue in the dialog with all settings, and stop a running test."""
        if self._task is not None and self._step == MODEL:
            return
        draft = self.draft()
        self.reject()
        self.settings_asked.emit(draft)

    def _take_offer(self, offer: Offer) -> None:
        """Apply an offered fix, and test again; a missing header is entered in the dialog with all settings."""
        if self._task is not None:
            return
        if offer.mends is Mends.HEADER:
            draft = self.draft()
            super().reject()
            self.settings_asked.emit(replace(draft, headers=(*draft.headers, HeaderRow(offer.value))))
            return
        if offer.mends is Mends.ADDRESS:
            self.address.set_text(offer.value, consent=self.address.consented())
        else:
            style = Auth(offer.value)
            profile = self._base.profile.model_copy(update={"auth": dict.fromkeys(TITLES, style)})
            self._base = replace(self._base, profile=profile)
        self.test()

    def _skip(self) -> None:
        self._go_to(MODEL)

    def _build(self) -> None:
        self.setWindowTitle("Connect a gateway")
        self.setMinimumSize(480, 380)
        parent = self.parentWidget()
        self.resize(SIZE if parent is None else SIZE.boundedTo(parent.window().size() - AROUND))
        self.steps = StepsRow(STEPS)
        pages = self.pages = in_pages(parent=self)
        self.address_page, self.test_page = AddressPage(self.nearby, pages), ConnectionPage(pages)
        self.model_page = ModelPage(pages)
        self.address, self.key = self.address_page.address, self.address_page.key
        self.services = self.address_page.services
        for page in (self.address_page, self.test_page, self.model_page):
            pages.addWidget(page)
        self.settings_button = push_button("All settings…", "quiet")
        self.settings_button.setToolTip("Certificates, headers, time-outs and more; your input is filled in")
        self.cancel_button = push_button("Cancel")
        self.back_button = push_button("&Back")
        self.next_button = push_button("&Test", "primary")
        self.next_button.setDefault(True)
        buttons = in_row(self.settings_button, 1, margins=(24, 0, 24, 0), spacing=8)
        for button in (self.cancel_button, self.back_button, self.next_button):
            buttons.addWidget(button)
        top = in_column(self.steps, margins=(24, 0, 24, 0))
        in_column(top, (self.pages, 1), thin_line(), buttons, parent=self, margins=(0, 18, 0, 14), spacing=12)
        self.address_page.changed.connect(self._edited)
        self.services.changed.connect(self._service_changed)
        self.services.chosen.connect(self._service_chosen)
        self.services.all_asked.connect(self._open_services)
        self.services.keep_asked.connect(self._save_as_service)
        self.nearby.chosen.connect(self._take_nearby)
        self.test_page.again_asked.connect(self.test)
        self.test_page.skip_asked.connect(self._skip)
        self.test_page.offer_taken.connect(self._take_offer)
        self.model_page.chosen.connect(self.next)
        self.settings_button.clicked.connect(self._open_settings)
        self.cancel_button.clicked.connect(self.reject)
        self.back_button.clicked.connect(self.back)
        self.next_button.clicked.connect(self.next)
