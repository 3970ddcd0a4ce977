"""The file in which the answers of evaluations are kept, as they end: one row an answer, what came beside it.

An answer is found by the evaluation's id, a digest of what was asked, and which repeat it is: so it is there once,
whatever ends the process, and is never asked for again. What a table needs stands in columns; turns, judges and frames
stand apart and are read when somebody looks. One thread works on the file; what it returned is on the disk.
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

from playground.domain.debugging import canonical
from playground.domain.encoding import encode
from playground.domain.tool_servers import ServerAnswer
from playground.domain.transcript import Turn
from playground.engine.cassettes.cassette import CassetteError, exchange_from, tape_of
from playground.engine.evaluation.answer_secrets import remove_secret
from playground.engine.evaluation.answering import Answer, Brought, read_written, with_verdicts
from playground.engine.evaluation.judging import Judgement
from playground.engine.evaluation.making import Packed
from playground.engine.gateways.known_secrets import redactor_of
from playground.engine.gateways.redacted_output import redact, redact_json
from playground.engine.io.database import open_database
from playground.engine.io.database import transaction as _transaction
from playground.gateway.redact import Redactor
from playground.gateway.tape import Exchange
from playground.jsonkit.values import JSON

if TYPE_CHECKING:
    from playground.engine.gateways.secrets import Secret

T = TypeVar("T")

#: Two answers: the digests of what was asked of each, and their repeat.
Pair: TypeAlias = tuple[str, str, int]

APPLICATION_ID: Final = 0x67506C45
VERSION: Final = 1
SUFFIX: Final = ".answers.sqlite"
_LARGEST: Final = 512 * 1024 * 1024  # bytes of one answer after it was unpacked
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
#: Made in every file, those of earlier versions among them, which know nothing of it.
_RECORDED: Final = """CREATE TABLE IF NOT EXISTS recorded (
    evaluation TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    answer BLOB NOT NULL,
    PRIMARY KEY (evaluation, server, tool, arguments)) WITHOUT ROWID"""
_FOUND: Final = 'digest, repeat, "case", "column", at, gist, failure'
_COLUMNS: Final = f"{_FOUND}, figures, verdicts"
_KEY: Final = "evaluation = ? AND digest = ? AND repeat = ?"


class AnswersError(Exception):
    """The file of answers cannot be opened, read or written; the text says why, for people."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of one answer besides its row."""

    turns: tuple[Turn, ...] = ()
    judgements: Mapping[str, Judgement] = field(default_factory=dict)
    exchanges: tuple[Exchange, ...] = ()


class CallAsked(NamedTuple):
    """A call as tool servers are asked: the server's name, the tool's name there, a digest of the arguments."""

    server: str
    tool: str
    arguments: str

    @classmethod
    def of(cls, server: str, tool: str, arguments: str) -> CallAsked:
        """That of a call with these raw arguments, which are the same where they are as JSON values."""
        text = canonical(arguments).encode("utf-8", "surrogatepass")
        return cls(server, tool, hashlib.sha256(text).hexdigest())


