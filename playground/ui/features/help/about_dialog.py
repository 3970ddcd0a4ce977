"""The About dialog: version, libraries with their licences, and details to copy."""

from __future__ import annotations

import platform
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Final, NamedTuple

from PySide6.QtCore import Qt, QUrl, qVersion
from PySide6.QtGui import QDesktopServices, QGuiApplication, QIcon
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHeaderView,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from playground import __version__
from playground.engine.io.files import resource_root
from playground.ui.widgets.copy_button import CopyButton
from playground.ui.widgets.form_parts import push_button, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row

DESCRIPTION = "Shows what is sent to a model gateway and what it answers."
LICENCE = "Gateway Playground is free software under the MIT licence."
QT = (
    "Qt and Qt for Python are used under the GNU Lesser General Public License, version 3. Their libraries are files "
    "of their own and may be replaced by your own build; the licence texts say where their source text is."
)

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
    """Return the folder of licence texts of a frozen application; None in any other."""
    frozen = getattr(sys, "_MEIPASS", None)
    folder = Path(frozen) / FOLDER if frozen else None
    return folder if folder is not None and (folder / NOTICE).is_file() else None


def parts() -> tuple[Part, ...]:
    """Return all libraries by name, Python first."""
    folder = licence_folder()
    libraries = read_notice((folder / NOTICE).read_text(encoding="utf-8")) if folder is not None else installed()
    python = Part("Python", platform.python_version(), "PSF-2.0")
    return (python, *(part for part in libraries if part.name not in ("Python", DISTRIBUTION)))


def read_notice(text: str) -> tuple[Part, ...]:
    """Return the libraries listed in a notices file, a line each: ``name version: licence``."""
    return tuple(
        Part(line["name"], line["version"], line["licence"]) for line in map(_LINE.fullmatch, text.splitlines()) if line
    )


def installed() -> tuple[Part, ...]:
    """Return the installed requirements of the application, and theirs."""
    queue, seen, installed_parts = [DISTRIBUTION], set[str](), list[Part]()
    while queue:
        name = queue.pop()
        if _normalized(name) in seen:
            continue
        seen.add(_normalized(name))
        try:
            fields = metadata.distribution(name).metadata  # its file is read at every access
        except metadata.PackageNotFoundError:
            continue
        requirements = fields.get_all("Requires-Dist") or []
        queue += [match[0] for line in requirements if "extra ==" not in line and (match := _NAME.match(line))]
        if _normalized(name) != DISTRIBUTION:
            installed_parts.append(Part(fields["Name"], fields["Version"], _licence(fields)))
    return tuple(sorted(installed_parts, key=lambda part: part.name.lower()))


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


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _licence(distribution: metadata.PackageMetadata) -> str:
    fields = distribution.json
    name = str(fields.get("license_expression") or fields.get("license") or "")
    classifiers = distribution.get_all("Classifier") or []
    kinds = [line.rpartition(" :: ")[2] for line in classifiers if "License ::" in line]
    return name if name and "\n" not in name and len(name) < 80 else ", ".join(kinds) or "see its own files"


class AboutDialog(QDialog):
    """Open it with ``open()``."""

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle("About Gateway Playground")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumSize(460, 360)
        self.resize(580, 520)
        picture = QLabel(pixmap=QIcon(str(resource_root() / "icons" / "app.svg")).pixmap(48, 48))
        head = in_column(
            text_label(f"Gateway Playground {__version__}", "title"),
            text_label(DESCRIPTION, "muted", wrap=True),
            spacing=2,
        )
        top = in_row(picture, (head, 1), spacing=14)
        self.table = _table()
        self.copy_button = CopyButton("Copy details")
        self.copy_button.setToolTip("Versions of this application, its libraries and this system, for a report")
        self.copy_button.clicked.connect(self._copy)
        self.texts_button = push_button("Licence texts")
        self.texts_button.setVisible(licence_folder() is not None)
        self.texts_button.clicked.connect(self._open_texts)
        close = push_button("Close", "primary")
        close.setDefault(True)
        close.clicked.connect(self.accept)
        buttons = in_row(self.copy_button, self.texts_button, 1, close, spacing=8)
        in_column(
            top,
            text_label(f"{LICENCE} {QT}", wrap=True),
            (self.table, 1),
            buttons,
            parent=self,
            margins=(24, 20, 24, 16),
            spacing=12,
        )
        close.setFocus()

    def _copy(self) -> None:
        platform = QGuiApplication.platformName()
        self.copy_button.copy(details(qVersion(), f"platform {platform}"))

    def _open_texts(self) -> None:
        folder = licence_folder()
        if folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


def _table() -> QTableWidget:
    rows = parts()
    table = styled(QTableWidget(len(rows), 3), "texts")
    table.setHorizontalHeaderLabels(["Library", "Version", "Licence"])
    table.setAccessibleName("Libraries and their licences")
    table.verticalHeader().hide()
    table.setShowGrid(False)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    table.setTabKeyNavigation(False)
    for row, part in enumerate(rows):
        for column, text in enumerate(part):
            table.setItem(row, column, QTableWidgetItem(text))
    header = table.horizontalHeader()
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    header.setHighlightSections(False)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
    header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
    header.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
    return table
