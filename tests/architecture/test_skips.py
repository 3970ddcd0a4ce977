"""A skipped test has failed unless its reason names the platform; with ``--everything`` only another system counts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def run_samples(folder: Path, *arguments: str) -> str:
    """The output of a pytest that has the rule on skips and nothing else of this project."""
    (folder / "empty.ini").write_text("[pytest]\n", encoding="utf-8")
    plugins = ["-p", "tests.skips", "-p", "no:cacheprovider", "--noconftest"]
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", *plugins, "-c", str(folder / "empty.ini"), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60).stdout


@pytest.mark.parametrize(
    ("options", "failed"),
    [
        ([], ["test_skipped_without_platform"]),
        (["--everything"], ["test_skipped_without_platform", "test_platform_lacks_a_tool"]),
    ],
)
def test_skip_without_accepted_reason_fails(tmp_path: Path, options: list[str], failed: list[str]) -> None:
    output = run_samples(tmp_path, *options, str(HERE / "skips_sample.py"))
    assert re.findall(r"^(?:FAILED|ERROR) .*::(\w+)", output, re.MULTILINE) == failed
    assert "counts as failed: no time" in output
    assert f"{3 - len(failed)} skipped, 1 xfailed" in output


def test_module_that_skips_itself_fails(tmp_path: Path) -> None:
    output = run_samples(tmp_path, str(HERE / "module_skip_sample.py"))
    assert "counts as failed" in output
    assert "1 error" in output
