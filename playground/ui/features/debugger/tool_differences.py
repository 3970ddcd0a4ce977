"""Two sets of tools: what is different between them, named for people. And tools out of text. No widgets here."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence

from playground.domain.parameters import Parameters
from playground.domain.tools import ToolDefinition
from playground.engine.files.tool_import.definitions import read
from playground.engine.files.tool_import.found import ToolCollector
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON

MOST_PLACES = 3
SAME = "Nothing is different yet."


def read_tools(text: str) -> tuple[ToolDefinition, ...]:
    """The tools a JSON text lists, in either protocol's shape, exactly as they stand there; none for ``[]``.

    Raises ValueError in words.
    """
    found = ToolCollector()
    problem = read(parse_json(text), found)
    if problem or found.notes:
        raise ValueError(problem or found.notes[0])
    return tuple(found.tools)


def read_choice(text: str, kind: type[Parameters], names: Collection[str]) -> JSON:
    """The value of ``tool_choice`` for what is typed: a tool's name, JSON, or a word as it is. None for nothing.

    Raises ValueError for broken JSON.
    """
    text = text.strip()
    if not text:
        return None
    if text.startswith("{"):
        return parse_json(text)
    return kind.tool_choice_for(text) if text in names else text


def choice_words(value: JSON) -> str:
    """A value of ``tool_choice`` in a few words."""
    if value is None:
        return "default"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def differences(first: Sequence[ToolDefinition], second: Sequence[ToolDefinition]) -> list[str]:
    """What is different about the second set, a line each; empty where both are the same on the wire."""
    before = {tool.name: tool for tool in first if tool.sendable}
    after = {tool.name: tool for tool in second if tool.sendable}
    out = [f"{name} is not on offer" for name in before if name not in after]
    out += [f"{name} is new" for name in after if name not in before]
    for name, tool in after.items():
        if name in before and (changed := _changes(before[name], tool)):
            out.append(f"{name}: {', '.join(changed)}")
    kept = [name for name in before if name in after]
    if kept != [name for name in after if name in before]:
        out.append("the order is another one")
    return out


def _changes(before: ToolDefinition, after: ToolDefinition) -> list[str]:
    out: list[str] = []
    if before.description != after.description:
        out.append("description")
    if not _same(before.parameters, after.parameters):
        places = list(_places(before.parameters, after.parameters, ""))
        more = f" and {len(places) - MOST_PLACES} more" if len(places) > MOST_PLACES else ""
        out.append(f"schema ({', '.join(places[:MOST_PLACES])}{more})" if places else "schema")
    if before.strict != after.strict:
        out.append("strict")
    return out


def _same(before: JSON, after: JSON) -> bool:
    """Whether both are spelled alike: the order of keys is a difference that a model sees, and true is not 1."""
    return json.dumps(before) == json.dumps(after)


def _places(before: JSON, after: JSON, path: str) -> Iterator[str]:
    """The innermost places that differ."""
    if _same(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        keys = [*before, *(key for key in after if key not in before)]
        inner = [place for key in keys for place in _inner(before, after, key, path)]
        yield from inner or [f"{path or 'all of it'}, in another order"]
    else:
        yield path or "all of it"


def _inner(before: dict[str, JSON], after: dict[str, JSON], key: str, path: str) -> Iterator[str]:
    place = f"{path}.{key}" if path else key
    if key in before and key in after:
        yield from _places(before[key], after[key], place)
    else:
        yield place
