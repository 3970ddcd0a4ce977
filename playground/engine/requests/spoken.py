"""The protocols, as the window offers them: it reaches them only through the engine."""

from __future__ import annotations

from typing import Final

from playground.gateway.address import Address
from playground.protocols import MESSAGES as MESSAGES
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import get_protocol
from playground.protocols.protocol import parameters_of as parameters_of

#: Their titles by their names.
TITLES: Final = PROTOCOLS


def endpoint_urls(address: Address) -> dict[str, str]:
    """Where each of them is spoken at an address, by its name."""
    return {name: address.endpoint(get_protocol(name).endpoint) for name in PROTOCOLS}


def returns_reasoning(protocol: str) -> bool:
    """Whether a person can choose when and how reasoning goes back over it."""
    return get_protocol(protocol).returns_reasoning
