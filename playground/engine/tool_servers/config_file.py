"""Configuration files of other applications: their usual paths, and the servers in them, in JSON, TOML or YAML."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from playground.domain.hidden import short_name
from playground.engine.io.yaml_text import YamlError, read_yaml
from playground.jsonkit.problems import JsonTextError
from playground.jsonkit.reading import READ_AT_MOST
from playground.jsonkit.relaxed import read_relaxed
from playground.jsonkit.values import JSON, JSONObject

#: The members with servers, and their applications. The first one present wins.
_MEMBERS: Final = {
    "mcpServers": "Claude Desktop, Cursor or LM Studio",
    "mcp_servers": "Codex",
    "context_servers": "Zed",
    "amp.mcpServers": "Amp",
    "servers": "VS Code",
    "extensions": "Goose",
    "mcp": "opencode",
}
_HOLDERS: Final = "mcp", "settings", "customizations", "vscode", "lsp", "config"
_REACHED: Final = "command", "cmd", "url", "serverUrl", "httpUrl", "server_url", "uri", "mcp_config"
_SETTINGS: Final = ", its settings"
_DEEPEST: Final = 4


class ImportRefusedError(ValueError):
    """Nothing can be imported; the text gives the reason and the remedy, and shows no secret."""


class NamedEntry(NamedTuple):
    """One server of a text, unchecked. ``notes`` hold facts from other parts of the text."""

    name: str
    value: JSON
    notes: tuple[str, ...] = ()
    enabled: bool = True


class Configuration(NamedTuple):
    """The servers of a text. ``kind`` names the applications with this form; ``inputs`` are the prompts of VS Code."""

    kind: str
    entries: list[NamedEntry]
    inputs: list[JSON]


def read_configuration(text: str) -> Configuration:
    """Find the servers in a text. Raises ImportRefusedError."""
    value = _read_value(text)
    if isinstance(value, list):
        value = {"mcpServers": value} if any(isinstance(item, dict) for item in value) else value
    if not isinstance(value, dict):
        raise ImportRefusedError("The JSON must be an object with “mcpServers” or “servers”.")
    if "openapi" in value or "swagger" in value:
        raise ImportRefusedError("This is an OpenAPI document, not a list of tool servers. Use “Import tools” for it.")
    configuration = _search(value, 0)
    if configuration is not None:
        return configuration._replace(entries=_with_unique_names(configuration.entries))
    if is_server(value):
        return Configuration("one server", [NamedEntry(_own_name(value), value)], [])
    if value and all(isinstance(entry, dict) and is_server(entry) for entry in value.values()):
        return Configuration("servers by their names", [NamedEntry(*item) for item in value.items()], [])
    raise ImportRefusedError(
        "There is neither “mcpServers” nor “servers” in this configuration, and it is no server itself."
    )


def is_server(value: JSON) -> bool:
    """Return whether an object has a command or an address."""
    return isinstance(value, dict) and any(isinstance(value.get(name), str | list | dict) for name in _REACHED)


# ---- the text --------------------------------------------------------------------------------------------------------


def _read_value(text: str) -> JSON:
    if text.startswith('"'):
        text = "{" + text.rstrip().rstrip(",") + "}"  # one entry, copied from instructions
    try:
        return read_relaxed(text)
    except JsonTextError as error:
        if text[0] not in "{[" or (text[0] == "[" and "=" in text):
            parsed = _toml_or_yaml(text)
            if isinstance(parsed, dict | list):
                return parsed
            raise ImportRefusedError(f"This is not JSON: {error}. It is no TOML or YAML of servers either.") from None
        raise ImportRefusedError(f"This is not JSON: {error}.") from None


def _toml_or_yaml(text: str) -> JSON:
    """Return the value of a text in TOML or YAML; None for neither."""
    if len(text) > READ_AT_MOST:
        return None
    try:
        return json.loads(json.dumps(tomllib.loads(text), default=str))  # dates become texts
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        pass
    try:
        return read_yaml(text).value
    except YamlError:
        return None


# ---- servers in the value --------------------------------------------------------------------------------------------


def _search(value: JSONObject, depth: int) -> Configuration | None:
    """Find the servers in the members of ``_MEMBERS``, of projects, and of inner objects down to a depth."""
    if depth > _DEEPEST:
        return None
    inputs = value.get("inputs")
    inputs = inputs if isinstance(inputs, list) else []
    for member, kind in _MEMBERS.items():
        listed = _entries(value.get(member), certain=member in ("mcpServers", "servers"))
        if listed is not None:
            entries = [*_switched(listed, value), *_of_projects(value.get("projects"))]
            return Configuration(kind, entries, inputs)
    entries = _of_projects(value.get("projects"))
    if entries:
        return Configuration("Claude Code", entries, inputs)
    for holder in _HOLDERS:
        inner = value.get(holder)
        configuration = _search(inner, depth + 1) if isinstance(inner, dict) and not is_server(inner) else None
        if configuration is not None:
            kind = configuration.kind if configuration.kind.endswith(_SETTINGS) else configuration.kind + _SETTINGS
            return Configuration(kind, configuration.entries, [*inputs, *configuration.inputs])
    return None


def _entries(value: JSON, certain: bool) -> list[NamedEntry] | None:
    """Return the servers of an object by their names, or of a list; None for none.

    ``certain``: the member's name marks servers, so that unreadable ones are included.
    """
    if isinstance(value, list):
        named = [(_own_name(item), item) for item in value]
    elif isinstance(value, dict):
        named = list(value.items())
    else:
        return None
    if not certain and not any(is_server(item) for _, item in named):
        return None
    return [NamedEntry(name, item) for name, item in named if certain or isinstance(item, dict)]


def _own_name(value: JSON) -> str:
    """Return the name inside a server of a list."""
    names = [value.get(word) for word in ("name", "server_label", "id")] if isinstance(value, dict) else []
    return next((name for name in names if isinstance(name, str)), "")


def _of_projects(projects: JSON) -> list[NamedEntry]:
    """Return the servers of single folders (Claude Code), with a note of the folder."""
    entries: list[NamedEntry] = []
    for folder, project in projects.items() if isinstance(projects, dict) else ():
        listed = _entries(project.get("mcpServers"), certain=True) if isinstance(project, dict) else None
        for entry in _switched(listed or [], project):
            entries.append(entry._replace(notes=(*entry.notes, f"It is of the project {short_name(str(folder))}.")))
    return entries


def _switched(entries: list[NamedEntry], settings: JSON) -> list[NamedEntry]:
    """Disable the entries that other members switch off (Gemini CLI's ``mcp``, Claude Code's lists)."""
    if not isinstance(settings, dict):
        return entries
    gemini = settings.get("mcp")
    gemini = gemini if isinstance(gemini, dict) else {}
    off = [*_texts(gemini.get("excluded")), *_texts(settings.get("disabledMcpServers"))]
    off += _texts(settings.get("disabledMcpjsonServers"))
    allowed = _texts(gemini.get("allowed"))
    return [
        entry._replace(enabled=False) if entry.name in off or (allowed and entry.name not in allowed) else entry
        for entry in entries
    ]


def _with_unique_names(entries: list[NamedEntry]) -> list[NamedEntry]:
    """Number the names that occur more than once: projects may have servers of one name."""
    seen: dict[str, int] = {}
    out: list[NamedEntry] = []
    for entry in entries:
        number = seen[entry.name] = seen.get(entry.name, 0) + 1
        out.append(entry._replace(name=f"{entry.name} {number}") if number > 1 and entry.name else entry)
    return out


def _texts(value: JSON) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


# ---- usual paths -----------------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """A file of another application."""

    application: str
    path: Path


def usual_places(
    system: str = sys.platform, home: Path | None = None, environment: Mapping[str, str] = os.environ
) -> tuple[Place, ...]:
    """Return the paths that applications use, newest version first, whether they exist or not."""
    home = home or Path.home()
    settings = _settings(system, home, environment)
    own_settings = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    if system == "win32":
        own_settings = settings
    return (
        Place("Claude Desktop", settings / "Claude" / "claude_desktop_config.json"),
        Place("VS Code", settings / "Code" / "User" / "mcp.json"),
        Place("VS Code", settings / "Code" / "User" / "settings.json"),
        Place("Cursor", home / ".cursor" / "mcp.json"),
        Place("LM Studio", home / ".lmstudio" / "mcp.json"),
        Place("LM Studio", home / ".cache" / "lm-studio" / "mcp.json"),
        Place("Claude Code", home / ".claude.json"),
        Place("Gemini CLI", home / ".gemini" / "settings.json"),
        Place("Codex", Path(environment.get("CODEX_HOME") or home / ".codex") / "config.toml"),
        Place("opencode", own_settings / "opencode" / "opencode.json"),
        Place("opencode", own_settings / "opencode" / "opencode.jsonc"),
        Place("Windsurf", home / ".codeium" / "windsurf" / "mcp_config.json"),
        Place("Zed", own_settings / "zed" / "settings.json"),
        Place("Continue", home / ".continue" / "config.yaml"),
        Place("Goose", own_settings / "goose" / "config.yaml"),
    )


def places_here() -> tuple[Place, ...]:
    """Return the newest existing file of each application. Blocks."""
    places: dict[str, Place] = {}
    for place in usual_places():
        with contextlib.suppress(OSError):
            if place.path.is_file():
                places.setdefault(place.application, place)
    return tuple(places.values())


def _settings(system: str, home: Path, environment: Mapping[str, str]) -> Path:
    """Return the folder of the applications' settings."""
    if system == "darwin":
        return home / "Library" / "Application Support"
    if system == "win32":
        return Path(environment.get("APPDATA") or home / "AppData" / "Roaming")
    return Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
