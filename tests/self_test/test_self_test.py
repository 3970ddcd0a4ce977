"""The self-test as a shell runs it, and that it finds what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from playground.self_test.report import MissingError, Report

CHECKS = (
    "parts",
    "resources",
    "certificates",
    "checks",
    "tool",
    "window",
    "pictures",
    "conversation",
    "stream",
    "code",
    "store",
    "file",
)


def self_test(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run it with a home folder of its own."""
    places = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    without = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    return subprocess.run(
        [sys.executable, "-m", "playground", "--self-test", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=100,
        env=without | {"HOME": str(home)} | places | environment,
        check=False,
    )


def test_self_test_passes_and_leaves_no_files(tmp_path: Path) -> None:
    ended = self_test(tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    lines = ended.stdout.splitlines()
    assert lines[-1].startswith("all ")
    messages = [line.split()[:2] for line in lines[1:-1]]
    assert {verdict for verdict, _ in messages} <= {"ok", "none"}
    assert {name for _, name in messages} >= set(CHECKS)
    saved = [path for path in tmp_path.rglob("*") if path.is_file() and "cache" not in path.parts]
    assert not saved, f"it wrote into the user's folders: {saved}"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="platform: there is always a display")
def test_window_option_without_a_screen_is_refused(tmp_path: Path) -> None:
    ended = self_test(tmp_path, "--window", QT_QPA_PLATFORM="")
    assert ended.returncode == 2
    assert "no display" in ended.stderr


@pytest.mark.slow
def test_missing_module_is_named(tmp_path: Path) -> None:
    """A copy of the application lacking one module that is imported late, as a careless packager would make it."""
    import playground

    source = Path(playground.__file__).parent
    shutil.copytree(source, tmp_path / "playground", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(source.parent / "resources", tmp_path / "resources")
    (tmp_path / "playground" / "engine" / "requests" / "snippets" / "literals.py").unlink()
    code = "from playground.self_test.imports import load_everything; load_everything()"
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False
    )
    assert ended.returncode == 1
    assert "MissingError" in ended.stderr
    assert "playground.engine.requests.snippets.literals" in ended.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="platform: needs macOS or Linux")
@pytest.mark.slow
def test_everything_loads_without_the_modules_of_unix() -> None:
    """Simulate Windows, but for those that are imported by the platform's name."""
    code = (
        "import sys\n"
        "from playground.self_test import imports\n"
        "import asyncio, contextlib, fcntl, subprocess, playground.app\n"
        "with contextlib.suppress(ImportError):\n"
        "    import distributed\n"  # asks for the platform's name too
        "for name in imports.OF_UNIX - {'fcntl'}:\n"
        "    sys.modules[name] = None\n"
        "print(imports.load_everything())\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)
    assert ended.returncode == 0, ended.stderr[-500:]


def break_off() -> None:
    raise MissingError("nothing is there")


def test_failed_check_is_a_line_and_an_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report()
    with report.check("first"):
        break_off()
    with report.check("second"):
        report.absent("this machine has none")
    with report.check("third"):
        pass
    assert report.end() == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("FAILED first")
    assert "nothing is there" in lines[0]
    assert lines[1].startswith("none   second")
    assert lines[2].startswith("ok     third")
    assert lines[3] == "1 of 3 checks FAILED"


def test_check_that_hangs_ends_the_self_test_with_its_stack() -> None:
    code = (
        "import time; from playground.self_test.report import Report; report = Report(0.5); report.head()\n"
        "with report.check('slow'):\n    time.sleep(30)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=25, check=False)
    assert ended.returncode == 1
    assert "Timeout" in ended.stderr
