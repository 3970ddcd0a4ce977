"""The exit codes of all commands, in one table: ``--help`` is written from it and the README agrees with it.

Imported before anything is known of what is asked, so it must import nothing heavy.
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


#: What each of them says, in words for the README and for ``--help``.
MEANINGS: Final[dict[ExitCode, str]] = {
    ExitCode.OK: "done",
    ExitCode.FAILED: "something failed here: the output or the recording could not be written, a tool server could not "
    "be started, a self-test found a fault, a cluster could not be used, or an evaluation passed less often than it "
    "had to",
    ExitCode.BAD_INPUT: "the input is wrong, there is no display, or a library of the system is missing",
    ExitCode.TRANSPORT: "no answer: the gateway could not be reached, or the connection broke or the time ran out "
    "before one began",
    ExitCode.HTTP: "the gateway answered with an HTTP error, or with a redirect",
    ExitCode.INCOMPLETE: "the answer is not whole: it was cut off, failed in mid-stream, has a hole, is empty or "
    "cannot be read, a call in it was cut off, an evaluation has not all answers, or a check found a line that has to "
    "work and does not",
    ExitCode.WAITING: "the loop stopped at a call for which the table has no answer, or whose tool was not "
    "allowed, or whose server gave none",
    ExitCode.STEP_LIMIT: "the loop reached its limit of steps",
    ExitCode.INTERRUPTED: "ended by Ctrl+C or SIGTERM, after printing what had come",
}
