"""Questions about hostile schemas, patterns and paths: the event loop stays free, and no unknown answer says "fits"."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from playground.engine.questions import checking
from playground.engine.questions.kinds import ArgumentsFit, Fit
from playground.jsonkit.problems import not_checked
from tests.hostile.shapes import CHECKS, doubled, property_of
from tests.support.eventually import eventually

SMOKE = ("a pattern that goes back", "a row with a pattern that goes back")


def is_costly(answer: object) -> bool:
    """Return whether an answer says that it was too costly to check."""
    if isinstance(answer, Fit):
        return bool(answer.costly)
    return isinstance(answer, list) and not_checked(answer) is not None


async def test_hostile_checks_are_answered_or_too_costly() -> None:
    for shape in CHECKS:
        if shape.name in SMOKE:
            question = shape.question()
            answer = await checking.answer(question)
            assert is_costly(answer) is not shape.decided, shape.name
            assert checking.now(question) == answer


async def test_error_is_found_although_its_place_is_too_costly() -> None:
    (problem,) = await checking.answer(ArgumentsFit('{"a": 5}', doubled(19)))
    assert (problem.severity, problem.path) == ("error", ())
    assert problem.message.startswith("does not fit the schema; where and why is too costly to say")


async def test_question_after_a_costly_one_is_answered() -> None:
    assert is_costly(await checking.answer(ArgumentsFit('{"a": 5}', doubled(31))))
    (problem,) = await checking.answer(ArgumentsFit('{"a": "xyz"}', property_of({"pattern": "^(?=y)"})))
    assert problem.message == '"xyz" does not match "^(?=y)"'


@pytest.mark.slow
async def test_costly_schema_is_refused_after_three_checks() -> None:
    schema = doubled(32)
    answers = [await checking.answer(ArgumentsFit(f'{{"a": {number}}}', schema)) for number in range(12)]
    assert all(map(is_costly, answers))
    messages = [str(not_checked(answer)) for answer in answers]
    assert ["the same took too long 3 times before" in words for words in messages] == [False] * 3 + [True] * 9


async def test_answer_comes_though_another_who_waits_gives_up() -> None:
    schema = property_of({"pattern": "^(?=y)"})
    first = asyncio.ensure_future(checking.answer(ArgumentsFit('{"a": "y"}', schema)))  # noqa: TID251
    second = asyncio.ensure_future(checking.answer(ArgumentsFit('{"a": "y"}', schema)))  # noqa: TID251
    await asyncio.sleep(0)
    first.cancel()
    assert await second == []


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="platform: needs /proc, to see processes end")
@pytest.mark.parametrize("end", ["exit", pytest.param("kill", marks=pytest.mark.slow)])
async def test_worker_process_ends_with_its_program(end: str) -> None:
    command = [sys.executable, "-m", "tests.hostile.asking_program", end]
    program = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    out, _ = await program.communicate()
    worker = Path("/proc") / out.decode().strip()
    assert worker.name.isdigit()
    await eventually(lambda: not worker.exists(), "the worker to end")
