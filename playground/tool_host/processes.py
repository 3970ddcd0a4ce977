"""A server's process: started with its own environment only, and ended together with everything it started.

It leads a process group of its own (Windows: a job object). On Linux it is killed when this process dies, and processes
that it leaves behind become children of this process, which ends them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import tempfile
from asyncio.subprocess import PIPE, SubprocessStreamProtocol
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

if sys.platform == "win32":  # mcp requires pywin32 there
    import pywintypes
    import win32api
    import win32con
    import win32job

CLOSED: Final = 1.5  # seconds to exit after the input is closed
TERMINATED: Final = 1.5  # seconds to exit after SIGTERM
KILLED: Final = 2.0  # seconds until the system has ended a killed process
CHUNK: Final = 1 << 16  # bytes of one read
_POLL: Final = 0.01  # seconds
_SHELL_FOLDERS: Final = (
    "~/.local/bin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "~/.cargo/bin",
    "~/.volta/bin",
    "~/.bun/bin",
    "~/.deno/bin",
)
_CREATE_NO_WINDOW: Final = 0x08000000
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36


class ServerProcess:
    """The process of one server. Create it with ``start``."""

    def __init__(self, transport: asyncio.SubprocessTransport, streams: SubprocessStreamProtocol) -> None:
        self._transport = transport
        self.stdin, self.stdout, self.stderr = streams.stdin, streams.stdout, streams.stderr
        self.pid = transport.get_pid()
        if sys.platform == "win32":
            self._job = _create_job(self.pid)

    @classmethod
    async def start(
        cls, command: str, arguments: tuple[str, ...], environment: Mapping[str, str], folder: str
    ) -> ServerProcess:
        """Start a command, looked up as a shell does. Raises OSError, and ValueError for impossible arguments."""
        environment = {**environment, "PATH": _search_path(environment.get("PATH", os.defpath))}
        program = _find_program(command, environment["PATH"])
        options: dict[str, Any] = {"env": environment, "cwd": _working_folder(folder)}
        if sys.platform == "win32":
            options["creationflags"] = _CREATE_NO_WINDOW
        else:
            options |= {"start_new_session": True, "preexec_fn": _die_with_parent()}
        loop = asyncio.get_running_loop()
        transport, streams = await loop.subprocess_exec(
            lambda: SubprocessStreamProtocol(limit=CHUNK // 4, loop=loop),
            program,
            *arguments,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            **options,
        )
        return cls(transport, streams)

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while the process runs."""
        return self._transport.get_returncode()

    async def wait(self, seconds: float) -> None:
        """Return when the process has exited, or after that time."""
        await _poll(lambda: self.exit_code is not None, seconds)

    async def end(self) -> None:
        """Close the input, then terminate, then kill the process, its group and its descendants. Always returns."""
        pids = descendants(self.pid)
        if self.stdin is not None:
            with contextlib.suppress(OSError, RuntimeError):
                self.stdin.close()
        await self.wait(CLOSED)
        if sys.platform == "win32":
            _end_job(self._job)
            await self.wait(KILLED)
        else:
            pids |= descendants(self.pid)
            for number, seconds in ((signal.SIGTERM, TERMINATED), (signal.SIGKILL, KILLED)):
                if self._is_tree_alive(pids):
                    self._signal(number, pids)
                    await _poll(lambda: not self._is_tree_alive(pids), seconds)
        with contextlib.suppress(OSError):
            self._transport.close()  # our ends of the pipes: a survivor may hold the other ones

    def _is_tree_alive(self, pids: set[int]) -> bool:
        reap(pids)
        if self.exit_code is None:
            return True
        if _is_alive(self.pid, os.killpg):
            reap(children(os.getpid()) - {self.pid}, group=self.pid)
            if _is_alive(self.pid, os.killpg):
                return True
        return any(_is_alive(pid, os.kill, forbidden=True) for pid in pids)

    def _signal(self, number: signal.Signals, pids: set[int]) -> None:
        with contextlib.suppress(OSError):
            os.killpg(self.pid, number)
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, number)


