"""Settings of an experiment. Snapshot, undo, store, file and schema are derived from this declaration."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field

from playground.domain.debugging import Debugging
from playground.domain.values import LongText, Value
from playground.engine.session.plan import Plan
from playground.engine.session.variants import RequestSettings, Variant
from playground.jsonkit.values import JSON


class ExperimentSettings(RequestSettings):
    """Settings of an experiment. Unknown members were written by a newer version and are kept."""

    title: str = Field(default="", description="Empty while the title is the first words of the first user turn.")
    variables: dict[str, LongText] = Field(
        default_factory=dict, description="The values of {{name}} in turns, by name."
    )
    unsent: dict[str, JSON] = Field(
        default_factory=dict, description="What was typed into a field and cannot be sent yet."
    )
    debugging: Debugging = Field(default=Debugging(), description="What happens when a model calls a tool.")
    variants: tuple[Variant, ...] = Field(
        default=(), description="What is compared with it side by side, in the order of the columns."
    )
    evaluation: Plan | None = Field(default=None, description="Null where there is no evaluation.")

    @property
    def untouched(self) -> bool:
        """Return whether at most gateway, protocol and model were chosen."""
        begun = ExperimentSettings(profile_id=self.profile_id, protocol=self.protocol, model=self.model)
        ours = all(
            parameters.set_fields.keys() <= {name for name, hint in parameters.hints() if hint.ours is not None}
            for parameters in self.parameters.values()
        )
        return ours and self.model_copy(update={"parameters": {}}) == begun

    def changed(self, **fields: Any) -> Self:
        """Return the settings with other fields; the title without surrounding spaces. Raises as its base does."""
        if "title" in fields:
            fields["title"] = fields["title"].strip()
        return super().changed(**fields)

    def with_unsent(self, name: str, value: JSON) -> Self:
        """Return the settings with the text of a field that is not valid yet; an empty value removes it."""
        rest = {key: text for key, text in self.unsent.items() if key != name}
        return self.changed(unsent={**rest, name: value} if value else rest)


def changed_names(before: ExperimentSettings, after: ExperimentSettings) -> list[str]:
    """Return the names of different settings, with their members where they have some: “variables.city”."""
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
    elif isinstance(then, Value) and isinstance(now, Value):
        inner = [(dict(then), dict(now))]
    else:
        return [field]
    names = dict.fromkeys(name for old, new in inner for name in (*old, *new) if old.get(name) != new.get(name))
    return [f"{field}.{name}" for name in names] or [field]
