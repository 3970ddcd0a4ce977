"""A server's process: started with what it was given and nothing of ours, and ended with all that it started.

It leads a group of its own (Windows: a job), so that what it starts in turn ends with it. On Linux it is killed when
this process is, and what it leaves behind becomes ours, to be ended as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

CLOSED: Final = 1.5  # seconds that a server has to end by itself once its input is closed
TERMINATED: Final = 1.5  # seconds after it was asked to
KILLED: Final = 2.0  # seconds in which the system has to have ended it
_WHERE_SHELLS_LOOK: Final = (
    "~/.local/bin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "~/.cargo/bin",
    "~/.volta/bin",
    "~/.bun/bin",
    "~/.deno/bin",
)
_STEP: Final = 0.01
CHUNK: Final = 1 << 16
_NO_WINDOW: Final = 0x08000000  # Windows: no console opens
_SIGKILL: Final = 9
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36


def adopt_orphans() -> None:
    """What a server's processes leave behind becomes a child of this process. Linux only; elsewhere nothing."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class ServerProcess:
    """One server's process. ``start`` makes one."""

    def __init__(self, process: Process, job: object = None) -> None:
        self._process = process
        self._job = job  # Windows: closing it ends whatever is in it
        self.stdin = process.stdin
        self.stdout = process.stdout
        self.stderr = process.stderr
        self.pid = process.pid

    @classmethod
    async def start(
        cls, command: str, arguments: tuple[str, ...], environment: Mapping[str, str], folder: str
    ) -> ServerProcess:
        """Start a command, found as a shell would find it. Raises OSError, ValueError for what no system can start."""
        environment = {**environment, "PATH": _path(environment.get("PATH", os.defpath))}
        found = _found(command, environment["PATH"])
        where = _folder(folder)
        pipes: dict[str, Any] = {"stdin": PIPE, "stdout": PIPE, "stderr": PIPE, "limit": CHUNK // 4}
        pipes |= {"env": dict(environment), "cwd": where}
        if sys.platform == "win32":
            from playground.tool_host.job import Job

            process = await asyncio.create_subprocess_exec(found, *arguments, creationflags=_NO_WINDOW, **pipes)
            return cls(process, Job(process.pid))
        process = await asyncio.create_subprocess_exec(
            found, *arguments, start_new_session=True, preexec_fn=_dies_with_us(), **pipes
        )
        return cls(process)

    @property
    def ended(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._process.returncode

    async def ends(self, seconds: float) -> None:
        """Return when it has ended by itself, or after that time."""
        await self._gone(seconds, lambda: self.ended is not None)

    async def end(self) -> None:
        """Close its input, then ask it to end, then end it: it, its group, and what they left. Always returns."""
        left = descendants(self.pid)
        if self.stdin is not None:
            with contextlib.suppress(OSError, RuntimeError):
                self.stdin.close()
        await self._gone(CLOSED, lambda: self.ended is not None)
        if sys.platform == "win32":
            from playground.tool_host.job import Job

            if isinstance(self._job, Job):
                self._job.end()
            await self._gone(KILLED, lambda: self.ended is not None)
        else:
            left |= descendants(self.pid)
            if self._alive(left):
                self._signal(signal.SIGTERM, left)
                await self._gone(TERMINATED, lambda: not self._alive(left))
            if self._alive(left):
                self._signal(signal.SIGKILL, left)
                await self._gone(KILLED, lambda: not self._alive(left))
        self._let_go()

    def kill(self) -> None:
        """End it and its group at once, without waiting."""
        if sys.platform != "win32":
            self._signal(signal.SIGKILL, descendants(self.pid))

    def _alive(self, left: set[int]) -> bool:
        reap(left)
        if self.ended is None:
            return True
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            pass
        except PermissionError:  # macOS: of a group in which all have ended
            pass
        else:
            reap(children(os.getpid()) - {self.pid}, group=self.pid)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, 0)
                return True
        return any(map(_is_there, left))

    def _signal(self, number: signal.Signals, left: set[int]) -> None:
        for kill, whom in ((os.killpg, self.pid), *((os.kill, pid) for pid in left)):
            with contextlib.suppress(OSError):
                kill(whom, number)

    @staticmethod
    async def _gone(seconds: float, gone: Callable[[], bool]) -> None:
        for _ in range(int(seconds / _STEP)):
            if gone():
                return
            await asyncio.sleep(_STEP)  # that a whole group is gone is nothing the system tells

    def _let_go(self) -> None:
        """Close our ends of its pipes: one that could not be ended may hold the others."""
        transport = getattr(self._process, "_transport", None)
        if transport is not None:
            with contextlib.suppress(OSError):
                transport.close()


def _found(command: str, path: str) -> str:
    """The program that a command means; as it is where none is found."""
    command = str(Path(command).expanduser()) if command.startswith("~") else command
    return shutil.which(command, path=path) or command


def _path(path: str) -> str:
    """Where commands are looked for: as said, then where shells look and a desktop that starts windows does not."""
    if sys.platform == "win32":
        return path
    known = path.split(os.pathsep)
    more = [str(Path(folder).expanduser()) for folder in _WHERE_SHELLS_LOOK]
    return os.pathsep.join([*known, *(folder for folder in more if folder not in known and Path(folder).is_dir())])


def _folder(folder: str) -> Path:
    if not folder and not Path.home().is_dir():  # that of a user without one, as services have
        return Path(tempfile.gettempdir())
    where = Path(folder).expanduser() if folder else Path.home()
    if not where.is_dir():
        raise NotADirectoryError(20, "there is no such folder", str(where))
    return where


def _dies_with_us() -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    import ctypes

    prctl = ctypes.CDLL(None).prctl
    ours = os.getpid()

    def set_up() -> None:
        prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
        if os.getppid() != ours:
            os._exit(1)

    return set_up


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def reap(pids: set[int], group: int | None = None) -> None:
    """Take note of the ends of those that are our children and that nobody else waits for."""
    for pid in pids:
        with contextlib.suppress(OSError):
            if group is None or os.getpgid(pid) == group:
                os.waitpid(pid, os.WNOHANG)


def children(pid: int) -> set[int]:
    """The processes that a process started, or took over. Linux only; elsewhere none are found."""
    return {child for child, parent in _parents().items() if parent == pid}


def descendants(pid: int) -> set[int]:
    """Its children, theirs, and so on, without itself. Linux only; elsewhere none are found."""
    parents, found, waiting = _parents(), set[int](), [pid]
    while waiting:
        parent = waiting.pop()
        new = {child for child, of in parents.items() if of == parent} - found
        found |= new
        waiting += new
    return found


def _parents() -> dict[int, int]:
    found: dict[int, int] = {}
    if sys.platform == "linux":
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                with contextlib.suppress(OSError, ValueError, IndexError):
                    stat = Path(entry.path, "stat").read_bytes()
                    found[int(entry.name)] = int(stat.rpartition(b")")[2].split()[1])
    return found


def end_orphans(but: set[int]) -> None:
    """End what servers left behind and is ours now, but for these processes. Linux only; elsewhere nothing."""
    for pid in children(os.getpid()) - but:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
    reap(children(os.getpid()) - but)
