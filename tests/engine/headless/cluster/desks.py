"""A desk where evaluations are started, on a cluster or without one, in this process or by the command line."""

from __future__ import annotations

import asyncio
import io
import json
import os
import sqlite3
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playground.engine.gateways.secrets import Secret
from playground.engine.headless.evaluated_file import EvaluationOptions
from playground.engine.headless.evaluation import evaluate_file
from tests.engine.headless.cluster.clusters import KEY, VARIABLE, Cluster
from tests.engine.headless.runs import Ended
from tests.engine.headless.test_evaluation import saved
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer, whole

ANSWER = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "demo-chat",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "warm"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}


def response(answer: dict[str, Any]) -> bytes:
    return whole(200, "application/json", json.dumps(answer).encode())


@dataclass
class Desk:
    folder: Path
    gateway: FaultServer
    cluster: Cluster
    err: io.StringIO

    def write(self, cases: int, **plan: Any) -> None:
        case_list = [
            {"id": f"c{number}", "name": f"C{number}", "values": {"city": f"C{number}"}} for number in range(cases)
        ]
        content = saved(**{"cases": case_list, "checks": [{"kind": "contains", "text": "warm"}], **plan})
        (self.folder / "w.playground.json").write_text(json.dumps(content), encoding="utf-8")

    async def run(self, address: str | None = None, **options: Any) -> Ended:
        """On the cluster, or the one at an address; in this process where that is empty."""
        out, address = io.StringIO(), self.cluster.address if address is None else address
        way = {"dask": address, "workers_variable": VARIABLE} if address else {"key": Secret(KEY)}
        evaluation_options = EvaluationOptions(**{"base_url": self.gateway.url, "retries": 0, **way, **options})
        code = await evaluate_file(self.folder / "w.playground.json", evaluation_options, out, self.err)
        return Ended(code, out.getvalue(), self.err.getvalue())

    async def command(
        self, *arguments: str, environment: Mapping[str, str] = {}, killed_when: Callable[[], bool] | None = None
    ) -> Ended:
        """``playground eval`` on the file, in a process of its own; its code is negative where a signal ended it."""
        started = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "playground", "eval", str(self.folder / "w.playground.json"), "--retries", "0"),
            *arguments,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **environment},
        )
        try:
            if killed_when is not None:
                await eventually(killed_when)
                started.kill()
            out, err = await started.communicate()
        finally:
            if started.returncode is None:
                started.kill()
                await started.wait()
        return Ended(started.returncode or 0, out.decode(), err.decode())

    @property
    def rows(self) -> set[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.folder / "w.answers.sqlite")) as connection:
            return set(
                connection.execute('SELECT digest, repeat, "case", "column", gist, failure, verdicts FROM answers')
            )
