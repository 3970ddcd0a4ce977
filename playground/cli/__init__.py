"""The command line: opens the window or runs a command. Imports nothing heavy before it knows which."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from playground import __version__

USAGE = """playground [FILE]
       playground [-h | --version | --self-test [--window]]
       playground COMMAND ..."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command named in `argv` (default: the process's) and return the exit code."""
    from playground.system import frozen

    frozen.give_back()
    words = sys.argv[1:] if argv is None else list(argv)
    if words == ["--check-worker"]:  # the child process of `engine.questions`
        from playground.engine.questions.worker import serve

        return serve()
    if words == ["--tool-host"]:  # the child process of `engine.tool_servers`
        from playground.cli.execution import disable_tracing

        disable_tracing()
        from playground.tool_host.host import serve as serve_tools

        return serve_tools()
    _prepare_streams()  # before the parser, which prints help and errors
    if not words or _is_file(words):  # without the parser, which takes long to build
        arguments = argparse.Namespace(command=_window, open=Path(words[0]) if words else None)
    else:
        arguments, unknown = _parser().parse_known_args(words)
        if unknown:
            arguments.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        code: int = arguments.command(arguments)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader has left, as `head` does
        from playground.cli.execution import silence

        silence()
        return 1
    return code


def _prepare_streams() -> None:
    """Make standard output and error write UTF-8, also where a shell closed them."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the shell
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 - for the rest of the process
        reconfigure = getattr(getattr(sys, name), "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")


def _parser() -> argparse.ArgumentParser:
    from playground.cli.arguments import Help, exit_codes
    from playground.cli.check import add_check
    from playground.cli.demo import add_demo
    from playground.cli.eval import add_eval
    from playground.cli.listen import add_listen
    from playground.cli.offline import add_decode, add_gateways, add_import
    from playground.cli.replay import add_replay
    from playground.cli.run import add_run
    from playground.engine.headless.exit_codes import ExitCode

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
        "--self-test", action="store_const", const=_self_test, dest="command", help="test this installation"
    )
    parser.add_argument("--window", action="store_true", help="with --self-test: test the window, too")
    parser.set_defaults(command=_window, open=None, parser=parser)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", prog="playground")
    for add in (add_demo, add_run, add_eval, add_check, add_import, add_gateways, add_decode, add_replay, add_listen):
        add(commands)
    return parser


def _is_file(words: Sequence[str]) -> bool:
    """Return whether the arguments are one file to open: an existing one, or a name with a suffix."""
    if len(words) != 1 or words[0].startswith("-"):
        return False
    return bool(Path(words[0]).suffix) or Path(words[0]).is_file()


def _self_test(arguments: argparse.Namespace) -> int:
    if arguments.window and not _can_show():
        return 2
    from playground.self_test import run

    return run(window=arguments.window)


def _window(arguments: argparse.Namespace) -> int:
    import gc

    if not _can_show():
        return 2
    gc.disable()  # until the first frame; the application enables it
    from playground.app import run

    return run(arguments.open)


def _can_show() -> bool:
    """Return whether a window can open here; print the reason where it cannot."""
    from playground.system.screen import hindrance

    reason = hindrance()
    if reason:
        print(f"playground: {reason}", file=sys.stderr)
    return not reason
