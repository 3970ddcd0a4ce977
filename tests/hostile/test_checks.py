"""Whatever a schema, a pattern or a path asks for, the loop has its turn, and what is not known is not said to fit."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import time
from pathlib import Path

import pytest

from playground.engine.questions import checking
from playground.engine.questions.kinds import ArgumentsFit, Fit
from playground.engine.questions.worker import SECONDS
from playground.jsonkit.limits import TooCostlyError
from playground.jsonkit.problems import not_checked
from tests.hostile.gaps import LIMIT, MARGIN, PASSES, WAITED, Gaps
from tests.hostile.shapes import CHECKS, CheckShape, doubled, property_of


def costly(answer: object) -> bool:
    """Whether it says that it was too costly to check."""
    if isinstance(answer, Fit):
        return bool(answer.costly)
    return isinstance(answer, list) and not_checked(answer) is not None


async def _asked(shape: CheckShape) -> tuple[Gaps, bool]:
    """How long the loop had to wait, and whether the answer is one that was worked out or not, as the shape says."""
    question = shape.question()
    async with Gaps() as gaps:
        await asyncio.sleep(0.01)
        checking.now(question)
        answer = await checking.answer(question)
    assert checking.now(question) == answer  # and is not looked for again
    return gaps, shape.told is None or costly(answer) is not shape.told


@pytest.mark.parametrize("shape", CHECKS, ids=lambda shape: shape.name)
async def test_the_loop_has_its_turn_and_the_answer_comes_in_time(
    shape: CheckShape, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shape.told:  # what is worked out may wait for a core: the process is a modest one, and other tests run beside
        monkeypatch.setattr(checking, "SECONDS", 2 * SECONDS)
    checking.now(ArgumentsFit('{"a": 1}', property_of({"type": "string"})))  # what is imported once is imported
    checking.now(CHECKS[-5].question())
    gaps, as_told = await _asked(shape)
    for _ in range(PASSES - 1):
        if gaps.seconds < LIMIT * MARGIN and as_told:
            break
        checking._worker._known.clear()  # what the code does is done each time, what the machine does is not
        gaps, as_told = await _asked(shape)
    assert as_told
    assert gaps.seconds < LIMIT * MARGIN, f"{gaps.seconds * 1000:.0f} ms"
    assert gaps.wall < WAITED


async def test_what_is_known_to_be_wrong_is_wrong_although_where_is_not_known() -> None:
    (problem,) = await checking.answer(ArgumentsFit('{"a": 5}', doubled(19)))
    assert (problem.severity, problem.path) == ("error", ())
    assert problem.message.startswith("does not fit the schema; where and why is too costly to say")


async def test_the_next_question_is_answered_by_the_next_process() -> None:
    late = await checking.answer(ArgumentsFit('{"a": 5}', doubled(31)))
    assert costly(late)
    looks_ahead = property_of({"pattern": "^(?=y)"})
    (problem,) = await checking.answer(ArgumentsFit('{"a": "xyz"}', looks_ahead))
    assert problem.message == '"xyz" does not match "^(?=y)"'


@pytest.mark.slow
async def test_one_schema_takes_its_time_a_few_times_and_then_no_more() -> None:
    schema = doubled(32)
    answers = [await checking.answer(ArgumentsFit(f'{{"a": {number}}}', schema)) for number in range(12)]
    assert all(map(costly, answers))
    said = [str(not_checked(answer)) for answer in answers]
    assert ["the same took too long 3 times before" in words for words in said] == [False] * 3 + [True] * 9


@pytest.mark.slow
async def test_a_question_nobody_waits_for_is_not_asked() -> None:
    first = asyncio.ensure_future(checking.answer(ArgumentsFit('{"a": 5}', doubled(33))))  # noqa: TID251
    given_up = asyncio.ensure_future(checking.answer(ArgumentsFit('{"a": 5}', doubled(34))))  # noqa: TID251
    await asyncio.sleep(0)
    began = time.monotonic()
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    assert time.monotonic() - began < 0.5
    assert costly(await first)
    began = time.monotonic()
    assert await checking.answer(ArgumentsFit('{"a": "b"}', property_of({"pattern": "^(?=b)"}))) == []
    assert time.monotonic() - began < SECONDS


async def test_several_may_wait_for_one_answer_and_one_may_give_up() -> None:
    schema = property_of({"pattern": "^(?=y)"})
    one = asyncio.ensure_future(checking.answer(ArgumentsFit('{"a": "y"}', schema)))  # noqa: TID251
    other = asyncio.ensure_future(checking.answer(ArgumentsFit('{"a": "y"}', schema)))  # noqa: TID251
    await asyncio.sleep(0)
    one.cancel()
    assert await other == []


def test_here_nothing_is_begun_that_may_take_long() -> None:
    for shape in CHECKS:
        question = shape.question()
        began = time.thread_time()
        with contextlib.suppress(TooCostlyError):
            question.answer()
        assert time.thread_time() - began < 0.5, shape.name


def test_the_process_ends_with_the_program_that_started_it(tmp_path: Path) -> None:
    code = """
import asyncio, os, sys
from playground.engine.questions.kinds import ArgumentsFit
from playground.engine.questions import checking
from playground.engine.questions.worker import SECONDS
from tests.hostile.shapes import doubled, property_of
assert asyncio.run(checking.answer(ArgumentsFit('{"a": "y"}', property_of({"pattern": "^(?=y)"})))) == []
print(checking._worker._process.pid, flush=True)
if sys.argv[1] == "killed":
    asyncio.get_event_loop_policy()
    checking.later.__globals__["_worker"]._enter(ArgumentsFit('{"a": 5}', doubled(30)))
    os.kill(os.getpid(), 9)
"""
    for how in ("ended", "killed"):
        done = subprocess.run(
            [sys.executable, "-c", code, how], capture_output=True, text=True, check=False, timeout=60
        )
        process = Path("/proc") / done.stdout.strip()
        assert done.stdout.strip(), done.stderr
        until = time.monotonic() + 20
        while process.exists() and time.monotonic() < until:
            time.sleep(0.1)
        assert not process.exists(), how
