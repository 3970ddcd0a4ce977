"""``playground import``: the window's importers on the command line. Nothing is run, sent or fetched.

The content goes to standard output or to a file, in a format that this program opens; everything else goes to standard
error. With ``as_json`` one object on standard output says all of it.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from playground.domain.hidden import show_hidden
from playground.engine.gateways.redacted_output import write_output
from playground.engine.gateways.secrets import Secret
from playground.engine.headless.command import check_output
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.headless.import_kinds import IMPORTERS, ImportedContent, Source, UnreadableError, kind_of_source
from playground.engine.headless.show import Console
from playground.engine.io.text_encoding import decode_text
from playground.engine.io.weighed_json import check_weight
from playground.engine.requests.request_file import STDIN, BadInputError
from playground.jsonkit.values import JSONObject
from playground.named_file import read_named, read_standard_input

LARGEST: Final = 256 * 1024 * 1024  # bytes of a file that is read
KEY_VARIABLE: Final = "PLAYGROUND_API_KEY"
AUTO: Final = "auto"


@dataclass(frozen=True)
class ImportOptions:
    """Options of the command line; ``kind`` is a name of ``IMPORTERS`` or ``AUTO``."""

    path: Path
    kind: str = AUTO
    out: Path | None = None
    as_json: bool = False


def import_file(options: ImportOptions, out: TextIO, err: TextIO) -> int:
    """Import what the options name. Returns an exit code. Raises OutputError where ``out`` fails."""
    console = Console(out, err)
    try:
        check_output(options.out, options.path)
        source = _read(options.path)
        kind = kind_of_source(source) if options.kind == AUTO else options.kind
        imported = _import(source, kind, automatic=options.kind == AUTO)
    except (UnreadableError, BadInputError) as error:
        console.say(show_hidden(str(error)))
        return ExitCode.BAD_INPUT
    console.hide((*imported.secrets, *_own_secrets()))
    text = console.clean(imported.text)
    if options.out is not None:
        try:
            write_output(options.out, text, console.secrets)
        except OSError as error:
            console.say(f"{options.out} cannot be written: {error.strerror or error}")
            return ExitCode.FAILED
    if options.as_json:
        report = _report(imported, kind, options)
        console.json(report)
    else:
        for words in _lines(imported, kind, options):
            console.say(show_hidden(words))
        if options.out is None:
            console.raw(text)
    console.end()
    return ExitCode.OK


def _read(path: Path) -> Source:
    """The text of the file, or of standard input. Raises UnreadableError."""
    name = "Standard input" if path == STDIN else str(path)
    try:
        data = read_standard_input(LARGEST) if path == STDIN else read_named(path, LARGEST)
        check_weight(data)
    except OSError as error:
        raise UnreadableError(f"{name} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise UnreadableError(f"{name} cannot be read: {error}") from None
    try:
        text = decode_text(data)
    except ValueError as error:
        words = "it is a binary file, not text" if b"\0" in data[:4096] else str(error)
        raise UnreadableError(f"{name} cannot be read: {words}") from None
    if "\0" in text:
        raise UnreadableError(f"{name} cannot be read: it is a binary file, not text")
    if not text.strip():
        raise UnreadableError(f"{name} cannot be imported: it is empty")
    if path == STDIN:
        return Source(text, "", name)
    return Source(text, path.suffix.lower(), name, path.parent)


def _import(source: Source, kind: str, *, automatic: bool) -> ImportedContent:
    try:
        return IMPORTERS[kind](source)
    except UnreadableError as error:
        words = str(error).rstrip(".")
        others = ", ".join(name for name in IMPORTERS if name != kind)
        hint = f". It was taken for {kind}; for another kind, give --as ({others})" if automatic else ""
        raise UnreadableError(f"{source.name} cannot be imported: {words}{hint}.") from None


def _own_secrets() -> tuple[Secret, ...]:
    """The key that this process has in its environment."""
    key = os.environ.get(KEY_VARIABLE, "").strip()
    return (Secret(key),) if key else ()


def _lines(imported: ImportedContent, kind: str, options: ImportOptions) -> list[str]:
    """The lines on standard error: what the text was read as, notes, and where the content went."""
    how = "recognised" if options.kind == AUTO else "as asked"
    lines = [f"Read as {kind} ({how}): {imported.words}."]
    lines += imported.notes
    lines += (f"Left out: {words}" for words in imported.left_out)
    if options.out is not None:
        lines.append(f"Written to {options.out}. {imported.next_step}")
    return lines


def _report(imported: ImportedContent, kind: str, options: ImportOptions) -> JSONObject:
    """The object of ``--json``."""
    return {
        "kind": kind,
        "recognised": options.kind == AUTO,
        "read_as": imported.words,
        **imported.members,
        "notes": list(imported.notes),
        "left_out": list(imported.left_out),
        "out": str(options.out) if options.out is not None else None,
        "content": [json.loads(line) for line in imported.text.split("\n") if line]
        if imported.by_line
        else json.loads(imported.text),
    }
