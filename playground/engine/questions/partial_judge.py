"""Problems of arguments under their schema, with their places, while the arguments are still arriving.

While they stream, only problems that nothing later can mend are reported; complete arguments are validated. The cost of
a call grows with what arrived since the last one, so that each repaint can make one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal

from playground.jsonkit.limits import TooCostlyError
from playground.jsonkit.problems import Problem, unchecked
from playground.jsonkit.schema_views import (
    Demands,
    View,
    fits_types,
    forbids,
    knows_names,
    missing,
    names,
    objection,
    spelled,
    wanted_types,
)
from playground.jsonkit.tree import Node, PartialJson
from playground.jsonkit.validation import NO_ALTERNATIVE, check_value
from playground.jsonkit.values import JSONObject

VALIDATED: Final = 256 * 1024  # characters; longer arguments are judged by the problems noted while they arrived
MOST: Final = 200  # problems that are listed
DEEPEST: Final = 200  # levels that are judged
_NOT_ALLOWED: Final = "is not allowed by the schema"
_CONTAINERS: Final = "object", "array"

Validate = Callable[[], list[Problem] | None]


@dataclass(slots=True)
class _Alternatives:
    """The alternatives of the schema for a node, each with the parent's alternative that it belongs to."""

    views: list[View]
    origins: list[int]
    alive: list[bool]
    depth: int
    names: set[str] | Literal[False] | None = None  # that all living alternatives list; False where they allow more

    def living(self) -> list[int]:
        return [number for number, alive in enumerate(self.alive) if alive]


