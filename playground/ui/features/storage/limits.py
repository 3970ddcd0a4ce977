"""How long and how much of what went over the wire is kept: remembered among the window's settings."""

from __future__ import annotations

from PySide6.QtCore import QSettings

from playground.engine.library.store.store import DAYS_DELETED
from playground.engine.library.store.tape_rows import KeepTapes
from playground.engine.session.experiment import DEFAULT_LIMIT

MIB = 1024 * 1024
GIB = 1024 * MIB
MEMORY_KEY, DAYS_KEY, BYTES_KEY, TRASH_KEY = "tape_limit", "tapes/days", "tapes/bytes", "trash/days"
FOR_EVER = 0  # as a number of days or bytes: no bound
LEAST, MOST = MIB, 1024 * GIB  # the default replaces a value outside of them
MOST_DAYS = 36_500

MEMORY = tuple(count * MIB for count in (16, 64, 256, 1024, 4096))
DAYS = (7, 30, 90, 365, FOR_EVER)
TRASH_DAYS = (1, 7, 30, 90, 365, FOR_EVER)
DISK = (*(count * MIB for count in (100, 512, 1024, 5120)), FOR_EVER)


def memory_limit(settings: QSettings) -> int:
    """Bytes of tapes that each experiment may keep in memory."""
    return _number(settings, MEMORY_KEY, DEFAULT_LIMIT, LEAST, MOST)


def keep_rule(settings: QSettings) -> KeepTapes:
    """The rule for tapes on the disk."""
    usual = KeepTapes()
    days = _number(settings, DAYS_KEY, int(usual.days or FOR_EVER), FOR_EVER, MOST_DAYS)
    most = _number(settings, BYTES_KEY, usual.bytes or FOR_EVER, FOR_EVER, MOST)
    return KeepTapes(days or None, most or None)


def trash_days(settings: QSettings) -> int:
    """Days after which what was deleted is gone for good."""
    return _number(settings, TRASH_KEY, DAYS_DELETED, FOR_EVER, MOST_DAYS)


def _number(settings: QSettings, key: str, usual: int, least: int, most: int) -> int:
    try:
        number = int(str(settings.value(key, usual)))
    except ValueError:
        return usual
    return number if least <= number <= most else usual


def days_words(days: int) -> str:
    """A time for people who choose between several."""
    if not days:
        return "for ever"
    if days % 365 == 0:
        return "a year" if days == 365 else f"{days // 365} years"
    return "a day" if days == 1 else f"{days} days"


def size_words(count: int) -> str:
    """Bytes for people who choose between sizes."""
    if count < 1024:
        return f"{count} bytes"
    if count < MIB:
        return f"{count / 1024:.0f} KiB"
    mib = count / MIB
    if mib < 1024:
        return f"{mib:.0f} MiB" if mib >= 10 or mib == int(mib) else f"{mib:.1f} MiB"
    gib = mib / 1024
    return f"{gib:.0f} GiB" if gib >= 10 or gib == int(gib) else f"{gib:.1f} GiB"
