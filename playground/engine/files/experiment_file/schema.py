"""The JSON Schema of an experiment's file, from the values it is made of: their fields, and what their docstrings say.

``python -m playground.engine.files.experiment_file.schema`` prints it, as it is checked in with the other resources.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any, Final

from pydantic.json_schema import models_json_schema

from playground.engine.files.experiment_file.content import NAME, VERSION
from playground.engine.session.snapshot import FIRST, Snapshot
from playground.jsonkit.values import JSON, JSONObject

_LINES: Final[JSONObject] = {
    "description": "A text, or the list of its lines.",
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
}
#: Members that control how others are read; see ``snapshot.decode``.
_READING_MEMBERS: Final[JSONObject] = {
    "by_hand": {
        "description": "The parameters, by protocol, that a person set to what a new experiment begins with. All "
        "others that hold it are the program's own.",
        "additionalProperties": {"items": {"type": "string"}, "type": "array"},
        "type": "object",
    },
    "merges": {
        "description": "Whether the extra body is merged into the objects it is laid over (as by RFC 7396, but null is "
        "sent as null). Without it, it replaced them whole: what of the parameters it hid is then left out when the "
        "file is opened.",
        "default": False,
        "type": "boolean",
    },
}
_SIMPLE: Final = frozenset({"string", "number", "integer", "boolean", "object"})


def experiment_schema() -> JSONObject:
    """The schema."""
    _, generated = models_json_schema([(Snapshot, "validation")], ref_template="#/$defs/{model}")
    kinds = {name: _plain(kind) for name, kind in generated["$defs"].items() if name != "Parameters"}
    root = kinds.pop(Snapshot.__name__)
    properties = {
        NAME: {"description": "The version of this format.", "const": VERSION},
        **{name: root["properties"][name] for name in FIRST},
    }
    properties |= {**root["properties"], **_READING_MEMBERS}
    properties["parameters"] |= {"additionalProperties": {"type": "object"}, "type": "object"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:gateway-playground:experiment:{VERSION}",
        "title": "An experiment of Gateway Playground",
        "description": "A file *.playground.json. Members at their defaults may be left out. Undescribed members are "
        "kept. It holds no key.",
        "type": "object",
        "required": [NAME, "id"],
        "properties": properties,
        "$defs": {"Lines": _LINES, **dict(sorted(kinds.items()))},
    }


def _plain(schema: JSON, named: bool = False) -> Any:
    """Return a schema without redundant members; ``named``: the keys are names of fields."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if named:
        return {name: _plain(item) for name, item in schema.items()}
    if schema.get("format") == "lines":
        schema = {"$ref": "#/$defs/Lines", **{name: item for name, item in schema.items() if name != "format"}}
    kinds = [item.get("type") for item in schema.get("anyOf", ())]
    if (
        len(kinds) == 2
        and kinds[1] == "null"
        and kinds[0] in _SIMPLE
        and set(schema["anyOf"][0])
        <= {
            "type",
            "additionalProperties",
        }
    ):
        schema = {"type": kinds, **{name: item for name, item in schema.items() if name != "anyOf"}}
    out: JSONObject = {}
    for name, item in schema.items():
        if name == "description":
            out[name] = _words(item)
        elif name == "default" and isinstance(item, dict):
            continue  # what an object is by default, its own fields say
        elif name not in ("title", "discriminator") and not (name == "additionalProperties" and item is True):
            out[name] = _plain(item, named=name == "properties")
    if "const" in out:
        return {"const": out["const"]}
    if "const" in out.get("properties", {}).get("kind", {}):
        out["required"] = ["kind", *out.get("required", [])]
    return out


def _words(text: str) -> str:
    """Return a docstring for readers of the file: without sections of a specification, modules and markup."""
    text = re.sub(r" \((?:see ``playground[\w.]*``|specification, section[^)]*)\)", "", text.split("\n\nParts are")[0])
    text = re.sub(r"; specification, section [\d.]+(?=\))", "", text)
    text = re.sub(r"``([^`]*)``", r"“\1”", " ".join(text.split()))
    return re.sub(r"\bNone\b(?! of\b)", "null", text)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(experiment_schema(), indent=2, ensure_ascii=False) + "\n")
