"""A cluster with two workers, a gateway for them, and a desk where evaluations are started on it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.headless.cluster.clusters import Cluster
from tests.engine.headless.cluster.desks import ANSWER, Desk, response
from tests.support.fault_server import FaultServer, keep, send, sleep


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    own_cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    own_cluster.add("first")
    own_cluster.add("second")
    yield own_cluster
    own_cluster.close()


@pytest.fixture
def gateway() -> Iterator[FaultServer]:
    with FaultServer() as server:
        server.play(sleep(0.02), send(response(ANSWER)), keep())
        yield server


@pytest.fixture
def desk(tmp_path: Path, gateway: FaultServer, cluster: Cluster) -> Desk:
    return Desk(tmp_path, gateway, cluster, io.StringIO())
