"""A request body taken apart into what is merged to make it: what the panels say, and the two extra bodies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from playground.domain.request import Request
from playground.jsonkit.merge import merged
from playground.jsonkit.values import JSON, JSONObject, same
from playground.protocols.protocol import get_protocol

_DEEP: Final = 100  # levels that are taken apart; below, a value is one or another


@dataclass
class Apart:
    """A body as the panels would have it, and what of it stands in the experiment's extra body.

    ``stuck`` are the names of what was to be taken out and cannot be, with dots where they stand inside another.
    """

    panels: JSONObject
    extra: JSONObject
    stuck: list[str]


def take_apart(
    body: JSONObject, panels: JSONObject, inherited: JSONObject, own: JSONObject, above: tuple[str, ...] = ()
) -> Apart:
    """The reverse of merging: ``panels``, ``inherited`` and ``own``, merged in this order, were the body before.

    What the extra bodies set stays theirs, since they win over every panel; so does what a panel says beneath it.
    """
    out = Apart({}, {}, [])
    for name in dict.fromkeys((*body, *panels, *inherited, *own)):
        beneath, value, path = panels.get(name), body.get(name), (*above, name)
        theirs, ours = inherited.get(name, {}), own.get(name, {})
        if name not in inherited and name not in own:
            if name in body:
                out.panels[name] = value
        elif name not in body:
            if name in inherited:
                out.stuck.append(".".join(path))
                if name in panels:
                    out.panels[name] = beneath
        elif isinstance(value, dict) and isinstance(theirs, dict) and len(path) < _DEEP:
            inner = take_apart(value, _object(beneath), theirs, _object(ours), path)
            out.stuck += inner.stuck
            if inner.panels or name in panels:
                out.panels[name] = inner.panels if inner.panels or isinstance(beneath, dict) else beneath
            needed = not (name in out.panels and isinstance(out.panels[name], dict)) and name not in inherited
            if inner.extra or (ours == {} and name in own) or needed:
                out.extra[name] = inner.extra
        else:
            if name in panels:
                out.panels[name] = beneath
            if not same(value, _over(name, panels, inherited, own)):
                out.extra[name] = value
            elif name in own:
                out.extra[name] = ours
    return out


def _object(value: JSON) -> JSONObject:
    return value if isinstance(value, dict) else {}


def _over(name: str, *layers: JSONObject) -> JSON:
    """What stands at ``name`` after merging ``layers``, the last over the others."""
    found: JSONObject = {}
    for layer in layers:
        found = merged(found, {name: layer[name]} if name in layer else {})
    return found.get(name)


def left_over(body: JSONObject, said: Request, stuck: Iterable[str]) -> JSONObject:
    """The settings in ``body`` that ``said`` would not send as they stand there; those that are ``stuck`` apart."""
    protocol = get_protocol(said.protocol)
    sent = protocol.encode(said)
    apart = {"model", *protocol.conversation, "tools", *(path.split(".")[0] for path in stuck)}
    names = [name for name in body if name not in apart and not same(sent.get(name), body[name])]
    return {name: body[name] for name in names}
