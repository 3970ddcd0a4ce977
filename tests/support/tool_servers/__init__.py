"""Tool servers of others, in exact versions with the hashes of all their files, to speak with the real thing in tests.

Two from npm (``package.json``), one from the Python registry, in an environment of its own on the generation of the
protocol's library before ours (``python.in``). They are installed once into a folder of the user's cache, or into that
named by ``PLAYGROUND_TEST_SERVERS``; whoever needs one that is missing installs it, and fails where it cannot:
``python -m tests.support.tool_servers`` does it beforehand. ``renew.sh`` makes the locks anew.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from functools import cache
from pathlib import Path

from playground.domain.tool_servers import ToolServer
from tests.support import hostile_tool_server
from tests.support.surroundings import surroundings_before

HERE = Path(__file__).parent


def everything(**fields: object) -> ToolServer:
    """The reference server that has everything there is in the protocol, over standard input and output."""
    return _from_npm("server-everything", "stdio", **fields)


def everything_over_http() -> list[str]:
    """The command of the same over Streamable HTTP, on the port that its environment names (PORT)."""
    return [_node(), _module("server-everything"), "streamableHttp"]


def filesystem(*folders: Path, **fields: object) -> ToolServer:
    """The server of files, for those folders or the roots it is told of."""
    return _from_npm("server-filesystem", *map(str, folders), **fields)


def clock(**fields: object) -> ToolServer:
    """The server of the time, in Python."""
    return _server("clock", [_in_bin(_installed("python", _install_python)), "-m", "mcp_server_time"], **fields)


def hostile(*words: str, **fields: object) -> ToolServer:
    """The server that misbehaves as ``hostile_tool_server`` says."""
    return _server("hostile", [sys.executable, hostile_tool_server.__file__, *words], **fields)


def install() -> None:
    """Have all of them there."""
    _installed("npm", _install_npm)
    _installed("python", _install_python)


def _server(name: str, command: list[str], /, **fields: object) -> ToolServer:
    known = {"id": name, "name": name, "command": command[0], "arguments": tuple(command[1:])}
    return ToolServer.model_validate(known | fields)


def _from_npm(name: str, /, *arguments: str, **fields: object) -> ToolServer:
    return _server(name.removeprefix("server-"), [_node(), _module(name), *arguments], **fields)


def _module(name: str) -> str:
    return str(_installed("npm", _install_npm) / "node_modules/@modelcontextprotocol" / name / "dist/index.js")


def _node() -> str:
    found = shutil.which("node")
    assert found, "node is not on this machine; tests of tool servers need it"
    return found


def _in_bin(folder: Path) -> str:
    return str(folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))


@cache
def _installed(kind: str, how: Callable[[Path], None]) -> Path:
    """The folder with what the lock names, made now where it is missing."""
    lock = HERE / {"npm": "package-lock.json", "python": "python.txt"}[kind]
    about = lock.read_bytes() + f"{sys.version_info[:2]} {sys.platform}".encode()
    kept = Path(surroundings_before().get("PLAYGROUND_TEST_SERVERS") or _user_cache())
    folder = kept / f"{kind}-{hashlib.sha256(about).hexdigest()[:12]}"
    if folder.is_dir():
        return folder
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept, prefix="making-", ignore_cleanup_errors=True) as name:
        made = Path(name) / "made"
        made.mkdir()
        how(made)
        try:
            made.rename(folder)
        except OSError:
            assert folder.is_dir()  # another process was quicker
    return folder


def _user_cache() -> Path:
    before = surroundings_before()
    home = before.get("XDG_CACHE_HOME") or before.get("LOCALAPPDATA")
    return Path(home or Path(before.get("HOME", "~")).expanduser() / ".cache") / "gateway-playground-tests"


def _install_npm(folder: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, folder)
    npm = shutil.which("npm")
    assert npm, "npm is not on this machine; tests of tool servers need it"
    _run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], folder)


def _install_python(folder: Path) -> None:
    venv.create(folder, with_pip=True, symlinks=sys.platform != "win32")
    _run(
        [_in_bin(folder), "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(HERE / "python.txt")], folder
    )


def _run(command: list[str], folder: Path) -> None:
    environment = {name: text for name, text in surroundings_before().items() if not name.startswith("PYTHON")}
    ended = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        timeout=600,
        check=False,
    )
    assert ended.returncode == 0, f"{' '.join(command)} ended with {ended.returncode}:\n{ended.stdout}"
