"""The content of a preset in words: lines for a tooltip, rows for a dialog."""

from __future__ import annotations

import json

from playground.engine.files.presets import Preset, parameters_of
from playground.engine.requests.protocol_info import TITLES
from playground.jsonkit.values import JSON

LONGEST = 400  # characters of one value
OUTPUT = "Output"  # the group of the parameters that make up the output format

Row = tuple[str, str]


def rows(preset: Preset) -> list[tuple[str, str, list[Row]]]:
    """Return (heading, value, rows below it) for everything that a preset sets, in the order of the window."""
    groups: list[tuple[str, str, list[Row]]] = []
    if preset.switches:
        groups.append(("Protocol", TITLES.get(preset.protocol, preset.protocol), []))
    if preset.model:
        groups.append(("Model", preset.model, []))
    if preset.system is not None:
        groups.append(("System message", _one_line(preset.system) or "none", []))
    if preset.parameters is not None:
        plain, output = _parameters(preset)
        groups.append(("Parameters", str(len(plain)) if plain else "all default", plain))
        groups.append(("Output format", "" if output else "free text", output))
    if preset.tools is not None:
        tools = [(tool.name or "no name", _one_line(tool.description) or "no description") for tool in preset.tools]
        groups.append(("Tools", str(len(tools)) if tools else "none", tools))
    return groups


def summary(preset: Preset) -> str:
    """Return the content in a few lines."""
    lines = []
    for heading, value, below in rows(preset):
        names = ", ".join(name for name, _ in below[:8]) + (f" and {len(below) - 8} more" if len(below) > 8 else "")
        lines.append(f"{heading}: {(names or value)[:120]}")
    return "\n".join(lines)


def _parameters(preset: Preset) -> tuple[list[Row], list[Row]]:
    """Return the parameters by their labels, and those of the output format."""
    fields = preset.parameters or {}
    try:
        hints = dict(type(parameters_of(preset.protocol, fields)).hints())
    except ValueError:
        hints = {}
    plain: list[Row] = []
    output: list[Row] = []
    for name, value in fields.items():
        hint = hints.get(name)
        group = output if hint is not None and hint.group == OUTPUT else plain
        group.append((hint.label if hint is not None else name, _value_text(value)))
    return plain, output


def _value_text(value: JSON) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)[:LONGEST]


def _one_line(text: str) -> str:
    return " ".join(text[: LONGEST * 2].split())[:LONGEST]
