"""How tests are shared out to processes, tried on little test files in a pytest of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.surroundings import surroundings_before
from tests.workers import FILES

ROOT = Path(__file__).resolve().parents[2]
WHERE = "import os\ndef test_it():\n    print('in', os.environ.get('PYTEST_XDIST_WORKER', 'this one'))\n"


def outcome(folder: Path, *options: str) -> str:
    """What pytest says of twice as many files as a process is worth, one test each, which tell where they ran."""
    (folder / "empty.ini").write_text("[pytest]\n", encoding="utf-8")
    (folder / "tests").mkdir()
    for number in range(2 * FILES):
        (folder / "tests" / f"test_{number}.py").write_text(WHERE, encoding="utf-8")
    plugins = ["-p", "tests.workers", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rP", *plugins, "-n", "auto", "-c", str(folder / "empty.ini"), *options],
        cwd=ROOT,
        env=surroundings_before(),  # this may be one of several processes itself
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_many_files_are_shared_out_to_two_processes_at_least(tmp_path: Path) -> None:
    said = outcome(tmp_path, str(tmp_path / "tests"))
    assert f"{2 * FILES} passed" in said
    assert "in gw0" in said
    assert "in gw1" in said
    assert "in this one" not in said


def test_each_process_begins_with_files_of_few_tests(tmp_path: Path) -> None:
    many = "import pytest\n@pytest.mark.parametrize('number', range(40))\ndef test_many(number):\n    pass\n"
    (tmp_path / "many").mkdir()
    (tmp_path / "many" / "test_many.py").write_text(many, encoding="utf-8")
    said = outcome(tmp_path, str(tmp_path / "many"), str(tmp_path / "tests"), "-v")
    began = [line for line in said.splitlines() if " PASSED " in line]
    firsts = [next(line for line in began if line.startswith(f"[{process}]")) for process in ("gw0", "gw1")]
    assert len(began) == 40 + 2 * FILES
    assert "test_it" in firsts[0]
    assert "test_it" in firsts[1]


@pytest.mark.parametrize("options", [["tests/test_1.py"], ["tests", "-x"], ["tests", "-k", "it"]], ids=" ".join)
def test_what_somebody_looks_for_runs_in_this_process(tmp_path: Path, options: list[str]) -> None:
    said = outcome(tmp_path, str(tmp_path / options[0]), *options[1:])
    assert "in this one" in said
    assert "in gw" not in said
