"""The rule on skips, tried on little test files in a pytest of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def outcome(folder: Path, source: str, *options: str) -> tuple[int, str]:
    """Exit code and output of pytest on a file that holds ``source``."""
    file = folder / "test_sample.py"
    file.write_text("import pytest\n" + source, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.skips",
        "-p",
        "no:cacheprovider",
        f"--rootdir={folder}",
    ]
    done = subprocess.run(
        [*command, "-c", str(folder / "empty.ini"), *options, str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(autouse=True)
def configuration(tmp_path: Path) -> None:
    (tmp_path / "empty.ini").write_text("[pytest]\n", encoding="utf-8")


def test_a_skip_is_a_failure(tmp_path: Path) -> None:
    code, text = outcome(tmp_path, "def test_it():\n    pytest.skip('no time')\n")
    assert code == 1
    assert "counts as failed: no time" in text


def test_a_module_that_skips_itself_is_a_failure(tmp_path: Path) -> None:
    code, text = outcome(tmp_path, "pytest.importorskip('no_such_module')\n")
    assert code != 0
    assert "counts as failed" in text


def test_the_platform_is_an_excuse_but_not_in_ci(tmp_path: Path) -> None:
    source = "@pytest.mark.skipif(True, reason='platform: needs a keyring')\ndef test_it(): ...\n"
    assert outcome(tmp_path, source)[0] == 0
    assert outcome(tmp_path, source, "--everything")[0] == 1


def test_another_operating_system_is_always_an_excuse(tmp_path: Path) -> None:
    source = "@pytest.mark.skipif(True, reason='platform: needs macOS')\ndef test_it(): ...\n"
    assert outcome(tmp_path, source, "--everything")[0] == 0


def test_an_expected_failure_is_not_a_skip(tmp_path: Path) -> None:
    assert outcome(tmp_path, "@pytest.mark.xfail\ndef test_it(): assert False\n")[0] == 0
