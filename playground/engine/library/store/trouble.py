"""The state of a store, and the error that it raises."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class StoreError(Exception):
    """Something could not be saved, read or copied. The text says what happened and what to do."""


class DamagedStoreError(StoreError):
    """The file is damaged."""


class Mode(StrEnum):
    """Where a store saves experiments."""

    CLOSED = "closed"
    READY = "ready"
    READ_ONLY = "read_only"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a store. ``words`` is a notice from opening it; empty if there is nothing to report.

    ``trouble`` says why writing fails at the moment, and is empty again once it succeeds.
    """

    mode: Mode = Mode.CLOSED
    words: str = ""
    trouble: str = ""
