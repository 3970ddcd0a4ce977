"""The exit codes of all commands, in one table: used by ``--help`` and ``docs/commands.md``.

It is imported by every command and must import nothing heavy.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class ExitCode(IntEnum):
    """How a command ended."""

    OK = 0
    FAILED = 1
    BAD_INPUT = 2
    TRANSPORT = 3
    HTTP = 4
    INCOMPLETE = 5
    WAITING = 6
    STEP_LIMIT = 7
    INTERRUPTED = 130


#: Meanings for ``--help`` and ``docs/commands.md``.
MEANINGS: Final[dict[ExitCode, str]] = {
    ExitCode.OK: "success",
    ExitCode.FAILED: "a failure on this computer: the output or recording cannot be written, a tool server does not "
    "start, the self-test finds a fault, a cluster cannot be used, or an evaluation passes less often than required",
    ExitCode.BAD_INPUT: "invalid input, no display, or a missing system library",
    ExitCode.TRANSPORT: "no answer: the gateway cannot be reached, or the connection breaks or times out before an "
    "answer begins",
    ExitCode.HTTP: "the gateway answers with an HTTP error or a redirect",
    ExitCode.INCOMPLETE: "incomplete: the answer is cut off, fails in the middle, has a gap, is empty or cannot be "
    "read, an evaluation lacks answers, or a required check does not work",
    ExitCode.WAITING: "the tool loop stops at a call: the table has no row for it, its tool is not allowed, or its "
    "server returns no result",
    ExitCode.STEP_LIMIT: "the tool loop reaches its limit of requests",
    ExitCode.INTERRUPTED: "interrupted by Ctrl+C or SIGTERM; everything received so far is printed",
}
