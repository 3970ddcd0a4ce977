"""What this application is made of: each library with its version and licence. No widgets in here.

From the installed distributions; in a frozen application from the notices that were made when it was packed, whose
texts stand beside them.
"""

from __future__ import annotations

import platform
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Final, NamedTuple

from playground import __version__

DISTRIBUTION: Final = "gateway-playground"
NOTICE: Final = "NOTICE.txt"
FOLDER: Final = "licences"  # in a frozen application

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_LINE = re.compile(r"(?P<name>\S+) (?P<version>\S+): (?P<licence>.+)")


class Part(NamedTuple):
    """One library."""

    name: str
    version: str
    licence: str


def licence_folder() -> Path | None:
    """Where the licence texts are in a frozen application; None in any other."""
    frozen = getattr(sys, "_MEIPASS", None)
    folder = Path(frozen) / FOLDER if frozen else None
    return folder if folder is not None and (folder / NOTICE).is_file() else None


def parts() -> tuple[Part, ...]:
    """All libraries by name, Python first."""
    folder = licence_folder()
    found = read_notice((folder / NOTICE).read_text(encoding="utf-8")) if folder is not None else installed()
    python = Part("Python", platform.python_version(), "PSF-2.0")
    return (python, *(part for part in found if part.name not in ("Python", DISTRIBUTION)))


def read_notice(text: str) -> tuple[Part, ...]:
    """The libraries listed in a notices file, a line each: ``name version: licence``."""
    return tuple(
        Part(line["name"], line["version"], line["licence"]) for line in map(_LINE.fullmatch, text.splitlines()) if line
    )


def installed() -> tuple[Part, ...]:
    """What is installed of the application's requirements, and of theirs."""
    waiting, seen, found = [DISTRIBUTION], set[str](), list[Part]()
    while waiting:
        name = waiting.pop()
        if _plain(name) in seen:
            continue
        seen.add(_plain(name))
        try:
            one = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        waiting += [match[0] for line in one.requires or () if "extra ==" not in line and (match := _NAME.match(line))]
        if _plain(name) != DISTRIBUTION:
            found.append(Part(one.name, one.version, _licence(one)))
    return tuple(sorted(found, key=lambda part: part.name.lower()))


def details(qt: str, screen: str) -> str:
    """Versions as text, for a report about a fault. Names no user and no folder."""
    lines = [
        f"Gateway Playground {__version__}" + (" (packed)" if getattr(sys, "frozen", False) else ""),
        f"{platform.system()} {platform.release()} {platform.machine()}",
        f"Python {platform.python_version()}, Qt {qt}, {screen}",
        "",
        *(f"{part.name} {part.version}" for part in parts()[1:]),
    ]
    return "\n".join(lines)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _licence(one: metadata.Distribution) -> str:
    fields = one.metadata.json
    said = str(fields.get("license_expression") or fields.get("license") or "")
    kinds = [line.rpartition(" :: ")[2] for line in one.metadata.get_all("Classifier") or [] if "License ::" in line]
    return said if said and "\n" not in said and len(said) < 80 else ", ".join(kinds) or "see its own files"
