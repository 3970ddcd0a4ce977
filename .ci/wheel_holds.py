"""Checks that a wheel holds all that a checkout does: every module, every resource, the licence."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path


def main(wheel: str) -> int:
    root = Path(__file__).resolve().parent.parent
    with zipfile.ZipFile(wheel) as archive:
        held = {entry.filename: entry.file_size for entry in archive.infolist()}
    wanted = {p.relative_to(root).as_posix(): p for p in (root / "playground").rglob("*.py")}
    wanted |= {
        f"playground/{p.relative_to(root).as_posix()}": p for p in (root / "resources").rglob("*") if p.is_file()
    }
    missing = [name for name, path in wanted.items() if held.get(name) != path.stat().st_size]
    if not any(name.endswith("licenses/LICENSE") for name in held):
        missing.append("LICENSE")
    stray = [name for name in held if name.startswith(("tests/", ".ci/")) or name.endswith(".pyc")]
    print(f"{Path(wheel).name}: {len(held)} files, {Path(wheel).stat().st_size // 1024} KiB")
    if missing or stray:
        print(f"missing or different: {missing}\nnot wanted: {stray}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
