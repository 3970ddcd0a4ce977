"""Scenes of evaluations: nothing to ask yet, the sample as it came, answered, under way, its views and its panels."""

from __future__ import annotations

from PySide6.QtWidgets import QPlainTextEdit, QTableView

from playground.domain.transcript import Role, make_turn
from playground.engine.evaluation.variants import ParameterRange, over_models, over_parameters
from playground.engine.session.plan import Case
from playground.engine.session.variants import Variant
from tests.flows.pages.evaluate import PANELS, CasesPanel, EvaluatePage, ImportCasesDialog, VariantsPanel, change_plan
from tests.scenes.registry import BOTH, WIDE, scene
from tests.scenes.stage import Stage
from tests.support.editors import edit_text


async def _answer_sample(stage: Stage) -> EvaluatePage:
    page = await EvaluatePage.open_sample(stage.person)
    stage.act("run.run")
    await stage.until(lambda: page.running, "the run")
    await page.wait_until_complete()
    return page


@scene(tokens_per_second=4000, sizes=BOTH)
async def evaluate_answered(stage: Stage) -> None:
    """The sample with all its answers."""
    await _answer_sample(stage)


@scene(sizes=BOTH)
async def evaluate_empty(stage: Stage) -> None:
    """An experiment without an evaluation: what can be done to start one."""
    stage.fresh("demo-chat")
    await EvaluatePage.open(stage.person)


@scene(tokens_per_second=1, sizes=BOTH)
async def evaluate_running(stage: Stage) -> None:
    """The sample under way."""
    page = await EvaluatePage.open_sample(stage.person)
    await page.begin()
    await stage.until(lambda: page.running and bool(page.progress), "the run")


@scene(tokens_per_second=4000, sizes=BOTH)
async def evaluate_failed(stage: Stage) -> None:
    """Requests that all failed; the answer of the first below."""
    page = await EvaluatePage.open_sample(stage.person)
    turn = stage.session.transcript.path[-1]
    edit_text(stage.session, turn.id, "What is {{sum}}? !400")
    await change_plan(stage.person, repeats=1)
    await page.begin()
    await page.wait_until_complete()
    await page.choose_answer(0)


@scene(sizes=WIDE)
async def evaluate_many_cases(stage: Stage) -> None:
    """Ten thousand cases, the table scrolled to its middle."""
    stage.fresh("demo-chat")
    stage.session.turns.add_turn(make_turn(Role.USER, "{{question}}"))
    page = await EvaluatePage.open(stage.person)
    await change_plan(stage.person, cases=[Case(values={"question": f"{n} + 1?"}) for n in range(10_000)])
    table = await page.wait_for(QTableView, "Cases and their answers")
    await stage.until(lambda: table.model().rowCount() == 10_000, "the cases")
    table.scrollTo(table.model().index(5_000, 0))


@scene(sizes=BOTH)
async def evaluate_variants(stage: Stage) -> None:
    """Variants as cards: one without a difference, one with all kinds of them, one with long words, some of a sweep."""
    stage.fresh("demo-chat")
    stage.session.turns.add_turn(make_turn(Role.SYSTEM, "Be short."))
    page = await EvaluatePage.open(stage.person)
    system = "Be short. Say so when you do not know, and never guess what a tool did not tell."
    settings = stage.session.settings
    variants = [
        Variant(name="stricter system", system=system),
        Variant(name="nothing else yet"),
        *over_models(settings, ["demo-reasoner", "a-model-with-a-very-long-name-" * 3]),
        *over_parameters(settings, [ParameterRange("temperature", (0, 0.5))]),
    ]
    await change_plan(stage.person, variants=variants)
    await page.open_variants()
    await stage.until(lambda: len(VariantsPanel(stage.person, page.widget).cards) == 7, "a card each")


@scene(sizes=BOTH)
async def evaluate_cases(stage: Stage) -> None:
    """Cases in a table, one of several lines below it."""
    stage.fresh("demo-chat")
    stage.session.turns.add_turn(make_turn(Role.USER, "{{question}} Answer for {{city}}."))
    stage.session.change(variables={"city": "Lisbon"})
    await EvaluatePage.open(stage.person)
    cases = [
        Case(values={"question": "Is it warmer than in Oslo?"}, expected="yes", name="Warmer"),
        Case(values={"question": "Two lines:\n1. is it warm?\n2. is it wet?", "city": "Bergen"}, expected="wet"),
        Case(values={"city": "A city with a name that is much longer than any column is wide"}),
        Case(turns=(make_turn(Role.USER, "What is 2 + 2?"),), expected="4"),
    ]
    await change_plan(stage.person, cases=cases)
    stage.turn_to("Cases", PANELS)
    panel = await CasesPanel.wait(stage.person)
    await stage.until(lambda: panel.row_count == 4, "the cases")
    await stage.settle()
    panel.table.setCurrentIndex(panel.table.model().index(1, 1))


@scene(tokens_per_second=4000, sizes=WIDE)
async def evaluate_plots(stage: Stage) -> None:
    """Plots of the answers; the checks with their rates beside them."""
    page = await _answer_sample(stage)
    await page.press("Plots")
    await page.open_checks()


@scene(tokens_per_second=4000, sizes=WIDE)
async def evaluate_report(stage: Stage) -> None:
    """The report and the cases."""
    page = await _answer_sample(stage)
    await page.press("Report")
    await page.open_cases()


@scene(sizes=BOTH)
async def cases_import(stage: Stage) -> None:
    """A pasted table of cases: the role of each column, the first cases, a line that cannot be read."""
    stage.fresh("demo-chat")
    await EvaluatePage.open(stage.person)
    await change_plan(stage.person, cases=[Case(values={"city": "Lisbon"})])
    await stage.person.press("Import cases…")
    dialog = await ImportCasesDialog.wait(stage.person)
    table = "city,question,expected,notes\nOslo,Is it warm?,no,first\nRome\nBergen,Is it wet?,yes,\n"
    dialog.get(QPlainTextEdit, "Text to import from").setPlainText(table)
    await stage.until(lambda: "2 cases" in dialog.summary, "the cases")


@scene(sizes=WIDE)
async def evaluate_run_options(stage: Stage) -> None:
    """The run of the sample with all its options open."""
    page = await EvaluatePage.open_sample(stage.person)
    await page.open_run_settings()
