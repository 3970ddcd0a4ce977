"""The JSON Schema of an experiment's file, from the values it is made of: their fields, and what their docstrings say.

``python -m playground.engine.files.experiment_file.schema`` prints it, as it is checked in beside the other resources.
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
#: Members that say how others are to be read; see ``snapshot.decode``.
_BESIDE: Final[JSONObject] = {
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
    _, made = models_json_schema([(Snapshot, "validation")], ref_template="#/$defs/{model}")
    kinds = {name: _plain(kind) for name, kind in made["$defs"].items() if name != "Parameters"}
    whole = kinds.pop(Snapshot.__name__)
    properties = {
        NAME: {"description": "The version of this format.", "const": VERSION},
        **{name: whole["properties"][name] for name in FIRST},
    }
    properties |= {**whole["properties"], **_BESIDE}
    properties["parameters"] |= {"additionalProperties": {"type": "object"}, "type": "object"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:gateway-playground:experiment:{VERSION}",
        "title": "An experiment of Gateway Playground",
        "description": "A file *.playground.json. Whatever stands at its default may be left out. Members that are not "
        "described here are kept. No key stands in it.",
        "type": "object",
        "required": [NAME, "id"],
        "properties": properties,
        "$defs": {"Lines": _LINES, **dict(sorted(kinds.items()))},
    }


def _plain(found: JSON, named: bool = False) -> Any:
    """Without what says nothing to a reader; ``named`` says that the keys are names of fields."""
    if isinstance(found, list):
        return [_plain(item) for item in found]
    if not isinstance(found, dict):
        return found
    if named:
        return {name: _plain(item) for name, item in found.items()}
    if found.get("format") == "lines":
        found = {"$ref": "#/$defs/Lines", **{name: item for name, item in found.items() if name != "format"}}
    kinds = [item.get("type") for item in found.get("anyOf", ())]
    if (
        len(kinds) == 2
        and kinds[1] == "null"
        and kinds[0] in _SIMPLE
        and set(found["anyOf"][0])
        <= {
            "type",
            "additionalProperties",
        }
    ):
        found = {"type": kinds, **{name: item for name, item in found.items() if name != "anyOf"}}
    out: JSONObject = {}
    for name, item in found.items():
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
    """The words of a docstring for somebody who reads the file: no section of another paper, no module, no markup."""
    text = re.sub(r" \((?:see ``playground[\w.]*``|specification, section[^)]*)\)", "", text.split("\n\nParts are")[0])
    text = re.sub(r"; specification, section [\d.]+(?=\))", "", text)
    text = re.sub(r"``([^`]*)``", r"“\1”", " ".join(text.split()))
    return re.sub(r"\bNone\b(?! of\b)", "null", text)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(experiment_schema(), indent=2, ensure_ascii=False) + "\n")
