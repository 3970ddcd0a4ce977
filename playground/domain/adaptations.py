"""What a gateway was found not to take, and what is sent it instead: one rule each, and a body with the rules applied.

A rule changes what panels and conversation put into a body. The extra bodies are merged after it and win: whoever
writes a field there by hand gets it sent.
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

_SHOWN: Final = 60  # characters of a value among words


class AdaptationKind(StrEnum):
    """What is done about a field."""

    OMIT = "omit"  # it is not sent
    RENAME = "rename"  # it is sent under the name ``to``, where nothing stands under that name
    REPLACE = "replace"  # ``to`` is sent in its place, whenever it would be sent
    ROLE = "role"  # turns of the role ``field`` are sent as the role ``to``


class Adaptation(Value):
    """One rule.

    ``field`` is a path of members from the top of the body, with dots (``response_format.json_schema.strict``), or a
    role; where a list stands on the way, it goes on in each entry (``tools.function.strict``). ``protocol`` is whose
    bodies it is about. ``model`` is the only one it is for; empty: all of the gateway. ``why`` is what the gateway
    said, short and without secrets; ``learnt`` the day, as ``2026-11-23``. One that is not ``on`` is kept and changes
    nothing.
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

    @property
    def deed(self) -> str:
        """What is done, in words that follow the field's name: ``left out``, ``sent as max_completion_tokens``."""
        if self.kind is AdaptationKind.OMIT:
            return "left out"
        if self.kind is AdaptationKind.REPLACE:
            return f"sent as {written_value(self.to)}"
        return f"sent as {self.to}"

    @property
    def words(self) -> str:
        """The field and what is done: ``stream_options left out``, ``the role developer sent as system``."""
        return f"{'the role ' if self.kind is AdaptationKind.ROLE else ''}{self.field} {self.deed}"

    @property
    def place(self) -> tuple[str, str, str, bool]:
        """A field, or a role, of one protocol and model: of two rules about the same, one replaces the other."""
        return self.field, self.protocol, self.model, self.kind is AdaptationKind.ROLE


def written_value(value: JSON) -> str:
    """A value on one line, by its beginning where it is long."""
    return cut(json.dumps(value, ensure_ascii=False), _SHOWN)


def today() -> str:
    """The day on which a rule is learnt, here."""
    return datetime.now().astimezone().date().isoformat()


def with_rule(rules: Iterable[Adaptation], rule: Adaptation) -> tuple[Adaptation, ...]:
    """The rules with one more, in the place of the one about the same field."""
    return (*(one for one in rules if one.place != rule.place), rule)


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
    changed = _changed(body, rule.field.split("."), rule)
    return changed if isinstance(changed, dict) else None


def _changed(value: JSON, path: list[str], rule: Adaptation) -> JSON:
    """A value in which what stands at ``path`` is as the rule has it; None where that changes nothing."""
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
