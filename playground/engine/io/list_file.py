"""Lists of values in JSON files: ``{"version": 1, "<member>": [...]}``, replaced as a whole at every change.

Unknown members of a newer version are preserved, in the file and in every entry. A damaged file is renamed and reported
in ``messages``; it is never deleted or overwritten. No secret belongs in such a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Any, ClassVar, Final, Generic, TypeVar

from playground.domain.reasons import reason_of
from playground.engine.io.files import write_whole
from playground.jsonkit.nesting import loads
from playground.jsonkit.values import JSON, JSONObject
from playground.system.named_file import read_named

LARGEST: Final = 64 * 1024 * 1024  # bytes
FILE_VERSION: Final = 1

T = TypeVar("T")


class ListFileError(Exception):
    """A list or one of its entries cannot be saved; the text gives the reason and the remedy, and no secret."""


class JsonListStore(Generic[T]):
    """Frozen values of one type in a JSON file, in order; a subclass names the file's member and reads an entry.

    Methods block for one small write and may be called from any thread. A change is written first: when that fails,
    ``error`` is raised and nothing has changed. ``messages`` lists the problems of reading for people. Entries that
    could not be read stay in the file unchanged.
    """

    member: ClassVar[str]  # the name of the list in the file, also in messages
    noun: ClassVar[str]  # the name of one entry in messages
    error: ClassVar[type[ListFileError]] = ListFileError

    def __init__(self, path: Path | None) -> None:
        """Read the file at ``path``; None for a list in memory alone."""
        self.path = path.expanduser() if path is not None else Path()
        self.messages: list[str] = []
        self._in_memory = path is None
        self._lock = RLock()  # held from reading the list until the changed one is written
        self._items: list[T] = []
        self._unreadable_entries: list[Any] = []
        self._members: JSONObject = {}
        self._write_problem = ""
        for entry in self._load():
            try:
                self._items.append(self._read(entry))
            except (ValueError, RecursionError) as error:  # pydantic's ValidationError is a ValueError
                name = entry.get("name") if isinstance(entry, dict) else None
                title = f"The {self.noun} “{name or 'without a name'}”"
                self._unreadable_entries.append(entry)
                self.messages.append(
                    f"{title} could not be read ({reason_of(error).rstrip('.')}); it is left unchanged."
                )

    def _read(self, entry: Any) -> T:
        """Return the value of an entry. Raises ValueError for an entry that cannot be read."""
        raise NotImplementedError

    def _write(self, item: T) -> JSONObject:
        """Return the entry of a value."""
        raise NotImplementedError

    def _is_written(self, _item: T) -> bool:
        """Return whether a value is written; others stay in memory."""
        return True

    def _serialize(self, content: JSONObject) -> str:
        """Return the text of the file."""
        return json.dumps(content, ensure_ascii=False, indent=2) + "\n"

    @property
    def items(self) -> tuple[T, ...]:
        """All values, in the order of the file."""
        return tuple(self._items)

    def get(self, item_id: str) -> T | None:
        """Return the value of that id, or None."""
        return next((item for item in self._items if getattr(item, "id", None) == item_id), None)

    def remove(self, item_id: str) -> None:
        """Remove the value of that id; none of that id is no error."""
        with self._lock:
            self.save(item for item in self._items if getattr(item, "id", None) != item_id)

    def _put(self, item: T) -> None:
        """Replace the value of the same id, or append a new one."""
        with self._lock:
            item_id = getattr(item, "id", None)
            if self.get(str(item_id)) is None:
                self.save([*self._items, item])
            else:
                self.save(item if getattr(entry, "id", None) == item_id else entry for entry in self._items)

    def save(self, items: Iterable[T], **members: JSON) -> None:
        """Write the list, and ``members`` next to it, then adopt them. Raises ``error``."""
        with self._lock:
            items = list(items)
            members = {**self._members, **members}
            if not self._in_memory:
                entries = [self._write(item) for item in items if self._is_written(item)] + self._unreadable_entries
                self._write_file({"version": FILE_VERSION, **members, self.member: entries})
            self._items, self._members = items, members

    def _write_file(self, content: JSONObject) -> None:
        if self._write_problem:
            raise self.error(self._write_problem)
        try:
            # A lone surrogate is written in the escaped form of JSON.
            data = self._serialize(content).encode("utf-8", "backslashreplace")
            write_whole(self.path, data, private=True)
        except (OSError, ValueError, RecursionError) as error:
            reason = getattr(error, "strerror", None) or error
            raise self.error(f"The {self.member} could not be saved to {self.path}: {reason}.") from error

    def _load(self) -> list[Any]:
        """Return the entries of the file; none if there is no file, or no readable one."""
        if self._in_memory:
            return []
        try:
            text = read_named(self.path, LARGEST).decode("utf-8")
        except FileNotFoundError:
            return []
        except UnicodeDecodeError:
            return self._rename_damaged("it is not UTF-8 text")
        except OSError as error:
            reason = error.strerror or error
            return self._refuse_writes(
                f"The {self.member} in {self.path} could not be read ({reason}); nothing is saved there."
            )
        try:
            content = loads(text)
        except (ValueError, RecursionError) as error:
            return self._rename_damaged(f"it is not JSON: {error}")
        entries = content.get(self.member, []) if isinstance(content, dict) else None
        if not isinstance(content, dict) or not isinstance(entries, list):
            return self._rename_damaged(f"it does not hold a list of {self.member}")
        self._members = {name: value for name, value in content.items() if name != self.member}
        return entries

    def _rename_damaged(self, why: str) -> list[Any]:
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        damaged = self.path.with_name(f"{self.path.stem}.damaged-{stamp}{self.path.suffix}")
        while damaged.exists():
            damaged = damaged.with_name(f"{damaged.stem}+{damaged.suffix}")
        try:
            self.path.rename(damaged)
        except OSError as error:
            reason = error.strerror or error
            return self._refuse_writes(f"{self.path} is damaged ({why}) and could not be set aside ({reason}).")
        self.messages.append(f"The list of {self.member} could not be read: {why}. It was set aside as {damaged}.")
        return []

    def _refuse_writes(self, problem: str) -> list[Any]:
        self._write_problem = problem
        self.messages.append(problem)
        return []
