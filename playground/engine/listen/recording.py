"""A recording: a folder with one cassette per exchange, and an index with one line for each that has ended.

``index.jsonl`` has one ``Summary`` per line. ``000001.cassette.json`` is the cassette of exchange 1; its member
``listen`` holds the summary, and the bodies that a person changed. The index alone is read when a recording is opened.
A cassette without a line, left by a process that was killed, is read then, too.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from playground.engine.cassettes.cassette import SUFFIX, Cassette, CassetteError, open_file, write
from playground.engine.io.file_lock import FileLock, LockedError
from playground.engine.io.files import write_whole
from playground.engine.listen.exchanges import EndedBy, Listened, Stage, Summary
from playground.gateway.redact import Redactor
from playground.jsonkit.values import JSON, JSONObject
from playground.system.private import make_file, make_folder

INDEX: Final = "index.jsonl"
_LOCK: Final = "recording.lock"
_FILE_NAME: Final = re.compile(rf"(\d{{6,9}}){re.escape(SUFFIX)}")
_MAX_INDEX: Final = 256 * 1024 * 1024  # bytes


@dataclass(frozen=True)
class Recording:
    """A folder that was opened: the rows of its exchanges in order, and sentences about what could not be read."""

    folder: Path
    summaries: tuple[Summary, ...]
    problems: tuple[str, ...] = ()


class FolderRecorder:
    """Adds exchanges to a folder, which is made for its owner alone. ``close`` it."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError, in words for a folder in which another process records."""
        self.folder = folder
        make_folder(folder)
        self._lock = FileLock(folder / _LOCK, temporary=True)
        try:
            self._lock.acquire()
        except LockedError:
            raise OSError("another program records in this folder") from None
        except OSError:
            pass  # a file system without locks; a folder that cannot be written fails below
        self._index = folder / INDEX
        make_file(self._index)
        data = self._index.read_bytes()
        if data and not data.endswith(b"\n"):  # a process was killed while it wrote a line
            with self._index.open("ab") as file:
                file.write(b"\n")
        numbers = [number for number, _ in _cassettes(folder)]
        #: The number of the next exchange: a folder may have those of an earlier run.
        self.next_number = max(numbers, default=0) + 1

    def close(self) -> None:
        """Let other processes record in the folder. Safe to call twice."""
        self._lock.release()

    def add(self, listened: Listened, summary: Summary, redactor: Redactor) -> None:
        """Write the cassette of an exchange that has ended, and its line. Blocks. Raises OSError and CassetteError.

        The tape has no secrets any more; ``redactor`` removes them from the row.
        """
        row = summary_json(summary, redactor)
        members: JSONObject = {
            "summary": row,
            "keep_alives": listened.keep_alives,
            "original_request": _text(listened.original_request),
            "sent_answer": _text(listened.sent_answer),
        }
        title = f"{summary.program or 'A program'}, request {summary.number}"
        data = write([listened.exchange], title, unknown_members={"listen": members})
        write_whole(cassette_path(self.folder, summary.number), data, private=True)
        line = json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"
        with self._index.open("ab") as file:
            file.write(line.encode("utf-8", "backslashreplace"))


def open_recording(folder: Path) -> Recording:
    """Read the rows of a recording. Raises CassetteError in words for a folder that is none."""
    try:
        index = folder / INDEX
        size = index.stat().st_size if index.exists() else 0
        if size > _MAX_INDEX:
            raise CassetteError(f"{index} is larger than {_MAX_INDEX // 2**20} MiB, the most that is read.")
        lines = index.read_bytes().splitlines() if size else []
        files = dict(_cassettes(folder))
    except OSError as error:
        raise CassetteError(f"{folder} cannot be read: {error.strerror or error}.") from None
    if not lines and not files:
        raise CassetteError(f"{folder} holds no recording of Listen.")
    rows: dict[int, Summary] = {}
    unread = 0
    for line in lines:
        try:
            row = _adapter().validate_json(line)
        except ValidationError:
            unread += bool(line.strip())
        else:
            rows[row.number] = row
    problems = [f"{unread} line{'s' * (unread > 1)} of {INDEX} could not be read."] if unread else []
    for number in sorted(files.keys() - rows.keys()):
        try:
            rows[number] = _recovered(number, open_file(files[number]))
        except CassetteError as error:
            problems.append(str(error))
    if missing := rows.keys() - files.keys():
        problems.append(f"{len(missing)} exchange{'s' * (len(missing) > 1)} of {INDEX} have no cassette any more.")
    return Recording(folder, tuple(rows[number] for number in sorted(rows)), tuple(problems))


def read_listened(folder: Path, summary: Summary) -> Listened:
    """Read the exchange of a row, with its bodies. Blocks. Raises CassetteError."""
    cassette = open_file(cassette_path(folder, summary.number))
    members = _members(cassette)
    return Listened(
        number=summary.number,
        exchange=cassette.exchanges[0],
        program=summary.program,
        session=summary.session,
        agent=summary.agent,
        retry=summary.retry,
        stage=Stage.ENDED,
        ended_by=next((by for by in EndedBy if by.value == summary.ended_by), None),
        changes=list(summary.changes),
        notes=list(summary.notes),
        original_request=_bytes(members.get("original_request")),
        sent_answer=_bytes(members.get("sent_answer")),
        keep_alives=keep_alives if isinstance(keep_alives := members.get("keep_alives"), int) else 0,
        path=summary.path,
        summary=summary,
    )


def cassette_path(folder: Path, number: int) -> Path:
    """Return the file of an exchange in a recording."""
    return folder / f"{number:06d}{SUFFIX}"


def summary_json(summary: Summary, redactor: Redactor) -> JSONObject:
    """Return a row as JSON, without secrets and without members that have their default."""
    defaults = {item.name: item.default for item in fields(Summary)}
    values = {name: value for name, value in asdict(summary).items() if value != defaults[name]}
    return {name: _clean(value, redactor) for name, value in values.items()}


def _clean(value: Any, redactor: Redactor) -> JSON:
    if isinstance(value, str):
        return redactor.text(value)
    return [redactor.text(text) for text in value] if isinstance(value, tuple) else value


def _cassettes(folder: Path) -> list[tuple[int, Path]]:
    """Return the cassettes of a folder with their numbers. Raises OSError."""
    files = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if match := _FILE_NAME.fullmatch(entry.name):
                files.append((int(match[1]), Path(entry.path)))
    return files


def _recovered(number: int, cassette: Cassette) -> Summary:
    """Return the row that a cassette holds, else one of its tape alone."""
    exchange = cassette.exchanges[0]
    try:
        row = _adapter().validate_python(_members(cassette).get("summary"))
    except ValidationError:
        return Summary(
            number=number,
            id=exchange.id,
            started_at=exchange.started_at,
            method=exchange.method,
            path=exchange.url,
            protocol=exchange.protocol,
            status=exchange.status,
            duration=exchange.ended,
        )
    return row if row.number == number else _adapter().validate_python({**asdict(row), "number": number})


@cache
def _adapter() -> TypeAdapter[Summary]:
    return TypeAdapter(Summary)


def _members(cassette: Cassette) -> JSONObject:
    members = cassette.unknown_members.get("listen")
    return members if isinstance(members, dict) else {}


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _bytes(value: JSON) -> bytes:
    return value.encode("utf-8", "replace") if isinstance(value, str) else b""
