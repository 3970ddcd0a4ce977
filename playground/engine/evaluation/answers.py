"""The file of answers of evaluations: one row an answer, saved as soon as it is complete.

The key of an answer is the id of the evaluation, the digest of its request, and its repeat. The columns hold what a
table shows; turns, judgements and frames are in a table of their own and are read when an answer is opened. One thread
works on the file; when a method returns, its changes are on disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar

from playground.domain.checks.check import Verdict
from playground.domain.costs import AnswerMetrics
from playground.domain.debugging import canonical
from playground.domain.encoding import encode
from playground.domain.tool_servers import ServerAnswer
from playground.domain.transcript import Turn
from playground.engine.cassettes.cassette import CassetteError, exchange_from, tape_of
from playground.engine.evaluation.judging import Judgement
from playground.engine.evaluation.migrations import RECORDED_CALLS_TABLE
from playground.engine.evaluation.provider import Answer, AnswerResult, SerializedAnswer, with_verdicts
from playground.engine.gateways.redaction import redact, redact_json, redactor_of
from playground.engine.io.database import open_database, transaction
from playground.gateway.redact import Redactor
from playground.gateway.tape import Exchange
from playground.jsonkit.values import JSON

if TYPE_CHECKING:
    from playground.engine.gateways.secrets import Secret

T = TypeVar("T")

#: Two answers to compare: the digest of each, and their repeat.
Pair: TypeAlias = tuple[str, str, int]

APPLICATION_ID: Final = 0x67506C45
VERSION: Final = 1
SUFFIX: Final = ".answers.sqlite"
_LARGEST: Final = 512 * 1024 * 1024  # bytes of one unpacked answer
_TABLES: Final = (
    """CREATE TABLE answers (
        number INTEGER PRIMARY KEY,
        evaluation TEXT NOT NULL,
        digest TEXT NOT NULL,
        repeat INTEGER NOT NULL,
        "case" TEXT NOT NULL,
        "column" TEXT NOT NULL,
        at REAL NOT NULL,
        gist TEXT NOT NULL,
        failure TEXT NOT NULL,
        figures TEXT NOT NULL,
        verdicts TEXT NOT NULL,
        UNIQUE (evaluation, digest, repeat))""",
    """CREATE TABLE kept (
        answer INTEGER PRIMARY KEY REFERENCES answers ON DELETE CASCADE,
        turns BLOB NOT NULL,
        judgements BLOB,
        frames BLOB)""",
    """CREATE TABLE votes (
        evaluation TEXT NOT NULL,
        one TEXT NOT NULL,
        other TEXT NOT NULL,
        repeat INTEGER NOT NULL,
        vote TEXT NOT NULL,
        PRIMARY KEY (evaluation, one, other, repeat)) WITHOUT ROWID""",
)
#: Where secrets can be: table, key columns, columns with text or packed JSON, and the condition for an evaluation.
_SECRET_COLUMNS: Final = (
    ("answers", ("number",), ("gist", "failure", "verdicts"), "evaluation = ?"),
    (
        "kept",
        ("answer",),
        ("turns", "judgements", "frames"),
        "answer IN (SELECT number FROM answers WHERE evaluation = ?)",
    ),
    ("recorded", ("evaluation", "server", "tool", "arguments"), ("answer",), "evaluation = ?"),
)
_COLUMNS: Final = 'digest, repeat, "case", "column", at, gist, failure, figures, verdicts'
_KEY: Final = "evaluation = ? AND digest = ? AND repeat = ?"


class AnswersError(Exception):
    """The file of answers cannot be opened, read or written. The text gives the reason for people."""


@dataclass(frozen=True, slots=True)
class SavedAnswer:
    """The saved details of an answer: turns, judgements and exchanges."""

    turns: tuple[Turn, ...] = ()
    judgements: Mapping[str, Judgement] = field(default_factory=dict)
    exchanges: tuple[Exchange, ...] = ()


class CallKey(NamedTuple):
    """The key of a recorded call: the name of the server, that of the tool there, and a digest of the arguments."""

    server: str
    tool: str
    arguments: str

    @classmethod
    def for_call(cls, server: str, tool: str, arguments: str) -> CallKey:
        """Return the key of a call. Arguments are equal if they are equal as JSON values."""
        text = canonical(arguments).encode("utf-8", "surrogatepass")
        return cls(server, tool, hashlib.sha256(text).hexdigest())


class AnswerStore:
    """The file at ``path``, created when it is first used. ``secrets`` are redacted in everything that is saved."""

    def __init__(self, path: Path, secrets: Iterable[Secret] = ()) -> None:
        self.path = path
        self.secrets = secrets
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(1, "answers")

    # Answers

    async def load(self, evaluation: str) -> list[Answer]:
        """Return all answers of an evaluation, in the order in which they were saved. Raises AnswersError."""
        return await self._do(lambda connection: _load(connection, evaluation))

    async def details(self, evaluation: str, answer: Answer) -> SavedAnswer:
        """Return what is saved of an answer besides its row; empty if it was deleted. Raises AnswersError."""
        return await self._do(lambda connection: _details(connection, evaluation, answer))

    async def add(self, evaluation: str, results: Sequence[AnswerResult | SerializedAnswer]) -> None:
        """Save answers, replacing those with the same keys. Raises AnswersError."""
        if results:
            redactor = redactor_of(self.secrets)
            await self._do(lambda connection: _add(connection, evaluation, results, redactor))

    async def judged(self, evaluation: str, answers: Sequence[tuple[Answer, Mapping[str, Judgement]]]) -> None:
        """Save verdicts of answers, with new judgements. Raises AnswersError."""
        if answers:
            redactor = redactor_of(self.secrets)
            await self._do(lambda connection: _add_verdicts(connection, evaluation, answers, redactor))

    async def forget(self, evaluation: str, answers: Iterable[Answer] | None = None) -> None:
        """Delete answers with their votes; all of the evaluation for None. Raises AnswersError."""
        keys = [_key(evaluation, answer) for answer in answers] if answers is not None else None

        def work(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                if keys is None:
                    connection.execute("DELETE FROM answers WHERE evaluation = ?", (evaluation,))
                    connection.execute("DELETE FROM votes WHERE evaluation = ?", (evaluation,))
                else:
                    connection.executemany(f"DELETE FROM answers WHERE {_KEY}", keys)  # noqa: S608 - our own words
                    _forget_votes(connection, evaluation, {(digest, repeat) for _, digest, repeat in keys})

        await self._do(work)

    # Votes of blind comparisons

    async def vote(self, evaluation: str, pair: Pair, vote: str) -> None:
        """Save the vote of a person on two answers. Raises AnswersError."""
        query = "INSERT OR REPLACE INTO votes VALUES (?, ?, ?, ?, ?)"
        await self._do(lambda connection: connection.execute(query, (evaluation, *pair, vote)))

    async def votes(self, evaluation: str) -> dict[Pair, str]:
        """Return all votes by their pair of answers. Raises AnswersError."""
        query = "SELECT one, other, repeat, vote FROM votes WHERE evaluation = ?"
        rows = await self._do(lambda connection: connection.execute(query, (evaluation,)).fetchall())
        return {(first, second, repeat): vote for first, second, repeat, vote in rows}

    # Recorded answers of tool servers

    async def recorded(self, evaluation: str, call: CallKey) -> ServerAnswer | None:
        """Return the recorded answer to a call; None without one, or if it is damaged. Raises AnswersError."""
        query = "SELECT answer FROM recorded WHERE evaluation = ? AND server = ? AND tool = ? AND arguments = ?"
        row = await self._do(lambda connection: connection.execute(query, (evaluation, *call)).fetchone())
        try:
            return ServerAnswer.model_validate(_unpacked(row[0])) if row is not None else None
        except (ValueError, zlib.error):
            return None

    async def recorded_calls(self, evaluation: str) -> list[CallKey]:
        """Return the keys of all recorded calls. Raises AnswersError."""
        query = "SELECT server, tool, arguments FROM recorded WHERE evaluation = ?"
        return await self._do(lambda connection: [CallKey(*row) for row in connection.execute(query, (evaluation,))])

    async def record(self, evaluation: str, call: CallKey, answer: ServerAnswer) -> None:
        """Save the answer of a tool server to a call. Raises AnswersError."""
        redactor = redactor_of(self.secrets)

        def work(connection: sqlite3.Connection) -> None:
            packed = _packed(encode(answer), redactor)
            connection.execute("INSERT OR REPLACE INTO recorded VALUES (?, ?, ?, ?, ?)", (evaluation, *call, packed))

        await self._do(work)

    async def forget_recorded(self, evaluation: str) -> None:
        """Delete all recorded answers of tool servers. Raises AnswersError."""
        query = "DELETE FROM recorded WHERE evaluation = ?"
        await self._do(lambda connection: connection.execute(query, (evaluation,)))

    # The file

    def forget_soon(self, evaluations: Iterable[str]) -> None:
        """Delete everything of these evaluations before the file is closed, if there is one. Failures are ignored."""
        ids = [(evaluation,) for evaluation in evaluations]

        def work() -> None:
            if self._connection is None and self.path.exists():
                self._connection = _open(self.path)
            if self._connection is not None:
                with transaction(self._connection):
                    for table in ("answers", "votes", "recorded"):
                        self._connection.executemany(f"DELETE FROM {table} WHERE evaluation = ?", ids)  # noqa: S608

        with contextlib.suppress(RuntimeError):  # the store is closed
            self._thread.submit(work)

    async def remove_secret(self, evaluation: str, secret: Secret) -> int:
        """Remove a secret from the answers of an evaluation; return how many rows had it. Raises AnswersError."""
        redactor = redactor_of((secret,))
        return await self._do(lambda connection: _remove_secret(connection, evaluation, redactor))

    async def aclose(self) -> None:
        """Close the file after everything that was begun is done."""
        await asyncio.to_thread(self._thread.shutdown)
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def done() -> T:
            if self._connection is None:
                self._connection = _open(self.path)
            return work(self._connection)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, done)
        except (sqlite3.Error, OSError, UnicodeError) as error:
            raise AnswersError(f"The answers in {self.path} cannot be saved or read: {error}.") from None


# ---- the file --------------------------------------------------------------------------------------------------------


def _open(path: Path) -> sqlite3.Connection:
    connection = open_database(path, APPLICATION_ID, VERSION, _TABLES, "no file of answers")
    try:
        connection.execute(RECORDED_CALLS_TABLE)
    except BaseException:
        connection.close()
        raise
    return connection


def _add(
    connection: sqlite3.Connection,
    evaluation: str,
    results: Sequence[AnswerResult | SerializedAnswer],
    redactor: Redactor,
) -> None:
    marks = ", ".join("?" * (_COLUMNS.count(",") + 2))
    with transaction(connection):
        for result in results:
            packed = pack(result, redactor) if isinstance(result, AnswerResult) else result
            connection.execute(f"DELETE FROM answers WHERE {_KEY}", _key(evaluation, packed.answer))  # noqa: S608
            number = connection.execute(
                f"INSERT INTO answers (evaluation, {_COLUMNS}) VALUES ({marks})",  # noqa: S608 - our own words
                (evaluation, *packed.row),
            ).lastrowid
            details = (number, packed.turns, packed.judgements, packed.frames)
            connection.execute("INSERT INTO kept VALUES (?, ?, ?, ?)", details)


def pack(result: AnswerResult, redactor: Redactor) -> SerializedAnswer:
    """Serialize an answer for the file. Slow for a large one: not for an event loop."""
    return SerializedAnswer(
        result.answer,
        _row(result.answer, redactor),
        _packed([encode(turn) for turn in result.turns], redactor),
        _judgements(result.judgements, redactor),
        _frames(result.exchanges, redactor),
        redactor.text(result.fatal),
    )


def _forget_votes(connection: sqlite3.Connection, evaluation: str, deleted: Set[tuple[str, int]]) -> None:
    """Delete the votes on deleted answers: they do not apply to new answers in their place."""
    votes = connection.execute("SELECT one, other, repeat FROM votes WHERE evaluation = ?", (evaluation,)).fetchall()
    rows = [(evaluation, *vote) for vote in votes if {(vote[0], vote[2]), (vote[1], vote[2])} & deleted]
    query = "DELETE FROM votes WHERE evaluation = ? AND one = ? AND other = ? AND repeat = ?"
    connection.executemany(query, rows)


def _add_verdicts(
    connection: sqlite3.Connection,
    evaluation: str,
    answers: Sequence[tuple[Answer, Mapping[str, Judgement]]],
    redactor: Redactor,
) -> None:
    with transaction(connection):
        for judged_answer, judgements in answers:
            answer = _with_saved_verdicts(connection, evaluation, judged_answer)
            connection.execute(
                f"UPDATE answers SET verdicts = ?, figures = ? WHERE {_KEY}",  # noqa: S608 - our own words
                (_verdicts(answer, redactor), json.dumps(answer.metrics), *_key(evaluation, answer)),
            )
            if judgements:
                before = _details(connection, evaluation, answer).judgements
                connection.execute(
                    f"UPDATE kept SET judgements = ? WHERE answer = (SELECT number FROM answers WHERE {_KEY})",  # noqa: S608
                    (_judgements({**before, **judgements}, redactor), *_key(evaluation, answer)),
                )


def _with_saved_verdicts(connection: sqlite3.Connection, evaluation: str, answer: Answer) -> Answer:
    """Add the verdicts that only the file has: a judge and a person may judge an answer at the same time."""
    query = f"SELECT {_COLUMNS} FROM answers WHERE {_KEY}"  # noqa: S608 - our own words
    row = connection.execute(query, _key(evaluation, answer)).fetchone()
    saved = answer_of(row) if row is not None else None
    return with_verdicts(answer, {**saved.verdicts, **answer.verdicts}) if saved is not None else answer


def _key(evaluation: str, answer: Answer) -> tuple[str, str, int]:
    return evaluation, answer.digest, answer.repeat


def _row(answer: Answer, redactor: Redactor) -> tuple[Any, ...]:
    texts = [text.encode("utf-8", "replace").decode() for text in (answer.preview, answer.failure)]
    key = (answer.digest, answer.repeat, answer.case, answer.column, answer.created_at)
    return (*key, *(redact(text, redactor) for text in texts), json.dumps(answer.metrics), _verdicts(answer, redactor))


def _verdicts(answer: Answer, redactor: Redactor) -> str:
    return redactor.text(json.dumps(redact_json(dict(answer.verdicts), redactor)))


def _judgements(judgements: Mapping[str, Judgement], redactor: Redactor) -> bytes | None:
    return _packed({key: encode(judgement) for key, judgement in judgements.items()}, redactor) if judgements else None


def _frames(exchanges: Sequence[Exchange], redactor: Redactor) -> bytes | None:
    tapes = []
    for exchange in exchanges:
        try:
            tapes.append(tape_of(exchange, redactor))
        except CassetteError:
            continue  # its bodies are no longer in memory
    return _packed(tapes, redactor) if tapes else None


def _packed(value: JSON, redactor: Redactor) -> bytes:
    return zlib.compress(redactor.text(json.dumps(value)).encode(), 1)


def _unpacked(data: bytes | None) -> JSON:
    if data is None:
        return None
    return json.loads(zlib.decompressobj().decompress(data, _LARGEST))


def _load(connection: sqlite3.Connection, evaluation: str) -> list[Answer]:
    query = f"SELECT {_COLUMNS} FROM answers WHERE evaluation = ? ORDER BY number"  # noqa: S608 - our own words
    answers = map(answer_of, connection.execute(query, (evaluation,)))
    return [answer for answer in answers if answer is not None]


def answer_of(row: tuple[Any, ...]) -> Answer | None:
    """Return the answer of a row; None if its metrics are damaged. Damaged verdicts are missing, and judged again."""
    try:
        digest, repeat, case, column, created_at, preview, failure, metrics, verdicts = row
        figures = AnswerMetrics(*json.loads(metrics))
    except (ValueError, TypeError):
        return None
    answer = Answer(digest, repeat, case, column, created_at, preview, failure, figures)
    try:
        return with_verdicts(answer, {key: Verdict(*verdict) for key, verdict in json.loads(verdicts).items()})
    except (ValueError, TypeError, AttributeError):
        return answer


def judgements_of(packed: bytes | None) -> dict[str, Judgement]:
    """Read packed judgements. Raises ValueError, zlib.error."""
    return {key: Judgement.model_validate(item) for key, item in (_unpacked(packed) or {}).items()}


def _details(connection: sqlite3.Connection, evaluation: str, answer: Answer) -> SavedAnswer:
    row = connection.execute(
        f"SELECT turns, judgements, frames FROM kept JOIN answers ON answer = number WHERE {_KEY}",  # noqa: S608
        _key(evaluation, answer),
    ).fetchone()
    if row is None:
        return SavedAnswer()
    turns, judgements, frames = row
    try:
        return SavedAnswer(
            tuple(Turn.model_validate(turn) for turn in _unpacked(turns) or ()),
            judgements_of(judgements),
            tuple(exchange_from(tape, "the exchange") for tape in _unpacked(frames) or ()),
        )
    except (ValueError, TypeError, zlib.error, CassetteError) as error:
        raise sqlite3.DatabaseError(f"an answer in it is damaged ({error})") from None


def _remove_secret(connection: sqlite3.Connection, evaluation: str, redactor: Redactor) -> int:
    """Redact the answers of an evaluation; return how many rows had the secret."""
    count = 0
    with transaction(connection):
        for table, keys, names, condition in _SECRET_COLUMNS:
            query = f"SELECT {', '.join((*keys, *names))} FROM {table} WHERE {condition}"  # noqa: S608 - our own names
            sets, where = (", ".join(f"{name} = ?" for name in names), " AND ".join(f"{key} = ?" for key in keys))
            for row in connection.execute(query, (evaluation,)).fetchall():
                key, values = row[: len(keys)], row[len(keys) :]
                clean = tuple(_redacted(value, redactor) for value in values)
                if clean != values:
                    connection.execute(f"UPDATE {table} SET {sets} WHERE {where}", (*clean, *key))  # noqa: S608
                    count += 1
    if count:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return count


def _redacted(value: str | bytes | None, redactor: Redactor) -> str | bytes | None:
    """Return a column without the secret: text, packed JSON or null; the same value if it has none."""
    if isinstance(value, str):
        return redactor.text(value)
    if value is None:
        return None
    try:
        text = zlib.decompressobj().decompress(value, _LARGEST).decode()
    except (zlib.error, UnicodeDecodeError):
        return value  # damaged: it cannot be shown either
    clean = redactor.text(text)
    return value if clean == text else zlib.compress(clean.encode(), 1)
