"""Scenes of evaluations: nothing to ask yet, the sample as it came, answered, under way, its views and its panels."""

from __future__ import annotations

from playground.domain.checks.asked import Judge
from playground.domain.checks.json_answers import FitsSchema
from playground.domain.checks.texts import Contains
from playground.domain.transcript import Role, make_turn
from playground.engine.evaluation.sweep import Range, over_models, over_parameters
from playground.engine.io.resources import resource_root
from playground.engine.library.opening_files import open_sample
from playground.engine.session.plan import Case
from playground.engine.session.variants import Variant
from playground.ui.features.evaluate.control import EvaluateControl
from playground.ui.features.evaluate.page import EvaluatePage
from playground.ui.features.evaluate.panels.cases import CasesPanel
from playground.ui.features.evaluate.panels.checks import ChecksPanel
from playground.ui.features.evaluate.panels.variants import VariantsPanel
from playground.ui.features.evaluate.parts import CASES, CHECKS, VARIANTS
from playground.ui.features.evaluate.plots.card import PlotCard
from playground.ui.features.evaluate.view_bar import PLOTS, REPORT
from playground.ui.shell.features import EVALUATE
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


@scene(tokens_per_second=4000, sizes=BOTH)
async def evaluate_answered(stage: Stage) -> None:
    """The sample with all its answers."""
    await _answered(stage)


@scene(sizes=BOTH)
async def evaluate_variants(stage: Stage) -> None:
    """Variants as cards: one without a difference, one with all kinds of them, one with long words, some of a sweep."""
    stage.fresh("demo-chat")
    stage.session.turns.add_turn(make_turn(Role.SYSTEM, "Be short."))
    page = await _opened(stage, sample=False)
    look = _control(stage).look
    assert look is not None
    system = "Be short. Say so when you do not know, and never guess what a tool did not tell."
    look.change(
        variants=[
            Variant(name="stricter system", system=system),
            Variant(name="nothing else yet"),
            *over_models(look.session.settings, ["demo-reasoner", "a-model-with-a-very-long-name-" * 3]),
            *over_parameters(look.session.settings, [Range("temperature", (0, 0.5))]),
        ]
    )
    panel = page.panel(VARIANTS)
    assert isinstance(panel, VariantsPanel)
    await stage.until(lambda: len(panel.cards) == 6 and not panel.busy, "a card each")


async def _cases(stage: Stage) -> CasesPanel:
    """A conversation with two variables, and cases of all kinds."""
    stage.fresh("demo-chat")
    stage.session.turns.add_turn(make_turn(Role.USER, "{{question}} Answer for {{city}}."))
    stage.session.change(variables={"city": "Lisbon"})
    page = await _opened(stage, sample=False)
    look = _control(stage).look
    assert look is not None
    look.change(
        cases=[
            Case(values={"question": "Is it warmer than in Oslo?"}, expected="yes", name="Warmer"),
            Case(values={"question": "Two lines:\n1. is it warm?\n2. is it wet?", "city": "Bergen"}, expected="wet"),
            Case(values={"city": "A city with a name that is much longer than any column is wide"}),
            Case(turns=(make_turn(Role.USER, "What is 2 + 2?"),), expected="4"),
        ]
    )
    panel = page.show_panel(CASES)
    assert isinstance(panel, CasesPanel)
    await stage.until(lambda: len(panel.model.cases) == 4 and bool(look.problems), "the cases")
    return panel


@scene(sizes=BOTH)
async def evaluate_cases(stage: Stage) -> None:
    """Cases in a table, one of several lines below it."""
    panel = await _cases(stage)
    panel.table.setCurrentIndex(panel.model.index(1, 1))


@scene(tokens_per_second=4000, sizes=WIDE)
async def evaluate_plots(stage: Stage) -> None:
    """What came, as pictures; the checks with their rates beside them."""
    page = await _answered(stage)
    page.show_view(PLOTS)
    page.show_panel(CHECKS)
    look = _control(stage).look
    assert look is not None
    await stage.until(lambda: any(card.isVisible() for card in page.findChildren(PlotCard)), "plots")


@scene(tokens_per_second=4000, sizes=WIDE)
async def evaluate_report(stage: Stage) -> None:
    """What the web page says; the cases beside it."""
    page = await _answered(stage)
    page.show_view(REPORT)
    page.show_panel(CASES)


@scene(tokens_per_second=4000, sizes=BOTH)
async def evaluate_checks(stage: Stage) -> None:
    """Checks with their rates; one that cannot be made yet, one that is being set, and those of one case."""
    page = await _answered(stage)
    look = _control(stage).look
    assert look is not None
    rubric = "The answer gives the result first, and no figure that the sum does not have."
    judge = Judge(rubric=rubric, model="demo-reasoner", weight=2)
    schema = FitsSchema(json_schema={"type": "nonsense"})
    first, *others = look.plan.cases
    own = first.model_copy(update={"checks": (Contains(text="{{expected}}"),)})
    look.change(checks=(*look.plan.checks, schema, judge), cases=(own, *others))
    await stage.until(lambda: look.inquiry.plan == look.plan and look.findings is not None, "what follows")
    panel = page.show_panel(CHECKS)
    assert isinstance(panel, ChecksPanel)
    await stage.until(lambda: len(panel.of_all.cards) == 4 and len(panel.others.lines) == 1, "the cards")
    panel.of_all.cards[-1].open("least")
