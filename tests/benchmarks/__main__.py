"""Measures: ``python -m tests.benchmarks [NAME ...] [--json FILE]``. Ends with 1 when a goal is missed.

Each benchmark runs in a process of its own, so that one's memory and imports are not another's.
"""

from __future__ import annotations

import argparse
import compileall
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import playground
from tests.benchmarks.registry import BENCHMARKS, Benchmark, Figure, load


def main(arguments: Sequence[str] | None = None, known: Mapping[str, Benchmark] = BENCHMARKS) -> int:
    """Run the benchmarks named, or all; print a table. Returns the exit code: 2 for a name that is none."""
    given = _read(arguments, known)
    if given.inside:
        measure(given.inside, given.short, given.json)
        return 0
    names = given.names or [name for name, one in known.items() if one.stable or not given.stable]
    if unknown := [name for name in names if name not in known]:
        print(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    # As an installation has them: with PYTHONDONTWRITEBYTECODE set, modules were compiled anew in the middle of a run.
    compileall.compile_dir(Path(playground.__file__).parent, quiet=2)
    rows: list[tuple[str, Figure]] = []
    for name in names:
        figures = _apart(known[name].module, given.short) or [
            Figure("it did not run to its end", None, "", "runs", False)
        ]
        rows += [(name, figure) for figure in figures]
        for figure in figures:
            print(_line(name, figure), flush=True)
    if given.json:
        found = [_row(name, figure) for name, figure in rows]
        given.json.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    missed = [f"{name}: {figure.name}" for name, figure in rows if not figure.holds]
    if missed:
        print(f"missed: {'; '.join(missed)}")
    return 1 if missed else 0


def measure(module: str, short: bool, file: Path) -> None:
    """Run one benchmark in this process and leave its figures in ``file``."""
    from tests.support.surroundings import settle

    settle()
    figures = load(module)(short)
    file.write_text(json.dumps([asdict(figure) for figure in figures]), encoding="utf-8")


def _apart(module: str, short: bool) -> list[Figure]:
    """The figures of a benchmark run in a process of its own; none when that failed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        command = [sys.executable, "-m", "tests.benchmarks", "--inside", module, "--json", str(file)]
        ended = subprocess.run([*command, *(["--short"] if short else [])], check=False)
        if ended.returncode != 0 or not file.exists():
            return []
        return [Figure(**row) for row in json.loads(file.read_text(encoding="utf-8"))]


def _row(name: str, figure: Figure) -> dict[str, object]:
    """One row of the file: the benchmark's name, what was measured, and the figure (null when it did not run)."""
    return {
        "name": name,
        "what": figure.name,
        "figure": figure.value,
        "unit": figure.unit,
        "goal": figure.goal,
        "holds": figure.holds,
    }


def _line(name: str, figure: Figure) -> str:
    value = figure.value
    shown = "—" if value is None else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    verdict = ("holds" if figure.holds else "MISSED") if figure.goal else ""
    return f"{name:<10} {figure.name:<44} {shown:>10} {figure.unit:<10} {figure.goal:<8} {verdict}".rstrip()


def _read(arguments: Sequence[str] | None, known: Mapping[str, Benchmark]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description="Measure against the goals.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(known)} (default: all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file as well")
    parser.add_argument("--short", action="store_true", help="less work, for CI")
    parser.add_argument("--stable", action="store_true", help="only those whose ratios hold on a busy machine")
    parser.add_argument("--inside", metavar="MODULE", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
