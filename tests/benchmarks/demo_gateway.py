"""A demo gateway in a process of its own, which answers as fast as it can and refuses no request."""

from __future__ import annotations

import sys
from typing import Final

from tests.benchmarks.child import Child

KEY: Final = "demo"
MODEL: Final = "demo-chat"


class DemoGateway(Child):
    """The gateway's process."""

    def __init__(self) -> None:
        super().__init__("tests.benchmarks.demo_gateway")


def _serve() -> None:
    from playground.demo.server import DemoConfig, DemoServer

    server = DemoServer(DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=0))
    print(server.start(), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    _serve()
