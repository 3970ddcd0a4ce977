"""Settings of requests, and variants of an experiment that differ in some of them.

The fields of a variant are derived from those of `RequestSettings`, in files, the store and undo as well. A variant
holds only differences, so that a changed setting of the experiment reaches every lane.
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


def _typed(value: JSON) -> JSON:
    """Return parameters by protocol, from JSON members."""
    if not isinstance(value, dict):
        return value
    return {name: parameters_of(name, item) if isinstance(item, dict) else item for name, item in value.items()}


class RequestSettings(Value):
    """Settings of requests. A variant may differ in any of them."""

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
        """The parameters of the present protocol; those of a new experiment have streaming and usage on."""
        parameters = self.parameters.get(self.protocol)
        return parameters if parameters is not None else get_protocol(self.protocol).parameters_type.begin({})

    def changed(self, **fields: Any) -> Self:
        """Return the settings with other fields; the model without surrounding spaces.

        Raises TypeError for an unknown field, ValueError for an unknown protocol or for an extra header that is invalid
        or a secret.
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
        """Return the settings with other parameters of the present protocol."""
        return self.changed(parameters={**self.parameters, self.protocol: parameters})

    def switched(self, protocol: str) -> Self:
        """Return the settings in another protocol, with the parameters that have a counterpart in it.

        What the other protocol cannot carry remains stored for switching back. Raises ValueError.
        """
        switched = self.changed(protocol=protocol)
        return switched.with_parameters(convert_parameters(self.current, switched.current))


#: The setting whose differences a variant holds member by member.
_BY_MEMBER: Final = "parameters"


def _field(name: str) -> tuple[Any, Any]:
    """Return type and field of a setting among the differences of a variant."""
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
        __doc__="Settings that differ; null: as set for the experiment.",
        **{name: _field(name) for name in RequestSettings.model_fields},
    )


class Variant(Value):
    """A named set of what is different from what is set for the experiment."""

    id: str = Field(default_factory=new_id, description="Identifies this variant in the experiment.")
    name: str = Field(default="", description="Empty: named by its letter.")
    differences: Differences = Field(default_factory=Differences)
    unset: tuple[str, ...] = Field(
        default=(), description="Settings at their default although the experiment sets them."
    )
    gateway: str = Field(default="", description="The name of its gateway, for people and for other computers.")
    system: LongText | None = Field(
        default=None, description="The text of its system turn, empty for none; null: as the conversation has it."
    )

    def applied(self, base: S) -> S:
        """Return `base` with the differences of this variant; a protocol of a newer version is ignored."""
        fields = RequestSettings.model_fields
        update: dict[str, Any] = {
            name: fields[name].get_default(call_default_factory=True) for name in self.unset if name in fields
        }
        for name, value in self.differences:
            if value is not None and name in fields and (name != "protocol" or value in PROTOCOLS):
                update[name] = _with_members(base.parameters, value) if name == _BY_MEMBER else value
        return base.model_copy(update=update)

    def with_settings(self, base: RequestSettings, settings: RequestSettings) -> Variant:
        """Return this variant with the differences of `settings` from `base`, so that `applied` gives `settings`."""
        differences: dict[str, Any] = {}
        unset: list[str] = []
        for name in RequestSettings.model_fields:
            value, default = getattr(settings, name), getattr(base, name)
            if name == _BY_MEMBER:
                differences[name] = _member_differences(base.parameters, settings.parameters)
            elif value is None and default is not None:
                unset.append(name)
            elif value != default:
                differences[name] = value
        unknown = self.differences.model_extra or {}
        update: dict[str, Any] = {
            "differences": Differences.model_construct(**differences, **unknown),
            "unset": tuple(unset),
        }
        return self.model_copy(update=update if "profile_id" in differences else {**update, "gateway": ""})

    @property
    def profile_id(self) -> str | None:
        """Its gateway; None if it is that of the experiment."""
        profile_id: str | None = getattr(self.differences, "profile_id", None)
        return profile_id

    def on(self, profile_id: str) -> Variant:
        """Return the variant on another gateway."""
        return self.model_copy(update={"differences": self.differences.model_copy(update={"profile_id": profile_id})})

    @property
    def as_set(self) -> bool:
        """Return whether nothing differs."""
        fields = RequestSettings.model_fields
        values = {name: value for name, value in self.differences if name in fields and value is not None}
        return not self.unset and self.system is None and not values.pop(_BY_MEMBER, None) and not values


def _with_members(base: dict[str, Parameters], by_protocol: dict[str, JSONObject]) -> dict[str, Parameters]:
    out = dict(base)
    for protocol, members in by_protocol.items():
        before = _base_parameters(base, protocol)
        fields = {name: value for name, value in {**before.set_fields, **members}.items() if value is not None}
        out[protocol] = parameters_of(protocol, fields, (*before.by_hand, *members))
    return out


def _member_differences(base: dict[str, Parameters], settings: dict[str, Parameters]) -> dict[str, JSONObject]:
    out: dict[str, JSONObject] = {}
    for protocol, parameters in settings.items():
        then, now = _base_parameters(base, protocol).set_fields, parameters.set_fields
        names = [name for name in dict.fromkeys((*then, *now)) if not same(then.get(name), now.get(name))]
        if names:
            out[protocol] = {name: now.get(name) for name in names}
    return out


def _base_parameters(base: dict[str, Parameters], protocol: str) -> Parameters:
    """Return the parameters of the experiment in a protocol, or those of a new experiment."""
    if (parameters := base.get(protocol)) is not None:
        return parameters
    return get_protocol(protocol).parameters_type.begin({}) if protocol in PROTOCOLS else parameters_of(protocol, {})


def letter_of(place: int) -> str:
    """Return the letter of a column: A is the conversation; after Z come AA, AB and so on."""
    above, letter = divmod(place, 26)
    return (letter_of(above - 1) if above else "") + chr(ord("A") + letter)
