"""The `replay` command: a recorded cassette as a gateway."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from playground.cli.arguments import add_command, add_list, add_port, number
from playground.engine.headless.exit_codes import ExitCode


def add_replay(commands: Any) -> None:
    """Add the command to argparse's ``commands``."""
    replay = add_command(
        commands,
        "replay",
        _replay,
        (ExitCode.BAD_INPUT, ExitCode.INTERRUPTED),
        "serve a recorded cassette as a gateway until Ctrl+C",
        "Serve a recorded cassette as a gateway on 127.0.0.1: the same status, headers and bytes, at the "
        "recorded times. A request gets the answer recorded for an equal body, or the next one of its endpoint.",
    )
    replay.add_argument("file", type=Path, metavar="FILE", help="a cassette (JSON)")
    add_port(replay)
    replay.add_argument(
        "--speed",
        type=_speed,
        default=1.0,
        metavar="X",
        help="a multiple of the recorded speed; inf for no delay (default: 1)",
    )
    add_list(
        replay,
        "--cors",
        "ORIGIN",
        "let web pages of this origin read the answers, for example http://localhost:3000; '*' for all pages; "
        "repeatable (default: no page)",
        _origin,
    )


def _replay(arguments: argparse.Namespace) -> int:
    import asyncio

    from playground.engine.cassettes.cassette import CassetteError, open_file
    from playground.engine.cassettes.server import PlaybackClock, ReplayServer

    async def serve() -> None:
        def log(line: str) -> None:
            print(line, flush=True)

        hosts, pages = arguments.allow_host, arguments.cors
        server = ReplayServer(cassette, PlaybackClock(arguments.speed), arguments.port, log, hosts=hosts, pages=pages)
        url = await server.start()
        count = len(cassette.exchanges)
        print(f"Replaying {count} exchange{'s' * (count > 1)} at {url}. Ctrl+C ends it.", flush=True)
        try:
            await asyncio.Event().wait()
        finally:
            await server.aclose()

    try:
        cassette = open_file(arguments.file, pipes=True)
        if cassette.unread_words:
            print(f"playground: {cassette.unread_words}", file=sys.stderr)
        asyncio.run(serve())
    except (CassetteError, OSError) as error:
        print(f"playground: {error}", file=sys.stderr)
        return 2
    return 0


def _origin(text: str) -> str:
    from playground.system.loopback import is_origin

    origin = text.lower().rstrip("/")
    if origin != "*" and not is_origin(origin):
        raise argparse.ArgumentTypeError("give the origin of a web page, such as http://localhost:3000, or '*'")
    return origin


def _speed(text: str) -> float:
    return number(text, lambda value: value > 0, "give a number above 0, or inf")
