"""A desk where commands run files at the demo gateway."""

from __future__ import annotations

from pathlib import Path

import pytest

from playground.demo.server import DemoServer
from tests.engine.headless.runs import Desk
from tests.support.fault_server import FaultServer


@pytest.fixture
def desk(tmp_path: Path, demo: DemoServer) -> Desk:
    return Desk(tmp_path, demo.base_url)


@pytest.fixture
def server_desk(tmp_path: Path, server: FaultServer) -> Desk:
    """A desk at a gateway that does what a test has it play."""
    return Desk(tmp_path, server.url)