class AnswerStore:
    """``path`` is made when it is first opened; ``known`` are the secrets of this process, none of which gets there."""

    def __init__(self, path: Path, known: Iterable[Secret] = ()) -> None:
        self.path = path
        self.known = known
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(1, "answers")

    # What is there

    async def load(self, evaluation: str) -> list[Answer]:
        """All answers of an evaluation, in the order in which they came. Raises AnswersError."""
        return await self._do(lambda connection: _load(connection, evaluation))

    async def kept(self, evaluation: str, answer: Answer) -> Kept:
        """What else is kept of an answer; nothing where it is gone. Raises AnswersError."""
        return await self._do(lambda connection: _kept(connection, evaluation, answer))

    # What comes

    async def add(self, evaluation: str, brought: Sequence[Brought | Packed]) -> None:
        """Keep answers, also in the place of the same ones; returns once they are on disk. Raises AnswersError."""
        if brought:
            redactor = redactor_of(self.known)
            await self._do(lambda connection: _add(connection, evaluation, brought, redactor))

    async def judged(self, evaluation: str, answers: Sequence[tuple[Answer, Mapping[str, Judgement]]]) -> None:
        """Keep other verdicts of answers, and what judges said besides. Raises AnswersError."""
        if answers:
            redactor = redactor_of(self.known)
            await self._do(lambda connection: _judged(connection, evaluation, answers, redactor))

    async def vote(self, evaluation: str, pair: Pair, vote: str) -> None:
        """Keep what somebody said of two answers, by their digests and their repeat. Raises AnswersError."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT OR REPLACE INTO votes VALUES (?, ?, ?, ?, ?)", (evaluation, *pair, vote))

        await self._do(work)

    async def votes(self, evaluation: str) -> dict[Pair, str]:
        """What was said of pairs of answers. Raises AnswersError."""
        query = "SELECT one, other, repeat, vote FROM votes WHERE evaluation = ?"

        def work(connection: sqlite3.Connection) -> dict[Pair, str]:
            return {(one, other, repeat): vote for one, other, repeat, vote in connection.execute(query, (evaluation,))}

        return await self._do(work)

    async def forget(self, evaluation: str, answers: Iterable[Answer] | None = None) -> None:
        """Let answers go, all where none are named, with what was said of them. Raises AnswersError."""
        keys = [(evaluation, one.digest, one.repeat) for one in answers] if answers is not None else None

        def work(connection: sqlite3.Connection) -> None:
            with _transaction(connection):
                if keys is None:
                    connection.execute("DELETE FROM answers WHERE evaluation = ?", (evaluation,))
                    connection.execute("DELETE FROM votes WHERE evaluation = ?", (evaluation,))
                else:
                    connection.executemany(f"DELETE FROM answers WHERE {_KEY}", keys)  # noqa: S608 - our own words
                    _forget_votes(connection, evaluation, {(digest, repeat) for _, digest, repeat in keys})

        await self._do(work)

    # What tool servers answered

    async def recorded(self, evaluation: str, call: CallAsked) -> ServerAnswer | None:
        """What is kept of a call of a tool server; None where nothing is. Raises AnswersError."""
        query = "SELECT answer FROM recorded WHERE evaluation = ? AND server = ? AND tool = ? AND arguments = ?"

        def work(connection: sqlite3.Connection) -> ServerAnswer | None:
            row = connection.execute(query, (evaluation, *call)).fetchone()
            try:
                return ServerAnswer.model_validate(_unpacked(row[0])) if row is not None else None
            except (ValueError, zlib.error):
                return None  # damaged: it is asked again

        return await self._do(work)

    async def recorded_calls(self, evaluation: str) -> list[CallAsked]:
        """The calls of which an answer is kept. Raises AnswersError."""
        query = "SELECT server, tool, arguments FROM recorded WHERE evaluation = ?"
        return await self._do(lambda connection: [CallAsked(*row) for row in connection.execute(query, (evaluation,))])

    async def record(self, evaluation: str, call: CallAsked, answer: ServerAnswer) -> None:
        """Keep what a tool server answered to a call. Raises AnswersError."""
        redactor = redactor_of(self.known)

        def work(connection: sqlite3.Connection) -> None:
            packed = _packed(encode(answer), redactor)
            connection.execute("INSERT OR REPLACE INTO recorded VALUES (?, ?, ?, ?, ?)", (evaluation, *call, packed))

        await self._do(work)

    async def forget_recorded(self, evaluation: str) -> None:
        """Let go what tool servers answered. Raises AnswersError."""
        query = "DELETE FROM recorded WHERE evaluation = ?"
        await self._do(lambda connection: connection.execute(query, (evaluation,)))

    def forget_soon(self, evaluations: Iterable[str]) -> None:
        """Let all answers of these go, if there is a file; that is done before it is closed. What refuses stays."""
        ids = [(one,) for one in evaluations]

        def done() -> None:
            if self._connection is None and self.path.exists():
                self._connection = _open(self.path)
            if self._connection is not None:
                with _transaction(self._connection):
                    self._connection.executemany("DELETE FROM answers WHERE evaluation = ?", ids)
                    self._connection.executemany("DELETE FROM votes WHERE evaluation = ?", ids)
                    self._connection.executemany("DELETE FROM recorded WHERE evaluation = ?", ids)

        with contextlib.suppress(RuntimeError):  # closed already
            self._thread.submit(done)

    async def remove_secret(self, evaluation: str, secret: Secret) -> int:
        """Remove a secret from the answers of an evaluation; return how many rows had it. Raises AnswersError."""
        redactor = redactor_of((secret,))
        return await self._do(lambda connection: remove_secret(connection, evaluation, redactor))

    async def aclose(self) -> None:
        """Close the file, after what is being done."""
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
            raise AnswersError(f"The answers in {self.path} cannot be kept or read: {error}.") from None


# ---- the file --------------------------------------------------------------------------------------------------------


def _open(path: Path) -> sqlite3.Connection:
    connection = open_database(path, APPLICATION_ID, VERSION, _TABLES, "no file of answers")
    try:
        connection.execute(_RECORDED)
    except BaseException:
        connection.close()
        raise
    return connection


def _add(
    connection: sqlite3.Connection, evaluation: str, brought: Sequence[Brought | Packed], redactor: Redactor
) -> None:
    with _transaction(connection):
        for one in brought:
            made = pack(one, redactor) if isinstance(one, Brought) else one
            connection.execute(f"DELETE FROM answers WHERE {_KEY}", _key(evaluation, made.answer))  # noqa: S608
            marks = ", ".join("?" * (len(made.row) + 1))
            number = connection.execute(
                f"INSERT INTO answers (evaluation, {_COLUMNS}) VALUES ({marks})",  # noqa: S608 - our own words
                (evaluation, *made.row),
            ).lastrowid
            kept = (number, made.turns, made.judgements, made.frames)
            connection.execute("INSERT INTO kept VALUES (?, ?, ?, ?)", kept)


def pack(found: Brought, redactor: Redactor) -> Packed:
    """An answer as it stands in the file. Slow for one with much in it: not on a loop that reads others."""
    turns = _packed([encode(turn) for turn in found.turns], redactor)
    judgements, frames = _judgements(found.judgements, redactor), _frames(found.exchanges, redactor)
    return Packed(found.answer, _row(found.answer, redactor), turns, judgements, frames, redactor.text(found.fatal))


def _forget_votes(connection: sqlite3.Connection, evaluation: str, gone: Set[tuple[str, int]]) -> None:
    """What was said of an answer does not hold for the one that is asked for in its place."""
    votes = connection.execute("SELECT one, other, repeat FROM votes WHERE evaluation = ?", (evaluation,)).fetchall()
    of_gone = [(evaluation, *vote) for vote in votes if (vote[0], vote[2]) in gone or (vote[1], vote[2]) in gone]
    query = "DELETE FROM votes WHERE evaluation = ? AND one = ? AND other = ? AND repeat = ?"
    connection.executemany(query, of_gone)


def _judged(
    connection: sqlite3.Connection,
    evaluation: str,
    answers: Sequence[tuple[Answer, Mapping[str, Judgement]]],
    redactor: Redactor,
) -> None:
    with _transaction(connection):
        for made, judgements in answers:
            answer = _with_kept(connection, evaluation, made)
            connection.execute(
                f"UPDATE answers SET verdicts = ?, figures = ? WHERE {_KEY}",  # noqa: S608 - our own words
                (_verdicts(answer, redactor), json.dumps(answer.figures), *_key(evaluation, answer)),
            )
            if judgements:
                before = _kept(connection, evaluation, answer).judgements
                connection.execute(
                    f"UPDATE kept SET judgements = ? WHERE answer = (SELECT number FROM answers WHERE {_KEY})",  # noqa: S608
                    (_judgements({**before, **judgements}, redactor), *_key(evaluation, answer)),
                )


def _with_kept(connection: sqlite3.Connection, evaluation: str, answer: Answer) -> Answer:
    """The same with verdicts that it has on disk only: a judge and a person may be at one answer at the same time."""
    query = f"SELECT {_COLUMNS} FROM answers WHERE {_KEY}"  # noqa: S608 - our own words
    row = connection.execute(query, _key(evaluation, answer)).fetchone()
    kept = answer_of(row) if row is not None else None
    return with_verdicts(answer, {**kept.verdicts, **answer.verdicts}) if kept is not None else answer


def _key(evaluation: str, answer: Answer) -> tuple[str, str, int]:
    return evaluation, answer.digest, answer.repeat


def _row(answer: Answer, redactor: Redactor) -> tuple[Any, ...]:
    texts = [text.encode("utf-8", "replace").decode() for text in (answer.gist, answer.failure)]
    key = (answer.digest, answer.repeat, answer.case, answer.column, answer.at)
    return (*key, *(redact(text, redactor) for text in texts), json.dumps(answer.figures), _verdicts(answer, redactor))


def _verdicts(answer: Answer, redactor: Redactor) -> str:
    return redactor.text(json.dumps(redact_json(dict(answer.verdicts), redactor)))


def _judgements(found: Mapping[str, Judgement], redactor: Redactor) -> bytes | None:
    return _packed({key: encode(one) for key, one in found.items()}, redactor) if found else None


def _frames(exchanges: Sequence[Exchange], redactor: Redactor) -> bytes | None:
    tapes = []
    for exchange in exchanges:
        try:
            tapes.append(tape_of(exchange, redactor))
        except CassetteError:
            continue  # its bodies were let go
    return _packed(tapes, redactor) if tapes else None


def _packed(value: JSON, redactor: Redactor) -> bytes:
    return zlib.compress(redactor.text(json.dumps(value)).encode(), 1)


def _unpacked(data: bytes | None) -> JSON:
    if data is None:
        return None
    unpacker = zlib.decompressobj()
    text = unpacker.decompress(data, _LARGEST)
    return json.loads(text)


def _load(connection: sqlite3.Connection, evaluation: str) -> list[Answer]:
    # The numbers are found first, in the index alone: whole rows would have to be sorted otherwise.
    query = f"""SELECT {_FOUND}, '[' || figures || ',' || verdicts || ']' FROM answers
        WHERE number IN (SELECT number FROM answers WHERE evaluation = ?)
        AND figures GLOB '[[]*]' AND verdicts GLOB '{{*}}' ORDER BY number"""  # noqa: S608 - our own words
    return [Answer.kept(*row) for row in connection.execute(query, (evaluation,))]


def answer_of(row: tuple[Any, ...]) -> Answer | None:
    """The answer of a row; None for one that cannot be read: it is asked for again."""
    read = read_written(f"[{row[-2]},{row[-1]}]")
    fields: tuple[Any, ...] = (*row[:-2], *(read or ()))
    return Answer(*fields) if read is not None else None


def judgements_of(packed: bytes | None) -> dict[str, Judgement]:
    """What judges said, as it stands in the file. Raises ValueError, zlib.error."""
    return _read_judgements(_unpacked(packed))


def _read_judgements(value: Any) -> dict[str, Judgement]:
    return {key: Judgement.model_validate(one) for key, one in (value or {}).items()}


def _kept(connection: sqlite3.Connection, evaluation: str, answer: Answer) -> Kept:
    row = connection.execute(
        f"SELECT turns, judgements, frames FROM kept JOIN answers ON answer = number WHERE {_KEY}",  # noqa: S608
        _key(evaluation, answer),
    ).fetchone()
    if row is None:
        return Kept()
    try:
        turns, judgements, frames = map(_unpacked, row)
        return Kept(
            tuple(Turn.model_validate(one) for one in turns or ()),
            _read_judgements(judgements),
            tuple(exchange_from(one, "the exchange") for one in frames or ()),
        )
    except (ValueError, TypeError, zlib.error, CassetteError) as error:
        raise sqlite3.DatabaseError(f"an answer in it is damaged ({error})") from None
