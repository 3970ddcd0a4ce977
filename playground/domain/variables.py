r"""Variables in written messages: ``{{name}}`` is replaced by a value when a request is built.

A variable is two braces, a name, two braces, on one line; spaces around the name are allowed, and the spelling makes no
other difference. A name begins with a letter or ``_``, followed by letters, digits, ``_`` and ``-``, at most 64
characters in all, so ``{{ user.name }}``, ``{{#each}}``, ``{{"a": 1}}`` and three braces in a row are plain text.
``\{{name}}`` is sent as ``{{name}}``, ``\\{{name}}`` as a backslash and the value; any other backslash is a backslash.
A value is inserted verbatim: variables inside it are text. A name whose value is the variable itself (``as_written``)
is sent exactly as written, spaces included, so that a prompt which shows templates needs no change.

Variables are replaced in texts and tool results of every role but the assistant's. A transcript keeps the variables;
only a request has the values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from playground.domain.parts import Part
from playground.domain.roles import Role
from playground.domain.transcript import Turn

LONGEST_NAME: Final = 64
_NAME: Final = rf"[^\W\d][\w-]{{0,{LONGEST_NAME - 1}}}"
_VARIABLE: Final = re.compile(rf"(?P<escape>\\{{0,2}})(?<!\{{)\{{\{{[ \t]*(?P<name>{_NAME})[ \t]*\}}\}}(?!\}})")
_OPENING: Final = "{{"


@dataclass(frozen=True, slots=True)
class Mention:
    """A variable in a text from index ``start`` up to ``end``, including the backslashes that belong to it.

    ``escaped``: it is sent as written.
    """

    name: str
    start: int
    end: int
    escaped: bool = False


def as_written(name: str) -> str:
    """Return the value that makes a variable go out as it is written."""
    return f"{{{{{name}}}}}"


def mentions(text: str) -> list[Mention]:
    """Return the variables in ``text``, escaped ones included, in order."""
    if _OPENING not in text:
        return []
    return [
        Mention(match["name"], match.start(), match.end(), match["escape"] == "\\")
        for match in _VARIABLE.finditer(text)
    ]


def resolve(text: str, values: Mapping[str, str]) -> str:
    """Return ``text`` with its variables replaced; a variable without a value stays unchanged."""
    if _OPENING not in text:
        return text

    def replacement(match: re.Match[str]) -> str:
        escape, name = match["escape"], match["name"]
        written = match[0][len(escape) :]
        if escape == "\\":
            return written
        value = values.get(name, written)
        return ("\\" if escape else "") + (written if value == as_written(name) else value)

    return _VARIABLE.sub(replacement, text)


def names_in(turns: Iterable[Turn]) -> tuple[str, ...]:
    """Return the names of the variables in ``turns``, each once, in order of first appearance."""
    names = (mention.name for text in _texts(turns) for mention in mentions(text) if not mention.escaped)
    return tuple(dict.fromkeys(names))


def unresolved(turns: Iterable[Turn], values: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names in ``turns`` that have no value, in order. An empty value counts as a value."""
    return tuple(name for name in names_in(turns) if name not in values)


def resolve_turns(turns: tuple[Turn, ...], values: Mapping[str, str]) -> tuple[Turn, ...]:
    """Return ``turns`` with their variables replaced; unchanged turns, or an unchanged tuple, are the same objects."""
    resolved = tuple([_resolve_turn(turn, values) for turn in turns])
    return turns if all(new is old for new, old in zip(resolved, turns, strict=True)) else resolved


def _texts(turns: Iterable[Turn]) -> Iterable[str]:
    for turn in turns:
        if turn.role is not Role.ASSISTANT:
            for part in turn.parts:
                if part.kind == "text" or part.kind == "tool_result":
                    yield part.text


def _resolve_turn(turn: Turn, values: Mapping[str, str]) -> Turn:
    if not any(_OPENING in text for text in _texts((turn,))):
        return turn
    parts = tuple(_resolve_part(part, values) for part in turn.parts)
    unchanged = all(new is old for new, old in zip(parts, turn.parts, strict=True))
    return turn if unchanged else turn.model_copy(update={"parts": parts})


def _resolve_part(part: Part, values: Mapping[str, str]) -> Part:
    if part.kind != "text" and part.kind != "tool_result":
        return part
    text = resolve(part.text, values)
    return part if text == part.text else part.model_copy(update={"text": text})
