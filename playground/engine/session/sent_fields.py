"""What of a refused body panels and conversation had put there: what a rule of the gateway's could change about it.

Only looked for once a request failed. Nothing of the conversation is in it but the roles of its instructions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from playground.domain.adaptations import Adaptation
from playground.domain.errors import Failure, FailureKind
from playground.domain.parts import Text
from playground.domain.request import Request
from playground.domain.roles import Role
from playground.domain.transcript import Turn
from playground.jsonkit.merge import MemberPath, holds
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.protocol import get_protocol

_MOST: Final = 200  # fields
_DEEP: Final = 3  # members on the way to one
_ENTRIES: Final = 20  # of a list that are looked into
_WORD: Final = 24  # characters of a value that is one word
_INSTRUCTIONS: Final = (Role.SYSTEM, Role.DEVELOPER)
#: Kinds of failure that a gateway's own words come with.
_TOLD: Final = frozenset({FailureKind.HTTP, FailureKind.STREAM})


def with_sent_fields(failure: Failure, request: Request) -> Failure:
    """The failure that knows what fields had been sent; as it is where that does not bear on it."""
    if failure.kind not in _TOLD or failure.sent is None:
        return failure
    try:
        body = request.adapted(plain_settings(request))
    except (ValueError, RecursionError):
        return failure
    protocol = get_protocol(request.protocol)
    extras = (request.extra_body, request.inherited_body)
    fields: dict[str, JSON] = {}
    for path, value in _walked(body, (), (*protocol.conversation, "model")):
        if len(fields) == _MOST:
            break
        if not any(holds(extra, path) for extra in extras):  # what is written there by hand is sent whatever we do
            fields.setdefault(".".join(path), value if _is_short(value) else None)
    entries = [entry for name in protocol.conversation for entry in _list(body.get(name))]
    roles = dict.fromkeys(str(entry["role"]) for entry in entries if isinstance(entry, dict) and "role" in entry)
    sent = failure.sent.model_copy(update={"model": request.model, "fields": fields, "roles": tuple(roles)})
    return failure.model_copy(update={"sent": sent})


def rules_used(request: Request) -> tuple[tuple[Adaptation, ...], tuple[Adaptation, ...]]:
    """The gateway's rules that change something about a request, and those of this request alone that do."""
    if not request.rules:
        return (), ()
    try:
        used = request.adaptations_of(plain_settings(request))
    except (ValueError, RecursionError):
        return (), ()
    kept = [rule for rule in used if rule not in request.once]
    return tuple(kept), tuple(rule for rule in used if rule in request.once)


def plain_settings(request: Request) -> JSONObject:
    """The body without the rules for this gateway, with one short message for each kind of instruction instead of the
    conversation. Raises ValueError where the protocol cannot write it.
    """
    kinds = dict.fromkeys(turn.role for turn in request.turns if turn.role in _INSTRUCTIONS)
    turns = tuple(Turn(id=role, role=role, parts=(Text(text=role),)) for role in kinds)
    bare = request.model_copy(update={"turns": turns, "adaptations": (), "once": ()})
    return get_protocol(request.protocol).encode(bare, extras=False)


def _walked(value: JSON, path: MemberPath, without: tuple[str, ...] = ()) -> Iterator[tuple[MemberPath, JSON]]:
    if isinstance(value, list):
        for entry in value[:_ENTRIES]:
            if isinstance(entry, dict):
                yield from _walked(entry, path)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name not in without:
                yield (*path, name), inner
                if len(path) + 1 < _DEEP:
                    yield from _walked(inner, (*path, name))


def _list(value: JSON) -> list[JSON]:
    return value if isinstance(value, list) else []


def _is_short(value: JSON) -> bool:
    if isinstance(value, str):
        return len(value) <= _WORD and value.isascii() and value.replace("_", "").isalnum()
    return isinstance(value, bool | int | float)
