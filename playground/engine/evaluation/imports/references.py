"""Files that a promptfoo configuration refers to: read if they are below its folder, otherwise refused with a reason.

Nothing is run and nothing is fetched. A configuration may come from a stranger: a path that leaves its folder could
put any file of the computer into a request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

from playground.engine.evaluation.imports.csv_records import read_records
from playground.engine.io.files import decode_text
from playground.engine.io.weighed_json import check_weight
from playground.engine.io.yaml_text import YamlError, read_yaml
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON

FILE: Final = "file://"
MOST_BYTES: Final = 256 * 1024 * 1024  # of all files of a configuration together
MOST_FILES: Final = 1_000  # that a configuration may read, and that a pattern may match
DEEPEST: Final = 20  # files that refer to files
SCRIPTS: Final = frozenset(
    (
        *(".py", ".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".rb", ".go", ".sh", ".bash", ".zsh"),
        *(".exe", ".bat", ".cmd", ".ps1", ".pl", ".php"),
    )
)
_SHEETS: Final = (".xlsx", ".xls", ".ods")
_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


class UnreadableFileError(ValueError):
    """A file that is referred to is not read; the text says why."""


class References:
    """Reads files below ``folder``; None where the configuration is a text of no folder. ``names`` lists those read."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder.resolve() if folder is not None else None
        self._remaining = MOST_BYTES
        self._reads = 0
        self._open: list[Path] = []
        self.names: dict[str, None] = {}

    def files(self, reference: str) -> list[Path]:
        """Return the files of a path, a pattern or a folder. Raises UnreadableFileError."""
        path = reference.removeprefix(FILE).strip()
        if _ADDRESS.match(path):
            raise UnreadableFileError("it is at an address, which is not fetched")
        if is_script(path):
            raise UnreadableFileError("it is a script, which is not run")
        if path.lower().partition("#")[0].endswith(_SHEETS):
            raise UnreadableFileError("it is a workbook; save it as CSV")
        if "{{" in path or "{%" in path:
            raise UnreadableFileError("its path is a template")
        if self._folder is None:
            raise UnreadableFileError("it is in another file; open the configuration from its folder")
        return self._inside(self._folder, path.replace("\\", "/"))

    def _inside(self, folder: Path, path: str) -> list[Path]:
        try:
            base = (folder / re.split(r"[*?\[]", path, maxsplit=1)[0]).resolve()
            if not base.is_relative_to(folder):
                raise UnreadableFileError("it is outside the folder of the configuration")
            if re.search(r"[*?\[]", path) and not base.is_file():
                pattern = path if not Path(path).is_absolute() else str(Path(path).relative_to(folder))
                matches = sorted(islice(folder.glob(pattern), MOST_FILES + 1))
            else:
                matches = sorted(islice(base.iterdir(), MOST_FILES + 1)) if base.is_dir() else [base]
            files = [match for match in matches if match.is_file() and match.resolve().is_relative_to(folder)]
        except (OSError, ValueError, NotImplementedError) as error:
            if isinstance(error, UnreadableFileError):
                raise
            raise UnreadableFileError("its path cannot be used") from None
        if len(files) > MOST_FILES:
            raise UnreadableFileError(f"it matches more than {MOST_FILES:,} files")
        if not files:
            raise UnreadableFileError("there is no such file")
        return files

    def exists(self, reference: str) -> bool:
        """Return whether a reference leads to a readable file."""
        try:
            return bool(self.files(reference))
        except UnreadableFileError:
            return False

    def name(self, path: Path) -> str:
        """Return the path as it is shown: from the folder of the configuration."""
        return path.relative_to(self._folder).as_posix() if self._folder is not None else path.name

    @contextmanager
    def opened(self, path: Path) -> Iterator[None]:
        """Read what a file refers to. Raises UnreadableFileError where that leads back to it, or too far."""
        if path in self._open:
            raise UnreadableFileError("it refers to itself")
        if len(self._open) >= DEEPEST:
            raise UnreadableFileError("too many files refer to one another")
        self._open.append(path)
        try:
            yield
        finally:
            self._open.remove(path)

    def data(self, path: Path) -> bytes:
        """Return the content of a file. Raises UnreadableFileError."""
        self._reads += 1
        if self._reads > MOST_FILES:
            raise UnreadableFileError(f"the configuration reads more than {MOST_FILES:,} files")
        try:
            self._remaining -= path.stat().st_size
            if self._remaining < 0:
                raise UnreadableFileError(f"the files have more than {MOST_BYTES:,} bytes together")
            data = path.read_bytes()
        except OSError as error:
            raise UnreadableFileError(f"it cannot be read: {error.strerror or error}") from None
        self.names[self.name(path)] = None
        return data

    def text(self, path: Path) -> str:
        """Return the text of a file. Raises UnreadableFileError."""
        data = self.data(path)
        try:
            text = decode_text(data)
        except ValueError:
            raise UnreadableFileError("it is not UTF-8 text") from None
        if "\0" in text:
            raise UnreadableFileError("it is no text")
        return text

    def value(self, path: Path) -> JSON:
        """Return the value in a file of JSON, YAML or CSV, the text of others. Raises UnreadableFileError."""
        text = self.text(path)
        try:
            match path.suffix.lower():
                case ".json":
                    check_weight(text.encode())
                    return parse_json(text)
                case ".jsonl" | ".ndjson":
                    return [parse_json(line) for line in text.split("\n") if line.strip()]
                case ".yaml" | ".yml":
                    return read_yaml(text).value
                case ".csv":
                    return _column_or_rows(text)
                case _:
                    return text
        except (YamlError, ValueError) as error:
            raise UnreadableFileError(f"it cannot be read: {error}") from None

    def load(self, reference: str) -> JSON:
        """Return the value of the only file of a reference. Raises UnreadableFileError."""
        files = self.files(reference)
        if len(files) > 1:
            raise UnreadableFileError("it matches several files")
        return self.value(files[0])


def is_script(path: str) -> bool:
    """Return whether a path, with or without the name of a function behind it, is that of a program."""
    name = re.sub(r"(?<=\w):[\w.]+\Z", "", path)
    return any(Path(candidate).suffix.lower() in SCRIPTS for candidate in (path, name))


def _column_or_rows(text: str) -> JSON:
    """Return the cells of a single column as a list, the rows of several columns as objects."""
    records = [record.cells for record in read_records(text) if not record.problem]
    if not records:
        return []
    header, *rows = records
    if len(header) == 1:
        return [row[0] for row in rows]
    return [dict(zip(header, row, strict=False)) for row in rows]
