"""The command that runs benchmarks: processes, table, file and exit status; and its manual."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.benchmarks.__main__ import main
from tests.benchmarks.registry import BENCHMARKS, STABLE, at_least, at_most

SAMPLES = {"sample": "sample", "broken": "no_such_module"}


def test_command_with_missed_budget_ends_with_1(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "figures.json"
    assert main(["sample", "broken", "--json", str(file)], SAMPLES) == 1
    assert json.loads(file.read_text(encoding="utf-8")) == [
        {"name": "sample", "what": "small", "figure": 1.5, "unit": "times", "goal": "≤ 2", "holds": True},
        {"name": "sample", "what": "medium", "figure": 1234.0, "unit": "µs", "goal": "", "holds": True},
        {"name": "sample", "what": "large", "figure": 3, "unit": "times", "goal": "≥ 10", "holds": False},
        {"name": "broken", "what": "failed", "figure": None, "unit": "", "goal": "runs", "holds": False},
    ]
    out, err = capfd.readouterr()
    *table, last = out.splitlines()
    assert [line.split()[-1] for line in table] == ["holds", "µs", "MISSED", "MISSED"]
    assert last == "missed: sample: large; broken: failed"
    assert "no_such_module" in err


def test_command_with_unknown_name_ends_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["decode", "speed"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"no benchmark is called speed; there are {', '.join(BENCHMARKS)}\n")


def test_budgets_include_their_limit() -> None:
    assert at_most("a", 2, "times", 2).holds
    assert not at_most("a", 2.01, "times", 2).holds
    assert at_least("a", 2, "times", 2).holds
    assert not at_least("a", 1.99, "times", 2).holds


def test_each_benchmark_has_a_module_and_a_row_in_the_manual() -> None:
    manual = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    missing = [name for name, module in BENCHMARKS.items() if find_spec(f"tests.benchmarks.{module}") is None]
    missing += [name for name in BENCHMARKS if f"\n| `{name}` |" not in manual]
    assert missing == []
    assert set(STABLE) <= set(BENCHMARKS)
