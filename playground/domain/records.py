"""Records of reasoning, put together from the fragments in which a stream sends them.

A record is an object with a type and, mostly, a text and a signature: ``reasoning_details``, ``thinking_blocks``,
summaries in a list. Nothing here knows a protocol. Each fragment costs what it is long itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from playground.jsonkit.values import JSON, JSONObject

#: Members that hold the text of a record; their fragments are joined.
TEXTS: Final = frozenset({"text", "thinking", "summary", "content", "reasoning"})
#: Members that sign a record; their fragments are joined, and a whole one that comes again is left out.
SIGNATURES: Final = frozenset({"signature", "thought_signature", "thoughtSignature"})
#: Members that say which record a fragment belongs to.
_LABELS: Final = frozenset({"type", "index", "id", "format"})


class Records:
    """A list of records that grows.

    A fragment continues the record of its type and index; without an index it continues the last record if that is of
    its type and not signed yet. What holds neither text nor a signature is a record of its own.
    """

    __slots__ = ("_by_index", "_items")

    def __init__(self) -> None:
        self._items: list[_Record | JSON] = []
        self._by_index: dict[tuple[str, str], _Record] = {}

    def add(self, fragments: Iterable[JSON], *, whole: bool = False) -> None:
        """Take in the fragments of one list, which are not changed; ``whole``: each of them is a whole record."""
        for fragment in fragments:
            if isinstance(fragment, dict) and not whole:
                self._add(fragment)
            else:
                self._items.append(fragment)

    def value(self) -> list[JSON]:
        """The records so far."""
        return [item.value() if isinstance(item, _Record) else item for item in self._items]

    def _add(self, fragment: JSONObject) -> None:
        index = fragment.get("index")
        key = (str(fragment.get("type")), str(index))
        last = self._items[-1] if self._items else None
        record = self._by_index.get(key) if index is not None else last
        if not isinstance(record, _Record) or not record.continued_by(fragment):
            record = _Record()
            self._items.append(record)
            if index is not None:
                self._by_index[key] = record
        record.add(fragment)


class _Pieces:
    """A string on its way."""

    __slots__ = ("length", "pieces")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.length = 0

    def add(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)

    def equals(self, text: JSON) -> bool:
        """Return whether ``text`` is all that came; costs no more than ``text`` is long."""
        return isinstance(text, str) and len(text) == self.length and text == self.value()

    def value(self) -> str:
        return "".join(self.pieces)


class _Record:
    """One record on its way; ``_names`` keeps the order in which its members came."""

    __slots__ = ("_names", "_rest", "_strings")

    def __init__(self) -> None:
        self._names: dict[str, None] = {}
        self._strings: dict[str, _Pieces] = {}
        self._rest: dict[str, Records | JSON] = {}

    def value(self) -> JSONObject:
        """The record so far."""
        return {name: self._member(name) for name in self._names}

    def continued_by(self, fragment: JSONObject) -> bool:
        """Return whether a fragment that may belong here does."""
        if any(_both_differ(self._rest.get(name), fragment.get(name)) for name in ("type", "id")):
            return False
        if not any(fragment.get(name) for name in TEXTS):
            return any(fragment.get(name) for name in SIGNATURES) or fragment.keys() <= _LABELS | TEXTS | SIGNATURES
        signed = any(self._strings[name].length for name in SIGNATURES if name in self._strings)
        return not signed or "index" in fragment or self._is_repeated_by(fragment)

    def add(self, fragment: JSONObject) -> None:
        """Take in one fragment. One that is signed may hold the text of all those before it once more."""
        signed = any(fragment.get(name) for name in SIGNATURES)
        again = TEXTS if signed and self._names and self._is_repeated_by(fragment) else ()
        for name, value in fragment.items():
            if name in again:
                continue
            if isinstance(value, str) and (name in TEXTS or name in SIGNATURES):
                pieces = self._strings.setdefault(name, _Pieces())
                if name not in SIGNATURES or not pieces.equals(value):
                    pieces.add(value)
            elif isinstance(value, list):
                records = self._rest.get(name)
                if not isinstance(records, Records):
                    records = self._rest[name] = Records()
                records.add(value)
            elif value is not None or name not in self._names:
                self._rest[name] = value
            self._names.setdefault(name)

    def _is_repeated_by(self, fragment: JSONObject) -> bool:
        """Return whether a fragment says all the text that came so far."""
        texts = [name for name in TEXTS if fragment.get(name)]
        return all(name in self._strings and self._strings[name].equals(fragment[name]) for name in texts)

    def _member(self, name: str) -> JSON:
        if name in self._strings:
            return self._strings[name].value()
        value = self._rest.get(name)
        return value.value() if isinstance(value, Records) else value


def _both_differ(one: JSON, other: JSON) -> bool:
    return bool(one and other and one != other)
