"""Tool servers of others, in exact versions with the hashes of all their files, to speak with the real thing in tests.

Two from npm (``package.json``, with OpenAI's library for the JavaScript that the window writes out), one from the
Python registry, in an environment of its own on the generation of the protocol's library before ours (``python.in``).
``python -m tests.support.tool_servers`` installs them once into a folder of the user's cache, or into that named by
``PLAYGROUND_TEST_SERVERS``. Tests install nothing: where they are missing, ``tests.support.required_tools`` skips.
``renew.sh`` makes the locks again.
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

FOLDER = Path(__file__).parent


def everything(**fields: object) -> ToolServer:
    """The reference server that has everything there is in the protocol, over standard input and output."""
    return _from_npm("server-everything", "stdio", **fields)


def everything_over_http() -> list[str]:
    """The command of the same over Streamable HTTP, on the port that its environment names (PORT)."""
    return [_node(), _module("server-everything"), "streamableHttp"]


def filesystem(*folders: Path, **fields: object) -> ToolServer:
    """The server of files, for those folders or the roots it is given."""
    return _from_npm("server-filesystem", *map(str, folders), **fields)


def clock(**fields: object) -> ToolServer:
    """The server of the time, in Python."""
    return _server("clock", [_in_bin(_folder("python")), "-m", "mcp_server_time"], **fields)


def hostile(*words: str, **fields: object) -> ToolServer:
    """The server that misbehaves as ``hostile_tool_server`` says."""
    return _server("hostile", [sys.executable, hostile_tool_server.__file__, *words], **fields)


def node_modules() -> Path:
    """The folder of the packages from npm."""
    return _folder("npm") / "node_modules"


def is_installed(kind: str) -> bool:
    """Return whether the packages of a lock, ``npm`` or ``python``, are installed."""
    return _folder(kind).is_dir()


def install() -> None:
    """Install the packages of both locks, unless they are installed already."""
    _install("npm", _install_npm)
    _install("python", _install_python)


def _server(name: str, command: list[str], /, **fields: object) -> ToolServer:
    settings = {"id": name, "name": name, "command": command[0], "arguments": tuple(command[1:])}
    return ToolServer.model_validate(settings | fields)


def _from_npm(name: str, /, *arguments: str, **fields: object) -> ToolServer:
    return _server(name.removeprefix("server-"), [_node(), _module(name), *arguments], **fields)


def _module(name: str) -> str:
    return str(node_modules() / "@modelcontextprotocol" / name / "dist/index.js")


def _node() -> str:
    node = shutil.which("node")
    assert node, "node is missing; mark the test with requires(NODE_PACKAGES)"
    return node


def _in_bin(folder: Path) -> str:
    return str(folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))


@cache
def _folder(kind: str) -> Path:
    """The folder for the packages of a lock, named after its contents, the Python version and the system."""
    lock = FOLDER / {"npm": "package-lock.json", "python": "python.txt"}[kind]
    content = lock.read_bytes() + f"{sys.version_info[:2]} {sys.platform}".encode()
    parent = Path(surroundings_before().get("PLAYGROUND_TEST_SERVERS") or _user_cache())
    return parent / f"{kind}-{hashlib.sha256(content).hexdigest()[:12]}"


def _install(kind: str, install_into: Callable[[Path], None]) -> None:
    folder = _folder(kind)
    if folder.is_dir():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="making-", ignore_cleanup_errors=True) as name:
        packages = Path(name) / "packages"
        packages.mkdir()
        install_into(packages)
        try:
            packages.rename(folder)
        except OSError:
            assert folder.is_dir()  # another process was quicker


def _user_cache() -> Path:
    before = surroundings_before()
    home = before.get("XDG_CACHE_HOME") or before.get("LOCALAPPDATA")
    return Path(home or Path(before.get("HOME", "~")).expanduser() / ".cache") / "gateway-playground-tests"


def _install_npm(folder: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(FOLDER / name, folder)
    npm = shutil.which("npm")
    assert npm, "npm is missing; tool servers of others are installed with it"
    _run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], folder)


def _install_python(folder: Path) -> None:
    venv.create(folder, with_pip=True, symlinks=sys.platform != "win32")
    _run(
        [_in_bin(folder), "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(FOLDER / "python.txt")],
        folder,
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
