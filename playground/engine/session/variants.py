"""What a request is made of besides turns, and what of that a variant of the experiment has otherwise.

A variant is made from the fields of ``RequestSettings``: another one there is another one here, in files, the store and
the way back. Only what differs from what is set is in it, so that what is set for all reaches every lane.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Self, TypeVar

from pydantic import BeforeValidator, Field, create_model

from playground.domain.parameter_conversion import convert_parameters
from playground.domain.parameters import Parameters
from playground.domain.request import ReasoningReturn
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import new_id
from playground.domain.values import LongText, Value
from playground.jsonkit.values import JSON, JSONObject, same
from playground.protocols import DEFAULT, PROTOCOLS
from playground.protocols.protocol import get_protocol, parameters_of

S = TypeVar("S", bound="RequestSettings")

#: Columns of Compare at most, the conversation among them.
MOST_LANES: Final = 6


def _typed(found: JSON) -> JSON:
    """Parameters by protocol, from the fields that are set."""
    if not isinstance(found, dict):
        return found
    return {name: parameters_of(name, one) if isinstance(one, dict) else one for name, one in found.items()}


class RequestSettings(Value):
    """What is set for requests. A variant may have any of it otherwise."""

    profile_id: str = Field(default="", description="The gateway among those of the computer that wrote the file.")
    protocol: str = DEFAULT
    model: str = ""
    parameters: Annotated[dict[str, Parameters], BeforeValidator(_typed)] = Field(
        default_factory=dict,
        description="What is set, by protocol; the output format is one of them. What is at its default is not there.",
    )
    tools: tuple[ToolDefinition, ...] = ()
    extra_body: JSONObject = Field(
        default_factory=dict, description="Merged into the body of every request, and wins; see “merges”."
    )
    extra_headers: dict[str, str] = Field(
        default_factory=dict, description="Go with every request. None of them is a secret."
    )
    reasoning_return: ReasoningReturn | None = Field(
        default=None, description="Null where the rule of the gateway's settings holds."
    )

    @property
    def current(self) -> Parameters:
        """The parameters of the protocol that is spoken; a new experiment begins with streaming and usage on."""
        found = self.parameters.get(self.protocol)
        return found if found is not None else get_protocol(self.protocol).parameters_type.begin({})

    def changed(self, **fields: Any) -> Self:
        """The same with these fields set otherwise; a model without the spaces around it.

        Raises TypeError for a field there is none of, ValueError for a protocol nobody knows, and for an extra header
        that cannot go or is a secret.
        """
        if unknown := fields.keys() - type(self).model_fields.keys():
            raise TypeError(f"experiments have no setting {', '.join(sorted(unknown))}")
        if (protocol := fields.get("protocol")) is not None and protocol not in PROTOCOLS:
            raise ValueError(f"unknown protocol {protocol!r}")
        for name, value in fields.get("extra_headers", {}).items():
            from playground.engine.gateways.secrets import extra_header_problem

            if problem := extra_header_problem(name, value):
                raise ValueError(problem)
        if "model" in fields:
            fields["model"] = fields["model"].strip()
        return self.model_copy(update=fields)

    def with_parameters(self, parameters: Parameters) -> Self:
        """The same with other parameters of the protocol that is spoken."""
        return self.changed(parameters={**self.parameters, self.protocol: parameters})

    def switched(self, protocol: str) -> Self:
        """The same in another protocol, with every parameter that has a counterpart there (see ``convert_parameters``).

        Nothing else is touched: what the other protocol cannot carry is sent again after switching back. Raises
        ValueError.
        """
        there = self.changed(protocol=protocol)
        return there.with_parameters(convert_parameters(self.current, there.current))


#: The setting of which a variant keeps what differs, member by member.
_BY_MEMBER: Final = "parameters"


def _field(name: str) -> tuple[Any, Any]:
    """That of a variant's differences for one of the settings."""
    if name == _BY_MEMBER:
        words = "By protocol and by name; null where it is at its default."
        return dict[str, JSONObject], Field(default_factory=dict, description=words)
    info = RequestSettings.model_fields[name]
    kind: Any = Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
    return kind | None, Field(default=None, description=info.description)


if TYPE_CHECKING:
    Differences = Value
