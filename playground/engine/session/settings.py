"""What is set for one experiment, and how it tells that something is different. No turns, no runs here."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from playground.domain.parameters import Parameters
from playground.domain.parts import Image, ToolCall
from playground.domain.request import ReasoningReturn
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role
from playground.domain.values import JSON, JSONObject, Value
from playground.domain.variables import as_written
from playground.engine.requests.protocol_conversion import carry_parameters
from playground.engine.session.changes import Change, DraftChanged, SettingsChanged, TitleChanged
from playground.protocols.protocol import PROTOCOLS, get_protocol

if TYPE_CHECKING:
    from playground.engine.gateways.profiles import Profile


class Draft(Value):
    """What stands in the composer.

    ``answers`` is the id of the call that a tool turn is to answer, empty where none was chosen. ``calls`` go with an
    assistant turn, as far as they are written: names and ids may be missing.
    """

    text: str = ""
    role: Role = Role.USER
    images: tuple[Image, ...] = ()
    answers: str = ""
    calls: tuple[ToolCall, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing would be lost with it."""
        return not (self.text or self.images or self.answers or self.calls)


class Settings(ABC):
    """Gateway, protocol, model, parameters, tools and extras of one experiment; the part of a session below its turns.

    ``profile_of`` gives a gateway's settings, from which the extra body and the rule for reasoning are inherited;
    without it nothing is. ``unsent`` holds what was typed and cannot be sent yet, by the name of the field, so that
    no keystroke is lost. ``variables`` are the values of ``{{name}}`` in turns, by name. ``unknown`` are fields of the
    experiment that a newer version wrote; they are kept and not looked at.
    """

    def __init__(self, profile_id: str, protocol: str, model: str, profile_of: Callable[[str], Profile] | None) -> None:
        self._observers: list[tuple[Callable[[Change], None], tuple[type[Change], ...]]] = []
        self._by_kind: dict[type[Change], tuple[Callable[[Change], None], ...]] = {}  # found out when first needed
        self._profile_of = profile_of
        self.profile_id = profile_id
        self.protocol = protocol
        self.model = model
        self.parameters: dict[str, Parameters] = {}
        self.tools: tuple[ToolDefinition, ...] = ()
        self.extra_body: JSONObject = {}
        self.extra_headers: dict[str, str] = {}
        self.reasoning_return: ReasoningReturn | None = None  # None: as the gateway's settings say
        self.unsent: dict[str, JSON] = {}
        self.variables: dict[str, str] = {}
        self.unknown: JSONObject = {}
        self.draft = Draft()

    # Observers

    def subscribe(self, callback: Callable[[Change], None], *kinds: type[Change]) -> Callable[[], None]:
        """Tell ``callback`` of every change of these kinds from now on; of every change where none is named.

        Two kinds come with every token: who names others costs nothing then. Returns a function that ends it.
        """
        observer = (callback, kinds)
        self._observers.append(observer)
        self._by_kind.clear()

        def cancel() -> None:
            with contextlib.suppress(ValueError):
                self._observers.remove(observer)
            self._by_kind.clear()

        return cancel

    def tell(self, change: Change) -> None:
        """Pass a change on. For the session and its run only."""
        kind = type(change)
        callbacks = self._by_kind.get(kind)
        if callbacks is None:
            callbacks = tuple(callback for callback, kinds in self._observers if not kinds or kind in kinds)
            self._by_kind[kind] = callbacks
        for callback in callbacks:
            callback(change)

    # Settings

    @abstractmethod
    def remember_set(self, name: str, what: str = "") -> None:
        """The setting ``name``, or ``what`` of it, is about to be another: it can be gone back to."""

    def set_profile(self, profile_id: str) -> None:
        """Use another gateway from the next run on."""
        self._set("profile_id", profile_id)

    def set_protocol(self, protocol: str) -> None:
        """Speak another protocol from the next run on. Raises ValueError for one we do not know."""
        if protocol not in PROTOCOLS:
            raise ValueError(f"unknown protocol {protocol!r}")
        self._set("protocol", protocol)

    def switch_protocol(self, protocol: str) -> None:
        """Speak another protocol and take along every parameter that has a counterpart there (see ``carry``).

        Nothing else is touched: what the other protocol cannot carry is sent again after switching back.
        """
        if protocol == self.protocol:
            return
        before = self.current_parameters()
        self.set_protocol(protocol)
        self.set_parameters(carry_parameters(before, self.current_parameters()))

    def set_model(self, model: str) -> None:
        """Ask another model from the next run on; any text is allowed."""
        self._set("model", model.strip())

    def set_tools(self, tools: tuple[ToolDefinition, ...]) -> None:
        """Offer these tools from the next run on."""
        self._set("tools", tools)

    def set_extra_body(self, body: JSONObject) -> None:
        """Merge this into the body from the next run on; it wins over everything, the gateway's extra body included."""
        self._set("extra_body", body)

    def set_extra_headers(self, headers: dict[str, str]) -> None:
        """Send these headers with this experiment's runs. Raises ValueError for one that cannot go or is a secret."""
        from playground.engine.requests.extras import extra_header_problem

        for name, value in headers.items():
            if problem := extra_header_problem(name, value):
                raise ValueError(problem)
        self._set("extra_headers", headers)

    def set_reasoning_return(self, rule: ReasoningReturn | None) -> None:
        """Send reasoning back by this rule; None: by the gateway's."""
        self._set("reasoning_return", rule)

    def set_unsent(self, name: str, value: JSON) -> None:
        """Keep what is typed in a field and cannot be sent yet; an empty value forgets it."""
        rest = {key: kept for key, kept in self.unsent.items() if key != name}
        self._set("unsent", {**rest, name: value} if value else rest, name)

    def set_variables(self, variables: dict[str, str]) -> None:
        """Put these values in for ``{{name}}`` from the next run on (see ``playground.domain.variables``)."""
        before = self.variables
        names = (name for name in {**before, **variables} if before.get(name) != variables.get(name))
        self._set("variables", variables, " ".join(names))

    def send_as_written(self, names: Iterable[str]) -> None:
        """Let these variables go out as they stand in the text, braces and all."""
        self.set_variables({**self.variables, **{name: as_written(name) for name in names}})

    @property
    def profile(self) -> Profile | None:
        """The gateway's settings, as far as they are known here."""
        return self._profile_of(self.profile_id) if self._profile_of is not None else None

    def set_parameters(self, parameters: Parameters) -> None:
        """Replace the current protocol's parameters."""
        before = self.parameters.get(self.protocol)
        if before != parameters:
            self.remember_set("parameters", _different(before, parameters))
            self.parameters = {**self.parameters, self.protocol: parameters}
            self.tell(SettingsChanged())

    def current_parameters(self) -> Parameters:
        """The current protocol's parameters; a new experiment starts with streaming and usage switched on."""
        found = self.parameters.get(self.protocol)
        if found is None:
            found = get_protocol(self.protocol).parameters_type.begin({})
            self.parameters = {**self.parameters, self.protocol: found}
        return found

    def _set(self, name: str, value: object, what: str = "") -> None:
        if getattr(self, name) != value:
            self.remember_set(name, what)
            setattr(self, name, value)
            self.tell(SettingsChanged())
            self.tell(TitleChanged())

    def with_draft(self, draft: Draft) -> None:
        """Remember what stands in the composer."""
        if draft != self.draft:
            self.draft = draft
            self.tell(DraftChanged())


def _different(before: Parameters | None, after: Parameters) -> str:
    """The names of the parameters that are different."""
    names = type(after).model_fields
    return " ".join(name for name in names if getattr(before, name, None) != getattr(after, name))