class Judge:
    """Judges one text under one schema. Without a schema, only the text itself is judged."""

    def __init__(self, schema: JSONObject | None) -> None:
        self._schema = schema
        self._demands = Demands(schema)
        self._places: dict[int, _Alternatives] = {}
        self._begun = self._finished = 0
        self._noted: list[Problem] = []
        self._last: list[Problem] | None = None

    def problems(self, reader: PartialJson, truncated: bool = False, validate: Validate | None = None) -> list[Problem]:
        """Return the problems so far, in the order of the text. `truncated`: the answer reached its token limit.

        `validate` returns the validator's problems of the complete text, None while they are not available.
        """
        if self._schema is not None:
            self._catch_up(reader)
        text = [Problem(fault.path, fault.message, offset=fault.offset) for fault in reader.problems]
        if not reader.ended:
            return _listed(text + self._noted)
        if self._last is None:
            self._last = self._conclusion(reader, truncated, validate or partial(_validate, reader, self._schema))
        return _listed(text + (self._noted if self._last is None else self._last))

    def _catch_up(self, reader: PartialJson) -> None:
        """Begin and finish nodes in the order of the text, whatever pieces it arrived in."""
        nodes, finished = reader.nodes, reader.finished
        while self._begun < len(nodes) or self._finished < len(finished):
            begin = nodes[self._begun] if self._begun < len(nodes) else None
            ready = nodes[finished[self._finished]] if self._finished < len(finished) else None
            if ready is not None and (begin is None or (ready.end or 0) <= begin.start):
                self._finished += 1
                self._finish(ready)
            elif begin is not None:
                self._begun += 1
                self._begin(begin)

    def _begin(self, node: Node) -> None:
        place = self._root_place() if node.parent is None else self._place_of(node, node.parent)
        if place is None:
            return
        self._places[node.number] = place
        if node.kind in (*_CONTAINERS, "string"):
            wrong = [number for number in place.living() if not _fits(place, number, node)]
            self._weigh(node, place, {number: [self._type_words(node, place)] for number in wrong})

    def _root_place(self) -> _Alternatives:
        views = self._demands.views_of(self._demands.root)
        return _Alternatives(views, [0] * len(views), [True] * len(views), 0)

    def _place_of(self, node: Node, parent: Node) -> _Alternatives | None:
        above = self._places.get(parent.number)
        if above is None or node.key is None or node.kind == "invalid" or above.depth >= DEEPEST:
            return None
        views: list[View] = []
        origins: list[int] = []
        refused: list[int] = []
        for number in above.living():
            inner = [view for view in self._demands.inside(above.views[number], node.key) if not forbids(view)]
            if not inner:
                refused.append(number)
            views += inner
            origins += [number] * len(inner)
        if not views:
            if refused:
                self._say(node, _NOT_ALLOWED)
            return None
        self._rule_out(parent, above, refused)
        living = [above.views[number] for number in above.living()]
        if above.names is None:
            above.names = names(living) if knows_names(living) else False
        if isinstance(node.key, str) and above.names is not False and node.key not in above.names:
            self._say(node, "is not among the tool's parameters", "warning")
        return _Alternatives(views, origins, [True] * len(views), above.depth + 1)

    def _finish(self, node: Node) -> None:
        place = self._places.get(node.number)
        if place is None:
            return
        words: dict[int, list[str]] = {}
        if node.kind == "object":
            present = {child.key for child in node.children}
            for number in place.living():
                lacking = missing(place.views[number], present, MOST)
                if lacking:
                    words[number] = [f"“{name}” is missing" for name in lacking]
        elif node.kind not in ("array", "invalid") and not _endless(node.value):
            for number in place.living():
                if not _fits(place, number, node):
                    words[number] = [self._type_words(node, place)]
                else:
                    message = objection(place.views[number], node.value)
                    if message:
                        words[number] = [message]
        self._weigh(node, place, words)
        self._places.pop(node.number, None)

    def _weigh(self, node: Node, place: _Alternatives, words: dict[int, list[str]]) -> None:
        """Report objections of all living alternatives; those of some alternatives rule these out."""
        if not words:
            return
        living = place.living()
        if len(words) < len(living):
            self._rule_out(node, place, list(words))
            return
        for message in words[living[0]]:
            self._say(node, message)
        self._places.pop(node.number, None)

    def _rule_out(self, node: Node, place: _Alternatives, dead: list[int]) -> None:
        """Rule out alternatives of a node, and those of its parents that have no living alternative left."""
        while dead:
            for number in dead:
                place.alive[number] = False
                place.names = None
            above = self._places.get(node.parent.number) if node.parent is not None else None
            if above is None or node.parent is None:
                return
            living = {place.origins[number] for number in place.living()}
            dead = [number for number in above.living() if number not in living]
            node, place = node.parent, above

    def _type_words(self, node: Node, place: _Alternatives) -> str:
        types = [name for number in place.living() for kinds in wanted_types(place.views[number]) for name in kinds]
        what = {"object": "an object", "array": "a list", "string": "a text"}.get(node.kind) or spelled(node.value)
        return f"{what} is not of type {' or '.join(dict.fromkeys(types))}"

    def _say(self, node: Node, message: str, severity: str = "error") -> None:
        if len(self._noted) <= MOST:
            self._noted.append(Problem(node.path, message, severity, offset=node.start))

    def _conclusion(self, reader: PartialJson, truncated: bool, validate: Validate) -> list[Problem] | None:
        """Return the problems of a text that has ended; None while the validator has not answered."""
        where = reader.path
        if reader.root is not None and not reader.complete:
            if reader.broken:
                return self._noted
            words = "the limit on tokens was reached" if truncated else "the JSON has no end"
            return [*self._noted, Problem(where, f"incomplete JSON: {words}", offset=reader.length)]
        if reader.root is None and truncated:
            return [Problem((), "cut off before it began: the limit on tokens was reached", offset=reader.length)]
        if reader.broken and reader.root is None:
            return []
        if reader.root is not None and reader.root.kind != "object":
            return [Problem((), "arguments must be a JSON object", offset=reader.root.start)]
        if self._schema is None or not reader.sound or reader.length > VALIDATED:
            return self._noted
        validated = validate()
        if validated is None:
            return None
        out = [problem for problem in self._noted if problem.severity == "warning"]
        places = _Finder(reader)
        for problem in validated:
            closer = self._closer(problem) if problem.message.endswith(NO_ALTERNATIVE) else []
            out += closer or [replace(problem, offset=places.offset(problem.path))]
        return out

    def _closer(self, problem: Problem) -> list[Problem]:
        """Return the problems noted inside a value that fits no alternative: they are more precise."""
        depth = len(problem.path)
        return [
            inner
            for inner in self._noted
            if inner.severity == "error" and len(inner.path) >= depth and inner.path[:depth] == problem.path
        ]


def _validate(reader: PartialJson, schema: JSONObject | None) -> list[Problem]:
    try:
        return check_value(reader.value(), schema or {})
    except TooCostlyError as error:
        return [unchecked(str(error))]


class _Finder:
    """Finds the offset of the value at a path; of a repeated name, the last one."""

    def __init__(self, reader: PartialJson) -> None:
        self._root = reader.root
        self._names: dict[int, dict[str | int | None, Node]] = {}

    def offset(self, path: tuple[str | int, ...]) -> int | None:
        node = self._root
        for step in path:
            if node is None:
                return None
            if node.number not in self._names:
                self._names[node.number] = {child.key: child for child in node.children}
            node = self._names[node.number].get(step)
        return None if node is None else node.start


def _listed(problems: list[Problem]) -> list[Problem]:
    ordered = sorted(problems, key=lambda problem: problem.offset if problem.offset is not None else 0)
    if len(ordered) <= MOST:
        return ordered
    return [*ordered[:MOST], Problem((), "more problems are not listed", "warning")]


def _fits(place: _Alternatives, number: int, node: Node) -> bool:
    return fits_types(place.views[number], node.kind, node.value)


def _endless(value: object) -> bool:
    """A number too large to be compared."""
    return isinstance(value, float) and math.isinf(value)
