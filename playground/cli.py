"""argv to a window, or to one of the headless commands. Imports nothing heavy before it knows which."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from playground import __version__
from playground.protocols import PROTOCOLS

#: The environment variable that has the key of ``playground demo``.
DEMO_KEY = "PLAYGROUND_DEMO_KEY"
USAGE = """playground [FILE]
       playground [-h | --version | --self-test [--window]]
       playground COMMAND ..."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command named in ``argv`` (default: the process's). Returns the exit code."""
    from playground import frozen

    frozen.give_back()
    given = sys.argv[1:] if argv is None else argv
    if list(given) == ["--check-worker"]:  # our own process for what may take too long
        from playground.engine.questions.worker import serve

        return serve()
    if list(given) == ["--tool-host"]:  # our own process in which tool servers are spoken with
        _disable_tracing()
        from playground.tool_host.host import serve as serve_tools

        return serve_tools()
    _prepare_streams()  # before the parser, which prints help and errors
    # Building the parser takes longer than a good part of the window: it is not needed to see that nothing was asked.
    if not given or _is_file(given):
        arguments = argparse.Namespace(command=_window, open=Path(given[0]) if given else None)
    else:
        arguments, unknown = _parser().parse_known_args(given)
        if unknown:
            arguments.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        code: int = arguments.command(arguments)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader went away, as `head` does
        from playground.cli_help import silence

        silence()
        return 1
    return code


def _disable_tracing() -> None:
    """Remove the variables that make mcp load a tracing library, which fails where that is not installed."""
    for name in ("OTEL_PROPAGATORS", "OTEL_PYTHON_CONTEXT"):
        os.environ.pop(name, None)


