"""Every protocol has every facet, and those of all of them are called in the same way."""

from __future__ import annotations

import inspect
from typing import Any

from playground.protocols import DEFAULT, PROTOCOLS
from playground.protocols.protocol import Facet, Protocol, get_protocol
from tests.support.each_case import each_case

FACETS = [name for name, kind in Protocol.__annotations__.items() if str(kind).startswith(Facet.__name__)]


def arguments(facet: Any) -> list[str]:
    """The names of what a facet is called with, as the caller may use them."""
    return [name.lstrip("_") for name in inspect.signature(facet).parameters] if inspect.isroutine(facet) else []


@each_case("facet", FACETS)
@each_case("name", PROTOCOLS)
def test_every_protocol_has_every_facet(name: str, facet: str) -> None:
    found = getattr(get_protocol(name), facet)
    assert found is not None
    assert getattr(get_protocol(name), facet) is found
    assert arguments(found)[1:] == arguments(getattr(get_protocol(DEFAULT), facet))[1:]


def test_facets_of_two_protocols_are_not_each_others() -> None:
    assert len({get_protocol(name).encode for name in PROTOCOLS}) == len(PROTOCOLS) > 1
    assert len(FACETS) > 10
