"""Ids of tool calls that a request spells in another way than the conversation, in words for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from playground.domain.hidden import short_name
from playground.domain.transcript import Turn
from playground.jsonkit.texts import listed
from playground.protocols.protocol import get_protocol

MOST: Final = 3  # ids that are named


def words(protocol: str, turns: Iterable[Turn]) -> str:
    """Say which ids of calls are sent in another spelling; empty where none is. Raises ValueError for a protocol."""
    spoken = get_protocol(protocol)
    renamed = spoken.renamed_ids(turns)
    if not renamed:
        return ""
    pairs = listed([f"“{short_name(before)}” as “{sent}”" for _, before, sent in renamed[:MOST]])
    more = f", {len(renamed) - MOST:,} more" if len(renamed) > MOST else ""
    return f"call ids that {spoken.in_words} does not take are sent in another spelling: {pairs}{more}"
