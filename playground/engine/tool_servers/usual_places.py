"""Where other applications on this computer keep their tool servers: whether a file is there, not what is in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """A file of another application."""

    application: str
    path: Path


def usual_places(
    system: str = sys.platform, home: Path | None = None, environment: Mapping[str, str] = os.environ
) -> tuple[Place, ...]:
    """The files that may be there, also of older versions; whether they are is another question."""
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
    """Those that are on this computer, the newest form of each application. Asks the disk: for a thread."""
    found: dict[str, Place] = {}
    for place in usual_places():
        try:
            there = place.path.is_file()
        except OSError:
            there = False
        if there:
            found.setdefault(place.application, place)
    return tuple(found.values())


def _settings(system: str, home: Path, environment: Mapping[str, str]) -> Path:
    """The folder in which applications keep their settings."""
    if system == "darwin":
        return home / "Library" / "Application Support"
    if system == "win32":
        return Path(environment.get("APPDATA") or home / "AppData" / "Roaming")
    return Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
