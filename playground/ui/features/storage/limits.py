"""Limits of stored exchanges and of the trash: a form of the preferences, stored among the window's settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import Field

from playground.domain.hints import Hint, hints_of, setting, value_at
from playground.domain.values import Value
from playground.engine.library.store.store import DAYS_DELETED
from playground.engine.library.store.tape_rows import KeepTapes
from playground.engine.session.experiment import DEFAULT_LIMIT

MIB: Final = 1024 * 1024
GIB: Final = 1024 * MIB
FOR_EVER: Final = 0  # as a number of days or bytes: no bound
MOST_BYTES: Final = 1024 * GIB
MOST_DAYS: Final = 36_500


def days_words(days: int) -> str:
    """Return the words for a number of days."""
    if not days:
        return "for ever"
    if days % 365 == 0:
        return "a year" if days == 365 else f"{days // 365} years"
    return "a day" if days == 1 else f"{days} days"


def size_words(count: int) -> str:
    """Return the words for a number of bytes."""
    if count < 1024:
        return f"{count} bytes"
    if count < MIB:
        return f"{count / 1024:.0f} KiB"
    mib = count / MIB
    if mib < 1024:
        return f"{mib:.0f} MiB" if mib >= 10 or mib == int(mib) else f"{mib:.1f} MiB"
    gib = mib / 1024
    return f"{gib:.0f} GiB" if gib >= 10 or gib == int(gib) else f"{gib:.1f} GiB"


def _limit_words(count: int) -> str:
    return size_words(count) if count != FOR_EVER else "no limit"


def _limit(label: str, key: str, choices: Sequence[int], words: Callable[[Any], str]) -> Hint:
    pairs = tuple((value, words(value)) for value in choices)
    return setting(label, path=key, editor="pick", choices=pairs, choice_words=words)


class StorageLimits(Value):
    """Limits of stored data, in days and bytes; ``FOR_EVER`` for no limit."""

    days: Annotated[
        int,
        Field(ge=FOR_EVER, le=MOST_DAYS),
        _limit("Keep bodies for", "tapes/days", (7, 30, 90, 365, FOR_EVER), days_words),
    ] = int(KeepTapes().days or FOR_EVER)
    disk: Annotated[
        int,
        Field(ge=FOR_EVER, le=MOST_BYTES),
        _limit(
            "Bodies on disk, at most",
            "tapes/bytes",
            (100 * MIB, 512 * MIB, GIB, 5 * GIB, FOR_EVER),
            _limit_words,
        ),
    ] = KeepTapes().bytes or FOR_EVER
    memory: Annotated[
        int,
        Field(ge=MIB, le=MOST_BYTES),
        _limit(
            "Bodies in memory, per open experiment",
            "tape_limit",
            (16 * MIB, 64 * MIB, 256 * MIB, GIB, 4 * GIB),
            size_words,
        ),
    ] = DEFAULT_LIMIT
    trash_days: Annotated[
        int,
        Field(ge=FOR_EVER, le=MOST_DAYS),
        _limit("Keep deleted experiments for", "trash/days", (1, 7, 30, 90, 365, FOR_EVER), days_words),
    ] = DAYS_DELETED

    @property
    def tapes(self) -> KeepTapes:
        """The rule for bodies on disk."""
        return KeepTapes(self.days or None, self.disk or None)


def hints_with(limits: StorageLimits) -> dict[str, Hint]:
    """Return the hints of the limits; the current values are among the choices, and no limit is the last one."""
    return {name: _with_choice(hint, value_at(limits, name)) for name, hint in hints_of(StorageLimits).items()}


def _with_choice(hint: Hint, value: int) -> Hint:
    if hint.choice_words is None or value in dict(hint.choices):
        return hint
    choices = (*hint.choices, (value, hint.choice_words(value)))
    return replace(hint, choices=tuple(sorted(choices, key=lambda choice: (choice[0] == FOR_EVER, choice[0]))))