async def _poll(condition: Callable[[], bool], seconds: float) -> None:
    for _ in range(int(seconds / _POLL)):
        if condition():
            return
        await asyncio.sleep(_POLL)  # the system does not report the end of a group


def _is_alive(pid: int, kill: Callable[[int, int], None], *, forbidden: bool = False) -> bool:
    """Return whether a process or group exists. ``forbidden`` is the result where signals are not permitted, as to a
    group on macOS in which all have exited.
    """
    try:
        kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return forbidden
    return True


def _find_program(command: str, path: str) -> str:
    command = str(Path(command).expanduser()) if command.startswith("~") else command
    return shutil.which(command, path=path) or command


def _search_path(path: str) -> str:
    """Return PATH with the folders that shells add and desktops, which start windows, do not."""
    if sys.platform == "win32":
        return path
    folders = path.split(os.pathsep)
    shell_folders = [str(Path(folder).expanduser()) for folder in _SHELL_FOLDERS]
    added = (folder for folder in shell_folders if folder not in folders and Path(folder).is_dir())
    return os.pathsep.join([*folders, *added])


def _working_folder(folder: str) -> Path:
    if not folder and not Path.home().is_dir():  # users of services have no home folder
        return Path(tempfile.gettempdir())
    path = Path(folder).expanduser() if folder else Path.home()
    if not path.is_dir():
        raise NotADirectoryError(20, "there is no such folder", str(path))
    return path


def _die_with_parent() -> Callable[[], None] | None:
    """Return a function for the new process that has Linux kill it when this process dies."""
    if sys.platform != "linux":
        return None
    import ctypes

    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def set_up() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return set_up


def adopt_orphans() -> None:
    """Make processes that servers leave behind children of this process. Linux only; elsewhere nothing."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_orphans() -> None:
    """Kill the processes that servers left behind. Linux only; elsewhere nothing."""
    if sys.platform == "linux":
        for pid in children(os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        reap(children(os.getpid()))


def reap(pids: set[int], group: int | None = None) -> None:
    """Collect the exit codes of those that are our children, or of those in the group."""
    for pid in pids:
        with contextlib.suppress(OSError):
            if group is None or os.getpgid(pid) == group:
                os.waitpid(pid, os.WNOHANG)


def children(pid: int) -> set[int]:
    """Return the processes that a process started or adopted. Linux only; elsewhere none."""
    return {child for child, parent in _parents().items() if parent == pid}


def descendants(pid: int) -> set[int]:
    """Return the children of a process, their children, and so on. Linux only; elsewhere none."""
    parents = _parents()
    result, pending = set[int](), [pid]
    while pending:
        parent = pending.pop()
        new = {child for child, its_parent in parents.items() if its_parent == parent} - result
        result |= new
        pending += new
    return result


def _parents() -> dict[int, int]:
    parents: dict[int, int] = {}
    if sys.platform == "linux":
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                with contextlib.suppress(OSError, ValueError, IndexError):
                    stat = Path(entry.path, "stat").read_bytes()
                    parents[int(entry.name)] = int(stat.rpartition(b")")[2].split()[1])
    return parents


if sys.platform == "win32":  # mcp requires pywin32 there

    def _create_job(pid: int) -> Any:
        """Return a job object with the process in it: closing it, as when this process dies, ends everything in it."""
        try:
            job = win32job.CreateJobObject(None, "")
            limits = win32job.QueryInformationJobObject(job, win32job.JobObjectExtendedLimitInformation)
            limits["BasicLimitInformation"]["LimitFlags"] |= win32job.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
            win32job.SetInformationJobObject(job, win32job.JobObjectExtendedLimitInformation, limits)
            access = win32con.PROCESS_SET_QUOTA | win32con.PROCESS_TERMINATE
            win32job.AssignProcessToJobObject(job, win32api.OpenProcess(access, False, pid))
        except pywintypes.error:
            return None
        return job

    def _end_job(job: Any) -> None:
        if job is not None:
            with contextlib.suppress(pywintypes.error):
                win32job.TerminateJobObject(job, 1)
                job.Close()
