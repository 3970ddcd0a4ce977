"""Gateways in the window: selection, settings, models, prices and reachability."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QLabel, QWidget
from shiboken6 import isValid

from playground.domain.adaptations import Adaptation
from playground.domain.errors import Failure, FailureKind, RunRefusedError
from playground.domain.prices import DOLLARS, Price
from playground.engine.gateways.gateways import DEMO_ID
from playground.engine.gateways.profiles import Profile, ProfileError
from playground.engine.gateways.reach import Reach, reach_of
from playground.engine.requests.protocol_info import TITLES
from playground.engine.session.session import Session
from playground.jsonkit.texts import quantity
from playground.ui.features.host import Control, Host
from playground.ui.widgets.dialogs import ask_choice, dress
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.list_detail import remember_size
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.model_picker import ModelPicker
from playground.ui.widgets.models.listing import SORTING, Order
from playground.ui.widgets.palette import Entry
from playground.ui.widgets.plain_text import shown_name
from playground.ui.widgets.rows.form import form_for

if TYPE_CHECKING:
    from playground.engine.requests.pasted import Imported
    from playground.ui.features.gateways.connect_dialog import ConnectDialog
    from playground.ui.features.gateways.dialog import ProfileDialog
    from playground.ui.features.gateways.draft import Draft

WHY = 200  # characters of a gateway's error message saved with a rule
NO_KEY_NEEDED = "The demo gateway and replayed answers need no key. Their errors are simulated or recorded."
NOT_KEPT = "The demo gateway forgets it when the application ends."
FORGET = "Forget it"
USE_HERE, NEW_EXPERIMENT = "Use here", "New experiment"
AMOUNTS = ("input", "cached", "output")


class PriceDialog(QDialog):
    """Dialog for the price of a model. ``price`` is the entered price; ``listed`` applies while none is entered.

    ``priced`` carries the new ``Price``, and whether to apply it to the ``earlier`` answers with a price.
    """

    priced = Signal(object, bool)

    def __init__(
        self, model: str, gateway: str, price: Price, parent: QWidget, *, earlier: int = 0, listed: Price | None = None
    ) -> None:
        super().__init__(parent)
        self._listed = listed or Price()
        self.setWindowTitle("Price of the model")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        words = QLabel(
            f"Price per 1M tokens of {model} on {gateway}. Messages and experiments then show their cost. "
            "An answer keeps the price of its request. Without a price, the cost that the gateway reports is shown, "
            "and otherwise the cost by the prices in its list of models.",
            textFormat=Qt.TextFormat.PlainText,
            wordWrap=True,
        )
        words.setProperty("kind", "muted")
        self.fields = form_for(Price)
        self.fields.set_value(price)
        for name in AMOUNTS:
            if (amount := getattr(self._listed, name)) is not None:
                self.fields.line(name).setPlaceholderText(f"{amount:g} (listed)")
        self.reprice = QCheckBox(f"Also update {quantity(earlier, 'earlier answer')}")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self._save)
        buttons.rejected.connect(self.reject)
        in_column(
            words,
            self.fields,
            (self.reprice, 0, Qt.AlignmentFlag.AlignLeft),
            buttons,
            parent=self,
            margins=(20, 16, 20, 16),
            spacing=12,
        )
        self.reprice.setVisible(earlier > 0)
        self.setMinimumWidth(380)
        dress(self)

    def _save(self) -> None:
        if self.fields.errors:
            self.fields.show_problems()
            return
        price = self.fields.value
        price = price.model_copy(update={"currency": price.currency.strip() or DOLLARS, "told": False})
        amounts = {name: getattr(price, name) for name in AMOUNTS}
        if any(value is not None for value in amounts.values()) and self._listed.currency == price.currency:
            # Fields left empty show the listed price as their placeholder.
            listed = {name: getattr(self._listed, name) for name, value in amounts.items() if value is None}
            price = price.model_copy(update=listed)
        self.priced.emit(price, self.reprice.isChecked())
        self.accept()


class GatewayControl(Control):
    """Actions on gateways for the current session.

    ``changed`` is emitted when a gateway changed, ``priced`` when a price did, and ``facts_changed`` when facts of
    models did. ``check_asked`` carries the id of a gateway to check. ``picker`` chooses the model.
    """

    changed = Signal()
    priced = Signal()
    check_asked = Signal(str)
    facts_changed = Signal()

    def __init__(self, host: Host, picker: ModelPicker) -> None:
        super().__init__(host)
        self.picker = self._default_picker = picker
        self._reach: dict[str, Reach] = {}
        self._listing: asyncio.Task[None] | None = None
        self._learning: asyncio.Task[None] | None = None
        self._replaced_models: dict[str, tuple[str, str]] = {}  # replaced model and replacement by experiment
        self._cancelled_draft: Draft | None = None  # input of a cancelled connect wizard
        SORTING.restore(str(self._settings.value("models/order", "")), self._save_order)

    def _save_order(self, order: Order) -> None:
        self._settings.setValue("models/order", str(order))

    def state(self, profile_id: str) -> Reach:
        """Return the last known reachability of a gateway."""
        return self._reach.get(profile_id, Reach.UNKNOWN)

    def note(self, profile_id: str, reach: Reach | None) -> None:
        """Record whether the last request reached a gateway; None changes nothing."""
        if reach is not None and self._reach.get(profile_id) is not reach:
            self._reach[profile_id] = reach
            self.changed.emit()

    def note_use(self, profile_id: str, model: str) -> None:
        """Add a model to the recently used ones; a failure to save is ignored."""
        profile = self._workspace.gateways.get(profile_id)
        if model and profile.id == profile_id and profile.recent[:1] != (model,):
            spawn(self._save_use(profile_id, model), name="note a model")

    async def _save_use(self, profile_id: str, model: str) -> None:
        with suppress(ProfileError):
            await asyncio.to_thread(self._workspace.gateways.note_use, profile_id, model)
            self.show_models()

    def choose(self, profile_id: str) -> None:
        """Use that gateway in the current experiment and in new ones."""
        session, gateways = self._workspace.current, self._workspace.gateways
        self._workspace.keep_current()
        session.change(profile_id=profile_id)
        profile = gateways.get(profile_id)
        if profile.default_model:
            session.change(model=profile.default_model)
        if not profile.demo:
            gateways.store.select(profile_id)
        self.load_models()

    def entries(self) -> list[Entry]:
        """Return an entry for each gateway, for the palette."""
        gateways = self._workspace.gateways.profiles
        return [Entry(profile.name, "gateway", partial(self.choose, profile.id)) for profile in gateways]

    def follow(self) -> None:
        """List the models of the gateway in use."""
        self.load_models()

    def load_models(self, *, refresh: bool = False) -> None:
        """List the models of the gateway in use; ``refresh`` requests them again and reports errors."""
        self._listing = spawn(self._load(self._workspace.current.settings.profile_id, refresh), name="models")

    @property
    def listing(self) -> bool:
        """True while a request for models is running."""
        return self._listing is not None and not self._listing.done()

    async def listed(self) -> None:
        """Wait until the request for models has ended."""
        if self._listing is not None:
            await asyncio.wait([self._listing])

    def protocol_switched(self) -> None:
        """Replace the model in use if the gateway does not serve it under the new protocol."""
        self._listing = spawn(self._replace_model(self._workspace.current), name="models")

    async def _replace_model(self, session: Session) -> None:
        await self._load(session.settings.profile_id, refresh=False)
        listed = self._workspace.gateways.listed(session.settings.profile_id)
        if listed is None or self._workspace.current is not session:
            return
        model, api = session.settings.model, TITLES[session.settings.protocol]
        previous, replacement = self._replaced_models.pop(session.id, ("", ""))
        if replacement == model and listed.serves(previous, session.settings.protocol):  # protocol restored
            session.change(model=previous)
        elif listed.serves(model, session.settings.protocol) is False:
            served = listed.served(session.settings.protocol)
            if not served:
                words = f"The gateway lists no model for the {api}. “{model}” stays selected."
                self._say(words, stays=False)
                return
            session.change(model=served[0])
            self._replaced_models[session.id] = model, served[0]
            words = f"“{model}” is not available through the {api}. Now using “{served[0]}”."
            self._say(words, stays=False)
        self.show_models()

    async def _load(self, profile_id: str, refresh: bool) -> None:
        session, notice = self._workspace.current, self._host.notice
        try:
            listed = await self._workspace.gateways.models(profile_id, session.settings.protocol, refresh=refresh)
        except (RunRefusedError, OSError) as error:
            kind = error.kind if isinstance(error, RunRefusedError) else FailureKind.INPUT
            self.note(profile_id, reach_of(Failure(kind=kind, message=str(error))))
            if refresh or isinstance(error, OSError):
                notice.say(str(error))
            return
        self.note(profile_id, reach_of(listed.failure))
        if self._workspace.current.settings.profile_id != profile_id:
            return
        if not self._workspace.current.settings.model and listed.ids:
            self._workspace.current.change(model=listed.ids[0])
        self.show_models()
        self.facts_changed.emit()
        if refresh and listed.failure is not None:
            notice.say(f"The models could not be listed: {listed.failure.message}")

    def show_models(self) -> None:
        """Show the model in use and the listed models. Without a list, the model is not marked as unlisted."""
        session, gateways = self._workspace.current, self._workspace.gateways
        profile = session.profile or gateways.get(session.settings.profile_id)
        listed = gateways.listed(profile.id)
        self.picker.show_catalog(gateways.catalog(profile.id))
        missing = (
            listed is not None
            and listed.failure is None
            and bool(listed.models and session.settings.model)
            and session.settings.model not in listed
        )
        self.picker.show_model(session.settings.model, profile.name if missing else "")
        self._learn_facts(profile.id)

    def _learn_facts(self, profile_id: str) -> None:
        """Request missing facts of the model in use once, in the background."""
        settings = self._workspace.current.settings
        busy = self._learning is not None and not self._learning.done()
        if not busy and self._workspace.gateways.lacks_facts(profile_id, settings.model):
            self._learning = spawn(self._fetch_facts(profile_id, settings.protocol, settings.model), name="model facts")

    async def _fetch_facts(self, profile_id: str, protocol: str, model: str) -> None:
        try:
            changed = await self._workspace.gateways.fetch_facts(profile_id, protocol, model)
        except (RunRefusedError, OSError):
            return  # the next request reports it
        self._learning = None
        if not isValid(self.picker):
            return  # the window was closed meanwhile
        self.show_models()
        if changed:
            self.facts_changed.emit()

    def raise_timeouts(self) -> None:
        """Double the time-outs of the gateway in use, and show a notice."""
        spawn(self._raise_timeouts(self._workspace.current.settings.profile_id), name="raise time-outs")

    async def _raise_timeouts(self, profile_id: str) -> None:
        pane = self._host.pane
        try:
            words = await asyncio.to_thread(self._workspace.gateways.raise_timeouts, profile_id)
        except ProfileError as error:
            pane.notice.say(str(error))
            return
        pane.notice.say(words, "Retry", pane.retry_last)

    async def keep_rules(self, profile_id: str, rules: tuple[Adaptation, ...]) -> str:
        """Save rules for a gateway, with its error message as reason, redacted and cut.

        Return an error message; empty if the rules are saved.
        """
        from playground.engine.gateways.redaction import redactor_of

        gateways = self._workspace.gateways
        redactor = redactor_of(gateways.keys.known_secrets())
        stored = [rule.model_copy(update={"why": redactor.front(rule.why, WHY)}) for rule in rules]
        try:
            await asyncio.to_thread(gateways.add_rules, profile_id, stored)
        except ProfileError as error:
            self._say(str(error))
            return str(error)
        self.changed.emit()
        profile = gateways.get(profile_id)
        listed = "; ".join(f"{rule.words}{f' for {shown_name(rule.model)}' if rule.model else ''}" for rule in stored)
        words = f"Saved for {shown_name(profile.name)}: {listed}."
        if profile.demo:
            self._say(f"{words} {NOT_KEPT}", FORGET, partial(self._forget_rules, profile_id))
        else:
            self._say(words, "Show the rules", self.show_rules)
        return ""

    def show_rules(self) -> None:
        """Show the rules of the gateway in use: in its settings, or for the demo gateway in a notice."""
        profile = self._workspace.gateways.get(self._workspace.current.settings.profile_id)
        if profile.demo:
            listed = "; ".join(rule.words for rule in profile.adaptations)
            self._say(f"Rules: {listed}. {NOT_KEPT}", FORGET, partial(self._forget_rules, profile.id))
        else:
            self._open().show_rules()

    def _forget_rules(self, profile_id: str) -> None:
        gateways = self._workspace.gateways
        gateways.update(gateways.get(profile_id).model_copy(update={"adaptations": ()}))
        self.changed.emit()
        self._say("The demo gateway has no rules any more.", stays=False)

    def pick_with(self, picker: ModelPicker | None) -> None:
        """Use another model picker; None for the one in the tool bar."""
        self.picker = picker or self._default_picker
        self.show_models()

    def choose_model(self) -> None:
        """Open the list of models."""
        self.picker.open()

    def open_price(self) -> None:
        """Ask for the price of the model in use."""
        session, gateways = self._workspace.current, self._workspace.gateways
        profile, model = gateways.get(session.settings.profile_id), session.settings.model
        if profile.id != session.settings.profile_id:
            self._say("These answers are replayed, which costs nothing. Choose a gateway first.")
            return
        if not model:
            self._say("Choose a model first (Ctrl+L).")
            return
        listed = gateways.facts(profile.id, model).price
        empty = Price(currency=listed.currency) if listed is not None else Price()
        price, earlier = profile.prices.get(model, empty), session.turns.priced(profile.id, model)
        dialog = PriceDialog(model, profile.name, price, self._host.window, earlier=earlier, listed=listed)
        dialog.priced.connect(partial(self._priced, session, profile.id, model))
        dialog.open()

    def _priced(self, session: Session, profile_id: str, model: str, price: Price, reprice: bool) -> None:
        spawn(self._set_price(session, profile_id, model, price, reprice), name="keep a price")

    async def _set_price(self, session: Session, profile_id: str, model: str, price: Price, reprice: bool) -> None:
        try:
            await asyncio.to_thread(self._workspace.gateways.set_price, profile_id, model, price)
        except ProfileError as error:
            self._say(str(error))
        if reprice:
            session.turns.reprice(profile_id, model, self._workspace.gateways.price(profile_id, model))
        self.priced.emit()

    def open_settings(self) -> None:
        """Open the settings of gateways, on the gateway in use."""
        self._open()

    def enter_key(self) -> None:
        """Open the settings at the key of the gateway in use, and offer a retry after saving."""
        profile_id = self._workspace.current.settings.profile_id
        if any(profile.id == profile_id for profile in self._workspace.gateways.store.profiles):
            self._offer_retry(self._open()).ask_for_key()
        else:  # the demo gateway and replayed answers
            self._host.pane.notice.say(NO_KEY_NEEDED, "Connect a gateway", self.connect_new)

    def add_header(self, name: str) -> None:
        """Open the settings with a header of that name added to the gateway in use."""
        self._offer_retry(self._open()).add_header(name)

    def _offer_retry(self, dialog: ProfileDialog) -> ProfileDialog:
        pane = self._host.pane
        dialog.saved.connect(lambda profile: pane.notice.say(f"{profile.name} is saved.", "Retry", pane.retry_last))
        return dialog

    def set_up(self, draft: Draft) -> None:
        """Open the settings with a new gateway from ``draft``, which the open experiment uses once saved."""
        self._cancelled_draft = None
        self._open().set_up(draft)

    def set_up_imported(self, imported: Imported, keep: bool) -> None:
        """Open the settings for the gateway of an imported request; ``keep`` copies its secrets."""
        from playground.ui.features.gateways.draft import Draft, HeaderRow

        auth = {imported.request.protocol: imported.auth} if imported.auth is not None else {}
        profile = Profile(name="", base_url=imported.base_url, default_model=imported.request.model, auth=auth)
        headers = imported.secret_headers if keep else {}
        rows = tuple(HeaderRow(name, value.get_secret_value()) for name, value in headers.items())
        key = imported.key.get_secret_value() if keep and imported.key is not None else ""
        self.set_up(Draft(profile, rows, key=key))

    def store_imported(self, imported: Imported, profile_id: str) -> None:
        """Store the secrets of an imported request for a gateway."""
        spawn(self._store(self._workspace.gateways.get(profile_id), imported), name="store the imported key")

    async def _store(self, profile: Profile, imported: Imported) -> None:
        from playground.engine.gateways.credentials import store_secret

        gateways = self._workspace.gateways
        secrets = {**({"": imported.key} if imported.key is not None else {}), **imported.secret_headers}
        words = ""
        try:
            for name, secret in secrets.items():
                profile, state = await store_secret(profile, gateways.keys, secret, name)
                words = state.words
            await asyncio.to_thread(gateways.update, profile)
        except ProfileError as error:
            self._say(str(error))
            return
        gateways.forget_models(profile.id)
        self.changed.emit()
        self.load_models()
        self._say(f"Key for “{profile.name}”: {words}", stays=False)

    def look_nearby(self) -> None:
        """Open the connect wizard, and start the search for local gateways."""
        nearby = self.connect_new().nearby
        nearby.button.setFocus()
        nearby.look()

    def connect_new(self) -> ConnectDialog:
        """Open the connect wizard with the input of a cancelled one."""
        from playground.engine.gateways.connection_test import try_gateway
        from playground.engine.gateways.nearby import find_local_gateways
        from playground.ui.features.gateways.connect_dialog import ConnectDialog

        gateways = self._workspace.gateways
        excluded = {gateways.get(DEMO_ID).origin}  # the list contains the demo gateway already
        dialog = ConnectDialog(
            gateways.store,
            gateways.keys,
            gateways.services,
            try_gateway,
            spawn,
            partial(find_local_gateways, excluded=excluded),
            self._host.window,
            draft=self._cancelled_draft,
        )
        dialog.connected.connect(self._connected)
        dialog.settings_asked.connect(self.set_up)
        dialog.rejected.connect(partial(self._keep_draft, dialog))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        return dialog

    def _connected(self, profile: Profile, key_words: str) -> None:
        self._cancelled_draft = None
        self._saved(profile)
        if self._workspace.current.transcript.turns:
            spawn(self._ask_where_to_use(profile, key_words), name="ask where to use a gateway")
        else:
            self._begin_with(profile, key_words)

    async def _ask_where_to_use(self, profile: Profile, key_words: str) -> None:
        """Ask whether the open experiment, which has messages, or a new one uses the gateway."""
        name = shown_name(profile.name)
        current_name = shown_name(self._workspace.gateways.get(self._workspace.current.settings.profile_id).name)
        answer = await ask_choice(
            self._host.window,
            "Gateway saved",
            f"{name} is saved.",
            f"The open experiment uses {current_name}. Use {name} in this experiment, or begin a new one with it?",
            USE_HERE,
            NEW_EXPERIMENT,
            cancel="Not now",
        )
        if answer == NEW_EXPERIMENT:
            self._workspace.new()
        if answer:
            self._begin_with(profile, key_words)
        else:
            self._say(f"{name} is saved. {key_words}".strip(), "Use here", partial(self.choose, profile.id))

    def _begin_with(self, profile: Profile, key_words: str) -> None:
        self.choose(profile.id)
        check = partial(self.check_asked.emit, profile.id)
        self._say(f"{profile.name} is saved. {key_words}".strip(), "Check gateway…", check, stays=False)
        self._host.pane.composer.setFocus()

    def _keep_draft(self, dialog: ConnectDialog) -> None:
        self._cancelled_draft = dialog.draft()

    def test_connection(self) -> None:
        """Test the gateway in use, and show the result in the notice."""
        spawn(self._test_connection(self._workspace.current.settings.profile_id), name="test a connection")

    async def _test_connection(self, profile_id: str) -> None:
        from playground.engine.gateways.connection_test import try_gateway

        gateways = self._workspace.gateways
        name = shown_name(gateways.get(profile_id).name)
        self._say(f"Testing {name}…")
        try:
            report = await try_gateway((await gateways.client(profile_id)).connection)
        except (RunRefusedError, OSError) as error:
            self._say(f"{name}: {error}", "Gateway settings", self.open_settings)
            return
        if report.ok:
            self.note(profile_id, Reach.OK)
            self._say(f"{name}: {report.headline}", stays=False)
        else:
            self._say(f"{name}: {report.headline}", "Gateway settings", self.open_settings)

    def _open(self) -> ProfileDialog:
        from playground.engine.gateways.connection_test import try_gateway
        from playground.ui.features.gateways.dialog import ProfileDialog

        gateways = self._workspace.gateways
        current = gateways.get(self._workspace.current.settings.profile_id)
        dialog = ProfileDialog(
            gateways.store,
            gateways.keys,
            gateways.services,
            try_gateway,
            spawn,
            self._host.window,
            in_use=current.id,
        )
        dialog.saved.connect(self._saved)
        dialog.used.connect(self._used)
        dialog.removed.connect(self._removed)
        dialog.check_asked.connect(self.check_asked)
        remember_size(dialog, self._settings)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        return dialog

    def _saved(self, profile: Profile) -> None:
        self._workspace.gateways.forget_models(profile.id)
        self._reach.pop(profile.id, None)
        self.changed.emit()
        if self._workspace.current.settings.profile_id == profile.id:
            self.load_models()

    def _used(self, profile: Profile) -> None:
        self.choose(profile.id)

    def _removed(self, profile_id: str) -> None:
        for session in self._workspace.sessions:
            if session.settings.profile_id == profile_id:
                session.change(profile_id=self._workspace.gateways.active_id)
        self.changed.emit()
        self.load_models()
