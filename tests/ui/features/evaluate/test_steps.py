"""The steps of an evaluation and their states."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QApplication

from playground.engine.evaluation.resolved import ResolvedEvaluation
from playground.ui.features.evaluate.steps import CASES, CHECKS, DONE, RUN, STEPS, VARIANTS, step_states
from tests.support.eventually import eventually
from tests.ui.features.evaluate.answered import Looked, answers, run_with_evaluation
from tests.ui.features.evaluate.test_table import make_session_of, only_first_of_b


def test_steps_say_what_is_done_and_what_is_needed(qapp: QApplication, tmp_path: Path) -> None:
    session = make_session_of(4)

    async def work(index: Looked) -> None:
        def words() -> list[str]:
            return [step_states(index.evaluation)[step].words for step in STEPS]

        await index.wait_for_findings()
        assert words() == ["4 cases", "2 variants", "1 check", "16 of 16"]
        assert all(state.sign == DONE for state in step_states(index.evaluation).values())
        index.evaluation.change(cases=(), checks=())
        await eventually(lambda: bool(index.evaluation.problems))
        states = step_states(index.evaluation)
        assert [states[step].words for step in (CASES, CHECKS, RUN)] == ["needs a case", "needs a check", "not ready"]
        assert states[VARIANTS].is_done
        assert not states[CHECKS].is_done

    run_with_evaluation(qapp, tmp_path, session, answers(ResolvedEvaluation(session), only_first_of_b), work)


def test_run_step_counts_failed_answers(qapp: QApplication, tmp_path: Path) -> None:
    session = make_session_of(2)

    async def work(index: Looked) -> None:
        await index.wait_for_findings()
        state = step_states(index.evaluation)[RUN]
        assert state.words == "4 failed"
        assert not state.is_done

    saved = answers(ResolvedEvaluation(session), lambda _case, column, _repeat: None if column else True)
    run_with_evaluation(qapp, tmp_path, session, saved, work)
