"""The rules of a gateway in its settings."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtTest import QTest

from playground.domain.adaptations import Adaptation, AdaptationKind, today
from playground.engine.gateways.profiles import Profile
from playground.ui.features.gateways.draft import Draft, problem
from playground.ui.features.gateways.rule_row import RuleRow, rules_of
from tests.support.each_case import each_case
from tests.ui.features.gateways.conftest import DialogDriver, Scene, idle, type_into

OMIT, RENAME, REPLACE, ROLE = AdaptationKind
RULES = (
    Adaptation(kind=OMIT, field="stream_options", protocol="chat", why="Unknown <b>", learnt="2026-11-20"),
    Adaptation(kind=REPLACE, field="tool_choice", to={"type": "auto"}, protocol="messages", model="m", on=False),
    Adaptation(kind=RENAME, field="max_tokens", to="max_completion_tokens", protocol="chat"),
)


def test_rules_are_changed_added_and_deleted(play: Callable[[Scene], DialogDriver]) -> None:
    async def scene(driver: DialogDriver) -> None:
        driver.store.add_profile(Profile(id="p", name="P", base_url="https://g.example/v1", adaptations=RULES))
        dialog = driver.open("p")
        rules = dialog.form.rules
        dialog.show_rules()
        assert dialog.focusWidget() is rules.edits[0].field
        assert [edit.on.isChecked() for edit in rules.edits] == [True, False, True]
        assert rules.edits[0].note.text() == "learned 2026-11-20 · “Unknown <b>”"
        assert rules.edits[1].to.text() == '{"type": "auto"}'
        assert not rules.edits[0].to.isVisible()
        assert not dialog.save_button.isEnabled(), "nothing is changed yet"
        rules.edits[1].on.setChecked(True)
        type_into(rules.edits[0].model, "large")
        rules.edits[2].remove.click()
        assert dialog.focusWidget() is rules.add
        rules.add.click()
        new = rules.edits[-1]
        assert dialog.focusWidget() is new.field
        QTest.keyClicks(new.field, "developer")
        new.deed.setCurrentIndex(new.deed.findData(ROLE))
        assert new.to.isVisible()
        type_into(new.to, "system")
        dialog.save_current()
        await idle(dialog)
        saved = driver.store.profiles[0].adaptations
        assert [item.words for item in saved] == [
            "stream_options left out",
            'tool_choice sent as {"type": "auto"}',
            "the role developer sent as system",
        ]
        assert [(item.model, item.on, item.learnt) for item in saved] == [
            ("large", True, "2026-11-20"),
            ("m", True, ""),
            ("", True, today()),
        ]

    play(scene)


def test_incomplete_rule_is_reported_and_kept(play: Callable[[Scene], DialogDriver]) -> None:
    async def scene(driver: DialogDriver) -> None:
        driver.store.add_profile(Profile(id="p", name="P", base_url="https://g.example/v1"))
        driver.store.add_profile(Profile(id="q", name="Q", base_url="https://h.example/v1"))
        dialog = driver.open("p")
        rules = dialog.form.rules
        assert rules.hint.text().startswith("None yet.")
        rules.add.click()
        QTest.keyClicks(rules.edits[0].field, "seed")
        rules.edits[0].deed.setCurrentIndex(rules.edits[0].deed.findData(RENAME))
        dialog.select("q")
        assert not rules.edits
        dialog.select("p")
        assert rules.edits[0].field.text() == "seed"
        dialog.save_current()
        await idle(dialog)
        assert not driver.store.profiles[0].adaptations
        assert "has no replacement" in dialog.body.message.text()

    play(scene)


@each_case(
    "row, words",
    [
        (RuleRow(OMIT, " ", "", "chat"), "names no field"),
        (RuleRow(OMIT, "model", "", "chat"), "always has “model”"),
        (RuleRow(REPLACE, "stop", "[1,", "chat"), "is not JSON"),
        (RuleRow(REPLACE, "x", '{"api_key": "sk-canary-12345678901234567890"}', "chat"), "looks like a key"),
        (RuleRow(ROLE, "developer", " ", "chat"), "has no replacement"),
    ],
)
def test_invalid_rule_gives_its_reason(row: RuleRow, words: str) -> None:
    assert words in problem(Draft(Profile(base_url="https://g.example/v1"), rules=(row,)))


def test_later_of_two_rules_counts() -> None:
    rows = (RuleRow(REPLACE, "tool_choice", "auto", "chat"), RuleRow(REPLACE, " tool_choice ", "1.50", "chat"))
    assert rules_of(rows[:1])[0].to == "auto"
    (rule,) = rules_of(rows)
    assert (rule.field, rule.to) == ("tool_choice", 1.5)
