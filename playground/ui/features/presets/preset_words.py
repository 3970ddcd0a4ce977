"""What is in a preset, in words: a line for a tooltip, rows for a dialog. No widgets."""

from __future__ import annotations

import json

from playground.engine.files.presets import Preset, parameters_of
from playground.engine.requests.protocol_info import TITLES
from playground.jsonkit.values import JSON

LONGEST = 400  # characters of one value
OUTPUT = "Output"  # the group of the parameters that make up the output format

Row = tuple[str, str]


def rows(preset: Preset) -> list[tuple[str, str, list[Row]]]:
    """(heading, value, rows below it) for everything that a preset sets, in the order of the window."""
    title = TITLES.get(preset.protocol, preset.protocol)
    out: list[tuple[str, str, list[Row]]] = []
    if preset.switches:
        out.append(("Protocol", title, []))
    if preset.model:
        out.append(("Model", preset.model, []))
    if preset.system is not None:
        out.append(("System turn", _line(preset.system) or "none", []))
    if preset.parameters is not None:
        plain, output = _parameters(preset)
        out.append(("Parameters", str(len(plain)) if plain else "all at default", plain))
        out.append(("Output format", "" if output else "free text", output))
    if preset.tools is not None:
        tools = [(tool.name or "without a name", _line(tool.description) or "no description") for tool in preset.tools]
        out.append(("Tools", str(len(tools)) if tools else "none", tools))
    return out


def summary(preset: Preset) -> str:
    """All of it in a few lines."""
    lines = []
    for heading, value, below in rows(preset):
        names = ", ".join(name for name, _ in below[:8]) + (f" and {len(below) - 8} more" if len(below) > 8 else "")
        text = names if heading in ("Tools", "Parameters", "Output format") and below else value
        lines.append(f"{heading}: {text[:120]}")
    return "\n".join(lines)


def _parameters(preset: Preset) -> tuple[list[Row], list[Row]]:
    """The parameters that are set, by their labels; those of the output format apart."""
    fields = preset.parameters or {}
    try:
        hints = dict(type(parameters_of(preset.protocol, fields)).hints())
    except ValueError:
        hints = {}
    plain: list[Row] = []
    output: list[Row] = []
    for name, value in fields.items():
        hint = hints.get(name)
        rows = output if hint is not None and hint.group == OUTPUT else plain
        rows.append((hint.label if hint is not None else name, _json(value)))
    return plain, output


def _json(value: JSON) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)[:LONGEST]


def _line(text: str) -> str:
    return " ".join(text[: LONGEST * 2].split())[:LONGEST]
