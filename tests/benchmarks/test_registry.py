"""What runs the benchmarks: processes, table, file and exit status."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.benchmarks.__main__ import main
from tests.benchmarks.registry import BENCHMARKS, Benchmark, at_least, at_most
from tests.benchmarks.wire_server import KINDS, PACES, body, tokens

SAMPLES = {
    "sample": Benchmark("sample", "sample", stable=True),
    "broken": Benchmark("broken", "no_such_module"),
}


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    command = [sys.executable, "-m", "tests.benchmarks", "decode", "speed"]
    ended = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert ended.returncode == 2
    assert "speed" in ended.stderr
    assert "stream-1k" in ended.stderr
    assert ended.stdout == ""


def test_a_missed_goal_ends_with_1_and_a_row_a_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "figures.json"
    assert main(["sample", "--json", str(file)], SAMPLES) == 1
    rows = json.loads(file.read_text(encoding="utf-8"))
    assert rows == [
        {"name": "sample", "what": "small", "figure": 1.5, "unit": "times", "goal": "≤ 2", "holds": True},
        {"name": "sample", "what": "seen", "figure": 1234.0, "unit": "µs", "goal": "", "holds": True},
        {"name": "sample", "what": "large", "figure": 3, "unit": "times", "goal": "≥ 10", "holds": False},
    ]
    *table, last = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in table] == ["holds", "µs", "MISSED"]
    assert last == "missed: sample: large"


def test_goals_that_hold_end_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--stable", "--short"], SAMPLES) == 0
    assert "1,234 µs" in capsys.readouterr().out


def test_a_benchmark_that_breaks_is_a_miss(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "figures.json"
    assert main(["broken", "sample", "--short", "--json", str(file)], SAMPLES) == 1
    first, *others = json.loads(file.read_text(encoding="utf-8"))
    assert (first["name"], first["figure"], first["holds"]) == ("broken", None, False)
    assert len(others) == 2
    assert "no_such_module" in capfd.readouterr().err


def test_goals_include_their_limit() -> None:
    assert at_most("a", 2, "times", 2).holds
    assert not at_most("a", 2.01, "times", 2).holds
    assert at_least("a", 2, "times", 2).holds
    assert not at_least("a", 1.99, "times", 2).holds


@pytest.mark.parametrize("name", BENCHMARKS)
def test_each_benchmark_has_its_module_and_its_place_in_the_manual(name: str) -> None:
    assert find_spec(f"tests.benchmarks.{BENCHMARKS[name].module}") is not None
    manual = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    assert f"`{name}`" in manual


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_manual_tells_the_goals_that_figures_are_held_to(name: str) -> None:
    manual = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    row = next(line for line in manual.splitlines() if line.startswith(f"| `{name}` |"))
    told = {f"{sign} {number}" for sign, number in re.findall(r"([≤≥]) (\d+(?:\.\d+)?)", row.split("|")[3])}
    held, unnamed = _goals(BENCHMARKS[name].module)
    assert held <= told
    assert unnamed or held == told


def _goals(module: str) -> tuple[set[str], bool]:
    """What ``at_most`` and ``at_least`` are called with in a module and in those of which it takes figures, and whether
    some are only known when they are measured.
    """
    source = (Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8")
    constants = vars(import_module(f"tests.benchmarks.{module}"))
    held: set[str] = set()
    unnamed = False
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == "tests.benchmarks":
            for inner in (_goals(one.name) for one in node.names):
                held, unnamed = held | inner[0], unnamed or inner[1]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("at_most", "at_least"):
            sign, limit = "≤" if "most" in ast.unparse(node.func) else "≥", node.args[3]
            value = constants.get(limit.id) if isinstance(limit, ast.Name) else getattr(limit, "value", None)
            if isinstance(value, int | float):
                held.add(f"{sign} {value:g}")
            else:
                unnamed = True
    return held, unnamed


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_server_sends_is_the_same_at_either_pace(kind: str) -> None:
    blocks, singly = (_unchunked(body(kind, 500, pace)) for pace in PACES)
    assert blocks == singly
    events = blocks.split(b"\n\n")
    assert all(json.dumps(token, ensure_ascii=False).encode() in blocks for token in set(tokens(500)))
    if kind == "chat":
        sizes = sorted(map(len, events))
        assert 150 <= sizes[len(sizes) // 2] <= 185  # as gateways send them


def _unchunked(data: bytes) -> bytes:
    out, rest = b"", data
    while True:
        size, _, rest = rest.partition(b"\r\n")
        if int(size, 16) == 0:
            return out
        out, rest = out + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
