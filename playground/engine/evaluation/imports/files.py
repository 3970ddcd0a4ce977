"""A file of cases of any kind: the rows of a table, or a promptfoo configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from playground.engine.evaluation.imports.promptfoo import Configuration, is_configuration, read_configuration
from playground.engine.evaluation.imports.table import LARGEST, CasesError, Table, read_table
from playground.engine.io.text_encoding import decode_text
from playground.engine.io.yaml_text import read_yaml

_MAY_BE: Final = (".yaml", ".yml", ".json")
_MEMBERS: Final = ("prompts", "providers", "targets")  # of which a configuration has one


def read_file(path: Path) -> Table | Configuration:
    """Read a file of cases and, for a configuration, the files it refers to; it may take seconds. Raises CasesError."""
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise CasesError(f"The file has {size:,} bytes; {LARGEST:,} are read at most.")
        data = path.read_bytes()
    except OSError as error:
        raise CasesError(f"The file cannot be read: {error.strerror or error}.") from None
    suffix = path.suffix.lower()
    text = _configuration_text(data) if suffix in _MAY_BE else ""
    return read_configuration(text, path.parent) if text else read_table(data, suffix)


def _configuration_text(data: bytes) -> str:
    """Return the text of a configuration; empty for any other file, which says itself why it cannot be read."""
    try:
        text = decode_text(data)
        if not any(member in text for member in _MEMBERS):
            return ""
        return text if is_configuration(read_yaml(text).value) else ""
    except ValueError:
        return ""
