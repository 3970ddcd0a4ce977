"""Lists the requirements of a lock that apply to another system, with their hashes and without markers.

Usage: locked.py SYSTEM PYTHON LOCK..., for example `locked.py win32 3.11 app build`. pip evaluates markers for the
system it runs on, also when it downloads for another one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

LOCKS = Path(__file__).resolve().parent.parent / "packaging" / "locks"
NAMES = {"win32": ("Windows", "nt"), "linux": ("Linux", "posix"), "darwin": ("Darwin", "posix")}


def requirements(system: str, python: str, *locks: str) -> Iterator[str]:
    """Yield the lines that apply to `system`, a value of `sys.platform`, and a version of CPython such as 3.11."""
    name, os_name = NAMES[system]
    environment = {
        "sys_platform": system,
        "platform_system": name,
        "os_name": os_name,
        "python_version": python,
        "python_full_version": f"{python}.0",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "extra": "",
    }
    for lock in locks:
        text = (LOCKS / f"{lock}.txt").read_text(encoding="utf-8").replace("\\\n", " ")
        for line in text.splitlines():
            if not line or line.startswith("#"):
                continue
            words, *hashes = line.split(" --hash=")
            requirement = Requirement(words)
            if requirement.marker is None or requirement.marker.evaluate(environment):
                yield f"{requirement.name}{requirement.specifier} " + " ".join(
                    f"--hash={each.strip()}" for each in hashes
                )


if __name__ == "__main__":
    print("\n".join(requirements(*sys.argv[1:])))
