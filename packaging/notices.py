"""Collects the licences of everything in a bundle, from the installed distributions the files came from.

Called by the PyInstaller specification with the files it is going to bundle, so that nothing is listed that is not in
it, and a distribution without a licence text fails the build.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import Distribution, distributions
from pathlib import Path

Entry = tuple[str, str, str]  # PyInstaller's: place in the bundle, source, kind

#: Distributions under the LGPL whose wheels bring no text; ours come from the folder of texts.
QT = ("PySide6_Essentials", "shiboken6")
FOLDER = "licences"
WORDS = ("licen", "copying", "notice", "authors")

QT_WORDS = """\
Qt and Qt for Python (PySide6, Shiboken) {version} are used under the GNU Lesser General Public License, version 3. The
texts of it and of the GNU General Public License, on which it builds, are in this folder.

Their libraries are separate files of this application: libQt6*, libpyside6* and libshiboken6* (Qt6*.dll and *.pyd on
Windows, the frameworks of the application bundle on macOS), below _internal/PySide6 and _internal/shiboken6. They are
unmodified, from the wheels that the Qt Company publishes. You may replace them with your own build of the same major
version: put it in the place of these files. Nothing in the application checks them, and its licence (MIT) allows what
you need to do to debug such a change.

The source text of exactly these versions is published by the Qt Company:

  Qt              https://download.qt.io/archive/qt/{series}/{version}/single/
  Qt for Python   https://download.qt.io/archive/qt-for-python/ and https://download.qt.io/official_releases/QtForPython/

Whoever received this application from us may ask us for it instead, up to three years after the release, and gets it
for the price of the copying. The source text of this application, with all that is needed to build it anew, is
attached to each release.

Qt contains parts of others, under licences that allow this use; they are listed at
https://doc.qt.io/qt-6/licenses-used-in-qt.html. ICU is Copyright Unicode, Inc., under the Unicode licence.
"""


def collect(sources: list[Path], out: Path, texts: Path) -> list[Entry]:
    """Copy the licences of what ``sources`` belong to into ``out``; ``texts`` holds those that wheels lack.

    Qt's are at its top, others in a folder of the distribution's name. Returns what is to be bundled. Raises SystemExit
    naming what has no licence text.
    """
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    used = bundled(sources)
    lines, lacking = [], []
    for name in sorted(used, key=str.lower):
        found = _texts_of(used[name]) or sorted((texts / name).glob("*.txt"))
        if name in QT:
            found = []
        elif not found:
            lacking.append(name)
        for path in found:
            _copy(path, out / name / path.name)
        lines.append(f"{name} {used[name].version}: {licence(used[name]) or 'see its file'}")
    qt = used["PySide6_Essentials"].version
    for path in sorted(texts.glob("*.txt")):
        _copy(path, out / "Qt" / path.name)
    words = QT_WORDS.format(version=qt, series=".".join(qt.split(".")[:2]))
    (out / "Qt" / "README.txt").write_text(words, encoding="utf-8")
    lines.append(f"Python {sys.version.split()[0]}: PSF-2.0")
    _copy(_python_licence(), out / "Python" / "LICENSE.txt")
    for package in sorted(of_the_system(sources)):
        lines.append(f"{package} (from the system this was built on): see its file")
        _copy(Path(f"/usr/share/doc/{package}/copyright"), out / "system" / f"{package}.txt")
    if lacking:
        raise SystemExit(f"no licence text was found for {', '.join(lacking)}")
    head = "What is in this application, and under which licence. The texts are in the folders beside this file.\n\n"
    (out / "NOTICE.txt").write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    files = sorted(path for path in out.rglob("*") if path.is_file())
    return [(f"{FOLDER}/{path.relative_to(out).as_posix()}", str(path), "DATA") for path in files]


def bundled(sources: list[Path]) -> dict[str, Distribution]:
    """The installed distributions that ``sources`` belong to, by name."""
    owners = _owners()
    used = {owner.name: owner for path in sources if (owner := owners.get(_real(path)))}
    for name in ("gateway-playground", "pyinstaller"):  # the packager's start-up program is in the bundle, too
        used |= {owner.name: owner for owner in set(owners.values()) if owner.name == name}
    return used


def _owners() -> dict[Path, Distribution]:
    return {_real(Path(str(found.locate_file(file)))): found for found in distributions() for file in found.files or ()}


def _real(path: Path) -> Path:
    return path.resolve()


def _texts_of(found: Distribution) -> list[Path]:
    files = [Path(str(found.locate_file(file))) for file in found.files or () if ".dist-info" in str(file)]
    return sorted(path for path in files if path.name.lower().startswith(WORDS) and path.is_file())


def field(found: Distribution, name: str) -> str:
    """What a distribution says of itself under ``name``; "" where it says nothing."""
    return next(iter(found.metadata.get_all(name) or ()), "")


def licence(found: Distribution) -> str:
    """What a distribution says of its licence in one line; "" where it says nothing."""
    said = field(found, "License-Expression") or field(found, "License")
    kinds = [line.rpartition(" :: ")[2] for line in found.metadata.get_all("Classifier") or [] if "License" in line]
    return said if said and "\n" not in said else ", ".join(kinds)


def _python_licence() -> Path:
    version = sysconfig.get_python_version()
    places = [
        Path(sysconfig.get_path("stdlib")) / "LICENSE.txt",
        Path(sys.base_prefix) / "LICENSE.txt",
        Path(f"/usr/share/doc/python{version}/copyright"),
    ]
    return next((place for place in places if place.is_file()), places[0])


def of_the_system(sources: list[Path]) -> set[str]:
    """The packages of a Debian system that bundled libraries were taken from; the licence of each is there."""
    prefixes = ("/usr/lib/", "/lib/")
    libraries = sorted({str(_real(path)) for path in sources if str(_real(path)).startswith(prefixes)})
    found: set[str] = set()
    for library in libraries:
        if "/python3" in library or shutil.which("dpkg-query") is None:
            continue
        # On a system with one /usr, the package may still say /lib.
        asked = ["dpkg-query", "--search", library, library.removeprefix("/usr")]
        said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
        package = said.partition(":")[0]
        if not package or not Path(f"/usr/share/doc/{package}/copyright").is_file():
            raise SystemExit(f"{library} is bundled, and whose it is could not be found out")
        found.add(package)
    return found


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