def _prepare_streams() -> None:
    """Make standard output and error write UTF-8, also where a shell closed them."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the shell
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 - for the rest of the process
        reconfigure = getattr(getattr(sys, name), "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")


def _parser() -> argparse.ArgumentParser:
    from playground.cli_check import add_check
    from playground.cli_eval import add_eval
    from playground.cli_gateway import add_gateways
    from playground.cli_help import Help, exit_codes, whole
    from playground.cli_import import add_import
    from playground.cli_run import add_run
    from playground.engine.headless.exit_codes import ExitCode

    port = whole(0, 65535, "a port is a number from 0 to 65535")
    parser = argparse.ArgumentParser(
        prog="playground",
        usage=USAGE,
        description="See what a model gateway is sent and what comes back. Without a command, the window opens; with "
        "the name of an experiment file (*.playground.json), the window opens with that experiment.",
        formatter_class=Help,
        epilog=exit_codes((ExitCode.OK, ExitCode.FAILED, ExitCode.BAD_INPUT)),
    )
    parser.add_argument("--version", action="version", version=f"Gateway Playground {__version__}")
    parser.add_argument(
        "--self-test", action="store_const", const=_self_test, dest="command", help="try out this installation"
    )
    parser.add_argument("--window", action="store_true", help="with --self-test: in a window on the screen")
    parser.set_defaults(command=_window, open=None, parser=parser)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", prog="playground")

    demo = commands.add_parser(
        "demo",
        help="serve the built-in demo gateway until Ctrl+C",
        description="Serve the built-in demo gateway on 127.0.0.1. No model runs in it: its answers are composed and "
        "say that they are. It needs no network, and misbehaves when a prompt asks it to, with !429 or !cut, say.",
        formatter_class=Help,
        epilog=exit_codes((ExitCode.OK, ExitCode.BAD_INPUT)),
    )
    demo.add_argument("--port", type=port, default=0, metavar="N", help="port on 127.0.0.1 (default: a free one)")
    demo.add_argument(
        "--key-file",
        type=Path,
        metavar="FILE",
        help=f"accept only the key in this file, or in the environment variable {DEMO_KEY} (default: any key)",
    )
    demo.add_argument("--key", metavar="K", help=f"the same (deprecated: others see it; use --key-file or {DEMO_KEY})")
    demo.add_argument("--tps", type=_rate, default=60.0, metavar="N", help="tokens per second, 0 for flat out")
    demo.add_argument("--ttft", type=_rate, default=0.35, metavar="S", help="seconds before the first token")
    demo.add_argument(
        "--rpm", type=whole(0), default=0, metavar="N", help="requests a minute, then 429; 0 for no limit (default: 0)"
    )
    _add_hosts(demo)
    demo.set_defaults(command=_demo, parser=demo)

    tools = commands.add_parser(
        "demo-tools",
        help="be the built-in demo tool server",
        description="Serve the built-in demo tool server (Model Context Protocol): a clock, dice, notes, and one tool "
        "for each thing that can happen. It speaks over standard input and output, as a client starts it, or over HTTP "
        "on 127.0.0.1. It needs no network, and nothing it does outlasts it.",
        formatter_class=Help,
        epilog=exit_codes((ExitCode.OK, ExitCode.BAD_INPUT)),
    )
    tools.add_argument(
        "--http", type=port, metavar="PORT", help="over HTTP on this port of 127.0.0.1, 0 for a free one"
    )
    tools.set_defaults(command=_demo_tools, parser=tools)

    add_run(commands)
    add_eval(commands)
    add_check(commands)
    add_import(commands)
    add_gateways(commands)

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

    replay = commands.add_parser(
        "replay",
        help="serve a recorded cassette as a gateway until Ctrl+C",
        description="Serve a recorded cassette as a gateway on 127.0.0.1: the same status, headers and bytes, at the "
        "recorded times. A request gets the answer recorded for the same body, else the next one for its endpoint.",
        formatter_class=Help,
        epilog=exit_codes((ExitCode.BAD_INPUT, ExitCode.INTERRUPTED)),
    )
    replay.add_argument("file", type=Path, metavar="FILE", help="a cassette (JSON)")
    replay.add_argument("--port", type=port, default=0, metavar="N", help="port on 127.0.0.1 (default: a free one)")
    replay.add_argument(
        "--speed", type=_speed, default=1.0, metavar="X", help="times the recorded speed, inf for flat out (default: 1)"
    )
    _add_hosts(replay)
    replay.add_argument(
        "--cors",
        action="append",
        type=_origin,
        default=[],
        metavar="ORIGIN",
        help="let web pages of this origin read the answers, such as http://localhost:3000; '*' for all pages; can be "
        "repeated (default: no page)",
    )
    replay.set_defaults(command=_replay, parser=replay)
    return parser


def _add_hosts(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--allow-host",
        action="append",
        type=_host,
        default=[],
        metavar="NAME",
        help="answer requests for this host, too, as they come through a proxy or a tunnel; can be repeated (default: "
        "loopback names only, so that no web page reaches it under a name of its own)",
    )


def _is_file(given: Sequence[str]) -> bool:
    """Whether what was asked is to open a file: one name, that of something there or with a suffix, no option."""
    if len(given) != 1 or given[0].startswith("-"):
        return False
    return bool(Path(given[0]).suffix) or Path(given[0]).is_file()


def _self_test(arguments: argparse.Namespace) -> int:
    if arguments.window and not _can_show():
        return 2
    from playground.self_test import run

    return run(window=arguments.window)


def _window(arguments: argparse.Namespace) -> int:
    import gc

    if not _can_show():
        return 2
    gc.disable()  # nothing made on the way to the first frame is garbage; the application turns it on again
    from playground.app import run

    return run(arguments.open)


def _can_show() -> bool:
    """Whether a window can open here. Where none can, one line has said why."""
    from playground.screen import hindrance

    found = hindrance()
    if found:
        print(f"playground: {found}", file=sys.stderr)
    return not found


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
    _disable_tracing()
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
    """The key to accept, None for any. Raises OSError and ValueError for a file that has none."""
    from playground.named_file import read_named

    if arguments.key_file is not None:
        key = read_named(arguments.key_file, 64 * 1024, pipes=True).decode("utf-8").strip()
        if not key:
            raise ValueError("it is empty")
        return key
    if arguments.key is not None:
        words = "Everybody on this computer can read a key on a command line, and shells remember it."
        print(f"playground: {words} Use --key-file or {DEMO_KEY}.", file=sys.stderr)
        return str(arguments.key)
    return os.environ.get(DEMO_KEY, "").strip() or None


def _decode(arguments: argparse.Namespace) -> int:
    import json

    from playground.engine.gateways.known_secrets import redactor_of
    from playground.engine.gateways.redacted_output import redact_json
    from playground.engine.gateways.secrets import key_from_environment
    from playground.named_file import read_named, read_standard_input
    from playground.protocols.summary import summarise

    most = 1024 * 1024 * 1024
    try:
        whole = arguments.file == "-"
        data = read_standard_input(most) if whole else read_named(Path(arguments.file), most, pipes=True)
    except OSError as error:
        print(f"playground: {arguments.file} cannot be read: {error.strerror or error}", file=sys.stderr)
        return 2
    try:
        key = key_from_environment()
        summary = summarise(arguments.protocol, data, cumulative=arguments.cumulative)
        found = redact_json(summary, redactor_of((key,) if key is not None else ()))
        print(json.dumps(found, ensure_ascii=True, indent=2), flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        from playground.cli_help import silence

        silence()
        print(f"playground: standard output cannot be written: {error.strerror or error}", file=sys.stderr)
        return 1
    return 0


def _replay(arguments: argparse.Namespace) -> int:
    import asyncio

    from playground.engine.cassettes.cassette import CassetteError, open_file
    from playground.engine.cassettes.playback_clock import PlaybackClock
    from playground.engine.cassettes.server import ReplayServer

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


def _host(text: str) -> str:
    from playground.loopback import read_host

    try:
        return read_host(text)
    except ValueError:
        raise argparse.ArgumentTypeError("give the name of a host, such as gateway.test") from None


def _origin(text: str) -> str:
    from playground.loopback import is_origin

    origin = text.lower().rstrip("/")
    if origin != "*" and not is_origin(origin):
        raise argparse.ArgumentTypeError("give the origin of a web page, such as http://localhost:3000, or '*'")
    return origin


def _speed(text: str) -> float:
    from playground.cli_help import number

    return number(text, lambda value: value > 0, "give a number above 0, or inf")


def _rate(text: str) -> float:
    from playground.cli_help import number

    return number(text, lambda value: 0 <= value < float("inf"), "give a number, 0 or more")
