"""The commands that send nothing: `import`, `gateways` and `decode`. Imports nothing heavy before one runs."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final

from playground.cli.arguments import add_command
from playground.cli.execution import exit_code_of, silence
from playground.engine.headless.exit_codes import ExitCode
from playground.protocols import MESSAGES, PROTOCOLS

_KINDS: Final = ("auto", "request", MESSAGES, "tools", "cases", "servers")
_FILE_CODES: Final = (ExitCode.OK, ExitCode.FAILED, ExitCode.BAD_INPUT)
_MAX_BODY: Final = 1024 * 1024 * 1024  # bytes that `decode` reads


def add_import(commands: Any) -> None:
    """Add the command to argparse's ``commands``."""
    command = add_command(
        commands,
        "import",
        _import,
        _FILE_CODES,
        "convert files of other programs",
        "Convert a file of another program, as the window's import dialogs do, to a format of this program: a curl "
        "command, a body or a HAR to a request file; messages to a request file, or one per line; tool definitions, "
        "Python functions and OpenAPI to tool definitions; tables and promptfoo configurations to an experiment with "
        "cases; tool servers to a configuration for --mcp. Standard error names the format that was recognised and "
        "everything left out. Keys are never written. Nothing is executed, sent or downloaded.",
    )
    command.add_argument("file", type=Path, metavar="FILE", help="the file to import; - reads standard input")
    command.add_argument(
        "--as",
        dest="kind",
        choices=_KINDS,
        default="auto",
        help="the kind of content (default: auto, recognised by the content)",
    )
    command.add_argument("--out", type=Path, metavar="FILE", help="write the content to this file")
    command.add_argument(
        "--json", action="store_true", help="print one JSON object: kind, notes, what was left out, and the content"
    )


def _import(arguments: argparse.Namespace) -> int:
    from playground.engine.headless.importing import ImportOptions, import_file

    options = ImportOptions(arguments.file, arguments.kind, arguments.out, arguments.json)
    return exit_code_of(lambda: import_file(options, sys.stdout, sys.stderr))


def add_gateways(commands: Any) -> None:
    """Add the command to argparse's ``commands``."""
    command = add_command(
        commands,
        "gateways",
        _gateways,
        (ExitCode.OK, ExitCode.FAILED),
        "list the gateways saved in the window",
        "List the gateways saved in the window, for --gateway: name, address, and where the key is. Keys are not "
        "read or printed, and no request is sent.",
    )
    command.add_argument("--json", action="store_true", help="print JSON, with ids")


def _gateways(arguments: argparse.Namespace) -> int:
    from playground.engine.headless.gateway import list_gateways

    return exit_code_of(lambda: list_gateways(sys.stdout, sys.stderr, as_json=arguments.json))


def add_decode(commands: Any) -> None:
    """Add the command to argparse's ``commands``."""
    decode = add_command(
        commands,
        "decode",
        _decode,
        _FILE_CODES,
        "decode a recorded response body",
        "Decode a recorded response body, a stream or JSON, and print one JSON value: the answer as far as it was "
        "received, the usage, and deviations from the protocol.",
    )
    decode.add_argument("--protocol", choices=PROTOCOLS, required=True)
    decode.add_argument("file", nargs="?", default="-", metavar="FILE", help="the body, - for standard input")
    decode.add_argument(
        "--cumulative", action="store_true", help="remove the repeats of deltas that each repeat all earlier text"
    )


def _decode(arguments: argparse.Namespace) -> int:
    from playground.engine.gateways.redaction import redact_json, redactor_of
    from playground.engine.gateways.secrets import key_from_environment
    from playground.protocols.summary import summarise
    from playground.system.named_file import read_named, read_standard_input

    try:
        if arguments.file == "-":
            data = read_standard_input(_MAX_BODY)
        else:
            data = read_named(Path(arguments.file), _MAX_BODY, pipes=True)
    except OSError as error:
        print(f"playground: {arguments.file} cannot be read: {error.strerror or error}", file=sys.stderr)
        return 2
    try:
        key = key_from_environment()
        summary = summarise(arguments.protocol, data, cumulative=arguments.cumulative)
        output = redact_json(summary, redactor_of((key,) if key is not None else ()))
        print(json.dumps(output, ensure_ascii=True, indent=2), flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        silence()
        print(f"playground: standard output cannot be written: {error.strerror or error}", file=sys.stderr)
        return 1
    return 0
