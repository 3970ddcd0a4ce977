"""What the panel of parameters says of a field beside its own value: what else is sent that does not go with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.domain.adaptations import AdaptationKind
from playground.engine.requests.rules import overruled, reason, rules_at_work
from playground.engine.requests.told_flags import told_flags
from playground.jsonkit.merge import holds
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.engine.session.session import Session


def field_flags(session: Session) -> dict[str, str]:
    """Phrases by the names of the fields, for those about which there is something to say."""
    request = session.next_request.build(tip=None)  # without turns: these are about settings
    protocol, parameters = get_protocol(request.protocol), request.parameters
    try:
        body = protocol.encode(request)
    except (ValueError, RecursionError):
        return {}
    paths = type(parameters).places()
    found: dict[str, list[str]] = {}
    told = told_flags(request, session.facts(request.model))
    for oddity in (*protocol.oddities(body), *told):
        for name, path in paths.items():
            if oddity.is_about(path):
                found.setdefault(name, []).append(oddity.words)
    for rule in rules_at_work(request):
        about = tuple(rule.field.split("."))
        if rule.kind is AdaptationKind.ROLE or overruled(request, rule):
            continue
        for name, path in paths.items():
            whole, part = path[: len(about)] == about, about[: len(path)] == path
            if getattr(parameters, name) is not None and (whole or part):
                found.setdefault(name, []).append(reason(rule) if whole else rule.words)
    for name, path in paths.items():
        if getattr(parameters, name) is not None:
            if holds(request.extra_body, path):
                found.setdefault(name, []).insert(0, "the Raw tab says otherwise, and wins")
            elif holds(request.inherited_body, path):
                found.setdefault(name, []).insert(0, "the gateway's settings say otherwise, and win")
    return {name: "\n".join(phrases) for name, phrases in found.items()}
