"""The servers in the configurations of other applications, by their names, whatever the form: JSON, TOML or YAML."""

from __future__ import annotations

import tomllib
from typing import Any, Final, NamedTuple

from playground.domain.hidden import short_name
from playground.engine.io.yaml_text import YamlError, read_yaml
from playground.jsonkit.problems import JsonTextError
from playground.jsonkit.reading import READ_AT_MOST
from playground.jsonkit.relaxed import read_relaxed
from playground.jsonkit.values import JSON, JSONObject

#: The members in which applications keep their servers, and whose they are. The first that is there wins.
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
    """Nothing can be imported; the text says why and what to do, and shows no secret."""


class NamedEntry(NamedTuple):
    """One server as it is in the text. ``notes`` say what is known of it from other places of the text."""

    name: str
    value: JSON
    notes: tuple[str, ...] = ()
    enabled: bool = True


class Configuration(NamedTuple):
    """``kind`` says whose form it is; ``inputs`` are what VS Code asks for."""

    kind: str
    entries: list[NamedEntry]
    inputs: list[JSON]


def read_configuration(text: str) -> Configuration:
    """The servers in a text. Raises ImportRefusedError."""
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
    """Return whether an object says how a server is reached."""
    return isinstance(value, dict) and any(isinstance(value.get(name), str | list | dict) for name in _REACHED)


# ---- the text --------------------------------------------------------------------------------------------------------


def _read_value(text: str) -> JSON:
    if text.startswith('"'):
        text = "{" + text.rstrip().rstrip(",") + "}"  # one entry, as it is copied out of a page of instructions
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
    """The value of a text in TOML or YAML; None where it is neither."""
    if len(text) > READ_AT_MOST:
        return None
    try:
        return _plain(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        pass
    try:
        return read_yaml(text).value
    except YamlError:
        return None


def _plain(value: Any) -> JSON:
    """A value of TOML as JSON has it: dates become texts."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, str | int | float | bool) else str(value)


# ---- the places of servers in it -------------------------------------------------------------------------------------


def _search(value: JSONObject, depth: int) -> Configuration | None:
    """The servers in the members of an object that are known to hold servers, and in those of its projects."""
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
    """The servers of an object by their names, or of a list; None where there are none.

    ``certain``: the name of the member says that they are servers, so that one that cannot be read is shown too.
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
    """The name that a server in a list has in itself."""
    names = [value.get(word) for word in ("name", "server_label", "id")] if isinstance(value, dict) else []
    return next((name for name in names if isinstance(name, str)), "")


def _of_projects(projects: JSON) -> list[NamedEntry]:
    """The servers that Claude Code keeps for single folders, with a note of the folder."""
    entries: list[NamedEntry] = []
    for folder, project in projects.items() if isinstance(projects, dict) else ():
        listed = _entries(project.get("mcpServers"), certain=True) if isinstance(project, dict) else None
        for entry in _switched(listed or [], project):
            entries.append(entry._replace(notes=(*entry.notes, f"It is of the project {short_name(str(folder))}.")))
    return entries


def _switched(entries: list[NamedEntry], settings: JSON) -> list[NamedEntry]:
    """The entries, those marked that lists beside them switch off (Gemini CLI's ``mcp``, Claude Code's lists)."""
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
    """The entries, a number behind each name that another before it has: projects may have servers of one name."""
    seen: dict[str, int] = {}
    out: list[NamedEntry] = []
    for entry in entries:
        number = seen[entry.name] = seen.get(entry.name, 0) + 1
        out.append(entry._replace(name=f"{entry.name} {number}") if number > 1 and entry.name else entry)
    return out


def _texts(value: JSON) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
