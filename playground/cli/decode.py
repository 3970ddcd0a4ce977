"""The `decode` command: the content of a recorded response body as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final

from playground.cli.arguments import Help, exit_codes
from playground.cli.execution import silence
from playground.engine.headless.exit_codes import ExitCode
from playground.protocols import PROTOCOLS

_MAX_BODY: Final = 1024 * 1024 * 1024  # bytes


def add_decode(commands: Any) -> None:
    """Add the command to argparse's ``commands``."""
    decode = commands.add_parser(
        "decode",
        help="decode a recorded response body",
        description="Print what a recorded response body says, a stream or JSON, as one JSON value: the answer as far "
        "as it came, the usage, and what leaves the protocol.",
        formatter_class=Help,
        epilog=exit_codes((ExitCode.OK, ExitCode.FAILED, ExitCode.BAD_INPUT)),
    )
    decode.add_argument("--protocol", choices=PROTOCOLS, required=True)
    decode.add_argument("file", nargs="?", default="-", metavar="FILE", help="the body, - for standard input")
    decode.add_argument(
        "--cumulative", action="store_true", help="read deltas that each begin with all before them without the repeats"
    )
    decode.set_defaults(command=_decode, parser=decode)


def _decode(arguments: argparse.Namespace) -> int:
    from playground.engine.gateways.known_secrets import redactor_of
    from playground.engine.gateways.redacted_output import redact_json
    from playground.engine.gateways.secrets import key_from_environment
    from playground.named_file import read_named, read_standard_input
    from playground.protocols.summary import summarise

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
