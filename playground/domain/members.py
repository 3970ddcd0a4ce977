"""Members that came over the wire and that nothing here knows: gathered from fragments, put back where they stood.

They are kept as the object they came in, without what is known of it, under the name of the protocol they came over:
``{"chat": {"extra_content": {…}, "function": {"strict": true}}}``. A fragment costs what it is long itself, whatever
was gathered before.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Final, TypeAlias

from pydantic import Field

from playground.domain.records import Records
from playground.jsonkit.foreign import write
from playground.jsonkit.values import JSON, JSONObject

#: Members by the protocol they came over.
Extra: TypeAlias = Annotated[
    dict[str, JSONObject],
    Field(description="Members that came over the wire and that nothing here knows, by protocol, each where it stood."),
]

#: A string that comes so many times as often as it changes is a label and no text in pieces.
_LABEL: Final = 3


class Members:
    """What was said of one part or message beside what is known, from any number of fragments.

    Objects are merged. A string is a label, said again with every fragment, or comes in pieces, which are joined. Lists
    are joined, unless one begins with all that was there. Of anything else the last counts. Null takes nothing back.
    Lists may be said to hold fragments of records (see ``playground.domain.records``).
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
        whole: bool = False,
    ) -> None:
        """Add one fragment, which is not changed. Strings and lists of a name in ``pieces`` are joined in any case.

        Lists of a name in ``records`` hold fragments of records. ``whole`` says that other values are no fragments:
        the last string counts, and lists become one without repeats.
        """
        _fold(self._by_protocol.setdefault(protocol, {}), members, pieces, records, whole=whole)

    def value(self) -> Extra:
        """What was gathered so far."""
        return {protocol: _whole(members) for protocol, members in self._by_protocol.items()}


class _Words:
    """A string on its way: what was said, and how often one after the other."""

    __slots__ = ("count", "pieces", "said")

    def __init__(self, *, pieces: bool) -> None:
        self.pieces = pieces
        self.said: list[tuple[str, int]] = []
        self.count = 0

    def add(self, text: str) -> None:
        self.count += 1
        if self.said and self.said[-1][0] == text:
            self.said[-1] = (text, self.said[-1][1] + 1)
        else:
            self.said.append((text, 1))

    def value(self) -> str:
        if not self.pieces and (len(self.said) == 1 or self.count >= _LABEL * len(self.said)):
            return self.said[-1][0]
        return "".join([text * times for text, times in self.said])


class _Items:
    """A list on its way."""

    __slots__ = ("distinct", "items", "pieces")

    def __init__(self, *, pieces: bool, whole: bool) -> None:
        self.pieces = pieces
        self.items: list[JSON] = []
        self.distinct: set[str] | None = set() if whole and not pieces else None  # as JSON, where repeats are left out

    def add(self, items: list[JSON]) -> None:
        if self.distinct is not None:
            for item in items:
                text = write(item)
                if text not in self.distinct:
                    self.distinct.add(text)
                    self.items.append(item)
            return
        size = len(self.items)
        known = 0 if self.pieces or len(items) < size or items[:size] != self.items else size
        self.items += items[known:]


def _fold(
    into: JSONObject, members: JSONObject, pieces: Collection[str], records: Collection[str], *, whole: bool
) -> None:
    for name, value in members.items():
        old = into.get(name)
        if isinstance(value, dict):
            if not isinstance(old, dict):
                old = into[name] = {}
            _fold(old, value, pieces, records, whole=whole)
        elif isinstance(value, str) and whole and name not in pieces:
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
                old = into[name] = _Items(pieces=name in pieces, whole=whole)
            old.add(value)
        elif value is not None:
            into[name] = value
        else:
            into.setdefault(name, None)


def _whole(members: JSONObject) -> JSONObject:
    out: JSONObject = {}
    for name, value in members.items():
        if isinstance(value, dict):
            out[name] = _whole(value)
        elif isinstance(value, _Words | Records):
            out[name] = value.value()
        else:
            out[name] = list(value.items) if isinstance(value, _Items) else value
    return out


def merged(*extras: Extra) -> Extra:
    """Return all members together; of a name that two give otherwise, the later one is put under ``name (2)``."""
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


def with_members(known: JSONObject, extra: JSONObject) -> JSONObject:
    """``known`` with the members of ``extra`` beside its own, on every level of objects; what is known counts."""
    out = dict(known)
    for name, value in extra.items():
        inner = out.get(name)
        if name not in out:
            out[name] = value
        elif isinstance(inner, dict) and isinstance(value, dict):
            out[name] = with_members(inner, value)
    return out
