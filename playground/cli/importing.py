"""The `import` command. Imports nothing heavy before it runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Final

from playground.cli.arguments import Help, exit_codes
from playground.cli.execution import exit_code_of
from playground.engine.headless.exit_codes import ExitCode
from playground.protocols import MESSAGES

_KINDS: Final = ("auto", "request", MESSAGES, "tools", "cases", "servers")


def add_import(commands: Any) -> None:
    """Add the command to argparse's ``commands``."""
    command = commands.add_parser(
        "import",
        help="read what other programs keep, and write it in a format of this one",
        description="Read a file of another program, as the window's import dialogs do, and write it in a format that "
        "this program opens: a curl command, a body or a HAR as a request file; messages as a request file, or a line "
        "each; tool definitions, Python functions and OpenAPI as tool definitions; tables and promptfoo configurations "
        "as an experiment with cases; tool servers as a configuration for --mcp. Standard error says what the text was "
        "read as and what was left out. No key is written. Nothing is run, sent or fetched.",
        formatter_class=Help,
        epilog=exit_codes((ExitCode.OK, ExitCode.FAILED, ExitCode.BAD_INPUT)),
    )
    command.add_argument("file", type=Path, metavar="FILE", help="the file to import; - reads standard input")
    command.add_argument(
        "--as",
        dest="kind",
        choices=_KINDS,
        default="auto",
        help="what to read the file as (default: auto, by its content)",
    )
    command.add_argument("--out", type=Path, metavar="FILE", help="write the content to this file")
    command.add_argument(
        "--json", action="store_true", help="print one JSON object: kind, notes, what was left out, and the content"
    )
    command.set_defaults(command=_import, parser=command)


def _import(arguments: argparse.Namespace) -> int:
    from playground.engine.headless.importing import ImportOptions, import_file

    options = ImportOptions(arguments.file, arguments.kind, arguments.out, arguments.json)
    return exit_code_of(lambda: import_file(options, sys.stdout, sys.stderr))
