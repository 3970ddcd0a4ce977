"""What an evaluation is made of, set by a person: variants of several origins, a sweep, cases typed and brought in."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QToolButton

from playground.domain.checks.json_answers import IsJSON
from playground.domain.checks.texts import Contains, Equals
from playground.domain.transcript import Role, make_turn
from playground.engine.compare.lanes import Lanes
from playground.engine.evaluation.variants import of_lane
from playground.engine.session.plan import Plan
from playground.ui.features.evaluate.control import EvaluateControl
from playground.ui.features.evaluate.import_dialog import CHECKS, NOTHING, open_import
from playground.ui.features.evaluate.page import EvaluatePage
from playground.ui.features.evaluate.panels.cases import CasesPanel
from playground.ui.features.evaluate.panels.sweep_dialog import SweepDialog
from playground.ui.features.evaluate.panels.variant_dialog import VariantDialog
from playground.ui.features.evaluate.panels.variants import VariantsPanel
from playground.ui.features.evaluate.parts import CASES, VARIANTS
from playground.ui.shell.features import EVALUATE
from tests.flows.conftest import Person, Stage


def control(person: Person) -> EvaluateControl:
    found: EvaluateControl = person.app.actions.of(EVALUATE)
    return found


async def evaluation(person: Person) -> EvaluatePage:
    await person.press("Evaluate", person.app.window.bar)
    found = control(person)
    await person.until(lambda: found.look is not None and found.look.ready, "the evaluation")
    assert found.page is not None
    return found.page


def plan(person: Person) -> Plan:
    found = person.session.settings.evaluation
    assert found is not None
    return found


def type_in(field: QLineEdit, text: str) -> None:
    field.selectAll()
    QTest.keyClicks(field, text)


def test_variants_are_set_copied_from_lanes_swept_moved_and_brought_back(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        session = person.session
        session.turns.add_turn(make_turn(Role.SYSTEM, "Be short."))
        lanes = Lanes(session)
        warm = lanes.add(name="warm")
        warm.set_parameters(warm.settings.current.with_value("temperature", 1.5))
        page = await evaluation(person)
        panel = page.panel(VARIANTS)
        assert isinstance(panel, VariantsPanel)

        await person.choose(panel.add, "As set, to be edited…")
        form = await person.seen(VariantDialog)
        await person.do(lambda: form.name.setText(" stricter "))
        await person.do(form.own_system.click)
        await person.do(lambda: form.system.set_text("Be short. Do not guess."))
        await person.do(form.save.click)
        await person.until(lambda: plan(person).variants[0].system == "Be short. Do not guess.", "its system turn")
        (made,) = plan(person).variants
        assert made.name == "stricter"
        assert made.applied(session.settings) == session.settings
        card = panel.cards[made.id]
        await person.until(lambda: "Variant B stricter: System + Do not guess." in card.accessibleName(), "its words")

        await person.do(lambda: panel._add((of_lane(warm),)))
        await person.until(lambda: len(panel.cards) == 2, "a card of the lane")
        copied = plan(person).variants[1]
        assert copied.name == "warm"
        assert copied.applied(session.settings).current.held["temperature"] == 1.5

        await person.press("Sweep…", panel)
        sweep = await person.seen(SweepDialog)
        await person.do(lambda: type_in(sweep.first.step, "nothing"))
        assert not sweep.add.isEnabled()
        assert "not a number" in sweep.says.text()
        await person.do(lambda: type_in(sweep.first.step, "1"))
        await person.do(sweep.instead.click)
        assert sweep.add.text() == "Add 3 variants"
        await person.do(sweep.add.click)
        await person.until(lambda: len(plan(person).variants) == 3, "the sweep")
        assert [one.applied(session.settings).current.held["temperature"] for one in plan(person).variants] == [0, 1, 2]
        await person.until(lambda: len(panel.cards) == 3 and not panel.busy, "their cards")

        keys = [one.id for one in plan(person).variants]
        await person.do(lambda: panel.move_by(keys[2], -2))
        assert [one.id for one in plan(person).variants] == [keys[2], keys[0], keys[1]]
        await person.do(lambda: panel.delete(keys[0]))
        assert [one.id for one in plan(person).variants] == [keys[2], keys[1]]
        await person.do(person.app.window.action("edit.undo").trigger)
        assert [one.id for one in plan(person).variants] == [keys[2], keys[0], keys[1]]

        await person.do(lambda: panel.open_as_lane(keys[1]))
        await person.until(lambda: person.pane.columns is not None, "Compare")
        assert lanes.all[-1].settings.current.held["temperature"] == 1

    stage.play(scene)


def test_columns_of_assertions_are_imported_as_checks_of_their_cases(stage: Stage, tmp_path: Path) -> None:
    path = tmp_path / "tests.csv"
    path.write_text("sep=;\ncity;__expected1;__expected2;__metric\nRome;19;is-json;m\n", encoding="utf-8")

    async def scene(person: Person) -> None:
        await evaluation(person)
        look = control(person).look
        assert look is not None
        dialog = open_import(look, path, person.app.window)
        await person.until(lambda: dialog.found is not None, "the file")
        assert [row.role.currentIndex() for row in dialog.rows[1:]] == [CHECKS, CHECKS, NOTHING]
        assert "__metric" in dialog.said.toPlainText()
        await person.do(dialog.take.click)
        await person.until(lambda: len(plan(person).cases) == 1, "the case")
        (case,) = plan(person).cases
        assert (case.values, case.expected) == ({"city": "Rome"}, "19")
        assert case.checks == (Equals(text="{{expected}}"), IsJSON())

    stage.play(scene)


def test_promptfoo_configuration_is_imported_with_the_files_beside_it(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "tests.csv").write_text("city,__expected\nRome,contains: warm\n", encoding="utf-8")
    (tmp_path / "prompt.txt").write_text("What is {{city}} like?", encoding="utf-8")
    path = tmp_path / "promptfooconfig.yaml"
    path.write_text(
        "prompts: [prompt.txt, make.py]\nproviders: ['ollama:chat:llama3.2:1b']\ntests: file://tests.csv\n",
        encoding="utf-8",
    )

    async def scene(person: Person) -> None:
        await evaluation(person)
        look = control(person).look
        assert look is not None
        dialog = open_import(look, path, person.app.window)
        await person.until(lambda: dialog.found is not None, "the file")
        assert "make.py" in dialog.said.toPlainText()
        assert "prompt.txt, tests.csv" in dialog.said.toPlainText()
        await person.do(dialog.take.click)
        await person.until(lambda: len(plan(person).cases) == 1, "the case")
        (case,) = plan(person).cases
        assert [turn.text for turn in case.turns] == ["What is {{city}} like?"]
        assert case.checks == (Contains(text="warm"),)
        assert plan(person).variants[0].applied(person.session.settings).model == "llama3.2:1b"

    stage.play(scene)


def test_cases_are_typed_pasted_taken_from_the_conversation_and_brought_in_from_a_file(
    stage: Stage, tmp_path: Path
) -> None:
    path = tmp_path / "cases.csv"
    path.write_text("city,expected,notes\nRome,19,first\nno\nBergen,rain,\n", encoding="utf-8")

    async def scene(person: Person) -> None:
        session = person.session
        session.turns.add_turn(make_turn(Role.USER, "What is {{city}} like?"))
        page = await evaluation(person)
        panel = page.show_panel(CASES)
        assert isinstance(panel, CasesPanel)
        model, table = panel.model, panel.table
        await person.until(lambda: [one.title for one in model.columns] == ["city", "Expected", "Name"], "the columns")

        def typed(row: int, column: int, text: str) -> None:
            model.setData(model.index(row, column), text)

        await person.do(lambda: typed(0, 0, "Lisbon"))
        await person.do(lambda: typed(1, 0, "Oslo"))
        await person.do(lambda: typed(1, 1, "cold"))
        assert [(one.values, one.expected) for one in plan(person).cases] == [
            ({"city": "Lisbon"}, ""),
            ({"city": "Oslo"}, "cold"),
        ]
        await person.do(person.app.window.action("edit.undo").trigger)
        assert plan(person).cases[1].expected == ""

        await person.do(lambda: table.setCurrentIndex(model.index(1, 0)))
        await person.until(panel.form.isVisible, "the case below")
        await person.do(lambda: panel.form.fields[model.columns[0]].set_text("Oslo\nin winter"))
        assert plan(person).cases[1].values == {"city": "Oslo\nin winter"}

        await person.do(lambda: panel.paste('Paris\twarm\n"two\nlines"\twet\n'))
        await person.until(lambda: len(plan(person).cases) == 3, "what was pasted")
        assert [one.values["city"] for one in plan(person).cases] == ["Lisbon", "Paris", "two\nlines"]
        await person.do(panel.add_conversation)
        await person.until(lambda: model.columns[-1].title == "Asks", "what the case asks itself")
        assert plan(person).cases[-1].turns[0].text == "What is {{city}} like?"

        look = control(person).look
        assert look is not None
        dialog = open_import(look, path, person.app.window)
        await person.until(lambda: dialog.found is not None, "the file")
        assert "Line 3" in dialog.said.toPlainText()
        assert not dialog.take.isEnabled()
        await person.do(lambda: dialog.rows[2].role.setCurrentIndex(NOTHING))
        await person.do(lambda: type_in(dialog.rows[0].variable, "no name!"))
        await person.until(lambda: "no name!" in dialog.verdict.text(), "why that is no variable")
        await person.do(lambda: type_in(dialog.rows[0].variable, "city"))
        await person.until(
            lambda: dialog.found is not None and "notes" not in dialog.found.cases[0].values, "the cases"
        )
        await person.do(dialog.without.click)
        await person.do(dialog.instead.click)
        await person.do(dialog.take.click)
        await person.until(lambda: len(plan(person).cases) == 2, "the cases of the file")
        assert [(one.values, one.expected) for one in plan(person).cases] == [
            ({"city": "Rome"}, "19"),
            ({"city": "Bergen"}, "rain"),
        ]
        await person.until(lambda: model.cases == plan(person).cases, "them in the table")
        await person.do(panel.table.selectAll)
        await person.do(panel.delete_rows)
        assert plan(person).cases == ()
        await person.do(person.app.window.action("edit.undo").trigger)
        assert len(plan(person).cases) == 2

    stage.play(scene)


def test_a_turn_becomes_a_case_from_its_menu(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.run("What is 2 + 2?")
        await person.idle(2)
        answer = person.path[-1]
        await person.choose(person.one(QToolButton, "More for this turn", person.card(1)), "Make this a case")
        await person.until(lambda: person.session.settings.evaluation is not None, "the case")
        (case,) = plan(person).cases
        assert [turn.text for turn in case.turns] == ["What is 2 + 2?"]
        assert case.expected == answer.text
        await person.press("Show", person.pane.notice)
        await person.until(lambda: control(person).page is not None, "the evaluation")
        page = control(person).page
        assert page is not None
        panel = page.panel(CASES)
        assert isinstance(panel, CasesPanel)
        await person.until(lambda: panel.isVisible() and len(panel.model.cases) == 1, "its case")

    stage.play(scene)
