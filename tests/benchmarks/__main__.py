"""Run benchmarks: ``python -m tests.benchmarks [NAME ...] [--json FILE]``; status 1 when a budget is missed.

Each benchmark runs in its own process, so that one's memory and imports do not count for another.
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
from tests.benchmarks.registry import BENCHMARKS, STABLE, Figure, load


def main(arguments: Sequence[str] | None = None, modules: Mapping[str, str] = BENCHMARKS) -> int:
    """Run the named benchmarks, or all, and print a table. Return the exit status: 2 for an unknown name."""
    options = _parse(arguments, modules)
    if options.inside:
        measure(options.inside, options.short, options.json)
        return 0
    names = options.names or [name for name in modules if name in STABLE or not options.stable]
    if unknown := [name for name in names if name not in modules]:
        print(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(modules)}", file=sys.stderr)
        return 2
    # As in an installation: with PYTHONDONTWRITEBYTECODE modules would be compiled in the middle of a run.
    compileall.compile_dir(Path(playground.__file__).parent, quiet=2)
    rows: list[tuple[str, Figure]] = []
    for name in names:
        figures = _run_process(modules[name], options.short) or [Figure("failed", None, "", "runs", False)]
        rows += [(name, figure) for figure in figures]
        for figure in figures:
            print(_format(name, figure), flush=True)
    if options.json:
        _write(options.json, rows)
    missed = [f"{name}: {figure.name}" for name, figure in rows if not figure.holds]
    if missed:
        print(f"missed: {'; '.join(missed)}")
    return 1 if missed else 0


def measure(module: str, short: bool, file: Path) -> None:
    """Run one benchmark in this process and write its figures to ``file``."""
    from tests.support.surroundings import settle

    settle()
    figures = load(module)(short)
    file.write_text(json.dumps([asdict(figure) for figure in figures]), encoding="utf-8")


def _run_process(module: str, short: bool) -> list[Figure]:
    """Return the figures of a benchmark run in a process of its own, or nothing when it failed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        command = [sys.executable, "-m", "tests.benchmarks", "--inside", module, "--json", str(file)]
        ended = subprocess.run([*command, *(["--short"] if short else [])], check=False)
        if ended.returncode != 0 or not file.exists():
            return []
        return [Figure(**row) for row in json.loads(file.read_text(encoding="utf-8"))]


def _write(file: Path, rows: Sequence[tuple[str, Figure]]) -> None:
    """Write each figure with the benchmark's ``name``; the figure's own name is ``what``, its value ``figure``."""
    content = []
    for name, figure in rows:
        values = asdict(figure)
        content.append({"name": name, "what": values.pop("name"), "figure": values.pop("value"), **values})
    file.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _format(name: str, figure: Figure) -> str:
    value = figure.value
    text = "—" if value is None else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    verdict = ("holds" if figure.holds else "MISSED") if figure.goal else ""
    return f"{name:<10} {figure.name:<44} {text:>10} {figure.unit:<10} {figure.goal:<8} {verdict}".rstrip()


def _parse(arguments: Sequence[str] | None, modules: Mapping[str, str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description="Measure against the budgets.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(modules)} (default: all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file as well")
    parser.add_argument("--short", action="store_true", help="less work, for .ci/release")
    parser.add_argument("--stable", action="store_true", help="only those whose ratios hold on a busy machine")
    parser.add_argument("--inside", metavar="MODULE", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
