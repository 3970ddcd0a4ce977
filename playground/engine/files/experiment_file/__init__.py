"""One experiment in one file that a person can read, compare and keep under version control.

The file is JSON: ``{"experiment": 1, "id", "title", …, "turns": […], "head"}``, described by
``resources/schemas/experiment.schema.json``. Images are data URLs in it; it has no keys, tapes or history of edits. No
file is trusted: an invalid one raises an ``ExperimentFileError``.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final, get_args

from playground.domain.checks import CHECKS
from playground.domain.debugging import MatchKind, Policy, ReasonCode
from playground.domain.errors import FailureCause, FailureKind
from playground.domain.parts import Part
from playground.domain.request import SendReasoning
from playground.domain.roles import Role
from playground.domain.transcript import Ending
from playground.domain.values import Value
from playground.engine.files.experiment_file.content import NAME, from_json, lay_out, to_json
from playground.engine.gateways.redaction import redactor_of
from playground.engine.gateways.secrets import Secret
from playground.engine.io.files import write_whole
from playground.engine.io.weighed_json import TooMuchError, read_json
from playground.engine.session.plan import Keep, Order
from playground.engine.session.snapshot import Snapshot
from playground.jsonkit.values import JSON
from playground.protocols import PROTOCOLS
from playground.system.named_file import read_named

SUFFIX: Final = ".playground.json"
MAX_SIZE: Final = 512 * 1024 * 1024  # bytes of a file


class ExperimentFileError(ValueError):
    """A file is no experiment, or cannot be read or written; the text says what is wrong, and where."""


def write(snapshot: Snapshot, secrets: Iterable[Secret] = ()) -> bytes:
    """Return the content of a file. It has none of the ``secrets`` of this process, in any spelling.

    Raises ExperimentFileError for what JSON cannot hold.
    """
    redactor = redactor_of(secrets)
    try:
        text = lay_out(to_json(snapshot), redactor, structure_words())
    except ValueError as error:
        raise ExperimentFileError(f"The experiment cannot be written: {error}.") from None
    return text.encode("utf-8", "backslashreplace")  # halves of surrogate pairs, spelled as JSON spells them


def save(path: Path, snapshot: Snapshot, secrets: Iterable[Secret] = ()) -> None:
    """Write the file; a reader finds the old one or the new one. Blocks. Raises ExperimentFileError."""
    data = write(snapshot, secrets)
    try:
        write_whole(path, data)
    except OSError as error:
        raise ExperimentFileError(f"{path} cannot be written: {error.strerror or error}.") from None


def open_file(path: Path) -> Snapshot:
    """Return the experiment in a file, with its id; blocks. Raises ExperimentFileError."""
    try:
        return read(read_named(path, MAX_SIZE))
    except OSError as error:
        raise ExperimentFileError(f"{path} cannot be read: {error.strerror or error}.") from None


def read(data: bytes) -> Snapshot:
    """Return the experiment in the content of a file. Raises ExperimentFileError."""
    try:
        content = read_json(data)
    except TooMuchError as error:
        raise ExperimentFileError(f"This experiment cannot be opened: {error}.") from None
    except UnicodeDecodeError:
        raise ExperimentFileError("This is no experiment: it is not UTF-8 text.") from None
    except ValueError as error:
        raise ExperimentFileError(
            f"This is no experiment: it is not JSON that can be read ({str(error)[:200]})."
        ) from None
    del data  # to free its memory before the values are converted
    if not isinstance(content, dict) or NAME not in content:
        raise ExperimentFileError(
            f"This is no experiment: “{NAME}”, which names the version of the format, is missing. "
            "Files of messages are imported."
        )
    return read_content(content)


def read_content(content: JSON) -> Snapshot:
    """Return the experiment in the JSON of a file. Raises ExperimentFileError."""
    try:
        return from_json(content)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ExperimentFileError(f"This experiment cannot be opened: {reason}.") from None


@cache
def structure_words() -> frozenset[str]:
    """Return the words of the file format, which are never redacted."""
    kinds: tuple[type[StrEnum], ...] = (Role, Ending, MatchKind, Policy, ReasonCode, SendReasoning, FailureKind)
    kinds += (FailureCause, Order, Keep)
    words = {member.value for kind in kinds for member in kind} | set(PROTOCOLS) | {NAME}
    words |= {part.model_fields["kind"].default for part in (*get_args(get_args(Part)[0]), *CHECKS)}
    pending: list[type[Value]] = [Value]
    while pending:
        kind = pending.pop()
        words |= set(kind.model_fields)
        pending += kind.__subclasses__()
    return frozenset(words)
