"""What one experiment is made of, below its runs: what they read, and where they write what they bring."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from copy import copy
from typing import TYPE_CHECKING

from playground.domain.model_facts import NOTHING_TOLD, ModelFacts
from playground.domain.transcript import Transcript
from playground.engine.session.changes import (
    Change,
    DebugChanged,
    ExchangeChanged,
    Observers,
    RunState,
    RunStateChanged,
    SettingsChanged,
    TitleChanged,
)
from playground.engine.session.draft import Draft
from playground.engine.session.editors import Editors
from playground.engine.session.history import History
from playground.engine.session.serving import Serving
from playground.engine.session.settings import ExperimentSettings, different
from playground.engine.session.tapes import Tapes
from playground.engine.session.turns import Turns

if TYPE_CHECKING:
    from playground.domain.costs import PriceLookup
    from playground.domain.prices import Asked, Price
    from playground.engine.gateways.profiles import Profile
    from playground.gateway.client import GatewayClient
    from playground.gateway.limits import RateLimits
    from playground.gateway.tape import Exchange

Connect = Callable[[str], Awaitable["GatewayClient"]]


class Experiment:
    """Its state in the present, each piece with the one way to change it; ``state`` is where its runs stand.

    ``connect`` gives a client for a profile id; it may raise ``RunRefusedError``. ``profile_of`` gives the profile
    itself, from which the extra body and the rule for reasoning are inherited; without it nothing is. ``price_of``
    gives the price of a model of a gateway; without it, what was entered in the profile counts. ``facts_of`` gives
    what its gateway tells of a model; without it nothing is told. ``literal`` says
    that its turns are text to the last brace and hold no variables. ``serving`` gives what asks tool servers
    when it is first needed; without it none can be asked. ``lane`` gives the same experiment as a lane of
    Compare has it: with an end, settings and runs of its own.
    """

    def __init__(
        self,
        connect: Connect,
        settings: ExperimentSettings,
        profile_of: Callable[[str], Profile] | None = None,
        *,
        literal: bool = False,
        serving: Callable[[], Serving] | None = None,
        price_of: PriceLookup | None = None,
        facts_of: Callable[[str, str], ModelFacts] | None = None,
    ) -> None:
        self.connect = connect
        self.price_of = price_of
        self._facts_of = facts_of
        self.ask_servers = serving
        self.literal = literal
        self.profile_of = profile_of
        self._of: Experiment | None = None  # whose lane it is: not itself, to be freed with its last user
        self.observers = Observers()
        self.history = History(settings)
        self.turns = Turns(self.history, self.observers)
        self.editors = Editors(self.turns, self.observers)
        self._draft = Draft()
        self.exchanges = Tapes()
        self.limits: RateLimits | None = None
        self.state = RunState.IDLE

    def lane(self, variant_id: str) -> Experiment:
        """The same, of the lane of a variant; to be made once."""
        made = copy(self)
        made._of = self._main
        made.observers = Observers(self.observers)
        made.history = self.history.lane(variant_id)
        made.turns = Turns(made.history, made.observers, self.turns)
        made.editors = Editors(made.turns, made.observers, self.editors)
        made.limits, made.state = None, RunState.IDLE
        return made

    @property
    def _main(self) -> Experiment:
        return self._of or self

    @property
    def serving(self) -> Serving | None:
        """What asks tool servers; None where none can be asked."""
        return self.ask_servers() if self.ask_servers is not None else None

    @property
    def draft(self) -> Draft:
        """What stands in the composer, which all lanes have together."""
        return self._main._draft

    @draft.setter
    def draft(self, draft: Draft) -> None:
        self._main._draft = draft

    @property
    def transcript(self) -> Transcript:
        """The turns as they are."""
        return self.history.transcript

    @property
    def settings(self) -> ExperimentSettings:
        """What is set now."""
        return self.history.settings

    @property
    def profile(self) -> Profile | None:
        """The gateway's settings, as far as they are known here."""
        return self.profile_of(self.settings.profile_id) if self.profile_of is not None else None

    def price(self, model: str) -> Price | None:
        """What a model costs now on the gateway in use; None where nobody says."""
        if self.price_of is not None:
            return self.price_of(self.settings.profile_id, model)
        profile = self.profile
        return profile.prices.get(model) if profile is not None else None

    def facts(self, model: str) -> ModelFacts:
        """What the gateway in use tells of a model; nothing where that is not known here."""
        return self._facts_of(self.settings.profile_id, model) if self._facts_of is not None else NOTHING_TOLD

    def facts_asked(self, asked: Asked) -> ModelFacts:
        """The same of a model that was asked, whichever gateway it was on."""
        here = self.settings
        gateway, model = asked.profile_id or here.profile_id, asked.model or here.model
        return self._facts_of(gateway, model) if self._facts_of is not None else NOTHING_TOLD

    def set(self, settings: ExperimentSettings) -> None:
        """Let all be set as these settings have it: an edit that can be undone."""
        before = self.settings
        if settings is not before and settings != before:
            self.history.keep_for(" ".join(different(before, settings)))
            self.history.settings = settings
            self.tell_settings(before)

    def tell_settings(self, before: ExperimentSettings) -> None:
        """Tell what is set otherwise than ``before``; rules for calls are no part of a request, nor is the title."""
        now = self.settings
        if now.model_copy(update={"title": before.title, "debugging": before.debugging}) != before:
            self.tell(SettingsChanged())
        self.tell(TitleChanged())
        if now.debugging != before.debugging:
            self.tell(DebugChanged())

    def tell(self, change: Change) -> None:
        """Pass a change on."""
        self.observers.tell(change)

    def exchange_changed(self, exchange: Exchange) -> None:
        """An exchange is new, or more of it is known."""
        self.exchanges.keep(exchange)
        self.tell(ExchangeChanged(exchange.id))

    def set_state(self, state: RunState) -> None:
        """Its runs stand elsewhere."""
        if state is not self.state:
            self.state = state
            self.tell(RunStateChanged(state))
            self.tell(TitleChanged())
            if state is RunState.IDLE:
                self.observers.tell(SettingsChanged(), here=True)  # what would be sent from here
