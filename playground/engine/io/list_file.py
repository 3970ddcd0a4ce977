"""A list of a person's own in a JSON file: ``{"version": 1, "<name>": [...]}``, replaced as a whole at every change.

What a newer version wrote is kept, in the file and in every entry. A damaged file is set aside under another name and
said so in ``messages``; it is never deleted or overwritten. No secret belongs here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from playground.engine.io.whole_file import write_whole
from playground.jsonkit.nesting import loads
from playground.jsonkit.values import JSON, JSONObject
from playground.named_file import read_named

LARGEST: Final = 64 * 1024 * 1024  # bytes


class ListFileError(Exception):
    """The list could not be saved; the text says why."""


def _spelled(content: JSONObject) -> str:
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


class ListFile:
    """``name`` is the member that holds the list, and what its entries are called: "gateways"."""

    def __init__(self, path: Path, name: str, version: int) -> None:
        self.path = path.expanduser()
        self.messages: list[str] = []
        self._name = name
        self._version = version
        self._rest: JSONObject = {}
        self._unreadable = ""

    def load(self) -> JSONObject:
        """What the file holds, the list in it a list; empty where there is none that can be read."""
        try:
            text = read_named(self.path, LARGEST).decode("utf-8")
        except FileNotFoundError:
            return {}
        except UnicodeDecodeError:
            return self._set_aside("it is not UTF-8 text")
        except OSError as error:
            reason = error.strerror or error
            words = f"The {self._name} in {self.path} could not be read ({reason}); nothing is saved there."
            return self._give_up(words)
        try:
            content = loads(text)
        except (ValueError, RecursionError) as error:
            return self._set_aside(f"it is not JSON: {error}")
        if not isinstance(content, dict) or not isinstance(content.get(self._name, []), list):
            return self._set_aside(f"it does not hold a list of {self._name}")
        self._rest = {name: value for name, value in content.items() if name != self._name}
        return {self._name: [], **content}

    def save(self, entries: list[Any], spell: Callable[[JSONObject], str] = _spelled, **more: JSON) -> None:
        """Write the list, and ``more`` members beside it, as ``spell`` spells them. Raises ListFileError."""
        if self._unreadable:
            raise ListFileError(self._unreadable)
        content = {"version": self._version, **self._rest, **more, self._name: entries}
        try:
            data = spell(content).encode("utf-8", "backslashreplace")  # half of a surrogate pair, as JSON spells it
            write_whole(self.path, data, private=True)
        except (OSError, ValueError, RecursionError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ListFileError(f"The {self._name} could not be saved to {self.path}: {reason}.") from error

    def _set_aside(self, why: str) -> JSONObject:
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        aside = self.path.with_name(f"{self.path.stem}.damaged-{stamp}{self.path.suffix}")
        while aside.exists():
            aside = aside.with_name(f"{aside.stem}+{aside.suffix}")
        try:
            self.path.rename(aside)
        except OSError as error:
            reason = error.strerror or error
            return self._give_up(f"{self.path} is damaged ({why}) and could not be set aside ({reason}).")
        self.messages.append(f"The list of {self._name} could not be read: {why}. It was set aside as {aside}.")
        return {}

    def _give_up(self, words: str) -> JSONObject:
        self._unreadable = words
        self.messages.append(words)
        return {}
