"""The file of answers: nothing of a key gets into it, what is damaged is said or asked again, one of others is left."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from playground.domain.checks.check import Verdict
from playground.domain.parts import Text
from playground.domain.transcript import Role, Turn
from playground.engine.evaluation.answering import Answer, Brought, Figures, with_verdicts
from playground.engine.evaluation.answers import AnswersError, AnswerStore, Kept
from playground.engine.evaluation.judging import Judgement
from playground.engine.gateways.secrets import Secret

CANARY = "sk-canary-5d0e7b1f"


def answer(number: int = 1, **fields: object) -> Answer:
    found = {"digest": f"d{number}", "repeat": 1, "case": "c", "column": "", "at": 1.5, "gist": "Hello", **fields}
    return Answer(**found)  # type: ignore[arg-type]


def brought(one: Answer, text: str = "Hello") -> Brought:
    turn = Turn(id="t", role=Role.ASSISTANT, parts=(Text(text=text),))
    return Brought(one, (turn,), {"k": Judgement(model="m", failure=text)})


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def test_what_is_kept_comes_back_also_after_it_was_closed(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "new" / "a.sqlite")
    figures = Figures(1.5, None, 3, 4, 0.25, "€", 2, 1)
    one = answer(figures=figures, verdicts={"k": Verdict(None, 0.0, "why"), "l": Verdict(True, 1.0)})
    await store.add("e", [brought(one), brought(answer(2, failure="broken"))])
    await store.add("other", [brought(answer())])
    await store.aclose()
    again = AnswerStore(store.path)
    assert await again.load("e") == [one, answer(2, failure="broken")]
    kept = await again.kept("e", one)
    assert (kept.turns[0].text, kept.judgements["k"].failure, kept.exchanges) == ("Hello", "Hello", ())
    await again.forget("e", [one])
    assert [found.digest for found in await again.load("e")] == ["d2"]
    assert await again.kept("e", one) == Kept()
    await again.forget("e")
    assert await again.load("e") == []
    assert len(await again.load("other")) == 1
    await again.aclose()


async def test_what_was_said_of_an_answer_goes_with_it(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "a.sqlite")
    await store.add("e", [brought(answer(number)) for number in range(4)])
    kept = ("d2", "d3", 1)
    for pair in (("d0", "d1", 1), ("d2", "d0", 1), ("d0", "d1", 2), kept):
        await store.vote("e", pair, "one")
    await store.forget("e", [answer(0), answer(1)])
    assert set(await store.votes("e")) == {kept, ("d0", "d1", 2)}
    await store.aclose()


async def test_a_judge_and_a_person_at_one_answer_take_nothing_from_each_other(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "a.sqlite")
    one = answer(verdicts={"contains": Verdict(True, 1.0)})
    await store.add("e", [brought(one)])
    by_person, by_judge = with_verdicts(one, {"you": Verdict(False, 0.0, "no")}), Verdict(True, 0.9, "kind")
    await store.judged("e", [(by_person, {})])
    await store.judged("e", [(with_verdicts(one, {"judge": by_judge}), {"judge": Judgement(model="m")})])
    (found,) = await store.load("e")
    assert found.verdicts == {**by_person.verdicts, "judge": by_judge}
    assert set((await store.kept("e", one)).judgements) == {"k", "judge"}
    await store.aclose()


async def test_one_that_comes_again_takes_the_place_of_the_old(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "a.sqlite")
    await store.add("e", [brought(answer())])
    await store.add("e", [brought(answer(gist="Bye"), "Bye")])
    assert [one.gist for one in await store.load("e")] == ["Bye"]
    judged = with_verdicts(answer(gist="Bye"), {"k": Verdict(False, 0.25, "no")})
    await store.judged("e", [(judged, {"l": Judgement(model="n")})])
    (found,) = await store.load("e")
    assert found.verdicts == {"k": Verdict(False, 0.25, "no")}
    assert set((await store.kept("e", found)).judgements) == {"k", "l"}
    with opened(store.path) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (1,)
    await store.aclose()


async def test_no_key_gets_into_it(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "a.sqlite", [Secret(CANARY)])
    said = answer(gist=CANARY, failure=f"no {CANARY}", verdicts={"k": Verdict(False, 0.0, f"is {CANARY}")})
    await store.add("e", [brought(said, f"the key is {CANARY}")])
    kept = await store.kept("e", said)
    assert CANARY not in str(kept) + str(await store.load("e"))
    await store.aclose()
    assert CANARY.encode() not in everything(tmp_path)


async def test_texts_that_no_column_takes_are_kept_as_far_as_they_can(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "a.sqlite")
    await store.add("e", [brought(answer(gist="\ud800 \x00 \u202e"), "\ud800")])
    (found,) = await store.load("e")
    assert found.gist.startswith("? ")
    assert (await store.kept("e", found)).turns[0].text == "\ud800"
    await store.aclose()


async def test_a_row_that_cannot_be_read_is_asked_for_again(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "a.sqlite")
    await store.add("e", [brought(answer(1)), brought(answer(2)), brought(answer(3))])
    with opened(store.path) as connection:
        connection.execute("UPDATE answers SET figures = '{\"n' WHERE digest = 'd1'")
        connection.execute("UPDATE answers SET verdicts = '[]' WHERE digest = 'd2'")
        connection.execute("UPDATE kept SET turns = x'00' WHERE answer = 3")
    assert await store.load("e") == [answer(3)]
    with pytest.raises(AnswersError, match="damaged"):
        await store.kept("e", answer(3))
    await store.aclose()


async def test_who_asks_while_another_thread_reads_an_answer_has_what_that_one_read(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "a.sqlite")
    await store.add("e", [brought(answer(verdicts={"k": Verdict(True, 1.0)}))])
    (found,) = await store.load("e")
    late = type(found).__getattr__  # type: ignore[attr-defined]  # as far as it got when there was nothing to see yet
    assert found.verdicts == {"k": Verdict(True, 1.0)}
    assert late(found, "verdicts") is found.verdicts
    await store.aclose()


@pytest.mark.parametrize("verdicts", ["{,}", '{"k": 1}', '{"k": [true]}'])
async def test_what_shows_to_be_damaged_when_it_is_looked_at_is_judged_again(tmp_path: Path, verdicts: str) -> None:
    store = AnswerStore(tmp_path / "a.sqlite")
    await store.add("e", [brought(answer(verdicts={"k": Verdict(True, 1.0)}))])
    with opened(store.path) as connection:
        connection.execute("UPDATE answers SET verdicts = ?", (verdicts,))
    (found,) = await store.load("e")
    assert (found.verdicts, found.figures) == ({}, Figures())
    await store.aclose()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"no database at all, but long enough to be one" * 50, "not a database"),
        ("CREATE TABLE mine (a)", "no file of answers"),
        ("PRAGMA user_version = 99", "newer version"),
    ],
)
async def test_what_is_none_of_ours_is_left_alone(tmp_path: Path, content: bytes | str, words: str) -> None:
    path = tmp_path / "a.sqlite"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content.startswith("PRAGMA"):
        store = AnswerStore(path)
        await store.load("e")
        await store.aclose()
        with opened(path) as connection:
            connection.execute(content)
    else:
        with opened(path) as connection:
            connection.execute(content)
    before = path.read_bytes()
    store = AnswerStore(path)
    with pytest.raises(AnswersError, match=words):
        await store.load("e")
    await store.aclose()
    assert path.read_bytes() == before


async def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    store = AnswerStore(tmp_path / "file" / "a.sqlite")
    with pytest.raises(AnswersError, match="cannot be kept or read"):
        await store.load("e")
    await store.aclose()
