"""A Secret Service of our own: a bus and a gnome-keyring in a folder of their own; the person's are never touched."""

from __future__ import annotations

import gc
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.support.required_tools import DBUS_DAEMON, GNOME_KEYRING, skip_without

BUS_CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={socket}</listen><auth>EXTERNAL</auth>
<policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
</policy>
</busconfig>
"""


class SecretService:
    """A bus and a gnome-keyring of our own, in a folder of our own; the person's are never touched."""

    def __init__(self, folder: Path) -> None:
        self._socket = folder / "bus"
        configuration = folder / "bus.conf"
        configuration.write_text(BUS_CONFIGURATION.format(socket=self._socket), encoding="utf-8")
        self.address = f"unix:path={self._socket}"
        self.folder = folder
        (folder / "run").mkdir(mode=0o700)
        self._env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": str(folder / "run"),
            "DBUS_SESSION_BUS_ADDRESS": self.address,
        }
        self._configuration = configuration
        self._bus: subprocess.Popen[bytes] | None = None
        self._keyring: subprocess.Popen[bytes] | None = None

    def start_bus(self) -> None:
        """Start the bus, with nothing on it."""
        self._bus = self._start("dbus-daemon", f"--config-file={self._configuration}", "--nofork", "--nopidfile")
        _wait(self._listens, "dbus-daemon")

    def _listens(self) -> bool:
        """Return whether the service accepts connections: its socket exists a moment earlier."""
        with closing(socket.socket(socket.AF_UNIX)) as trial:
            return trial.connect_ex(str(self._socket)) == 0

    def _start(self, *command: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command, env=self._env, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def start_keyring(self) -> None:
        """Start the service with its default collection open, or skip the test where it is missing."""
        skip_without(GNOME_KEYRING)
        self._keyring = self._start(
            "gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets", stdin=subprocess.PIPE
        )
        assert self._keyring.stdin is not None
        self._keyring.stdin.write(b"password")
        self._keyring.stdin.close()
        _wait(self._answers, "gnome-keyring-daemon")

    def _answers(self) -> bool:
        import secretstorage

        with closing(secretstorage.dbus_init()) as bus:
            return bool(secretstorage.check_service_availability(bus))

    def lock(self) -> None:
        """Lock the default collection, as a desktop does when the screen is locked."""
        import secretstorage

        with closing(secretstorage.dbus_init()) as bus:
            secretstorage.get_default_collection(bus).lock()

    def freeze(self) -> None:
        """Let the service hang: it keeps its name and its socket, and answers nothing."""
        assert self._keyring is not None
        self._keyring.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._keyring is not None
        self._keyring.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        for process in (self._keyring, self._bus):
            if process is not None:
                process.kill()
                process.wait()


def _wait(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"{what} did not come up within 10 s")
        time.sleep(0.02)


@contextmanager
def private_bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[SecretService]:
    """A session bus with no keyring on it yet, and an empty folder for settings, as the environment names them.

    Skips the test where the bus is missing.
    """
    skip_without(DBUS_DAEMON)
    with tempfile.TemporaryDirectory(prefix="gp-", dir="/tmp") as folder:  # a socket's path has to be short
        service = SecretService(Path(folder))
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", service.address)
        monkeypatch.delenv("PYTHON_KEYRING_BACKEND", raising=False)
        monkeypatch.setenv("XDG_CONFIG_HOME", f"{folder}/config")
        try:
            service.start_bus()
            yield service
        finally:
            service.stop()
            with warnings.catch_warnings():  # the keyring's library leaves its sockets open where a call fails
                of_this_bus = rf"unclosed <socket\.socket .*raddr={re.escape(folder)}/bus>"
                warnings.filterwarnings("ignore", of_this_bus, ResourceWarning)
                gc.collect()
