"""State of an open experiment: what its lanes share, and what each lane has of its own.

`Experiment` and `Session` in `playground.engine.session.session` add the commands.
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from playground.domain.accumulator import GrowingChoice
from playground.domain.model_facts import NOTHING_TOLD, ModelFacts
from playground.domain.roles import Role
from playground.domain.transcript import Ending, Transcript, new_id
from playground.engine.session.call_notes import CallNotes
from playground.engine.session.changes import (
    Change,
    DebugChanged,
    ExchangeChanged,
    ObserverGroup,
    Observers,
    RunState,
    RunStateChanged,
    SettingsChanged,
    TitleChanged,
)
from playground.engine.session.drafts import Draft, Drafts, Editors
from playground.engine.session.history import MAIN, History, UndoStack
from playground.engine.session.settings import ExperimentSettings, changed_names
from playground.engine.session.tool_calls import PendingToolCalls, ToolCaller
from playground.engine.session.turns import Turns
from playground.gateway.tape import Exchange
from playground.protocols import DEFAULT
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.domain.costs import PriceLookup
    from playground.domain.prices import Asked, Price
    from playground.engine.gateways.profiles import Profile
    from playground.gateway.client import GatewayClient
    from playground.gateway.limits import RateLimits

#: Returns the first characters of a text, without secrets.
Preview = Callable[[str, int], str]

UNTITLED = "New experiment"
_MAX_TITLE: Final = 48  # characters
_TITLE_SOURCE: Final = 4096  # characters that are searched for secrets: one at the title's end must be complete
_STATE_WORDS: Final = {RunState.RETRYING: "waiting to retry", RunState.ANSWERING: "waiting for a tool"}


def plain_preview(text: str, most: int) -> str:
    """Return the first characters of a text that holds no secrets."""
    return text[:most]


def title_of(transcript: Transcript, title: str, preview: Preview = plain_preview) -> str:
    """Return the title set by a person, else the first words of the first user turn, without secrets."""
    if title:
        return preview(title, len(title))
    for turn in transcript.path:
        if turn.role is Role.USER and (words := _first_words(turn.text)):
            fits = len(words) <= _MAX_TITLE
            return preview(words, _MAX_TITLE) if fits else preview(words, _MAX_TITLE - 1).rstrip() + "…"
    return UNTITLED


def _first_words(text: str) -> str:
    """Return the first words of a text in one line, more of them than a title has."""
    match = re.search(r"\S", text)
    if match is None:
        return ""
    end = match.start() + _TITLE_SOURCE
    words = " ".join(text[match.start() : end].split())
    if end >= len(text):
        return words
    return words.rpartition(" ")[0] or words  # the last one is incomplete


def needs_results(count: int) -> str:
    """Return the sentence that says how many calls have no result yet."""
    return "1 tool call needs a result" if count == 1 else f"{count:,} tool calls need results"


def summary_of(transcript: Transcript, model: str, state: RunState = RunState.IDLE) -> str:
    """Return a summary in one line: the model, then the state or the most important fact."""
    path = transcript.path
    facts = [model or "no model"]
    if state is not RunState.IDLE:
        facts.append(_STATE_WORDS.get(state, "running"))
    elif waiting := transcript.unanswered():
        facts.append(needs_results(len(waiting)))
    elif path and path[-1].outcome and path[-1].outcome.failure:
        failure = path[-1].outcome.failure
        facts.append(f"failed ({failure.status})" if failure.status else "failed")
    elif path and path[-1].outcome and path[-1].outcome.holes:
        facts.append("part unread")
    elif path and path[-1].outcome and path[-1].outcome.ending is Ending.INTERRUPTED:
        facts.append("interrupted")
    elif path:
        facts.append(f"{len(path):,} message{'s' * (len(path) > 1)}")
    return " · ".join(facts)


#: Returns a client for a profile id; raises RunRefusedError if there is none.
Connect = Callable[[str], Awaitable["GatewayClient"]]
#: Returns a stored exchange by the ids of the experiment and its own.
FetchExchange = Callable[[str, str], Awaitable["Exchange | None"]]

#: Default limit of the memory of recorded bodies, in bytes.
DEFAULT_LIMIT: Final = 256 * 1024 * 1024
#: Memory of a read besides its bytes.
_READ_OVERHEAD: Final = 128


class Tapes(dict[str, Exchange]):
    """Exchanges by id, oldest first, with a limit of the memory of their bodies.

    Above the limit the oldest bodies are dropped; times, headers and failures remain. Exchanges under way and the
    latest one keep their bodies.
    """

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        super().__init__()
        self._limit = limit
        self._sizes: dict[str, int] = {}  # of ended exchanges with their bodies, oldest first

    @property
    def limit(self) -> int:
        """Bytes that the bodies of ended exchanges may take together. A lower one takes effect at once."""
        return self._limit

    @limit.setter
    def limit(self, limit: int) -> None:
        self._limit = limit
        self._drop_oldest()

    @property
    def bytes(self) -> int:
        """Bytes that the bodies of ended exchanges take now."""
        return sum(self._sizes.values())

    def keep(self, exchange: Exchange) -> None:
        """Add an exchange, or more of it; called for every read, so it costs nothing before the end."""
        self[exchange.id] = exchange
        if exchange.ended is not None and exchange.id not in self._sizes and not exchange.dropped:
            size = len(exchange.request_body) + exchange.size + _READ_OVERHEAD * len(exchange.reads)
            self._sizes[exchange.id] = size
            self._drop_oldest(spared=exchange.id)

    def _drop_oldest(self, spared: str = "") -> None:
        used = self.bytes
        for id_ in list(self._sizes):
            if used <= self._limit or id_ == spared:
                break
            used -= self._sizes.pop(id_)
            self[id_].drop()


class ExperimentState:
    """State of an experiment that its lanes share; it begins with `settings`, or with a profile, protocol and model.

    `profile_of` returns a gateway's profile, from which extra body and reasoning rule are inherited; `price_of` the
    price of a gateway's model (by default that in the profile); `facts_of` its context limits and abilities; `serving`
    the caller of tool servers, when it is first needed. `literal`: turns contain no variables. `preview` shortens texts
    and removes secrets.
    """

    def __init__(
        self,
        connect: Connect,
        *,
        profile_id: str = "",
        protocol: str = DEFAULT,
        model: str = "",
        settings: ExperimentSettings | None = None,
        profile_of: Callable[[str], Profile] | None = None,
        literal: bool = False,
        preview: Preview = plain_preview,
        serving: Callable[[], ToolCaller] | None = None,
        price_of: PriceLookup | None = None,
        facts_of: Callable[[str, str], ModelFacts] | None = None,
    ) -> None:
        if settings is None:
            settings = ExperimentSettings(
                profile_id=profile_id,
                protocol=protocol,
                model=model,
                parameters={protocol: get_protocol(protocol).parameters_type.begin({})},
            )
        self.id = new_id()
        self.created_at = self.changed_at = time.time()
        self.pinned = self.archived = False
        self.left_out: tuple[str, ...] = ()  # lanes that get no messages, as in a snapshot
        self.connect = connect
        self.fetch_exchange: FetchExchange | None = None
        self.profile_of = profile_of
        self.price_of = price_of
        self.facts_of = facts_of
        self.ask_servers = serving
        self.literal = literal
        self.preview = preview
        self.stack = UndoStack(settings)
        self.observer_group = ObserverGroup()
        self.growing: dict[str, GrowingChoice] = {}
        self.drafts = Drafts()
        self.exchanges = Tapes()
        self.notes = CallNotes(self.observer_group)

    @property
    def serving(self) -> ToolCaller | None:
        """The caller of tool servers; None without one."""
        return self.ask_servers() if self.ask_servers is not None else None

    # Recordings

    def exchange_changed(self, exchange: Exchange, observers: Observers | None = None) -> None:
        """Add an exchange, or more of it, and tell the observers of its lane, by default of all."""
        self.exchanges.keep(exchange)
        (observers or self.observer_group).tell(ExchangeChanged(exchange.id))


class Lane:
    """State of a lane of `experiment`, that of the variant `variant_id`; of the conversation by default.

    `state` is that of its run, `limits` are the rate limits in the latest response.
    """

    def __init__(self, experiment: ExperimentState, variant_id: str = MAIN) -> None:
        self.experiment = experiment
        self.observers = Observers(experiment.observer_group)
        self.history = History(experiment.stack, variant_id)
        self.turns = Turns(self.history, self.observers, experiment.growing)
        self.editors = Editors(experiment.drafts, self.turns, self.observers)
        self.pending_calls = PendingToolCalls(self.history, self.observers, experiment.ask_servers)
        self.exchanges = experiment.exchanges
        self.limits: RateLimits | None = None
        self.state = RunState.IDLE

    @property
    def id(self) -> str:
        """The id of the experiment."""
        return self.experiment.id

    @property
    def transcript(self) -> Transcript:
        """The present turns."""
        return self.history.transcript

    @property
    def settings(self) -> ExperimentSettings:
        """The present settings."""
        return self.history.settings

    @property
    def growing(self) -> dict[str, GrowingChoice]:
        """The turns being received, in any lane."""
        return self.experiment.growing

    @property
    def profile(self) -> Profile | None:
        """The profile of the gateway; None if it is unknown."""
        profile_of = self.experiment.profile_of
        return profile_of(self.settings.profile_id) if profile_of is not None else None

    def price(self, model: str) -> Price | None:
        """Return the present price of a model of the gateway; None if unknown."""
        if self.experiment.price_of is not None:
            return self.experiment.price_of(self.settings.profile_id, model)
        profile = self.profile
        return profile.prices.get(model) if profile is not None else None

    def facts(self, model: str, profile_id: str = "") -> ModelFacts:
        """Return what a gateway tells of a model, by default the present gateway."""
        facts_of = self.experiment.facts_of
        return facts_of(profile_id or self.settings.profile_id, model) if facts_of is not None else NOTHING_TOLD

    def facts_asked(self, target: Asked) -> ModelFacts:
        """Return what a gateway tells of a model that was asked."""
        return self.facts(target.model or self.settings.model, target.profile_id)

    @property
    def title(self) -> str:
        """The title set by a person, else the first words of the first user turn."""
        return title_of(self.transcript, self.settings.title, self.experiment.preview)

    @property
    def summary(self) -> str:
        """A summary in one line for the list: the model, then the most important fact."""
        words = summary_of(self.transcript, self.settings.model, self.state)
        return self.experiment.preview(words, len(words))

    def subscribe(
        self, callback: Callable[[Change], None], *kinds: type[Change], everywhere: bool = False
    ) -> Callable[[], None]:
        """Subscribe to changes; see `Observers.subscribe`."""
        return self.observers.subscribe(callback, *kinds, everywhere=everywhere)

    def set_state(self, state: RunState) -> None:
        """Set the state of the run, and tell the observers."""
        if state is not self.state:
            self.state = state
            self.observers.tell(RunStateChanged(state))
            self.observers.tell(TitleChanged())
            if state is RunState.IDLE:
                self.observers.tell(SettingsChanged(), only_this_lane=True)  # its next request is another one

    @property
    def draft(self) -> Draft:
        """The content of the composer, shared by all lanes."""
        return self.experiment.drafts.composer

    def set(self, settings: ExperimentSettings) -> None:
        """Replace the settings, as one edit."""
        before = self.settings
        if settings is not before and settings != before:
            self.history.push_setting(" ".join(changed_names(before, settings)))
            self.history.settings = settings
            self.tell_settings(before)

    def tell_settings(self, before: ExperimentSettings) -> None:
        """Tell which settings differ from those before."""
        now = self.settings
        if now.model_copy(update={"title": before.title, "debugging": before.debugging}) != before:
            self.observers.tell(SettingsChanged())
        self.observers.tell(TitleChanged())
        if now.debugging != before.debugging:
            self.observers.tell(DebugChanged())
