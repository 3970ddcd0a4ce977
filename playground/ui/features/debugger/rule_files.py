"""Answer tables in and out of files: what a file brings is laid over the rules there are. No widgets here."""

from __future__ import annotations

from pathlib import Path

from playground.domain.debugging import Debugging, Policy, ToolRule
from playground.engine.files.answer_table import LARGEST_TABLE, read_answers, write_answers
from playground.named_file import read_named


def read_tables(path: Path) -> Debugging:
    """The rules a file asks for. Raises ValueError in words."""
    try:
        text = read_named(path, LARGEST_TABLE).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from None
    return read_answers(text)


def write_tables(path: Path, debugging: Debugging) -> None:
    """Write the tables to a file. Raises ValueError in words."""
    try:
        path.write_text(write_answers(debugging), encoding="utf-8", newline="\n")
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from None


def laid_over(debugging: Debugging, found: Debugging) -> Debugging:
    """The rules with a file's tables in them: its tools answer from its rows; their conditions and all others stay."""
    out = debugging.model_copy(update={"step_limit": found.step_limit})
    for name, rule in found.rules.items():
        out = out.with_rule(name, _with_table(debugging.rule(name), rule))
    if found.default.rows:
        out = out.with_default(_with_table(debugging.default, found.default))
    return out


def table_words(found: Debugging) -> str:
    """What a file holds: ``2 tables with 5 rows``."""
    tables = [rule for rule in (*found.rules.values(), found.default) if rule.rows]
    rows = sum(len(rule.rows) for rule in tables)
    return f"{len(tables)} table{'s' * (len(tables) != 1)} with {rows} row{'s' * (rows != 1)}"


def _with_table(rule: ToolRule, found: ToolRule) -> ToolRule:
    return rule.model_copy(update={"policy": Policy.TABLE, "rows": found.rows})
