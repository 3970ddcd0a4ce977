"""A Dask cluster of real processes: a scheduler, workers, and a tap on all that goes to the scheduler and from it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Final

KEY: Final = "sk-canary-of-workers-7d1f"
VARIABLE: Final = "WORKERS_KEY"
USUAL_KEY: Final = "sk-canary-of-workers-usual-0c43"
KEYS: Final = {VARIABLE: KEY, "PLAYGROUND_API_KEY": USUAL_KEY}  # of a worker
_PATIENCE: Final = 60.0  # seconds for a process to be there, on a busy machine


class Tap:
    """Passes bytes on to a port of this machine; ``seen`` is all that went through, both ways."""

    def __init__(self, port: int) -> None:
        self.seen = bytearray()
        self._to = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                inner, _ = self._listening.accept()
            except OSError:
                return
            try:
                outer = socket.create_connection(("127.0.0.1", self._to))
            except OSError:
                inner.close()
                continue
            for source, sink in ((inner, outer), (outer, inner)):
                threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                self.seen += data
                sink.sendall(data)
        except OSError:
            pass  # either end is gone, and so is the other
        finally:
            for end in (source, sink):
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)  # closing alone ends nothing while the other thread reads
                end.close()

    def close(self) -> None:
        self._listening.close()


class Cluster:
    """A scheduler in a process of its own, and workers, each in one; ``address`` leads to it through the tap.

    ``settings`` are Dask's, as its configuration names them in the environment; with ``scheme`` "tls" they name
    certificates.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str] = MappingProxyType({}), scheme: str = "tcp") -> None:
        self._folder = folder
        self._settings = settings
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        outer = folder / "scheduler.json"
        self._start(
            *("scheduler", "--protocol", scheme, "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(outer)),
        )
        _until(lambda: outer.exists() and outer.read_text().rstrip().endswith("}"), "the scheduler did not start")
        address = json.loads(outer.read_text())["address"]
        self.tap = Tap(int(address.rpartition(":")[2]))
        self.address = f"{scheme}://127.0.0.1:{self.tap.port}"

    def add(self, name: str, *options: str, environment: Mapping[str, str] = KEYS) -> None:
        """Start a worker, and wait until the scheduler knows it."""
        outer = (self.address, "--nthreads", "1", "--no-nanny", "--name", name)
        self._start(name, *outer, *options, environment=environment)
        log = self._folder / f"{name}.log"
        _until(lambda: b"Registered to" in log.read_bytes(), f"{name} did not start")

    def _start(self, name: str, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
        module = "dask_scheduler" if name == "scheduler" else "dask_worker"
        command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments, "--no-dashboard"]
        variables = {
            **os.environ,
            "DASK_DISTRIBUTED__COMM__COMPRESSION": "null",  # the tap is to read it
            "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "false",  # a look a hundred times a second, in each process
            "DASK_TEMPORARY_DIRECTORY": str(self._folder),
            **self._settings,
            **(environment or {}),
        }
        with (self._folder / f"{name}.log").open("wb") as log:
            self._processes[name] = subprocess.Popen(command, stdout=log, stderr=log, env=variables, cwd=self._folder)

    def end(self, name: str, sign: signal.Signals = signal.SIGTERM) -> None:
        """End a worker; a killed one does not sign off."""
        self.signal(name, sign)
        self._processes.pop(name).wait(_PATIENCE)

    def signal(self, name: str, sign: signal.Signals) -> None:
        """Send one of them a signal."""
        self._processes[name].send_signal(sign)

    def close(self) -> None:
        for name in list(self._processes):
            self.end(name, signal.SIGKILL)
        self.tap.close()


def _until(true: object, words: str) -> None:
    assert callable(true)
    end = time.monotonic() + _PATIENCE
    while not true():
        assert time.monotonic() < end, words
        time.sleep(0.05)
