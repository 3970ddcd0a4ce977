"""The schemas inside a JSON Schema, and the targets of local references.

References to other documents have no target: nothing is ever fetched.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Final
from urllib.parse import quote, unquote, urljoin

from playground.jsonkit.values import JSON, JSONObject, Path

#: Keywords whose content is data, not schemas: a ``$ref`` in there is only a key.
DATA: Final = frozenset(("const", "default", "enum", "example", "examples"))
#: Keywords whose members are schemas by name.
BY_NAME: Final = frozenset(
    ("$defs", "definitions", "dependencies", "dependentRequired", "dependentSchemas", "patternProperties", "properties")
)
_SAFE: Final = "!$&'()*+,;=:@-._~?/"
_MOST_LOOKED_AT: Final = 20_000
_DEEPEST: Final = 60  # steps of a path into a schema that is looked through


def subschemas(schema: JSON, deepest: float = _DEEPEST) -> Iterator[tuple[Path, JSONObject]]:
    """Yield each schema object of a schema with its path, the root first, up to ``deepest`` steps; data is skipped."""
    waiting: list[tuple[Path, JSONObject, bool]] = [((), schema, True)] if isinstance(schema, dict) else []
    while waiting:
        path, node, is_schema = waiting.pop()
        if len(path) > deepest:
            continue
        if is_schema:
            yield path, node
        inner: list[tuple[Path, JSONObject, bool]] = []
        for key, value in node.items():
            if is_schema and key in DATA:
                continue
            if isinstance(value, dict):
                inner.append(((*path, key), value, not is_schema or key not in BY_NAME))
            elif isinstance(value, list):
                inner += [
                    ((*path, key, number), item, True) for number, item in enumerate(value) if isinstance(item, dict)
                ]
        waiting += reversed(inner)


def target_of(root: JSON, ref: str) -> Path | None:
    """Return the path that ``#``, ``#/a/b``, ``#anchor`` or the ``$id`` of a part refers to; None if there is none."""
    address, _, fragment = ref.partition("#")
    base: Path | None = () if not address else _resource(root, address)
    if base is None:
        return None
    pointer = unquote(fragment)
    if pointer and not pointer.startswith("/"):
        return _anchor(root, pointer)
    node, path = reach(root, base), list[str | int](base)
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict) and key in node:
            node = node[key]
            path.append(key)
        elif isinstance(node, list) and key.isascii() and key.isdigit() and len(key) < 8 and int(key) < len(node):
            node = node[int(key)]
            path.append(int(key))
        else:
            return None
    return tuple(path)


def pointer_of(path: Path) -> str:
    """Return the ``$ref`` of ``path``."""
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return "#" + "".join("/" + quote(step, safe=_SAFE, errors="surrogatepass") for step in steps)


def reach(root: JSON, path: Path) -> JSON:
    """Return the value at ``path``. Raises LookupError if there is none."""
    for step in path:
        if (isinstance(root, dict) and isinstance(step, str)) or (isinstance(root, list) and isinstance(step, int)):
            root = root[step]  # type: ignore[index]  # the two checks belong together, which mypy cannot see
        else:
            raise LookupError(step)
    return root


def resolved(document: JSON, value: JSON) -> JSON:
    """Follow a reference inside the document; None for a missing target, a cycle and another document."""
    passed: set[Path] = set()
    while isinstance(value, dict) and isinstance(value.get("$ref"), str):
        path = target_of(document, value["$ref"])
        if path is None or path in passed:
            return None
        passed.add(path)
        value = reach(document, path)
    return value


def name_of(ref: str) -> str:
    """Return the last name in a ``$ref``, without the escapes of pointers and addresses."""
    return unquote(ref.rsplit("/", 1)[-1]).replace("~1", "/").replace("~0", "~")


def _anchor(root: JSON, name: str) -> Path | None:
    anchors = islice(subschemas(root, math.inf), _MOST_LOOKED_AT)
    return next(
        (
            path
            for path, inner in anchors
            if name in (inner.get("$anchor"), inner.get("$dynamicAnchor"))
            or f"#{name}" in (inner.get("$id"), inner.get("id"))  # up to draft-07
        ),
        None,
    )


def _resource(root: JSON, address: str) -> Path | None:
    """Return the path of the part whose ``$id`` is an address; both are resolved against the ``$id`` of the root."""
    outer = _id_of(root)
    target = _joined(outer, address)
    parts = islice(subschemas(root, math.inf), _MOST_LOOKED_AT)
    return next((path for path, inner in parts if _id_of(inner) and _joined(outer, _id_of(inner)) == target), None)


def _id_of(schema: JSON) -> str:
    """Return the address in ``$id`` (``id`` in draft-04) without its fragment; empty if there is none."""
    address = (schema.get("$id") or schema.get("id")) if isinstance(schema, dict) else None
    return address.partition("#")[0] if isinstance(address, str) else ""


def _joined(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:
        return address
