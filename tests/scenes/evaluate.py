"""Scenes of evaluations: nothing to ask yet, the sample as it came, answered, under way, its views and its panels."""

from __future__ import annotations

from playground.engine.library.opening_files import open_sample
from playground.ui.features.evaluate.control import EvaluateControl
from playground.ui.features.evaluate.page import EvaluatePage
from playground.ui.shell.features import EVALUATE
from playground.ui.widgets.resources import resource_root
from tests.scenes.registry import BOTH, WIDE, scene
from tests.scenes.stage import Stage


def _control(stage: Stage) -> EvaluateControl:
    found: EvaluateControl = stage.app.actions.of(EVALUATE)
    return found


async def _opened(stage: Stage, *, sample: bool) -> EvaluatePage:
    if sample:
        path = resource_root() / "samples" / "evaluation.playground.json"
        open_sample(stage.app.workspace.new(), path, "Evaluation")
    stage.act("evaluate.open")
    look, page = _control(stage).look, _control(stage).page
    assert look is not None
    assert page is not None
    await stage.until(lambda: look.ready, "the plan")
    return page


async def _answered(stage: Stage) -> EvaluatePage:
    page = await _opened(stage, sample=True)
    control = _control(stage)
    look = control.look
    assert look is not None
    stage.act("run.run")
    await stage.until(lambda: look.under_way, "the run")
    await stage.until(lambda: not look.under_way and not look.results.missing, "all answers")
    return page


@scene(sizes=BOTH)
async def evaluate_empty(stage: Stage) -> None:
    """An experiment that has no evaluation yet."""
    stage.fresh("demo-chat")
    await _opened(stage, sample=False)


@scene(tokens_per_second=4000, sizes=BOTH)
async def evaluate_answered(stage: Stage) -> None:
    """The sample with all its answers."""
    await _answered(stage)


@scene(tokens_per_second=20, sizes=WIDE)
async def evaluate_under_way(stage: Stage) -> None:
    """The sample while answers come."""
    await _opened(stage, sample=True)
    look = _control(stage).look
    assert look is not None
    stage.act("run.run")
    await stage.until(lambda: look.results.count > 3, "some answers")
    look.runs.pause(look.session.id)
