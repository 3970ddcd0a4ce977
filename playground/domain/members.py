"""Unknown members of received messages: collected from fragments, and sent back in their place.

They are stored in the shape of the object that had them, without its known members, by protocol:
``{"chat": {"extra_content": {…}, "function": {"strict": true}}}``. The cost of a fragment depends on its own length
only.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Final, TypeAlias

from pydantic import Field

from playground.domain.records import Records
from playground.jsonkit.foreign import write
from playground.jsonkit.values import JSON, JSONObject

#: Members by protocol.
Extra: TypeAlias = Annotated[
    dict[str, JSONObject],
    Field(description="Received members unknown to the application, by protocol, each in its place."),
]

#: A string that is repeated, on average, this many times between changes is a label, not pieces of a text.
_LABEL: Final = 3


class Members:
    """The unknown members of one part or message, from any number of fragments.

    Objects are merged. A string is either a label, repeated with every fragment, or pieces, which are joined. Lists are
    joined, unless one begins with all previous items. Of other values the last counts; null does not delete a value.
    Lists may hold fragments of records (see ``playground.domain.records``).
    """

    def __init__(self) -> None:
        self._by_protocol: dict[str, JSONObject] = {}

    def add_fragment(
        self,
        protocol: str,
        members: JSONObject,
        pieces: Collection[str] = (),
        records: Collection[str] = (),
        *,
        complete: bool = False,
    ) -> None:
        """Add one fragment, which is not modified. Strings and lists of a name in ``pieces`` are always joined.

        Lists of a name in ``records`` hold fragments of records. ``complete``: other values are not fragments, so the
        last string counts, and lists are merged without repeats.
        """
        _fold(self._by_protocol.setdefault(protocol, {}), members, pieces, records, complete=complete)

    def value(self) -> Extra:
        """Return the members collected so far."""
        return {protocol: _values(members) for protocol, members in self._by_protocol.items()}


class _Words:
    """A string being received: its distinct texts in a row, each with its number of repetitions."""

    __slots__ = ("count", "pieces", "runs")

    def __init__(self, *, pieces: bool) -> None:
        self.pieces = pieces
        self.runs: list[tuple[str, int]] = []
        self.count = 0

    def add(self, text: str) -> None:
        self.count += 1
        if self.runs and self.runs[-1][0] == text:
            self.runs[-1] = (text, self.runs[-1][1] + 1)
        else:
            self.runs.append((text, 1))

    def value(self) -> str:
        if not self.pieces and (len(self.runs) == 1 or self.count >= _LABEL * len(self.runs)):
            return self.runs[-1][0]
        return "".join([text * times for text, times in self.runs])


class _Items:
    """A list being received."""

    __slots__ = ("distinct", "items", "pieces")

    def __init__(self, *, pieces: bool, complete: bool) -> None:
        self.pieces = pieces
        self.items: list[JSON] = []
        self.distinct: set[str] | None = set() if complete and not pieces else None  # JSON of the items so far

    def add(self, items: list[JSON]) -> None:
        if self.distinct is not None:
            for item in items:
                text = write(item)
                if text not in self.distinct:
                    self.distinct.add(text)
                    self.items.append(item)
            return
        size = len(self.items)
        repeats_all = not self.pieces and len(items) >= size and items[:size] == self.items
        self.items += items[size:] if repeats_all else items


def _fold(
    into: JSONObject, members: JSONObject, pieces: Collection[str], records: Collection[str], *, complete: bool
) -> None:
    for name, value in members.items():
        old = into.get(name)
        if isinstance(value, dict):
            if not isinstance(old, dict):
                old = into[name] = {}
            _fold(old, value, pieces, records, complete=complete)
        elif isinstance(value, str) and complete and name not in pieces:
            into[name] = value
        elif isinstance(value, str):
            if not isinstance(old, _Words):
                old = into[name] = _Words(pieces=name in pieces)
            old.add(value)
        elif isinstance(value, list) and name in records:
            if not isinstance(old, Records):
                old = into[name] = Records()
            old.add(value)
        elif isinstance(value, list):
            if not isinstance(old, _Items):
                old = into[name] = _Items(pieces=name in pieces, complete=complete)
            old.add(value)
        elif value is not None:
            into[name] = value
        else:
            into.setdefault(name, None)


def _values(members: JSONObject) -> JSONObject:
    out: JSONObject = {}
    for name, value in members.items():
        if isinstance(value, dict):
            out[name] = _values(value)
        elif isinstance(value, _Words | Records):
            out[name] = value.value()
        else:
            out[name] = list(value.items) if isinstance(value, _Items) else value
    return out


def merged(*extras: Extra) -> Extra:
    """Return all members together; if two differ in a name, the later value is stored under ``name (2)``."""
    out: Extra = {}
    for extra in extras:
        for protocol, members in extra.items():
            place = out.setdefault(protocol, {})
            for name, value in members.items():
                if place.get(name, value) == value:
                    place[name] = value
                else:
                    place[f"{name} (2)"] = value
    return out


def with_members(fields: JSONObject, extra: JSONObject) -> JSONObject:
    """Return ``fields`` merged with ``extra`` on every level of objects; ``fields`` win."""
    out = dict(fields)
    for name, value in extra.items():
        inner = out.get(name)
        if name not in out:
            out[name] = value
        elif isinstance(inner, dict) and isinstance(value, dict):
            out[name] = with_members(inner, value)
    return out
