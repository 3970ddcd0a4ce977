"""Scenes of single answers of an evaluation: their turns, what a judge says, what was kept, pairs without names."""

from __future__ import annotations

from playground.domain.checks.asked import Judge, You
from playground.domain.checks.calls import ToolCalled
from playground.domain.checks.figures import Latency
from playground.domain.checks.json_answers import IsJSON
from playground.domain.checks.texts import Contains
from playground.domain.debugging import Answer, Policy, ToolRule
from playground.engine.evaluation.inquiry import Column
from playground.engine.session.plan import Case, Keep, Plan
from playground.engine.session.variants import Variant
from playground.ui.features.evaluate.blind import BlindView
from playground.ui.features.evaluate.detail import Detail
from playground.ui.features.tools.samples import SAMPLE
from tests.scenes.evaluate import _control
from tests.scenes.registry import BOTH, scene
from tests.scenes.stage import Stage

LONG = "Say in one sentence what a traveller has to know who arrives late, tired and without luggage. " * 6
CASES = (
    Case(id="c1", name="Lisbon or Oslo?", values={"ask": "Weather in Oslo"}, expected="Oslo"),
    Case(id="c2", name="Long words", values={"ask": LONG}, expected="x" * 300),
    Case(id="c3", name="Refused", values={"ask": "Hello !400"}),
)
CHECKED = (
    Contains(text="{{expected}}"),
    Contains(text="API key", negated=True),
    ToolCalled(tool="get_weather"),
    Latency(seconds=3.0),
    IsJSON(),
    Judge(model="demo-chat", rubric="Gives no figure that the tool did not give, and says so when it does not know."),
    You(rubric="Is it kind?"),
)


async def _answer(stage: Stage, case: int, tab: int = 0, *, keep: Keep = Keep.ALL) -> Detail:
    """An answer of a small evaluation of two variants, three times asked."""
    stage.fresh("demo-tools")
    rule = ToolRule(policy=Policy.FIXED, fixed=Answer(text='{"temp": 4}'))
    stage.session.change(tools=(SAMPLE,))
    stage.session.change(debugging=stage.session.settings.debugging.with_rule("get_weather", rule))
    stage.window.pane.composer.set_text("{{ask}} !fast")
    other = Variant.model_validate({"id": "chat", "name": "plain chat", "differences": {"model": "demo-chat"}})
    stage.session.change(evaluation=Plan(cases=CASES, variants=(other,), checks=CHECKED, repeats=3, keep=keep))
    stage.act("evaluate.open")
    look, page = _control(stage).look, _control(stage).page
    assert look is not None
    assert page is not None
    await stage.until(lambda: look.ready and bool(look.inquiry.cases), "the plan")
    _control(stage).run()
    await stage.until(lambda: look.results.count > 0 and not look.results.missing and not look.under_way, "answers")
    column: Column = look.inquiry.columns[0]
    look.choose(look.inquiry.cases[case], column, 2)
    detail = page.detail
    assert isinstance(detail, Detail)
    await stage.until(lambda: detail.shown is not None, "the answer")
    detail.tabs.setCurrentIndex(tab)
    return detail


@scene(sizes=BOTH)
async def evaluate_answer(stage: Stage) -> None:
    """An answer behind a call of a tool, and what the checks say of it."""
    await _answer(stage, 0)


@scene(sizes=BOTH)
async def evaluate_blind(stage: Stage) -> None:
    """Two answers without names."""
    await _blind(stage, 2)


async def _blind(stage: Stage, count: int) -> BlindView:
    """The blind test, so many pairs of which were judged."""
    await _answer(stage, 0)
    page = _control(stage).page
    assert page is not None
    page.show_view("Blind")
    view = page.findChild(BlindView)
    assert isinstance(view, BlindView)
    for number in range(count):
        await stage.until(lambda: view.ready, "a pair")
        view.buttons[(0, 1, 1, 2, 1, 3)[number % 6]].click()
    await stage.until(lambda: view.ready or view.words.isVisible(), "what comes then")
    return view
