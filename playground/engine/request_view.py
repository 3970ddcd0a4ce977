"""What the next run will send, field by field, and where each field comes from.

Nothing is sent and nothing is changed here; see ``request_edit`` for edits by hand. No secret is in it: where one will
stand, there is a mask.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from playground.domain.parameters import Parameters
from playground.domain.request import Request
from playground.domain.values import JSON, JSONObject
from playground.engine.profiles import Profile, connection
from playground.engine.secrets import Secret
from playground.gateway.address import resolve
from playground.gateway.outgoing import outgoing
from playground.gateway.redact import MASK, Redactor
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.engine.session import Session

_STAND_IN: Final = "STAND-IN"
_LABELS: Final = {"model": "Model", "messages": "Messages", "system": "System", "tools": "Tools"}


class Origin(StrEnum):
    """Where a field comes from, in words for people."""

    DEFAULT = "default"  # absent: the gateway decides
    SET = "set"  # in a panel, or in the conversation
    INHERITED = "inherited"  # from the gateway's settings
    EXTRA = "extra"  # from the experiment's extra body or headers
    OURS = "the program's own"  # what nobody set: a new experiment begins with it, or every request has it


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field of the body. ``name`` has dots where it stands inside another; ``note`` says what is odd about it."""

    name: str
    value: JSON
    origin: Origin
    label: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class HeaderRow:
    """One header, its value masked where it is secret."""

    name: str
    value: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class RequestView:
    """The request as it would go out now.

    ``fields`` are in the order of the body, then those left at their default. ``text`` is the body laid out.
    ``problem`` says why it cannot go out (then ``text`` may be empty), or why the address is not known yet.
    """

    method: str = "POST"
    url: str = ""
    headers: tuple[HeaderRow, ...] = ()
    fields: tuple[FieldRow, ...] = ()
    text: str = ""
    problem: str = ""


def request_view(session: Session, known: Iterable[Secret] = ()) -> RequestView:
    """What a run would send now. ``known`` are the secrets that this process has: each is masked wherever it stands."""
    request, profile = session.request(), session.profile
    redactor = Redactor(secret.get_secret_value() for secret in known)
    try:
        body = get_protocol(request.protocol).encode(request)
        text = redactor.text(json.dumps(body, ensure_ascii=False, indent=2))
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        return RequestView(problem=f"The request cannot be written: {error}")
    fields = tuple(_fields(session, request.parameters, body))
    url, headers, problem = _envelope(profile, request, redactor)
    return RequestView("POST", url, headers, fields, text, problem)


def inherited_body(session: Session) -> JSONObject:
    """The extra body of the gateway's settings."""
    profile = session.profile
    return profile.extra_body if profile is not None else {}


def _fields(session: Session, parameters: Parameters, body: JSONObject) -> Iterator[FieldRow]:
    hints = {hint.path or name: (name, hint) for name, hint in type(parameters).hints()}
    inside = {path.split(".")[0] for path in hints if "." in path}
    inherited = inherited_body(session)
    present = set()
    for top, value in body.items():
        if top in session.extra_body:
            origin = Origin.EXTRA
        else:
            origin = Origin.INHERITED if top in inherited else Origin.SET
        rows = {f"{top}.{name}": inner for name, inner in value.items()} if top in inside and value else {top: value}
        for path, inner in rows.items():
            present.add(path)
            name, hint = hints.get(path, ("", None))
            if name and origin is Origin.SET and (parameters.is_ours(name) or getattr(parameters, name) is None):
                origin_here = Origin.OURS
            else:
                origin_here = origin
            note = parameters.flag(name) if name and origin_here is Origin.SET else ""
            if origin is Origin.EXTRA and top in inherited:
                note = "replaces the value from the gateway's settings"
            yield FieldRow(path, inner, origin_here, hint.label if hint else _LABELS.get(path, ""), note)
    for path, (name, hint) in hints.items():
        if path not in present and not hint.deprecated:
            yield FieldRow(path, None, Origin.DEFAULT, hint.label, parameters.note(name))
    if "tools" not in body:
        yield FieldRow("tools", None, Origin.DEFAULT, _LABELS["tools"])


def _envelope(profile: Profile | None, request: Request, redactor: Redactor) -> tuple[str, tuple[HeaderRow, ...], str]:
    """Address and headers, or in words why they are not known."""
    if profile is None:
        return "", (), ""
    if profile.demo and not profile.base_url:
        return "", (), "The demo gateway has no address yet: it starts with the first run."
    request = request.model_copy(update={"turns": ()})  # the body is known: here it would be written once more
    key = Secret(_STAND_IN) if profile.key_origin or profile.demo else None
    secrets = {name: Secret(_STAND_IN) for name in profile.secret_headers}
    try:
        going = outgoing(
            connection(profile, key, secrets), resolve(profile.base_url), get_protocol(request.protocol), request
        )
    except ValueError as error:
        return "", (), redactor.text(str(error))
    own = {name.lower() for name in request.extra_headers}
    theirs = {name.lower() for name in (*profile.headers, *profile.secret_headers)}
    rows = []
    for name, value in going.headers:
        lowered = name.lower()
        origin = Origin.EXTRA if lowered in own else Origin.INHERITED if lowered in theirs else Origin.OURS
        shown = redactor.header(name, value.replace(_STAND_IN, MASK)) if lowered not in own else redactor.text(value)
        rows.append(HeaderRow(name, shown, origin))
    return redactor.text(going.url), tuple(rows), ""
