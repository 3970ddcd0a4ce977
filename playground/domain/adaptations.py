"""What a gateway was found not to take, and what is sent it instead: one rule each, and a body with the rules applied.

A rule changes what panels and conversation put into a body. The extra bodies are merged after it and win: whoever
writes a field there by hand gets it sent.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from pydantic import Field

from playground.domain.values import Value
from playground.jsonkit.values import JSON, JSONObject


class AdaptationKind(StrEnum):
    """What is done about a field."""

    OMIT = "omit"  # it is not sent
    RENAME = "rename"  # it is sent under the name ``to``, where nothing stands under that name
    REPLACE = "replace"  # ``to`` is sent in its place, whenever it would be sent
    ROLE = "role"  # turns of the role ``field`` are sent as the role ``to``


class Adaptation(Value):
    """One rule.

    ``field`` is a path of members from the top of the body, with dots (``response_format.json_schema.strict``), or a
    role. ``protocol`` is whose bodies it is about. ``model`` is the only one it is for; empty: all of the gateway.
    ``why`` is what the gateway said, short and without secrets; ``learnt`` the day, as ``2026-11-23``. One that is
    not ``on`` is kept and changes nothing.
    """

    kind: AdaptationKind
    field: str = Field(min_length=1)
    to: JSON = None
    protocol: str
    model: str = ""
    why: str = ""
    learnt: str = ""
    on: bool = True

    def applies_to(self, protocol: str, model: str) -> bool:
        """Whether it is about requests of that protocol for that model."""
        return self.on and self.protocol == protocol and self.model in ("", model)

    def same_place(self, other: Adaptation) -> bool:
        """Whether one of the two replaces the other: they are about one field of one protocol and model."""
        mine = (self.field, self.protocol, self.model, self.kind is AdaptationKind.ROLE)
        return mine == (other.field, other.protocol, other.model, other.kind is AdaptationKind.ROLE)


def with_rule(rules: Iterable[Adaptation], rule: Adaptation) -> tuple[Adaptation, ...]:
    """The rules with one more, in the place of the one about the same field."""
    return (*(one for one in rules if not one.same_place(rule)), rule)


def adapted(body: JSONObject, rules: Iterable[Adaptation]) -> JSONObject:
    """The body with the rules applied in their order. It is not changed itself; messages only where a role is."""
    return _apply(body, rules)[0]


def effective(body: JSONObject, rules: Iterable[Adaptation]) -> tuple[Adaptation, ...]:
    """Those of the rules that change something about that body."""
    return _apply(body, rules)[1]


def _apply(body: JSONObject, rules: Iterable[Adaptation]) -> tuple[JSONObject, tuple[Adaptation, ...]]:
    used: list[Adaptation] = []
    for rule in rules:
        changed = _with_role(body, rule) if rule.kind is AdaptationKind.ROLE else _with_field(body, rule)
        if changed is not None:
            body = changed
            used.append(rule)
    return body, tuple(used)


def _with_field(body: JSONObject, rule: Adaptation) -> JSONObject | None:
    """The body with one field left out, under another name or of another value; None where that changes nothing."""
    *above, name = rule.field.split(".")
    whole = inner = dict(body)
    for step in above:
        below = inner.get(step)
        if not isinstance(below, dict):
            return None
        inner[step] = dict(below)
        inner = inner[step]
    if name not in inner:
        return None
    if rule.kind is AdaptationKind.REPLACE:
        if inner[name] == rule.to and type(inner[name]) is type(rule.to):
            return None
        inner[name] = rule.to
        return whole
    value = inner.pop(name)
    if rule.kind is AdaptationKind.RENAME:
        inner.setdefault(str(rule.to), value)
    return whole


def _with_role(body: JSONObject, rule: Adaptation) -> JSONObject | None:
    """The body with one role under another name, in whichever of its lists the entries have roles; None for none."""
    changed = {
        name: [_as_role(one, rule) for one in value]
        for name, value in body.items()
        if isinstance(value, list) and any(_has_role(one, rule) for one in value)
    }
    return {**body, **changed} if changed else None


def _has_role(message: JSON, rule: Adaptation) -> bool:
    return isinstance(message, dict) and message.get("role") == rule.field


def _as_role(message: JSON, rule: Adaptation) -> JSON:
    return {**message, "role": rule.to} if isinstance(message, dict) and _has_role(message, rule) else message
