"""Ids of tool calls: any text, and it goes out as it stands."""

from __future__ import annotations

from collections.abc import Iterable

from playground.domain.transcript import Turn


def renamed_ids(_turns: Iterable[Turn]) -> list[tuple[int, str, str]]:
    """No id is spelled in another way."""
    return []
