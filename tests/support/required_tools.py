"""Programs and packages that some tests need and that ``pip install -e '.[dev]'`` does not bring.

A test that needs one names it with ``requires`` or ``skip_without`` and is skipped where it is missing. The header of a
session lists all that are missing (``tests.skips``). ``.ci/run`` installs every one of them.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

_INSTALL_SERVERS = "python -m tests.support.tool_servers"


@dataclass(frozen=True)
class Tool:
    """A program or a set of packages, how to detect it, and the tests that need it."""

    name: str
    purpose: str
    source: str  # Debian package, or the command that installs it
    is_present: Callable[[], bool]


def _program(name: str, purpose: str, package: str) -> Tool:
    return Tool(name, purpose, f"Debian: {package}", lambda: shutil.which(name) is not None)


def _secret_service_program(name: str, package: str) -> Tool:
    """A part of the Secret Service, which is never looked for where keys go to the person's own keyring instead."""
    has_secret_service = sys.platform not in ("win32", "darwin")
    purpose = "keys in the system keyring"
    return Tool(name, purpose, f"Debian: {package}", lambda: has_secret_service and shutil.which(name) is not None)


def _has_node_packages() -> bool:
    from tests.support import tool_servers

    return NODE.is_present() and tool_servers.is_installed("npm")


def _has_python_server() -> bool:
    from tests.support import tool_servers

    return tool_servers.is_installed("python")


BASH = _program("bash", "command lines split as a shell does it", "bash")
CURL = _program("curl", "requests written as curl commands", "curl")
NODE = _program("node", "requests written in JavaScript", "nodejs")
DBUS_DAEMON = _secret_service_program("dbus-daemon", "dbus")
GNOME_KEYRING = _secret_service_program("gnome-keyring-daemon", "gnome-keyring")
NODE_PACKAGES = Tool(
    "the packages of tests/support/tool_servers/package.json",
    "tool servers of others in Node.js, OpenAI's library for JavaScript",
    _INSTALL_SERVERS,
    _has_node_packages,
)
PYTHON_SERVER = Tool(
    "the packages of tests/support/tool_servers/python.txt",
    "a tool server of others in Python",
    _INSTALL_SERVERS,
    _has_python_server,
)
TOOLS = (BASH, CURL, NODE, DBUS_DAEMON, GNOME_KEYRING, NODE_PACKAGES, PYTHON_SERVER)


def requires(*tools: Tool) -> pytest.MarkDecorator:
    """Return a mark that skips a test where one of the tools is missing."""
    missing = _missing(tools)
    return pytest.mark.skipif(bool(missing), reason=_reason(missing))


def skip_without(*tools: Tool) -> None:
    """Skip the running test where one of the tools is missing."""
    missing = _missing(tools)
    if missing:
        pytest.skip(_reason(missing))


def describe_missing() -> list[str]:
    """Return one line for each missing tool: its name, the tests that need it, and how to get it."""
    return [f"{tool.name}: {tool.purpose} ({tool.source})" for tool in _missing(TOOLS)]


def _missing(tools: tuple[Tool, ...]) -> list[Tool]:
    return [tool for tool in tools if not tool.is_present()]


def _reason(missing: list[Tool]) -> str:
    return f"platform: needs {', '.join(tool.name for tool in missing)}"
