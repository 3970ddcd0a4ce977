"""Variables in what a person writes: ``{{name}}`` stands for a value that is put in when a request is made.

The rules, all of them. A variable is two braces, a name, two braces, on one line; spaces around the name are allowed,
and the spelling makes no other difference. A name begins with a letter or ``_`` and goes on with letters, digits,
``_`` and ``-``, at most 64 in all, so ``{{ user.name }}``, ``{{#each}}``, ``{{"a": 1}}`` and three braces in a row are
plain text. ``\\{{name}}`` is ``{{name}}`` to the gateway, ``\\\\{{name}}`` a backslash and the value; elsewhere a
backslash is a backslash. A value goes in as it is: variables in it are text. A name whose value is the variable itself
(``as_written``) is sent as it is written, spaces included: so a prompt that shows templates needs no change.

Text and results in turns of every role but the assistant's take part; what a model said is never touched. Nothing here
knows a session; a transcript keeps the variables, only a request has the values.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from playground.domain.parts import Part, Text, ToolResult
from playground.domain.roles import Role
from playground.domain.transcript import Turn, common_prefix

LONGEST_NAME: Final = 64
_NAME: Final = rf"[^\W\d][\w-]{{0,{LONGEST_NAME - 1}}}"
_VARIABLE: Final = re.compile(rf"(?P<escape>\\{{0,2}})(?<!\{{)\{{\{{[ \t]*(?P<name>{_NAME})[ \t]*\}}\}}(?!\}})")
_LONG: Final = 100_000  # characters of a text that is looked through once only
_OPENING: Final = "{{"


@dataclass(frozen=True, slots=True)
class Mention:
    """A variable in a text, from ``start`` up to and without ``end``, backslashes included where they belong to it.

    ``escaped`` says that it is to be sent as written.
    """

    name: str
    start: int
    end: int
    escaped: bool = False


def as_written(name: str) -> str:
    """The value that makes a variable go out as it is written."""
    return f"{{{{{name}}}}}"


def _opens(text: str) -> bool:
    """Whether a variable may stand in a text. Python finds one character fifty times faster than two."""
    return "{" in text and _OPENING in text


def mentions(text: str) -> list[Mention]:
    """The variables in ``text``, escaped ones included, in order."""
    if not _opens(text):
        return []
    return [
        Mention(found["name"], found.start(), found.end(), found["escape"] == "\\")
        for found in _VARIABLE.finditer(text)
    ]


def resolve(text: str, values: Mapping[str, str]) -> str:
    """``text`` with the values put in; a variable without one stays as it is."""
    if not _opens(text):
        return text

    def value(found: re.Match[str]) -> str:
        escape, name = found["escape"], found["name"]
        written = found[0][len(escape) :]
        if escape == "\\":
            return written
        known = values.get(name, written)
        return ("\\" if escape else "") + (written if known == as_written(name) else known)

    return _VARIABLE.sub(value, text)


def names_in(turns: Iterable[Turn]) -> tuple[str, ...]:
    """The names of the variables in ``turns``, each once, in the order in which they first stand there."""
    found = (mention for text in filter(_may_hold, _texts(turns)) for mention in _VARIABLE.finditer(text))
    return tuple(dict.fromkeys([mention["name"] for mention in found if mention["escape"] != "\\"]))


def unresolved(turns: Iterable[Turn], values: Mapping[str, str]) -> tuple[str, ...]:
    """The names in ``turns`` that have no value, in order. An empty value is one."""
    return tuple(name for name in names_in(turns) if name not in values)


def resolve_turns(turns: tuple[Turn, ...], values: Mapping[str, str]) -> tuple[Turn, ...]:
    """``turns`` with the values put in; turns (and a tuple) in which nothing is different are the same objects."""
    return Braced().resolve(turns, values)


class Braced:
    """Where in a conversation variables may stand, as it grows and changes: turns that are the same objects as before,
    up to the first one that is not, are not looked through again. Thousands of turns take 10 ms.
    """

    def __init__(self) -> None:
        self._turns: tuple[Turn, ...] = ()
        self._places: list[int] = []  # of the turns that may hold any
        self._values: Mapping[str, str] | None = None
        self._found: dict[int, tuple[Turn, Turn]] = {}  # by place: a turn, and it with those values

    def names(self, turns: tuple[Turn, ...]) -> tuple[str, ...]:
        """The same as ``names_in``."""
        return names_in([turns[at] for at in self._look(turns)])

    def unresolved(self, turns: tuple[Turn, ...], values: Mapping[str, str]) -> tuple[str, ...]:
        """The same as ``unresolved``."""
        return unresolved([turns[at] for at in self._look(turns)], values)

    def resolve(self, turns: tuple[Turn, ...], values: Mapping[str, str]) -> tuple[Turn, ...]:
        """The same as ``resolve_turns``."""
        known = self._found if values is self._values else {}
        found: dict[int, tuple[Turn, Turn]] = {}
        for at in self._look(turns):
            turn, pair = turns[at], known.get(at)
            found[at] = pair if pair is not None and pair[0] is turn else (turn, _resolved(turn, values))
        self._values, self._found = values, found
        if all(new is old for old, new in found.values()):
            return turns
        return tuple([found[at][1] if at in found else turn for at, turn in enumerate(turns)])

    def unread(self, turns: tuple[Turn, ...]) -> int:
        """How many of ``turns`` are yet to be looked through."""
        return len(turns) - common_prefix(self._turns, turns)

    def _look(self, turns: tuple[Turn, ...]) -> list[int]:
        if not turns:
            return []  # as for what is set, without a conversation: what is known of it stays so
        same, assistant = common_prefix(self._turns, turns), Role.ASSISTANT
        found = [
            at
            for at, turn in enumerate(turns[same:], same)
            if turn.role is not assistant
            for part in turn.parts
            if (type(part) is Text or type(part) is ToolResult) and _may_hold(part.text)
        ]
        self._places = [*self._places[: bisect_left(self._places, same)], *dict.fromkeys(found)]
        self._turns = turns
        return self._places


def _may_hold(text: str) -> bool:
    """Whether there may be variables in a text."""
    return _opens(text) if len(text) < _LONG else _long_may_hold(text)


@lru_cache(maxsize=16)
def _long_may_hold(text: str) -> bool:
    return _opens(text)  # of megabytes: asked again and again, for each state of the window


def _texts(turns: Iterable[Turn]) -> list[str]:
    return [
        part.text
        for turn in turns
        if turn.role is not Role.ASSISTANT
        for part in turn.parts
        if part.kind == "text" or part.kind == "tool_result"
    ]


def _resolved(turn: Turn, values: Mapping[str, str]) -> Turn:
    if turn.role is Role.ASSISTANT:
        return turn
    parts = tuple(_part(part, values) for part in turn.parts)
    same = all(new is old for new, old in zip(parts, turn.parts, strict=True))
    return turn if same else turn.model_copy(update={"parts": parts})


def _part(part: Part, values: Mapping[str, str]) -> Part:
    if part.kind != "text" and part.kind != "tool_result":
        return part
    text = resolve(part.text, values)
    return part if text == part.text else part.model_copy(update={"text": text})