else:
    Differences = create_model(
        "Differences",
        __base__=Value,
        __module__=__name__,
        __doc__="What of the settings is different; null where it is as it is set for the experiment.",
        **{name: _field(name) for name in RequestSettings.model_fields},
    )


class Variant(Value):
    """A named set of what is different from what is set for the experiment."""

    id: str = Field(default_factory=new_id, description="Tells this variant from the others of the experiment.")
    name: str = Field(default="", description="Empty where its letter is its name.")
    differences: Differences = Field(default_factory=Differences)
    unset: tuple[str, ...] = Field(
        default=(), description="Settings that are at their default here, although they are set for the experiment."
    )
    gateway: str = Field(default="", description="The name of its gateway, for people and for other computers.")
    system: LongText | None = Field(
        default=None, description="The text of its system turn, empty for none; null: as the conversation has it."
    )

    def applied(self, base: S) -> S:
        """``base`` with what is different here; a protocol that only a newer version speaks is left."""
        known = RequestSettings.model_fields
        update: dict[str, Any] = {
            name: known[name].get_default(call_default_factory=True) for name in self.unset if name in known
        }
        for name, value in self.differences:
            if value is not None and name in known and (name != "protocol" or value in PROTOCOLS):
                update[name] = _with_members(base.parameters, value) if name == _BY_MEMBER else value
        return base.model_copy(update=update)

    def of(self, base: RequestSettings, wanted: RequestSettings) -> Variant:
        """This variant with what differs of ``wanted`` from ``base``; with that, ``applied`` gives ``wanted`` again."""
        found: dict[str, Any] = {}
        unset: list[str] = []
        for name in RequestSettings.model_fields:
            value, other = getattr(wanted, name), getattr(base, name)
            if name == _BY_MEMBER:
                found[name] = _members(base.parameters, wanted.parameters)
            elif value is None and other is not None:
                unset.append(name)
            elif value != other:
                found[name] = value
        beyond = self.differences.model_extra or {}
        made = self.model_copy(
            update={"differences": Differences.model_construct(**found, **beyond), "unset": tuple(unset)}
        )
        return made.model_copy(update={"gateway": ""}) if "profile_id" not in found else made

    @property
    def profile_id(self) -> str | None:
        """Its gateway, where that is another one."""
        found: str | None = getattr(self.differences, "profile_id", None)
        return found

    def on(self, profile_id: str) -> Variant:
        """The same on another gateway."""
        return self.model_copy(update={"differences": self.differences.model_copy(update={"profile_id": profile_id})})

    @property
    def as_set(self) -> bool:
        """Whether nothing is different."""
        known = RequestSettings.model_fields
        kept = {name: value for name, value in self.differences if name in known and value is not None}
        return not self.unset and self.system is None and not kept.pop(_BY_MEMBER, None) and not kept


def _with_members(base: dict[str, Parameters], by_protocol: dict[str, JSONObject]) -> dict[str, Parameters]:
    out = dict(base)
    for protocol, members in by_protocol.items():
        before = _before(base, protocol)
        held = {name: value for name, value in {**before.set_fields, **members}.items() if value is not None}
        out[protocol] = parameters_of(protocol, held, (*before.by_hand, *members))
    return out


def _members(base: dict[str, Parameters], wanted: dict[str, Parameters]) -> dict[str, JSONObject]:
    out: dict[str, JSONObject] = {}
    for protocol, parameters in wanted.items():
        then, now = _before(base, protocol).set_fields, parameters.set_fields
        names = [name for name in dict.fromkeys((*then, *now)) if not same(then.get(name), now.get(name))]
        if names:
            out[protocol] = {name: now.get(name) for name in names}
    return out


def _before(base: dict[str, Parameters], protocol: str) -> Parameters:
    """What is set for all in a protocol; where it was never spoken, what a new experiment begins with."""
    found = base.get(protocol)
    if found is not None:
        return found
    return get_protocol(protocol).parameters_type.begin({}) if protocol in PROTOCOLS else parameters_of(protocol, {})


def letter_of(place: int) -> str:
    """What the column at a place is called: A is the conversation itself; behind Z come AA, AB and so on."""
    above, letter = divmod(place, 26)
    return (letter_of(above - 1) if above else "") + chr(ord("A") + letter)
