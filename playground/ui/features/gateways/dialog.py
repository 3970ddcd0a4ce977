"""Dialog with the settings of all gateways: a list, a form and a connection test.

The dialog opens no socket itself: tester, keys and the function that starts tasks are arguments.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any
from uuid import uuid4

import shiboken6
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from playground.engine.gateways.connection_test import Mends, Offer
from playground.engine.gateways.credentials import NeedsConsent, forget_secrets, restore_secrets, stored_secrets
from playground.engine.gateways.profiles import Auth, Profile, ProfileStore
from playground.engine.gateways.secrets import Keys
from playground.engine.gateways.services import KnownGateways
from playground.ui.features.gateways.draft import Draft, connection_of, credentials_of, problem, save
from playground.ui.features.gateways.form import ProfileForm
from playground.ui.features.gateways.key_field import describe_key
from playground.ui.features.gateways.test_result import Tester, TestResult
from playground.ui.widgets.drafts_dialog import DraftsDialog, Restore, Saved, Spawn
from playground.ui.widgets.form_parts import push_button
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.list_detail import ListDetail, ListEntry
from playground.ui.widgets.scroll_page import DownArea, FittingArea

USE = "Save and us&e"
RESULT_HEIGHT = 240  # pixels
UNSELECTED = "The gateway in use has no settings. Select a gateway, or add a new one."


class ProfileDialog(DraftsDialog[Draft]):
    """Settings of gateways. Open it with ``open()``; its tasks run in the background.

    It opens on the gateway ``in_use``, or on none for one without settings, such as the demo gateway. ``saved`` carries
    the stored ``Profile``, ``removed`` the id of a removed one when the dialog closes, ``used`` the profile that the
    open experiment is to use, and ``check_asked`` the id of a gateway to check after the dialog is closed.
    """

    saved = Signal(object)
    used = Signal(object)
    removed = Signal(str)
    check_asked = Signal(str)

    def __init__(
        self,
        store: ProfileStore,
        keys: Keys,
        services: KnownGateways,
        tester: Tester,
        spawn: Spawn,
        parent: QWidget | None = None,
        in_use: str = "",
    ) -> None:
        super().__init__({}, spawn, parent)
        self._store, self._keys, self._tester = store, keys, tester
        self._test: asyncio.Task[Any] | None = None
        self._in_use = in_use
        self._tested: Draft | None = None  # test inputs of the shown result or the running test
        self._used_when_saved: set[str] = set()  # ids that the open experiment uses once saved
        self._removed: list[str] = []
        self._build(services)
        ids, active = list(self.saved_values()), store.active.id if store.active is not None else ""
        first = in_use or (active if active in ids else next(iter(ids), ""))
        self.start(first if first in ids else "")
        if not ids:
            self.add()
        spawn(describe_key(keys, self.form.describe), name="look for a keyring", owner=self)
        if store.messages:
            self.body.show_message(" ".join(store.messages), "warning")

    # ---- values

    def saved_values(self) -> dict[str, Draft]:
        return {profile.id: Draft.from_profile(profile) for profile in self._store.profiles if not profile.demo}

    def new_draft(self, item_id: str) -> Draft:
        return Draft.from_profile(Profile(id=item_id, name=""))

    def copy_of(self, draft: Draft) -> tuple[Draft, str]:
        no_secrets: dict[str, Any] = {"key_origin": "", "key_variable": "", "secret_headers": {}}
        update = {"id": uuid4().hex, "name": f"{draft.title} (copy)", **no_secrets}
        rows = tuple(replace(row, stored=False) for row in draft.headers)
        words = "The copy has no key: keys are not copied. Enter one, then save."
        return Draft(draft.profile.model_copy(update=update), rows), words

    def id_of(self, draft: Draft) -> str:
        return draft.profile.id

    def entry(self, draft: Draft, unsaved: bool) -> ListEntry:
        line = draft.host or "no address yet"
        return ListEntry(draft.profile.id, draft.title, f"unsaved · {line}" if unsaved else line)

    async def store_draft(self, draft: Draft) -> Saved:
        profile, state = await save(draft, self._store, self._keys)
        words, kind = "Saved.", "ok"
        if state is not None:
            words, kind = f"Saved. {state.words}", "ok" if state.available else "warning"
        self.saved.emit(profile)
        if profile.id in self._used_when_saved:
            self._used_when_saved.discard(profile.id)
            self._in_use = profile.id
            self.used.emit(profile)
            words = f"{words} The open experiment uses it now."
        return Saved(Draft.from_profile(profile), words, kind)

    async def delete_stored(self, item_id: str) -> tuple[str, Restore]:
        profile, profiles = self._store.get(item_id), self._store.profiles
        if profile is None:
            raise self._store.error("This gateway was removed in the meantime.")
        place, secrets = profiles.index(profile), await stored_secrets(profile, self._keys)
        await asyncio.to_thread(self._store.remove, item_id)
        state = await forget_secrets(profile, self._keys)
        self._removed.append(item_id)

        async def restore() -> str:
            words = await restore_secrets(profile, self._keys, secrets)
            await asyncio.to_thread(self._store.add_profile, profile, place)
            self._removed.remove(item_id)
            return words

        return "" if state.available else state.words, restore

    # ---- commands

    def add(self) -> None:
        super().add()
        self.form.address.edit.setFocus()

    def duplicate(self) -> None:
        super().duplicate()
        self.form.key.edit.setFocus()

    def set_up(self, draft: Draft) -> None:
        """Add a new gateway from a draft; the open experiment uses it once saved."""
        self._used_when_saved.add(draft.profile.id)
        self.begin(draft)
        if open_header := next((row.name for row in draft.headers if row.name and not (row.value or row.stored)), ""):
            self.add_header(open_header)
        else:
            self.form.focus("name")

    def ask_for_key(self) -> None:
        """Focus the key field of the form."""
        self.form.key.setFocus()

    def add_header(self, name: str) -> None:
        """Add a header with that name to the form, and scroll to its value."""
        self.form_area.ensureWidgetVisible(self.form.headers.add_named(name))

    def show_rules(self) -> None:
        """Scroll to the rules of the gateway in the form, and focus the first."""
        first = self.form.rules.edits[0].field if self.form.rules.edits else self.form.rules.add
        self.form_area.ensureWidgetVisible(self.form.rules.add)
        self.form_area.ensureWidgetVisible(first)
        first.setFocus()

    def focus_editor(self) -> None:
        self.form.focus("name")

    def check_current(self) -> None:
        """Close, and ask for a check of the selected gateway as stored."""
        checked = self.current
        self.finished.connect(lambda _result: self.check_asked.emit(checked))
        self.reject()

    def use_current(self) -> None:
        """Save the gateway in the form, and let the open experiment use it."""
        self._used_when_saved.add(self.current)
        self.save_current()

    def done(self, result: int) -> None:
        """Close, and report the removed gateways."""
        super().done(result)
        for item_id in self._removed:
            self.removed.emit(item_id)
        self._removed = []

    # ---- the connection test

    def test_current(self) -> None:
        """Test the gateway in the form as typed, or stop the test that is running."""
        if self._test is not None:
            self._test.cancel()
            return
        draft = self.draft()
        if reason := problem(draft):
            self._show_message(reason, "error")
            return
        self._show_message("Testing: asking for the models, and with an empty request for both endpoints…")
        self._tested = draft.test_inputs
        self.test_button.setText("Stop &test")
        self._test = self._spawn(self._run_test(draft), name="test gateway")

    def edited(self) -> None:
        if self._tested is not None and self.form.value.test_inputs != self._tested:  # the result is outdated
            self.leave_current()
            self._show_message("")
        super().edited()

    def leave_current(self) -> None:
        if self._test is not None:
            self._test.cancel()
        self._clear_result()

    def _clear_result(self) -> None:
        self._tested = None
        self.test_result.clear()
        self.result_area.hide()

    def _take_offer(self, offer: Offer) -> None:
        """Apply an offered fix, and test again unless a header's value is missing."""
        if self._test is not None or self.busy:
            return
        if offer.mends is Mends.HEADER:
            self.add_header(offer.value)
            return
        if offer.mends is Mends.ADDRESS:
            self.form.address.set_text(offer.value, consent=self.form.address.consented())
        else:
            self.form.set_key_style(Auth(offer.value))
        self.test_current()

    async def _run_test(self, draft: Draft) -> None:
        try:
            credentials = await credentials_of(draft, self._keys)
            if isinstance(credentials, NeedsConsent):
                self._show_message(f"Nothing was sent. {credentials.words} Tick the box above to agree.", "warning")
                return
            verdict = await self._tester(connection_of(draft, credentials))
            self._show_message(verdict.headline, "ok" if verdict.ok else "error")
            self._tested = draft.test_inputs
            self.test_result.show_verdict(verdict, *([credentials.problem] if credentials.problem else []))
            self.result_area.show()
            self.result_area.updateGeometry()
        except asyncio.CancelledError:
            if shiboken6.isValid(self):
                self._show_message("The test was stopped.")
            raise
        finally:
            if shiboken6.isValid(self):
                self._test = None
                self.test_button.setText("&Test")
                self.form.describe()

    def _show_message(self, words: str, kind: str = "small") -> None:
        self._clear_result()
        self.body.show_message(words, kind)

    # ---- display

    def show_current(self) -> None:
        is_stored, is_unsaved = self.current in self.saved_values(), self.current in self.unsaved()
        use_when_saved = self.current in self._used_when_saved
        self.save_button.setText(USE if use_when_saved else "&Save")
        self.use_button.setVisible(bool(self.current) and not use_when_saved and self.current != self._in_use)
        self.use_button.setText(USE if is_unsaved else "Us&e")
        self.use_button.setEnabled(not self.busy and (is_stored or is_unsaved))
        self.form.setEnabled(not self.busy)
        self.check_button.setEnabled(not self.busy and is_stored and not self.unsaved())
        self.test_button.setEnabled(not self.busy and bool(self.current))

    def _build(self, services: KnownGateways) -> None:
        self.setWindowTitle("Gateways")
        self.setObjectName("gatewaysDialog")
        self.setMinimumSize(600, 400)
        self.resize(900, 600)
        self.form = self.editor = ProfileForm(self._keys, services)
        self.form_area = DownArea(self.form)
        self.test_result = TestResult()
        self.result_area = FittingArea(most=RESULT_HEIGHT, least=0, by_width=True)
        self.result_area.hold(self.test_result)
        self.result_area.hide()
        self.test_button = push_button("&Test")
        self.check_button = push_button("Chec&k…")
        self.check_button.setToolTip("Find out what this gateway and one of its models can do. Save your changes first")
        self.use_button = push_button(USE)
        self.use_button.setToolTip("Use for this and new experiments")
        self.save_button.setDefault(True)
        self.body = ListDetail(
            "Gateways",
            "gateway",
            {"Settings": self.form_area},
            ("add", "duplicate", "remove"),
            parent=self,
            foot=self.result_area,
            buttons=(self.test_button, self.check_button, 1, self.close_button, self.use_button, self.save_button),
            empty=UNSELECTED,
        )
        self.body.message.setObjectName("gatewayMessage")
        in_row(self.body, parent=self, margins=0)
        self.test_result.offer_taken.connect(self._take_offer)
        self.test_button.clicked.connect(self.test_current)
        self.check_button.clicked.connect(self.check_current)
        self.use_button.clicked.connect(self.use_current)
