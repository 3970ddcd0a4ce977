"""What is wrong with arguments under their schema, said in place while they are still arriving.

While they stream, only what nothing to come can mend is said; once they are whole, the validator has the last word.
A call costs what arrived since the one before, so that it can be made at each repaint.
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

VALIDATED: Final = 256 * 1024  # characters; longer arguments are judged by what was seen on the way
MOST: Final = 200  # problems that are listed
DEEPEST: Final = 200  # levels that are judged
_NOT_ALLOWED: Final = "is not allowed by the schema"
_CONTAINERS: Final = "object", "array"

Validate = Callable[[], list[Problem] | None]


@dataclass(slots=True)
class _Alternatives:
    """The alternatives a node is under, and from which alternative of its parent each comes."""

    views: list[View]
    origins: list[int]
    alive: list[bool]
    depth: int
    names: set[str] | Literal[False] | None = None  # that all who are alive list; False where others may be there

    def living(self) -> list[int]:
        return [number for number, alive in enumerate(self.alive) if alive]


class Judge:
    """Keeps what is known about one text under one schema. ``schema`` None: only the text itself is judged."""

    def __init__(self, schema: JSONObject | None) -> None:
        self._schema = schema
        self._demands = Demands(schema)
        self._places: dict[int, _Alternatives] = {}
        self._begun = self._finished = 0
        self._found: list[Problem] = []
        self._last: list[Problem] | None = None

    def problems(self, reader: PartialJson, truncated: bool = False, validate: Validate | None = None) -> list[Problem]:
        """All problems known by now, in the order of the text. ``truncated``: the answer ran into its token limit.

        ``validate`` gives the validator's word on the whole text, None while it is not known.
        """
        if self._schema is not None:
            self._catch_up(reader)
        text = [Problem(found.path, found.message, offset=found.offset) for found in reader.problems]
        if not reader.ended:
            return _listed(text + self._found)
        if self._last is None:
            self._last = self._conclusion(reader, truncated, validate or partial(_validate, reader, self._schema))
        return _listed(text + (self._found if self._last is None else self._last))

    def _catch_up(self, reader: PartialJson) -> None:
        """Begin and finish nodes in the order of the text, so that it does not matter how it came in pieces."""
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
            there = {child.key for child in node.children}
            for number in place.living():
                lacking = missing(place.views[number], there, MOST)
                if lacking:
                    words[number] = [f"“{name}” is missing" for name in lacking]
        elif node.kind not in ("array", "invalid") and not _endless(node.value):
            for number in place.living():
                if not _fits(place, number, node):
                    words[number] = [self._type_words(node, place)]
                else:
                    said = objection(place.views[number], node.value)
                    if said:
                        words[number] = [said]
        self._weigh(node, place, words)
        self._places.pop(node.number, None)

    def _weigh(self, node: Node, place: _Alternatives, words: dict[int, list[str]]) -> None:
        """Take objections: those of all living alternatives are a problem, those of some rule these out."""
        if not words:
            return
        living = place.living()
        if len(words) < len(living):
            self._rule_out(node, place, list(words))
            return
        for said in words[living[0]]:
            self._say(node, said)
        self._places.pop(node.number, None)

    def _rule_out(self, node: Node, place: _Alternatives, dead: list[int]) -> None:
        """Alternatives of a node that cannot be meant; those of its parent that stand or fall with them go as well."""
        while dead:
            for number in dead:
                place.alive[number] = False
                place.names = None
            above = self._places.get(node.parent.number) if node.parent is not None else None
            if above is None or node.parent is None:
                return
            left = {place.origins[number] for number in place.living()}
            dead = [number for number in above.living() if number not in left]
            node, place = node.parent, above

    def _type_words(self, node: Node, place: _Alternatives) -> str:
        wanted = [name for number in place.living() for kinds in wanted_types(place.views[number]) for name in kinds]
        what = {"object": "an object", "array": "a list", "string": "a text"}.get(node.kind) or spelled(node.value)
        return f"{what} is not of type {' or '.join(dict.fromkeys(wanted))}"

    def _say(self, node: Node, message: str, severity: str = "error") -> None:
        if len(self._found) <= MOST:
            self._found.append(Problem(node.path, message, severity, offset=node.start))

    def _conclusion(self, reader: PartialJson, truncated: bool, validate: Validate) -> list[Problem] | None:
        """What can be said once nothing more comes; None while it is not known."""
        where = reader.path
        if reader.root is not None and not reader.complete:
            if reader.broken:
                return self._found
            words = "the limit on tokens was reached" if truncated else "the JSON has no end"
            return [*self._found, Problem(where, f"cut off here: {words}", offset=reader.length)]
        if reader.root is None and truncated:
            return [Problem((), "cut off before it began: the limit on tokens was reached", offset=reader.length)]
        if reader.broken and reader.root is None:
            return []
        if reader.root is not None and reader.root.kind != "object":
            return [Problem((), "arguments must be a JSON object", offset=reader.root.start)]
        if self._schema is None or not reader.sound or reader.length > VALIDATED:
            return self._found
        found = validate()
        if found is None:
            return None
        out = [problem for problem in self._found if problem.severity == "warning"]
        places = _Finder(reader)
        for problem in found:
            closer = self._closer(problem) if problem.message.endswith(NO_ALTERNATIVE) else []
            out += closer or [replace(problem, offset=places.offset(problem.path))]
        return out

    def _closer(self, problem: Problem) -> list[Problem]:
        """What was found inside a value that fits no alternative: it says more than that."""
        depth = len(problem.path)
        return [
            found
            for found in self._found
            if found.severity == "error" and len(found.path) >= depth and found.path[:depth] == problem.path
        ]


def _validate(reader: PartialJson, schema: JSONObject | None) -> list[Problem]:
    try:
        return check_value(reader.value(), schema or {})
    except TooCostlyError as error:
        return [unchecked(str(error))]


class _Finder:
    """Where the value at a path begins; the last of a doubled name."""

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
