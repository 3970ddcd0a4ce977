"""What is put into a Dask cluster: the post and the ledger at its scheduler, and a hand on each worker of a run."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

from distributed import Scheduler, Worker
from distributed.diagnostics.plugin import SchedulerPlugin, WorkerPlugin

from playground import __version__
from playground.engine.headless.cluster.hand import Hand
from playground.engine.headless.cluster.leases import Ledger, Report
from playground.engine.headless.cluster.order import Order
from playground.engine.headless.cluster.post import Post

#: What the part at the scheduler is called there. Another version has another one.
AT_SCHEDULER: Final = f"playground-{__version__}"

_log = logging.getLogger(__name__)


def operation(method: str, version: str = __version__) -> str:
    """What a method of the post is called among the operations of a scheduler, which runs that version."""
    return f"playground-{version}-{method}"


def hands(run: str) -> str:
    """What the hands of a run are called among the plugins of workers."""
    return f"{AT_SCHEDULER}-{run}"


class PostPlugin(SchedulerPlugin):
    """The post and the ledger, once at a scheduler for all who come."""

    idempotent = True

    def __init__(self) -> None:
        self._post = Post()
        self._ledger = Ledger()

    async def start(self, scheduler: Scheduler) -> None:
        """Answer to what the command and the workers ask."""
        post = self._post
        methods: dict[str, Callable[..., Any]] = {
            "open": post.open,
            "close": post.close,
            "send": post.send,
            "gather": post.gather,
            "take": post.take,
            "bring": post.bring,
            "refuse": post.refuse,
            "lease": self._lease,
        }
        scheduler.handlers.update({operation(name): method for name, method in methods.items()})

    def _lease(self, run: str, worker: str, gateway: str, report: Sequence[Any]) -> tuple[int, float]:
        return self._ledger.lease(gateway, (worker, run), Report(*report))

    def remove_worker(self, scheduler: Scheduler, worker: str, **_: Any) -> None:
        """What it had goes to others."""
        self._post.lose(worker)
        self._ledger.lose(worker)

    def remove_client(self, scheduler: Scheduler, client: str) -> None:
        """Its runs are over, and no worker that comes is to take part in them."""
        for run in self._post.gone(client):
            if hands(run) in scheduler.worker_plugins:
                scheduler.loop.add_callback(scheduler.unregister_worker_plugin, comm=None, name=hands(run))


class HandPlugin(WorkerPlugin):
    """A hand for a run, on each worker there is and that comes."""

    def __init__(self, order: Order) -> None:
        self._order = order

    def setup(self, worker: Worker) -> None:
        """Take part, beside what else the worker does."""
        loop = worker.loop.asyncio_loop
        version = self._order.versions.playground  # not this process's: if it has another one, the post is to hear it

        async def ask(method: str, fields: dict[str, Any]) -> Any:
            return await getattr(worker.scheduler, operation(method, version))(**fields)

        async def call(method: str, **fields: Any) -> Any:
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(ask(method, fields), loop))

        def work() -> None:
            try:
                asyncio.run(Hand(self._order, worker.address, call).work())
            except* OSError:
                _log.warning("The scheduler is gone, and the run of an evaluation with it.")

        threading.Thread(target=work, name="playground", daemon=True).start()
