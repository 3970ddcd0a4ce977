"""Variants and cases of an evaluation: typed, copied, swept, pasted and imported."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from playground.domain.checks.json_answers import IsJSON
from playground.domain.checks.texts import Contains, Equals
from playground.domain.transcript import Role, make_turn
from playground.engine.compare.lanes import Lanes
from tests.flows.conftest import Person, flow
from tests.flows.pages.compare import ComparePage
from tests.flows.pages.evaluate import CasesPanel, EvaluatePage, VariantDialog, plan_of
from tests.flows.pages.steps import column_texts


async def open_page(person: Person) -> EvaluatePage:
    await person.press("Evaluate", person.app.window.bar)
    return await EvaluatePage.wait(person)


async def undo(person: Person) -> None:
    await person.do(person.app.window.action("edit.undo").trigger)


@flow()
async def test_variants_are_edited_copied_swept_moved_deleted_and_undone(person: Person) -> None:
    session = person.session
    session.turns.add_turn(make_turn(Role.SYSTEM, "Be short."))
    lanes = Lanes(session)
    warm = lanes.add(name="warm")
    warm.set_parameters(warm.settings.current.with_value("temperature", 1.5))
    panel = await (await open_page(person)).open_variants()

    await panel.add("Copy of settings…")
    form = await VariantDialog.wait(person)
    await form.rename(" stricter ")
    await form.set_system("Be short. Do not guess.")
    await form.close("Save")
    await person.until(lambda: plan_of(person).variants[0].system == "Be short. Do not guess.", "its system turn")
    (variant,) = plan_of(person).variants
    assert variant.name == "stricter"
    assert variant.applied(session.settings) == session.settings
    words = "Variant B stricter: System + Do not guess."
    await person.until(lambda: any(words in card for card in panel.cards), "its words")

    await panel.add("From a lane of Compare", lanes.title(warm))
    await person.until(lambda: len(panel.cards) == 3, "a card of the lane")
    copied = plan_of(person).variants[1]
    assert copied.name == "warm"
    assert copied.applied(session.settings).current.set_fields["temperature"] == 1.5

    sweep = await panel.open_sweep()
    await sweep.set_step("nothing")
    await person.until(lambda: "not a number" in sweep.summary, "why none is added")
    assert not sweep.add_button.isEnabled()
    await sweep.set_step("1")
    await sweep.press("Replace 2 existing variants")
    await person.until(lambda: sweep.add_button.text() == "Add 3 variants", "the number of variants")
    await sweep.close("Add")
    await person.until(lambda: len(plan_of(person).variants) == 3, "the sweep")
    variants = plan_of(person).variants
    assert [item.applied(session.settings).current.set_fields["temperature"] for item in variants] == [0, 1, 2]
    await person.until(lambda: [card[-1] for card in panel.cards[-3:]] == ["0", "1", "2"], "their cards")

    def ids() -> list[str]:
        return [variant.id for variant in plan_of(person).variants]

    first, second, third = ids()
    for order in ([first, third, second], [third, first, second]):
        await panel.card(variants[2].name).choose("Move up")
        await person.until(partial(lambda order: ids() == order, order), "the order")
    await panel.card(variants[0].name).choose("Delete")
    await person.until(lambda: ids() == [third, second], "two variants")
    await undo(person)
    await person.until(lambda: ids() == [third, first, second], "three variants")

    await panel.card(variants[1].name).choose("Open in Compare")
    await person.until(lambda: ComparePage(person).lanes, "Compare")
    assert lanes.all[-1].settings.current.set_fields["temperature"] == 1


@flow()
async def test_checks_and_promptfoo_configurations_are_imported(person: Person, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("sep=;\ncity;__expected1;__expected2;__metric\nRome;19;is-json;m\n", encoding="utf-8")
    (tmp_path / "tests.csv").write_text("city,__expected\nRome,contains: warm\n", encoding="utf-8")
    (tmp_path / "prompt.txt").write_text("What is {{city}} like?", encoding="utf-8")
    configuration = tmp_path / "promptfooconfig.yaml"
    configuration.write_text(
        "prompts: [prompt.txt, make.py]\nproviders: ['ollama:chat:llama3.2:1b']\ntests: file://tests.csv\n",
        encoding="utf-8",
    )
    dialog = await (await open_page(person)).import_cases(table)
    columns = ("__expected1", "__expected2", "__metric")
    assert [dialog.role(column) for column in columns] == ["check", "check", "ignored"]
    await person.until(lambda: "__metric" in dialog.notes, "what is left out")
    await dialog.close("Import")
    await person.until(lambda: len(plan_of(person).cases) == 1, "the case")
    (case,) = plan_of(person).cases
    assert (case.values, case.expected) == ({"city": "Rome"}, "19")
    assert case.checks == (Equals(text="{{expected}}"), IsJSON())

    dialog = await (await EvaluatePage.wait(person)).import_cases(configuration)
    await person.until(lambda: "make.py" in dialog.notes, "what is left out")
    assert "prompt.txt, tests.csv" in dialog.notes
    await dialog.close("Import")
    await person.until(lambda: len(plan_of(person).cases) == 2, "the other case")
    case = plan_of(person).cases[1]
    assert [turn.text for turn in case.turns] == ["What is {{city}} like?"]
    assert case.checks == (Contains(text="warm"),)
    assert plan_of(person).variants[0].applied(person.session.settings).model == "llama3.2:1b"


@flow()
async def test_cases_are_typed_pasted_added_from_conversation_and_imported(person: Person, tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    path.write_text("city,expected,notes\nRome,19,first\nno\nBergen,rain,\n", encoding="utf-8")

    def values() -> list[tuple[dict[str, str], str]]:
        return [(dict(case.values), case.expected) for case in plan_of(person).cases]

    person.session.turns.add_turn(make_turn(Role.USER, "What is {{city}} like?"))
    page = await open_page(person)
    panel = await page.open_cases()
    await person.until(lambda: panel.columns == ["city", "Expected", "Name"], "the columns")
    await panel.set_cell(0, 0, "Lisbon")
    await panel.set_cell(1, 0, "Oslo")
    await panel.set_cell(1, 1, "cold")
    assert values() == [({"city": "Lisbon"}, ""), ({"city": "Oslo"}, "cold")]
    await undo(person)
    assert values()[1][1] == ""
    await panel.set_value("city", 1, "Oslo\nin winter")
    assert values()[1][0] == {"city": "Oslo\nin winter"}

    await panel.paste('Paris\twarm\n"two\nlines"\twet\n')
    await person.until(lambda: len(values()) == 3, "what was pasted")
    assert [case["city"] for case, _ in values()] == ["Lisbon", "Paris", "two\nlines"]
    await panel.add("From the conversation")
    await person.until(lambda: panel.columns[-1] == "Asks", "what the case asks itself")
    assert plan_of(person).cases[-1].turns[0].text == "What is {{city}} like?"

    dialog = await page.import_cases(path)
    await person.until(lambda: "Line 3" in dialog.notes, "the line that cannot be read")
    assert not dialog.import_button.isEnabled()
    await dialog.set_role("notes", "ignored")
    await dialog.set_variable("city", "no name!")
    await person.until(lambda: "no name!" in dialog.summary, "why that is no variable")
    await dialog.set_variable("city", "city")
    await person.until(lambda: "2 cases" in dialog.summary, "the cases")
    assert column_texts(dialog.preview) == ["Rome", "Bergen"]
    await dialog.press("Skip the unreadable row")
    await dialog.press("Replace the 4 existing cases")
    await dialog.close("Import")
    imported = [({"city": "Rome"}, "19"), ({"city": "Bergen"}, "rain")]
    await person.until(lambda: values() == imported, "the cases of the file")
    await person.until(lambda: panel.row_count == 2, "them in the table")
    await panel.delete_all()
    assert values() == []
    await undo(person)
    assert values() == imported


@flow()
async def test_turn_becomes_a_case_from_its_menu(person: Person) -> None:
    await person.run("What is 2 + 2?")
    await person.idle(2)
    answer = person.path[-1]
    await person.conversation.message(1).choose("Make this a case")
    await person.until(lambda: person.session.settings.evaluation is not None, "the case")
    (case,) = plan_of(person).cases
    assert [turn.text for turn in case.turns] == ["What is 2 + 2?"]
    assert case.expected == answer.text
    await person.conversation.notice.press("Show")
    await EvaluatePage.wait(person)
    panel = await CasesPanel.wait(person)
    await person.until(lambda: panel.row_count == 1, "its case")
