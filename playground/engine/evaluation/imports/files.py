"""A file of cases, whichever kind it is: the rows of a table, or a promptfoo configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from playground.engine.evaluation.imports.promptfoo import Configuration, is_configuration, read_configuration
from playground.engine.evaluation.imports.table import LARGEST, CasesError, Table, read_table
from playground.engine.io.yaml_text import YamlError, read_yaml

_MAY_BE: Final = (".yaml", ".yml", ".json")


def read_file(path: Path) -> Table | Configuration:
    """What is in a file; it may take seconds. Raises CasesError."""
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise CasesError(f"The file has {size:,} bytes; {LARGEST:,} are read at most.")
        data = path.read_bytes()
    except OSError as error:
        raise CasesError(f"The file cannot be read: {error.strerror or error}.") from None
    suffix = path.suffix.lower()
    words = b"tests" in data and (b"prompts" in data or b"providers" in data)
    if suffix in _MAY_BE and words:
        text = data.decode("utf-8-sig", "replace")
        try:
            found = is_configuration(read_yaml(text).value)
        except YamlError:
            found = False  # said below, with the line
        if found:
            return read_configuration(text)
    return read_table(data, suffix)
