"""Adaptation rules: fields and roles that a gateway rejects, and what is sent instead.

A rule changes fields that come from panels and the conversation. The extra bodies are merged afterwards and win, so
fields written there by hand are always sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Final

from pydantic import Field

from playground.domain.values import Value
from playground.jsonkit.texts import cut
from playground.jsonkit.values import JSON, JSONObject, same

_SHOWN: Final = 60  # characters of a value in a sentence


class AdaptationKind(StrEnum):
    """The kind of change to a field or role."""

    OMIT = "omit"  # the field is not sent
    RENAME = "rename"  # the field is sent under the name ``to``, unless that name is set
    REPLACE = "replace"  # ``to`` is sent as its value, if it would be sent
    ROLE = "role"  # turns with the role ``field`` are sent with the role ``to``


class Adaptation(Value):
    """One rule.

    ``field`` is a role, or the dotted path of a member from the top of the body
    (``response_format.json_schema.strict``), which continues in each entry of a list (``tools.function.strict``).
    ``protocol`` is the protocol of the bodies. ``model`` restricts the rule to one model; empty: all of the gateway.
    ``why`` is the gateway's error, shortened and without secrets; ``learnt`` the day, such as ``2026-11-23``. A rule
    that is not ``on`` has no effect.
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
        """Return whether the rule is active for requests of a protocol and model."""
        return self.on and self.protocol == protocol and self.model in ("", model)

    @property
    def deed(self) -> str:
        """The change in words that follow the field's name: ``left out``, ``sent as max_completion_tokens``."""
        if self.kind is AdaptationKind.OMIT:
            return "left out"
        if self.kind is AdaptationKind.REPLACE:
            return f"sent as {written_value(self.to)}"
        return f"sent as {self.to}"

    @property
    def words(self) -> str:
        """The field and the change: ``stream_options left out``, ``the role developer sent as system``."""
        return f"{'the role ' if self.kind is AdaptationKind.ROLE else ''}{self.field} {self.deed}"

    @property
    def place(self) -> tuple[str, str, str, bool]:
        """The key of the rule: a rule replaces another one with an equal key."""
        return self.field, self.protocol, self.model, self.kind is AdaptationKind.ROLE


def written_value(value: JSON) -> str:
    """Return a value as JSON on one line, cut if long."""
    return cut(json.dumps(value, ensure_ascii=False), _SHOWN)


def today() -> str:
    """Return the local date, such as ``2026-11-23``."""
    return datetime.now().astimezone().date().isoformat()


def with_rule(rules: Iterable[Adaptation], rule: Adaptation) -> tuple[Adaptation, ...]:
    """Return the rules with one more, which replaces a rule about the same field."""
    return (*(other_rule for other_rule in rules if other_rule.place != rule.place), rule)


def adapted(body: JSONObject, rules: Iterable[Adaptation]) -> JSONObject:
    """Return a copy of the body with the rules applied in order."""
    return _apply(body, rules)[0]


def effective(body: JSONObject, rules: Iterable[Adaptation]) -> tuple[Adaptation, ...]:
    """Return the rules that change the body."""
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
    """Return the body with a field removed, renamed or replaced; None if that changes nothing."""
    changed = _changed(body, rule.field.split("."), rule)
    return changed if isinstance(changed, dict) else None


def _changed(value: JSON, path: list[str], rule: Adaptation) -> JSON:
    """Return a copy of a value with the rule applied at ``path``; None if that changes nothing."""
    if isinstance(value, list):
        entries = [_changed(entry, path, rule) for entry in value]
        if all(entry is None for entry in entries):
            return None
        return [old if new is None else new for old, new in zip(value, entries, strict=True)]
    name, *below = path
    if not isinstance(value, dict) or name not in value:
        return None
    inner, out = value[name], dict(value)
    if below:
        out[name] = _changed(inner, below, rule)
        return out if out[name] is not None else None
    if rule.kind is AdaptationKind.REPLACE:
        if same(inner, rule.to):
            return None
        out[name] = rule.to
        return out
    del out[name]
    if rule.kind is AdaptationKind.RENAME:
        out.setdefault(str(rule.to), inner)
    return out


def _with_role(body: JSONObject, rule: Adaptation) -> JSONObject | None:
    """Return the body with one role renamed in all lists of messages; None if no message has it."""
    changed = {
        name: [_as_role(message, rule) for message in value]
        for name, value in body.items()
        if isinstance(value, list) and any(_has_role(message, rule) for message in value)
    }
    return {**body, **changed} if changed else None


def _has_role(message: JSON, rule: Adaptation) -> bool:
    return isinstance(message, dict) and message.get("role") == rule.field


def _as_role(message: JSON, rule: Adaptation) -> JSON:
    return {**message, "role": rule.to} if isinstance(message, dict) and _has_role(message, rule) else message
