"""Facts about the protocols for the window and the command line. Reading the titles loads no protocol."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from playground.domain.hidden import short_name
from playground.jsonkit.texts import listed
from playground.protocols import API_NAMES, PROTOCOLS

if TYPE_CHECKING:
    from playground.domain.transcript import Turn
    from playground.gateway.address import Address
    from playground.protocols.protocol import Protocol

#: Titles in the window, by the names of the protocols.
TITLES: Final = API_NAMES
_NAMED_IDS: Final = 3


def endpoint_urls(address: Address) -> dict[str, str]:
    """Return the endpoint of each protocol at an address, by its name."""
    return {name: address.endpoint(_protocol(name).endpoint) for name in PROTOCOLS}


def conversation_members() -> frozenset[str]:
    """Return the members of bodies that hold the conversation, over all protocols."""
    return frozenset(member for name in PROTOCOLS for member in _protocol(name).conversation)


def message_lists() -> frozenset[str]:
    """Return the members of bodies that hold the list of messages or items, over all protocols."""
    return frozenset(_protocol(name).conversation[-1] for name in PROTOCOLS)


def returns_reasoning(protocol: str) -> bool:
    """Return whether a person can choose when and how the protocol sends reasoning back."""
    return _protocol(protocol).returns_reasoning


def pictures_in_results(protocol: str) -> bool:
    """Return whether the result of a call may hold pictures; False for an unknown protocol."""
    return protocol in PROTOCOLS and _protocol(protocol).pictures_in_results


def renamed_call_ids(protocol: str, turns: Iterable[Turn]) -> str:
    """Return a phrase on the ids of calls that are sent in another spelling; empty without any.

    Raises ValueError for an unknown protocol.
    """
    renamed = _protocol(protocol).renamed_ids(turns)
    if not renamed:
        return ""
    pairs = listed([f"“{short_name(before)}” as “{sent}”" for _, before, sent in renamed[:_NAMED_IDS]])
    more = f", {len(renamed) - _NAMED_IDS:,} more" if len(renamed) > _NAMED_IDS else ""
    return f"call ids that {_protocol(protocol).in_words} does not take are sent in another spelling: {pairs}{more}"


def _protocol(name: str) -> Protocol:
    # Imported late, because the first window needs the titles only.
    from playground.protocols.protocol import get_protocol

    return get_protocol(name)
