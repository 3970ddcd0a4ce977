"""What is set for one experiment: the one declaration. Snapshot, undo, store, file and schema are made from it."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field

from playground.domain.debugging import Debugging
from playground.domain.parameter_conversion import convert_parameters
from playground.domain.parameters import Parameters
from playground.domain.request import ReasoningReturn
from playground.domain.tools import ToolDefinition
from playground.domain.values import LongText, Value
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import DEFAULT, PROTOCOLS
from playground.protocols.protocol import get_protocol, parameters_of


def _typed(found: JSON) -> JSON:
    """Parameters by protocol, from the fields that are set."""
    if not isinstance(found, dict):
        return found
    return {name: parameters_of(name, one) if isinstance(one, dict) else one for name, one in found.items()}


class ExperimentSettings(Value):
    """All that is set for one experiment. Members that are not known here were written by a newer version, and stay."""

    title: str = Field(default="", description="Empty while the title is the first words of the first user turn.")
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
    variables: dict[str, LongText] = Field(
        default_factory=dict, description="The values of {{name}} in turns, by name."
    )
    unsent: dict[str, JSON] = Field(
        default_factory=dict, description="What was typed into a field and cannot be sent yet."
    )
    debugging: Debugging = Field(default=Debugging(), description="What happens when a model calls a tool.")

    @property
    def current(self) -> Parameters:
        """The parameters of the protocol that is spoken; a new experiment begins with streaming and usage on."""
        found = self.parameters.get(self.protocol)
        return found if found is not None else get_protocol(self.protocol).parameters_type.begin({})

    @property
    def untouched(self) -> bool:
        """Whether nothing is set that is worth keeping: at most gateway, protocol and model were chosen."""
        begun = ExperimentSettings(profile_id=self.profile_id, protocol=self.protocol, model=self.model)
        ours = all(
            found.held.keys() <= {name for name, hint in found.hints() if hint.ours is not None}
            for found in self.parameters.values()
        )
        return ours and self.model_copy(update={"parameters": {}}) == begun

    def changed(self, **fields: Any) -> Self:
        """The same with these fields set otherwise; a model and a title without the spaces around them.

        Raises TypeError for a field there is none of, ValueError for a protocol nobody knows, and for an extra header
        that cannot go or is a secret.
        """
        if unknown := fields.keys() - type(self).model_fields.keys():
            raise TypeError(f"experiments have no setting {', '.join(sorted(unknown))}")
        if (protocol := fields.get("protocol")) is not None and protocol not in PROTOCOLS:
            raise ValueError(f"unknown protocol {protocol!r}")
        for name, value in fields.get("extra_headers", {}).items():
            from playground.engine.gateways.extras import extra_header_problem

            if problem := extra_header_problem(name, value):
                raise ValueError(problem)
        for name in ("model", "title"):
            if name in fields:
                fields[name] = fields[name].strip()
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

    def with_unsent(self, name: str, value: JSON) -> Self:
        """The same with what is typed in a field and cannot be sent yet; an empty value forgets it."""
        rest = {key: kept for key, kept in self.unsent.items() if key != name}
        return self.changed(unsent={**rest, name: value} if value else rest)


def different(before: ExperimentSettings, after: ExperimentSettings) -> list[str]:
    """The settings that are different, by name; of those with members of their own, each: “variables.city”."""
    then, now = dict(before), dict(after)
    return [
        name
        for field in dict.fromkeys((*then, *now))
        if then.get(field) != now.get(field)
        for name in _members(field, then.get(field), now.get(field))
    ]


def _members(field: str, then: Any, now: Any) -> list[str]:
    if field == "parameters":
        kinds = [kind for kind in dict.fromkeys((*then, *now)) if then.get(kind) != now.get(kind)]
        inner = [(dict(then.get(kind) or ()), dict(now.get(kind) or ())) for kind in kinds]
    elif isinstance(then, dict) and isinstance(now, dict):
        inner = [(then, now)]
    else:
        return [field]
    names = dict.fromkeys(name for old, new in inner for name in (*old, *new) if old.get(name) != new.get(name))
    return [f"{field}.{name}" for name in names] or [field]
