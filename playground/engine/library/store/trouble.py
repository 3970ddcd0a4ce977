"""What can go wrong with a file, in words for people; and what a store says of itself. Opens nothing."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from enum import StrEnum


class StoreError(Exception):
    """Something could not be kept, read or copied. The text says what and what to do."""


class Mode(StrEnum):
    """What a store does with what it is given."""

    CLOSED = "closed"
    READY = "ready"
    READ_ONLY = "read_only"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Status:
    """How a store stands. ``words`` is a statement to show, empty when there is nothing to say; it stays as it is.

    ``trouble`` says why writing fails at the moment, and is empty again once it no longer does.
    """

    mode: Mode = Mode.CLOSED
    words: str = ""
    trouble: str = ""


_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_WORDS = {
    sqlite3.SQLITE_FULL: "The disk is full.",
    sqlite3.SQLITE_IOERR: "The disk does not take it (input/output error).",
    sqlite3.SQLITE_READONLY: "The file or its folder may not be written to.",
    sqlite3.SQLITE_PERM: "The file or its folder may not be written to.",
    sqlite3.SQLITE_CANTOPEN: "The file cannot be opened.",
    sqlite3.SQLITE_BUSY: "Another program holds the file locked.",
    sqlite3.SQLITE_LOCKED: "Another program holds the file locked.",
    sqlite3.SQLITE_NOMEM: "There is not enough memory.",
    sqlite3.SQLITE_TOOBIG: "It is larger than a database can hold.",
}
#: After these the same work may well succeed later.
_PASSING = _WORDS.keys() - {sqlite3.SQLITE_TOOBIG}


def code_of(error: BaseException) -> int:
    """SQLite's primary result code; 0 where there is none."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def is_damage(error: BaseException) -> bool:
    """Whether the file itself is broken, or is no database."""
    return code_of(error) in _DAMAGED


def is_index_damage(error: BaseException) -> bool:
    """Whether it is the full-text index that is broken, which can be made again."""
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_CORRUPT_VTAB


def is_passing(error: BaseException) -> bool:
    """Whether to try again later: the disk is full, say."""
    return isinstance(error, OSError) or code_of(error) in _PASSING


def words_of(error: BaseException) -> str:
    """One sentence on what happened."""
    if isinstance(error, OSError):
        return f"{error.strerror or error}.".replace("..", ".")
    if is_damage(error):
        return "The file is damaged. Start the application again to have it recovered."
    return _WORDS.get(code_of(error)) or f"{str(error)[:200]}."
