"""Imports run one way, and what is heavy stays out until it is needed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "playground"


def modules_of(package: str) -> list[str]:
    """The dotted names of every module below ``playground.<package>``, the package itself first."""
    folder = PACKAGE / package
    names = []
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names


def loaded_after(code: str, *arguments: str) -> set[str]:
    """The names in ``sys.modules`` after ``code`` ran in a fresh interpreter."""
    program = (
        "import sys, json, io\nout = sys.stdout\nsys.stdout = io.StringIO()\n"
        f"try:\n    exec({code!r})\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "json.dump(sorted(sys.modules), out)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def roots(modules: set[str]) -> set[str]:
    return {name for name in modules if "." not in name}  # a package is loaded before what is in it


def test_contracts_hold() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_the_engine_needs_no_qt() -> None:
    names = modules_of("engine")
    assert "playground.engine.session.session" in names
    loaded = loaded_after("import importlib\nfor name in sys.argv[1:]: importlib.import_module(name)", *names)
    assert not roots(loaded) & {"PySide6", "shiboken6", "qasync"}
    assert set(names) <= loaded


def test_the_demo_gateway_knows_nothing_of_us_but_json() -> None:
    names = modules_of("demo")
    assert len(names) > 1
    loaded = loaded_after("import importlib\nfor name in sys.argv[1:]: importlib.import_module(name)", *names)
    ours = {name for name in loaded if name.startswith("playground.") and not name.startswith("playground.demo")}
    # Who may ask, the same for every server of this program; it uses nothing of ours either.
    assert {name for name in ours if not name.startswith("playground.jsonkit")} == {"playground.loopback"}
    assert not roots(loaded) & {"PySide6", "qasync", "httpx"}


def test_asking_for_the_version_loads_nothing_heavy() -> None:
    loaded = loaded_after("from playground.cli import main\nsys.argv[1:] = ['--version']\nsys.exit(main())")
    assert "playground.cli" in loaded
    assert not roots(loaded) & {
        "PySide6",
        "qasync",
        "httpx",
        "starlette",
        "uvicorn",
        "jsonschema_rs",
        "keyring",
        "pydantic",
    }


def test_only_the_process_of_tool_servers_loads_what_speaks_with_them() -> None:
    names = [*modules_of("engine"), *modules_of("ui")]
    assert "playground.engine.tool_servers.servers" in names
    loaded = loaded_after("import importlib\nfor name in sys.argv[1:]: importlib.import_module(name)", *names)
    assert set(names) <= loaded
    assert not roots(loaded) & {"mcp", "mcp_types", "httpx2"}
    assert not {name for name in loaded if name.startswith("playground.tool_host")}


def test_the_process_of_tool_servers_loads_no_window() -> None:
    names = modules_of("tool_host")
    assert "playground.tool_host.host" in names
    loaded = loaded_after("import importlib\nfor name in sys.argv[1:]: importlib.import_module(name)", *names)
    assert not roots(loaded) & {"PySide6", "qasync", "httpx", "keyring"}
    assert not {name for name in loaded if name.startswith(("playground.engine", "playground.ui"))}
