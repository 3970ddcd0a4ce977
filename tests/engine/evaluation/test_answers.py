"""The file of answers: no key gets into it, damage is reported, a foreign file is left alone."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from playground.domain.checks.check import Verdict
from playground.domain.costs import AnswerMetrics
from playground.domain.parts import Text
from playground.domain.transcript import Role, Turn
from playground.engine.evaluation.answers import AnswersError, AnswerStore, SavedAnswer
from playground.engine.evaluation.judging import Judgement
from playground.engine.evaluation.provider import Answer, AnswerResult, with_verdicts
from playground.engine.gateways.secrets import Secret

CANARY = "sk-canary-5d0e7b1f"


def answer(number: int = 1, **fields: object) -> Answer:
    values = {
        "digest": f"d{number}",
        "repeat": 1,
        "case": "c",
        "column": "",
        "created_at": 1.5,
        "preview": "Hello",
        **fields,
    }
    return Answer(**values)  # type: ignore[arg-type]


def brought(item: Answer, text: str = "Hello") -> AnswerResult:
    turn = Turn(id="t", role=Role.ASSISTANT, parts=(Text(text=text),))
    return AnswerResult(item, (turn,), {"k": Judgement(model="m", failure=text)})


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[AnswerStore]:
    store = AnswerStore(tmp_path / "a.sqlite")
    yield store
    await store.aclose()


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def test_answers_are_loaded_again_and_forgotten(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "new" / "a.sqlite")
    figures = AnswerMetrics(1.5, None, 3, 4, 0.25, "€", 2, 1)
    item = answer(metrics=figures, verdicts={"k": Verdict(None, 0.0, "why"), "l": Verdict(True, 1.0)})
    await store.add("e", [brought(item), brought(answer(2, failure="broken"))])
    await store.add("other", [brought(answer())])
    await store.aclose()
    again = AnswerStore(store.path)
    assert await again.load("e") == [item, answer(2, failure="broken")]
    saved = await again.details("e", item)
    assert (saved.turns[0].text, saved.judgements["k"].failure, saved.exchanges) == ("Hello", "Hello", ())
    await again.forget("e", [item])
    assert [loaded.digest for loaded in await again.load("e")] == ["d2"]
    assert await again.details("e", item) == SavedAnswer()
    await again.forget("e")
    assert await again.load("e") == []
    assert len(await again.load("other")) == 1
    await again.aclose()


async def test_votes_are_forgotten_with_their_answers(store: AnswerStore) -> None:
    await store.add("e", [brought(answer(number)) for number in range(4)])
    saved = ("d2", "d3", 1)
    for pair in (("d0", "d1", 1), ("d2", "d0", 1), ("d0", "d1", 2), saved):
        await store.vote("e", pair, "one")
    await store.forget("e", [answer(0), answer(1)])
    assert set(await store.votes("e")) == {saved, ("d0", "d1", 2)}


async def test_verdicts_of_judge_and_person_are_both_saved(store: AnswerStore) -> None:
    item = answer(verdicts={"contains": Verdict(True, 1.0)})
    await store.add("e", [brought(item)])
    by_person, by_judge = with_verdicts(item, {"you": Verdict(False, 0.0, "no")}), Verdict(True, 0.9, "kind")
    await store.judged("e", [(by_person, {})])
    await store.judged("e", [(with_verdicts(item, {"judge": by_judge}), {"judge": Judgement(model="m")})])
    (loaded,) = await store.load("e")
    assert loaded.verdicts == {**by_person.verdicts, "judge": by_judge}
    assert set((await store.details("e", item)).judgements) == {"k", "judge"}


async def test_repeated_answer_replaces_the_old_one(store: AnswerStore) -> None:
    await store.add("e", [brought(answer())])
    await store.add("e", [brought(answer(preview="Bye"), "Bye")])
    assert [item.preview for item in await store.load("e")] == ["Bye"]
    judged = with_verdicts(answer(preview="Bye"), {"k": Verdict(False, 0.25, "no")})
    await store.judged("e", [(judged, {"l": Judgement(model="n")})])
    (loaded,) = await store.load("e")
    assert loaded.verdicts == {"k": Verdict(False, 0.25, "no")}
    assert set((await store.details("e", loaded)).judgements) == {"k", "l"}
    with opened(store.path) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (1,)


async def test_key_is_in_no_file_of_answers(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "a.sqlite", [Secret(CANARY)])
    message = answer(preview=CANARY, failure=f"no {CANARY}", verdicts={"k": Verdict(False, 0.0, f"is {CANARY}")})
    await store.add("e", [brought(message, f"the key is {CANARY}")])
    saved = await store.details("e", message)
    assert CANARY not in str(saved) + str(await store.load("e"))
    await store.aclose()
    assert CANARY.encode() not in everything(tmp_path)


async def test_damaged_row_is_missing_and_damaged_verdicts_are_judged_again(store: AnswerStore) -> None:
    numbers = range(1, 7)
    await store.add("e", [brought(answer(number, verdicts={"k": Verdict(True, 1.0)})) for number in numbers])
    odd = answer(7, preview="\ud800 \x00 \u202e")
    await store.add("e", [brought(odd, "\ud800")])
    with opened(store.path) as connection:
        connection.execute("UPDATE answers SET figures = '{\"n' WHERE digest = 'd1'")
        for number, verdicts in ((2, "[]"), (4, "{,}"), (5, '{"k": 1}'), (6, '{"k": [true]}')):
            connection.execute("UPDATE answers SET verdicts = ? WHERE digest = ?", (verdicts, f"d{number}"))
        connection.execute("UPDATE kept SET turns = x'00' WHERE answer = 3")
    *damaged, last = await store.load("e")
    intact = damaged.pop(1)
    assert intact == answer(3, verdicts={"k": Verdict(True, 1.0)})
    assert damaged == [answer(number) for number in (2, 4, 5, 6)]
    with pytest.raises(AnswersError, match="damaged"):
        await store.details("e", intact)
    assert last.preview.startswith("? ")
    assert (await store.details("e", last)).turns[0].text == "\ud800"


async def test_foreign_file_is_left_alone(tmp_path: Path) -> None:
    text, second, newer = (tmp_path / name for name in ("text", "other", "newer"))
    text.write_bytes(b"no database at all, but long enough to be one" * 50)
    with opened(second) as connection:
        connection.execute("CREATE TABLE mine (a)")
    store = AnswerStore(newer)
    await store.load("e")
    await store.aclose()
    with opened(newer) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = everything(tmp_path)
    for path, words in (
        (text, "not a database"),
        (second, "no file of answers"),
        (newer, "newer version"),
        (text / "a.sqlite", "cannot be saved or read"),
    ):
        store = AnswerStore(path)
        with pytest.raises(AnswersError, match=words):
            await store.load("e")
        await store.aclose()
    assert everything(tmp_path) == before
