"""Records of reasoning, assembled from the fragments of a stream.

A record is an object with a type and, mostly, a text and a signature: ``reasoning_details``, ``thinking_blocks``,
summaries in a list. The cost of a fragment depends on its own length only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from playground.jsonkit.values import JSON, JSONObject

#: Members that hold the text of a record; their fragments are joined.
TEXTS: Final = frozenset({"text", "thinking", "summary", "content", "reasoning"})
#: Members that sign a record; their fragments are joined, and a repetition of the whole signature is ignored.
SIGNATURES: Final = frozenset({"signature", "thought_signature", "thoughtSignature"})
#: Members that identify the record of a fragment.
_LABELS: Final = frozenset({"type", "index", "id", "format"})


class Records:
    """A growing list of records.

    A fragment continues the record of its type and index; without an index it continues the last record if that has
    its type and is not signed yet. A fragment with neither text nor a signature is a separate record.
    """

    __slots__ = ("_by_index", "_items")

    def __init__(self) -> None:
        self._items: list[_Record | JSON] = []
        self._by_index: dict[tuple[str, str], _Record] = {}

    def add(self, fragments: Iterable[JSON], *, whole: bool = False) -> None:
        """Add the fragments of one list, which are not modified; ``whole``: each is a complete record."""
        for fragment in fragments:
            if isinstance(fragment, dict) and not whole:
                self._add(fragment)
            else:
                self._items.append(fragment)

    def value(self) -> list[JSON]:
        """Return the records so far."""
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
    """A string being received."""

    __slots__ = ("length", "pieces")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.length = 0

    def add(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)

    def equals(self, text: JSON) -> bool:
        """Return whether ``text`` equals all pieces joined."""
        return isinstance(text, str) and len(text) == self.length and text == self.value()

    def value(self) -> str:
        return "".join(self.pieces)


class _Record:
    """One record being received; ``_names`` has its members in order of appearance."""

    __slots__ = ("_names", "_rest", "_strings")

    def __init__(self) -> None:
        self._names: dict[str, None] = {}
        self._strings: dict[str, _Pieces] = {}
        self._rest: dict[str, Records | JSON] = {}

    def value(self) -> JSONObject:
        """Return the record so far."""
        return {name: self._member(name) for name in self._names}

    def continued_by(self, fragment: JSONObject) -> bool:
        """Return whether a fragment with the same index belongs to this record."""
        if any(_both_differ(self._rest.get(name), fragment.get(name)) for name in ("type", "id")):
            return False
        if not any(fragment.get(name) for name in TEXTS):
            return any(fragment.get(name) for name in SIGNATURES) or fragment.keys() <= _LABELS | TEXTS | SIGNATURES
        signed = any(self._strings[name].length for name in SIGNATURES if name in self._strings)
        return not signed or "index" in fragment or self._is_repeated_by(fragment)

    def add(self, fragment: JSONObject) -> None:
        """Add one fragment. A signed one may repeat the text of all previous fragments."""
        signed = any(fragment.get(name) for name in SIGNATURES)
        repeated = TEXTS if signed and self._names and self._is_repeated_by(fragment) else ()
        for name, value in fragment.items():
            if name in repeated:
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
        """Return whether a fragment repeats all the text so far."""
        texts = [name for name in TEXTS if fragment.get(name)]
        return all(name in self._strings and self._strings[name].equals(fragment[name]) for name in texts)

    def _member(self, name: str) -> JSON:
        if name in self._strings:
            return self._strings[name].value()
        value = self._rest.get(name)
        return value.value() if isinstance(value, Records) else value


def _both_differ(value: JSON, new: JSON) -> bool:
    return bool(value and new and value != new)
