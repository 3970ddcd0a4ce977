"""A demo gateway in a process of its own, which answers as fast as it can and refuses nobody."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

KEY: Final = "demo"
MODEL: Final = "demo-chat"
_SERVER: Final = (
    "import sys; from playground.demo.server import DemoConfig, DemoServer; "
    "server = DemoServer(DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=0)); "
    "print(server.start(), flush=True); sys.stdin.read(); server.stop()"
)


@contextmanager
def demo_gateway() -> Iterator[str]:
    """The address of one that runs meanwhile."""
    command = [sys.executable, "-c", _SERVER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        yield child.stdout.readline().strip()
        assert child.stdin is not None
        child.stdin.close()
