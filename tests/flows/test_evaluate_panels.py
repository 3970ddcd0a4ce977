"""What an evaluation is made of, set by a person: variants of several origins, a sweep."""

from __future__ import annotations

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from playground.domain.transcript import Role, make_turn
from playground.engine.compare.lanes import Lanes
from playground.engine.evaluate.variants import of_lane
from playground.engine.session.plan import Plan
from playground.ui.features.evaluate.control import EvaluateControl
from playground.ui.features.evaluate.page import EvaluatePage
from playground.ui.features.evaluate.panels.sweep_dialog import SweepDialog
from playground.ui.features.evaluate.panels.variant_dialog import VariantDialog
from playground.ui.features.evaluate.panels.variants import VariantsPanel
from playground.ui.features.evaluate.parts import VARIANTS
from playground.ui.shell.features import EVALUATE
from tests.flows.conftest import Person, Stage


async def evaluation(person: Person) -> EvaluatePage:
    await person.press("Evaluate", person.app.window.bar)
    control: EvaluateControl = person.app.actions.of(EVALUATE)
    await person.until(lambda: control.look is not None and control.look.ready, "the evaluation")
    assert control.page is not None
    return control.page


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
