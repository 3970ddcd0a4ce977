"""Checks of answers that may take long, in the process that can be ended."""

from __future__ import annotations

from playground.domain.checks.check import Facts, Verdict
from playground.domain.checks.texts import Matches
from playground.domain.parts import Text
from playground.domain.transcript import Role, Turn
from playground.engine.questions import checking
from playground.engine.questions.kinds import CheckUsable, CheckVerdict


def facts(text: str) -> Facts:
    return Facts((Turn(id="t", role=Role.ASSISTANT, parts=(Text(text=text),)),))


async def test_pattern_with_look_ahead_is_checked_in_the_process() -> None:
    question = CheckVerdict(Matches(pattern="a(?=b)"), facts("xab"))
    assert checking.now(question) is None
    assert await checking.answer(question) == Verdict(True, 1.0, "a(?=b) finds something")
    assert await checking.answer(CheckUsable(Matches(pattern="a(?=b)"))) == ""
    assert "no regular expression" in await checking.answer(CheckUsable(Matches(pattern="(a")))


async def test_pattern_that_never_ends_is_not_judged() -> None:
    question = CheckVerdict(Matches(pattern=r"^(a*)*\1(?!b)$", negated=True), facts("a" * 60 + "c"))
    verdict = await checking.answer(question)
    assert (verdict.passed, "too costly" in verdict.reason) == (None, True)
