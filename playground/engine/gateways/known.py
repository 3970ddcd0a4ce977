"""Services and servers that speak the protocols, as data: ``resources/gateways.json``, and a person's own beside it.

Everything that is known of a vendor stands there, with its source and date; no code knows one. A service is reached at
a base URL of its own; a server runs on the person's computer, at ports that are usual for it.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from pydantic import Field, TypeAdapter

from playground.domain.adaptations import Adaptation
from playground.domain.values import Value
from playground.engine.io.resources import resource_root
from playground.gateway.connection import Auth

_LARGEST: Final = 1024 * 1024  # bytes of the list


class Signature(Value):
    """What tells a server by what it answers; all that is not empty has to fit, letters of any case.

    ``header`` is the name of a response header, ``said`` what its value begins with. ``owner`` is the ``owned_by`` of
    an entry of its model list. ``member`` is the name of a member that an entry has.
    """

    header: str = ""
    said: str = ""
    owner: str = ""
    member: str = ""


class Details(Value):
    """Where a server tells more of its models than its list does: asked with GET, or POST with ``body``.

    ``path`` is laid on the origin when it begins with a slash, else on the base URL. In ``path`` and ``body`` the text
    ``{model}`` stands for a model's id: then each model is asked about by itself, and only when it is looked at.
    """

    path: str = Field(min_length=1)
    body: str = ""


class KnownGateway(Value):
    """One service or server.

    ``base_url`` may hold names in braces that a person fills in (``https://{resource}.example/v1``). ``hosts`` are
    those by which a pasted address is recognised, besides that of the base URL; ``*.`` before one stands for whatever
    comes before it. ``protocols`` says how the key is sent on each protocol that it speaks. ``headers`` have to go with
    every request. ``key_variables`` are the usual variables of the environment, ``keys_url`` the page on which keys are
    made; ``keyless`` says that it usually wants none. ``ports`` are those on which it usually listens on this computer,
    ``signatures`` what tells it there, any of them. ``adaptations`` are what it is known to refuse. ``details`` are
    where it tells more of its models. ``note`` is a sentence for people. ``source`` is where all this is from, ``date``
    the day it was looked up. ``own`` marks a person's own.
    """

    id: str = Field(min_length=1)
    name: str = Field(min_length=1)
    base_url: str
    hosts: tuple[str, ...] = ()
    protocols: dict[str, Auth] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict)
    key_variables: tuple[str, ...] = ()
    keys_url: str = ""
    keyless: bool = False
    ports: tuple[int, ...] = ()
    signatures: tuple[Signature, ...] = ()
    adaptations: tuple[Adaptation, ...] = ()
    details: tuple[Details, ...] = ()
    note: str = ""
    source: str = ""
    date: str = ""
    own: bool = Field(default=False, exclude=True)


@cache
def shipped() -> tuple[KnownGateway, ...]:
    """Those that come with the application, in the order of their names. Reads one small file, once."""
    import json

    from playground.named_file import read_named

    content = json.loads(read_named(resource_root() / "gateways.json", _LARGEST))
    found = TypeAdapter(tuple[KnownGateway, ...]).validate_python(content["gateways"])
    return tuple(sorted(found, key=lambda one: one.name.casefold()))


def known_by_id(service: str) -> KnownGateway | None:
    """The shipped one of that id (``Profile.service``); None where there is none."""
    return next((one for one in shipped() if one.id == service), None)
