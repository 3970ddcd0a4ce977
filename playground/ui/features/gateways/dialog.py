"""Dialog with the settings of all gateways: a list, a form and a connection test.

Each gateway has a draft that survives switching between gateways; closing with unsaved drafts asks first. The dialog
opens no socket itself: tester, keys and the function that starts tasks are arguments.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any
from uuid import uuid4

import shiboken6
from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from playground.engine.gateways.connection_test import Mends, Offer
from playground.engine.gateways.credentials import NeedsConsent, forget_secrets
from playground.engine.gateways.profiles import Auth, Profile, ProfileError, ProfileStore
from playground.engine.gateways.secrets import Keys
from playground.engine.gateways.services import KnownGateways
from playground.ui.features.gateways.draft import NEW_NAME, Draft, connection_of, credentials_of, problem, save
from playground.ui.features.gateways.form import ProfileForm
from playground.ui.features.gateways.gateway_dialog import GatewayDialog, Spawn, Tester
from playground.ui.features.gateways.question_bar import QuestionBar
from playground.ui.features.gateways.test_result import TestResult
from playground.ui.widgets.form_parts import push_button, quiet_button, say, styled, text_label, thin_line, thin_upright
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.scroll_page import DownArea
from playground.ui.widgets.two_lines import LINE, TwoLines

USE = "Save and us&e"
UNSELECTED = "The gateway in use has no settings. Select a gateway, or add a new one."

APART = 2  # number of buttons at the left

_ID = Qt.ItemDataRole.UserRole + 2


def left_side(gateways: QWidget, add: QToolButton, copy: QToolButton, remove: QToolButton) -> QFrame:
    """Return the side bar with the list of gateways and its buttons."""
    sidebar = styled(QFrame(), "surface")
    sidebar.setFixedWidth(216)
    buttons = in_row(add, 1, copy, remove, spacing=4)
    heading = text_label("Gateways", "group")
    heading.setContentsMargins(8, 0, 0, 0)
    in_column(heading, (gateways, 1), buttons, of=sidebar, margins=(8, 12, 8, 12), spacing=8)
    return sidebar


def right_side(
    unselected: QLabel,
    form_area: QScrollArea,
    messages: tuple[QWidget, QLabel, QWidget],
    buttons: tuple[QPushButton, ...],
) -> QVBoxLayout:
    """Return the form, or a text while no gateway is selected, above the question, message, result and buttons."""
    question, message, result = messages
    question_row = in_column(question, margins=(16, 0, 16, 0))
    message_rows = in_column(message, ResultArea(result), margins=(24, 0, 24, 0), spacing=6)
    row = in_row(margins=(24, 0, 24, 0), spacing=8)
    for number, button in enumerate(buttons):
        if number == APART:
            row.addStretch(1)
        row.addWidget(button)
    form = in_column((unselected, 1), (form_area, 1), thin_line(), spacing=0)  # rows scroll under the line
    return in_column((form, 1), question_row, message_rows, row, margins=(0, 0, 0, 12), spacing=12)


class ResultArea(DownArea):
    """A scroll area as high as its content, up to a share of the window; hidden while the content is."""

    SHARE = 0.45

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._content = content
        self.setWidget(content)
        content.installEventFilter(self)
        self.setVisible(not content.isHidden())

    def heightForWidth(self, width: int) -> int:
        return min(self._content.heightForWidth(width), int(self.window().height() * self.SHARE))

    def sizeHint(self) -> QSize:
        return QSize(self._content.sizeHint().width(), self.heightForWidth(max(self.width(), 1)))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._content.minimumSizeHint().width(), 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._content:
            if event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
                self.setVisible(not self._content.isHidden())
            elif event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
                self.updateGeometry()
        return super().eventFilter(watched, event)


class GatewayList(QListWidget):
    """List of drafts; the current row is the draft in the form."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Gateways")
        self.setItemDelegate(TwoLines(self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setUniformItemSizes(True)

    def show_drafts(self, drafts: list[Draft], unsaved: set[str], current: str) -> None:
        """Show the drafts and select ``current``, without emitting a change of the selection."""
        self.blockSignals(True)
        while self.count() > len(drafts):
            self.takeItem(self.count() - 1)
        while self.count() < len(drafts):
            self.addItem(QListWidgetItem())
        for row, draft in enumerate(drafts):
            item = self.item(row)
            name = show_hidden(draft.title)
            host = show_hidden(draft.host) or "no address yet"
            line = f"{'unsaved · ' if draft.profile.id in unsaved else ''}{host}"
            item.setText(name)
            item.setData(LINE, line)
            item.setData(_ID, draft.profile.id)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{name}, {line}")
            if draft.profile.id == current:
                self.setCurrentRow(row)
        self.blockSignals(False)
        self.viewport().update()

    def current_id(self) -> str:
        """Return the id of the selected gateway; empty without a selection."""
        item = self.currentItem()
        return str(item.data(_ID)) if self.currentRow() >= 0 else ""


class ProfileDialog(GatewayDialog):
    """Settings of gateways. Open it with ``open()``; its tasks run in the background.

    It opens on the gateway ``in_use``, or on none for one without settings, such as the demo gateway. ``saved`` carries
    the stored ``Profile``, ``removed`` the id of a removed one, ``used`` the profile that the open experiment is to
    use, and ``check_asked`` the id of a gateway to check after the dialog is closed.
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
        super().__init__(store, keys, services, tester, spawn, parent)
        self._test: asyncio.Task[Any] | None = None
        self._saving: asyncio.Task[Any] | None = None
        self._drafts: dict[str, Draft] = {p.id: Draft.from_profile(p) for p in store.profiles if not p.demo}
        self._new_drafts: dict[str, Draft] = {}  # initial state of drafts that were never saved
        self._current = ""
        self._in_use = in_use
        self._tested: Draft | None = None  # test inputs of the shown result or the running test
        self._used_when_saved: set[str] = set()  # ids that the open experiment uses once saved
        self._build()
        active = store.active.id if store.active is not None else ""
        first = in_use or (active if active in self._drafts else next(iter(self._drafts), ""))
        if self._drafts:
            self._go_to(first if first in self._drafts else "")
        else:
            self.add_gateway()
        if store.messages:
            self._show_message(" ".join(store.messages), "warning")

    # ---- user actions

    def select(self, profile_id: str) -> None:
        """Show a gateway; the previous one keeps its draft. An unknown id is ignored."""
        if profile_id in self._drafts and profile_id != self._current:
            self._go_to(profile_id)

    def add_gateway(self) -> None:
        """Add an empty new gateway."""
        self._begin(Draft.from_profile(Profile(name="")))
        self.form.address.edit.setFocus()

    def begin(self, draft: Draft) -> None:
        """Add a new gateway from a draft, replacing an empty new one; the open experiment uses it once saved."""
        empty = self._current if self._current in self._new_drafts and self._current not in self._unsaved() else ""
        self._used_when_saved.add(draft.profile.id)
        self._begin(draft)
        if empty:
            del self._drafts[empty], self._new_drafts[empty]
            self._refresh()
        if open_header := next((row.name for row in draft.headers if row.name and not (row.value or row.stored)), ""):
            self.add_header(open_header)
        else:
            self.form.name.setFocus()

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

    def duplicate(self) -> None:
        """Add a copy of the current gateway without its secrets."""
        draft = self._drafts[self._current]
        profile = draft.profile.model_copy(
            update={
                "id": uuid4().hex,
                "name": f"{draft.title} (copy)",
                "key_origin": "",
                "key_variable": "",
                "secret_headers": {},
            }
        )
        rows = tuple(replace(row, stored=False) for row in draft.headers)
        self._begin(Draft(profile, rows))
        self._show_message("The copy has no key: keys are not copied. Enter one, then save.", "small")
        self.form.key.edit.setFocus()

    def check_current(self) -> None:
        """Close, and ask for a check of the current gateway as stored."""
        checked = self._current
        self.finished.connect(lambda _result: self.check_asked.emit(checked))
        self.reject()

    def ask_to_remove(self) -> None:
        """Ask whether to remove the current gateway and its key; remove an empty new one without asking."""
        if not self._current:
            return
        if self._current in self._new_drafts and self._current not in self._unsaved():
            self._remove_draft(self._current)
            return
        title = self._drafts[self._current].title
        self.question.ask(
            f"Remove “{title}” and its key?",
            ("Keep", "", self.form.name.setFocus),
            ("Remove", "danger", self._remove),
        )

    def save_current(self) -> None:
        """Save the gateway in the form."""
        self._start_saving([self._current])

    def use_current(self) -> None:
        """Save the gateway in the form, and let the open experiment use it."""
        self._start_saving([self._current], use=True)

    def test_current(self) -> None:
        """Test the gateway in the form as typed, or stop the test that is running."""
        if self._test is not None:
            self._test.cancel()
            return
        draft = self._drafts[self._current]
        reason = problem(draft)
        if reason:
            self._show_message(reason, "error")
            return
        self._show_message("Testing: asking for the models, and with an empty request for both endpoints…", "small")
        self._tested = draft.test_inputs
        self.test_button.setText("Stop &test")
        self._test = self._spawn(self._run_test(draft), name="test gateway")

    def reject(self) -> None:
        """Close; with unsaved drafts, ask first."""
        if self._saving is not None:
            return
        unsaved = self._unsaved()
        if not unsaved:
            self._close()
            return
        if self._current not in unsaved:
            self._go_to(unsaved[0])
        names = ", ".join(f"“{self._drafts[profile_id].title}”" for profile_id in unsaved)
        self.question.ask(
            f"{names} {'has' if len(unsaved) == 1 else 'have'} unsaved changes.",
            ("Save", "primary", self._save_all_and_close),
            ("Discard", "", self._close),
            ("Keep editing", "", self.form.name.setFocus),
        )

    def _take_offer(self, offer: Offer) -> None:
        """Apply an offered fix, and test again unless a header's value is missing."""
        if self._test is not None or self._saving is not None:
            return
        if offer.mends is Mends.HEADER:
            self.add_header(offer.value)
            return
        if offer.mends is Mends.ADDRESS:
            self.form.address.set_text(offer.value, consent=self.form.address.consented())
        else:
            self.form.set_key_style(Auth(offer.value))
        self.test_current()

    # ---- drafts

    def _begin(self, draft: Draft) -> None:
        self._new_drafts[draft.profile.id] = _blank(draft.profile.id)
        self._drafts[draft.profile.id] = draft
        self._go_to(draft.profile.id)

    def _go_to(self, profile_id: str) -> None:
        if self._test is not None:
            self._test.cancel()
        self.question.dismiss()
        self._show_message("")
        self._current = profile_id
        if profile_id:
            self.form.show_draft(self._drafts[profile_id])
        else:
            self.add_button.setFocus()  # the list would select its first row on focus
        self.form_area.verticalScrollBar().setValue(0)
        self._refresh()

    def _edited(self) -> None:
        draft = self._drafts[self._current] = self.form.draft()
        if self._tested is not None and draft.test_inputs != self._tested:  # the result is outdated
            if self._test is not None:
                self._test.cancel()
            self._show_message("")
        self.question.dismiss()
        self._refresh()

    def _row_changed(self) -> None:
        self.select(self.list.current_id())

    def _unsaved(self) -> list[str]:
        return [profile_id for profile_id, draft in self._drafts.items() if draft != self._original(profile_id)]

    def _original(self, profile_id: str) -> Draft:
        stored = self._store.get(profile_id)
        if stored is not None:
            return Draft.from_profile(stored)
        return self._new_drafts.get(profile_id) or _blank(profile_id)  # a blank draft if another process removed it

    def _refresh(self) -> None:
        unsaved = set(self._unsaved())
        is_selected = bool(self._current)
        self.form_area.setVisible(is_selected)
        self.unselected.setVisible(not is_selected)
        self.list.show_drafts(list(self._drafts.values()), unsaved, self._current)
        self.save_button.setEnabled(self._saving is None and self._current in unsaved)
        use_when_saved = self._current in self._used_when_saved
        self.save_button.setText(USE if use_when_saved else "&Save")
        self.use_button.setVisible(is_selected and not use_when_saved and self._current != self._in_use)
        self.use_button.setText(USE if self._current in unsaved else "Us&e")
        stored = self._current not in self._new_drafts
        self.use_button.setEnabled(self._saving is None and (stored or self._current in unsaved))
        self.form.setEnabled(self._saving is None)
        self.check_button.setEnabled(self._saving is None and is_selected and stored and not unsaved)
        self.add_button.setEnabled(self._saving is None)
        for button in (self.test_button, self.copy_button, self.remove_button):
            button.setEnabled(self._saving is None and is_selected)

    def _remove_draft(self, profile_id: str) -> None:
        order = list(self._drafts)
        place = order.index(profile_id)
        del self._drafts[profile_id]
        self._new_drafts.pop(profile_id, None)
        remaining = list(self._drafts)
        if remaining:
            self._go_to(remaining[min(place, len(remaining) - 1)])
        else:
            self.add_gateway()

    # ---- tasks

    def _save_all_and_close(self) -> None:
        self._start_saving(self._unsaved(), then_close=True)

    def _start_saving(self, profile_ids: list[str], *, then_close: bool = False, use: bool = False) -> None:
        if self._saving is None:
            self._saving = self._spawn(self._save(profile_ids, then_close, use), name="save gateway")
            self._refresh()

    async def _save(self, profile_ids: list[str], then_close: bool, use: bool) -> None:
        saved = False
        try:
            self._show_message("Saving…", "small")
            words, kind = "", "small"
            for profile_id in profile_ids:
                if profile_id != self._current:
                    self._go_to(profile_id)
                profile, state = await save(self._drafts[profile_id], self._store, self._keys)
                self._new_drafts.pop(profile_id, None)
                self._drafts[profile_id] = Draft.from_profile(profile)
                words, kind = "Saved.", "ok"
                if state is not None:
                    words, kind = f"Saved. {state.words}", "ok" if state.available else "warning"
                self.saved.emit(profile)
                if use or profile_id in self._used_when_saved:
                    words = f"{words} The open experiment uses it now."
                    self._in_use = profile_id
                    self._used_when_saved.discard(profile_id)
                    self.used.emit(profile)
            saved = True
            self._show_message(words, kind)
        except ProfileError as error:
            self._show_message(str(error), "error")
        finally:
            if shiboken6.isValid(self):
                self._saving = None
                if saved and self._current in self._drafts:
                    self.form.show_draft(self._drafts[self._current])
                self._refresh()
        if saved and then_close:
            self._close()

    def _remove(self) -> None:
        if self._saving is None:
            self._saving = self._spawn(self._remove_current(), name="remove gateway")
            self._refresh()

    async def _remove_current(self) -> None:
        profile_id = self._current
        stored = self._store.get(profile_id)
        words = ""
        removed = False
        try:
            if stored is not None:
                await asyncio.to_thread(self._store.remove, profile_id)
                state = await forget_secrets(stored, self._keys)
                words = "" if state.available else state.words
                self.removed.emit(profile_id)
            removed = True
        except ProfileError as error:
            self._show_message(str(error), "error")
        finally:
            if shiboken6.isValid(self):
                self._saving = None
                if removed:
                    self._remove_draft(profile_id)
                    self._show_message(words, "warning")
                self._refresh()

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
        except asyncio.CancelledError:
            if shiboken6.isValid(self):
                self._show_message("The test was stopped.", "small")
            raise
        finally:
            if shiboken6.isValid(self):
                self._test = None
                self.test_button.setText("&Test")
                self.form.describe()

    # ---- display

    def _describe_key(self) -> None:
        self.form.describe()

    def _close(self) -> None:
        if self._test is not None:
            self._test.cancel()
        super().reject()

    def _show_message(self, words: str, kind: str = "small") -> None:
        self._tested = None
        say(self.message, words, kind)
        self.test_result.clear()
        self.message.setAccessibleName(words)

    def _build(self) -> None:
        self.setWindowTitle("Gateways")
        self.setMinimumSize(600, 400)
        self.resize(900, 600)
        self.list = GatewayList()
        self.add_button = quiet_button("New", f"{NEW_NAME} (Ctrl+N)", "plus")
        self.copy_button = quiet_button("", "Duplicate this gateway", "copy")
        self.remove_button = quiet_button("", "Remove this gateway", "delete")
        self.form = ProfileForm(self._keys, self._services)
        self.question = QuestionBar()
        self.message = text_label(kind="small", wrap=True)
        self.message.setObjectName("gatewayMessage")
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.message.hide()
        self.test_result = TestResult()
        self.test_result.offer_taken.connect(self._take_offer)
        self.test_button = push_button("&Test")
        self.check_button = push_button("Chec&k…")
        self.check_button.setToolTip("Find out what this gateway and a model of it can do. Save what is typed first")
        self.close_button = push_button("&Close")
        self.save_button = push_button("&Save", "primary")
        self.save_button.setDefault(True)
        self.use_button = push_button(USE)
        self.use_button.setToolTip("Use for this and new experiments")
        halves = in_row(
            left_side(self.list, self.add_button, self.copy_button, self.remove_button),
            thin_upright(),
            of=self,
            margins=0,
            spacing=0,
        )
        self.form_area = DownArea(self.form, self)
        self.unselected = empty_words(UNSELECTED)
        messages = self.question, self.message, self.test_result
        buttons = self.test_button, self.check_button, self.close_button, self.use_button, self.save_button
        halves.addLayout(right_side(self.unselected, self.form_area, messages, buttons), 1)
        self.list.currentRowChanged.connect(self._row_changed)
        self.form.changed.connect(self._edited)
        self.add_button.clicked.connect(self.add_gateway)
        self.copy_button.clicked.connect(self.duplicate)
        self.remove_button.clicked.connect(self.ask_to_remove)
        self.test_button.clicked.connect(self.test_current)
        self.check_button.clicked.connect(self.check_current)
        self.save_button.clicked.connect(self.save_current)
        self.use_button.clicked.connect(self.use_current)
        self.close_button.clicked.connect(self.reject)
        for keys, act in (
            (QKeySequence(QKeySequence.StandardKey.Save), self.save_button.click),
            (QKeySequence(QKeySequence.StandardKey.New), self.add_button.click),
        ):
            QShortcut(keys, self).activated.connect(act)
        delete = QShortcut(QKeySequence(Qt.Key.Key_Delete), self.list, context=Qt.ShortcutContext.WidgetShortcut)
        delete.activated.connect(self.remove_button.click)


def _blank(profile_id: str) -> Draft:
    return Draft.from_profile(Profile(id=profile_id, name=""))
