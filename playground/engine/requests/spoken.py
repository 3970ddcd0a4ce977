"""The protocols, as the window offers them: it reaches them only through the engine. Titles load nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from playground.protocols import MESSAGES as MESSAGES
from playground.protocols import PROTOCOLS

if TYPE_CHECKING:
    from playground.gateway.address import Address

#: Their titles by their names.
TITLES: Final = PROTOCOLS


def endpoint_urls(address: Address) -> dict[str, str]:
    """Where each of them is spoken at an address, by its name."""
    from playground.protocols.protocol import get_protocol

    return {name: address.endpoint(get_protocol(name).endpoint) for name in PROTOCOLS}


def returns_reasoning(protocol: str) -> bool:
    """Whether a person can choose when and how reasoning goes back over it."""
    from playground.protocols.protocol import get_protocol

    return get_protocol(protocol).returns_reasoning


def pictures_in_results(protocol: str) -> bool:
    """Whether the result of a call may hold pictures over it; not of one that is not known here."""
    from playground.protocols.protocol import get_protocol

    return protocol in PROTOCOLS and get_protocol(protocol).pictures_in_results
