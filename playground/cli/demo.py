"""The `demo` and `demo-tools` commands: the built-in gateway and the built-in tool server."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any, Final

from playground.cli.arguments import PORT, add_command, add_port, rate, whole_number
from playground.cli.execution import disable_tracing
from playground.engine.headless.exit_codes import ExitCode

#: The environment variable of the key of `playground demo`.
DEMO_KEY: Final = "PLAYGROUND_DEMO_KEY"


def add_demo(commands: Any) -> None:
    """Add both commands to argparse's ``commands``."""
    demo = add_command(
        commands,
        "demo",
        _demo,
        (ExitCode.OK, ExitCode.BAD_INPUT),
        "serve the built-in demo gateway until Ctrl+C",
        "Serve the built-in demo gateway on 127.0.0.1. It runs no model: its answers are simulated and say so. It "
        "needs no network, and simulates failures on request, for example with !429 or !cut in a prompt.",
    )
    add_port(demo)
    demo.add_argument(
        "--key-file",
        type=Path,
        metavar="FILE",
        help=f"accept only the key in this file, or in the environment variable {DEMO_KEY} (default: any key)",
    )
    demo.add_argument(
        "--key",
        metavar="K",
        help=f"accept only this key (deprecated, since others see it: use --key-file or {DEMO_KEY})",
    )
    demo.add_argument("--tps", type=rate, default=60.0, metavar="N", help="tokens per second; 0 for no limit")
    demo.add_argument("--ttft", type=rate, default=0.35, metavar="S", help="seconds before the first token")
    demo.add_argument(
        "--rpm",
        type=whole_number(0),
        default=0,
        metavar="N",
        help="requests per minute, then 429; 0 for no limit (default: 0)",
    )

    tools = add_command(
        commands,
        "demo-tools",
        _demo_tools,
        (ExitCode.OK, ExitCode.BAD_INPUT),
        "run the built-in demo tool server",
        "Serve the built-in demo tool server (Model Context Protocol): a clock, dice, notes, and one tool "
        "for each thing that can happen. It speaks over standard input and output, as a client starts it, or over HTTP "
        "on 127.0.0.1. It needs no network, and nothing it does outlasts it.",
    )
    tools.add_argument(
        "--http", type=PORT, metavar="PORT", help="over HTTP on this port of 127.0.0.1, 0 for a free one"
    )


def _demo(arguments: argparse.Namespace) -> int:
    from playground.demo.server import DemoConfig, serve_forever

    def announce(base_url: str) -> None:
        print(f"Demo gateway at {base_url} (simulated answers). Ctrl+C ends it.", flush=True)

    try:
        key = _demo_key(arguments)
    except (OSError, ValueError) as error:
        words = (isinstance(error, OSError) and error.strerror) or error
        print(f"playground: {arguments.key_file} cannot be used as a key: {words}", file=sys.stderr)
        return 2
    config = DemoConfig(
        port=arguments.port,
        key=key,
        tokens_per_second=arguments.tps,
        time_to_first_token=arguments.ttft,
        rate_limit=arguments.rpm,
        allowed_hosts=tuple(arguments.allow_host),
    )
    try:
        serve_forever(config, announce)
    except OSError as error:
        print(f"playground: {error}", file=sys.stderr)
        return 2
    return 0


def _demo_tools(arguments: argparse.Namespace) -> int:
    disable_tracing()
    from playground.demo.tool_server import serve

    def announce(words: str) -> None:
        # Without a port, standard output is the protocol's.
        print(words, file=sys.stderr if arguments.http is None else sys.stdout, flush=True)

    try:
        serve(arguments.http, announce)
    except OSError as error:
        print(f"playground: {error}", file=sys.stderr)
        return 2
    return 0


def _demo_key(arguments: argparse.Namespace) -> str | None:
    """Return the key to accept, None for any. Raises OSError and ValueError for a file without one."""
    from playground.system.named_file import read_named

    if arguments.key_file is not None:
        key = read_named(arguments.key_file, 64 * 1024, pipes=True).decode("utf-8").strip()
        if not key:
            raise ValueError("it is empty")
        return key
    if arguments.key is not None:
        words = "Other users of this computer can read a key on a command line, and shells save it."
        print(f"playground: {words} Use --key-file or {DEMO_KEY}.", file=sys.stderr)
        return str(arguments.key)
    return os.environ.get(DEMO_KEY, "").strip() or None
