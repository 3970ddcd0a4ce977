"""Imports run one way, and heavy libraries are loaded only where they are needed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
QT = {"PySide6", "shiboken6", "qasync"}
HEAVY = {"PySide6", "qasync", "httpx", "starlette", "uvicorn", "jsonschema_rs", "keyring", "pydantic"}


def modules_of(*packages: str) -> list[str]:
    """The dotted names of all modules of these packages."""
    paths = [path for package in packages for path in sorted((ROOT / "playground" / package).rglob("*.py"))]
    assert len(paths) > len(packages)
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]
    return [name.removesuffix(".__init__") for name in names]


def loaded_after(task: str, *arguments: str) -> set[str]:
    """The modules that are loaded after ``loaded_modules.py`` ran in a fresh interpreter."""
    command = [sys.executable, "-m", "tests.architecture.loaded_modules", task, *arguments]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert process.returncode == 0, process.stderr
    return set(json.loads(process.stdout))


def test_import_contracts_hold() -> None:
    process = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    assert "0 broken" in process.stdout


@pytest.mark.parametrize(
    ("packages", "libraries", "ours"),
    [
        (["engine"], QT, ["playground.ui"]),
        (["engine", "ui"], {"mcp", "mcp_types", "httpx2"}, ["playground.tool_host"]),
        (["tool_host"], {"PySide6", "qasync", "httpx", "keyring"}, ["playground.engine", "playground.ui"]),
    ],
    ids=["engine", "ui", "tool_host"],
)
def test_package_loads_no_foreign_layer(packages: list[str], libraries: set[str], ours: list[str]) -> None:
    names = modules_of(*packages)
    loaded = loaded_after("import", *names)
    assert set(names) <= loaded
    assert not loaded & libraries  # a package is loaded before its modules
    assert not [name for name in loaded if name.startswith(tuple(ours))]


def test_demo_gateway_loads_only_jsonkit_and_loopback_of_the_application() -> None:
    loaded = loaded_after("import", *modules_of("demo"))
    ours = {name.split(".")[1] for name in loaded if name.startswith("playground.")}
    assert ours == {"demo", "jsonkit", "system"}
    assert {name for name in loaded if name.startswith("playground.system.")} == {"playground.system.loopback"}
    assert not loaded & {"PySide6", "qasync", "httpx"}


@pytest.mark.parametrize(
    ("modules", "libraries"),
    [
        (
            ["playground.gateway.address", "playground.gateway.connection", "playground.gateway.client"],
            {"httpx", "httpcore", "anyio", "truststore", "PySide6"},
        ),
        (
            ["playground.demo.server", "playground.demo.cheats"],
            {"starlette", "uvicorn", "jsonschema_rs", "anyio"},
        ),
        (
            ["playground.engine.gateways.credentials", "playground.engine.gateways.secrets"],
            {"PySide6", "httpx", "keyring"},
        ),
        (
            ["playground.engine.requests.snippets", "playground.engine.requests.pasted"],
            {"httpx", "PySide6", "starlette", "openai", "anthropic", "jsonschema_rs"},
        ),
    ],
    ids=["gateway", "demo", "secrets", "snippets"],
)
def test_modules_load_heavy_libraries_only_when_used(modules: list[str], libraries: set[str]) -> None:
    loaded = loaded_after("import", *modules)
    assert set(modules) <= loaded
    assert not loaded & libraries


def test_version_loads_nothing_heavy() -> None:
    loaded = loaded_after("run", "--version")
    assert "playground.cli" in loaded
    assert not loaded & HEAVY


def test_flows_and_pages_do_not_import_the_window() -> None:
    files = sorted((ROOT / "tests" / "flows").rglob("*.py"))
    importing = {
        file.name
        for file in files
        if re.search(r"^\s*(from|import) playground\.ui\b", file.read_text("utf-8"), re.MULTILINE)
    }
    assert importing <= {"conftest.py"}


def test_application_before_its_first_frame_loads_only_the_window() -> None:
    loaded = loaded_after("import", "playground.app")
    assert "playground.ui.shell.main_window" in loaded
    assert not {"asyncio", "pydantic", "httpx", "sqlite3", "keyring"} & loaded
