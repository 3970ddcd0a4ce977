"""The marks that tell a protocol's bodies from another's follow its parameters."""

from __future__ import annotations

import pytest

from playground.protocols import PROTOCOLS
from playground.protocols.marks import COMMON, SHARED
from playground.protocols.protocol import get_protocol, protocol_of


def own(name: str) -> set[str]:
    """The members that the parameters of a protocol are."""
    return {(hint.path or field).partition(".")[0] for field, hint in get_protocol(name).parameters_type.hints()}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_parameter_tells_its_protocol_unless_others_have_it_too(name: str) -> None:
    others = set().union(*(own(second) for second in PROTOCOLS if second != name))
    members = get_protocol(name).marks.members
    assert members.isdisjoint(others)
    assert own(name) - others - SHARED - COMMON <= members
    for member in members:
        assert protocol_of({member: 1}) == (name, True)
