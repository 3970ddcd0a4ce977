"""A file of cases of any kind: the rows of a table, or a promptfoo configuration."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from playground.engine.evaluation.imports.promptfoo import Configuration, is_promptfoo, read_configuration
from playground.engine.evaluation.imports.table import LARGEST, Cases, CasesError, Table, read_table
from playground.engine.io.text_encoding import decode_text
from playground.engine.io.yaml_text import read_yaml
from playground.system.named_file import read_named

_MAY_BE: Final = (".yaml", ".yml", ".json")
_MEMBERS: Final = ("prompts", "providers", "targets")  # of which a configuration has one


def imported_cases(source: Cases) -> Cases:
    """Return the cases of a file; those without turns get the turns of the configuration."""
    if not isinstance(source, Configuration) or not source.turns:
        return source
    turns = {"turns": source.turns}
    return replace(source, cases=tuple(case if case.turns else case.model_copy(update=turns) for case in source.cases))


def read_file(path: Path) -> Table | Configuration:
    """Read a file of cases and, for a configuration, the files it refers to; it may take seconds. Raises CasesError."""
    try:
        data = read_named(path, LARGEST)
    except OSError as error:
        raise CasesError(f"The file cannot be read: {error.strerror or error}.") from None
    return read_data(data, path.suffix.lower(), path.parent)


def read_data(data: bytes, suffix: str, folder: Path | None = None) -> Table | Configuration:
    """Read the content of a file whose name ends in ``suffix``; the files that it refers to are below ``folder``.

    Without a folder they are named as left out. Raises CasesError.
    """
    text = _configuration_text(data) if suffix in _MAY_BE else ""
    return read_configuration(text, folder) if text else read_table(data, suffix)


def _configuration_text(data: bytes) -> str:
    """Return the text of a configuration; empty for any other file, which says itself why it cannot be read."""
    try:
        text = decode_text(data)
        if not any(member in text for member in _MEMBERS):
            return ""
        return text if is_promptfoo(read_yaml(text).value) else ""
    except ValueError:
        return ""
