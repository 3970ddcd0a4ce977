"""The form of a call written by hand: odd text and very many calls."""

from __future__ import annotations

from playground.domain.parts import ToolCall
from playground.domain.roles import Role
from playground.ui.features.conversation.calls.call_form import CallForm
from playground.ui.features.conversation.composer_beside import MOST_FORMS, ComposerBeside
from tests.engine.debugging import WEATHER
from tests.support.each_case import each_case
from tests.ui.conftest import ShowWidget


@each_case("odd", ["a\ud800b", "a\u202eb", "two\nlines", "x" * 100_000])
def test_text_a_field_cannot_hold_is_kept_exactly(show_widget: ShowWidget, odd: str) -> None:
    form = CallForm()
    form.set_tools((WEATHER,))
    show_widget(form, 600, 400)
    call = ToolCall(id=odd, name=odd, arguments='{"city": "Oslo"}')
    form.set_call(call)
    assert form.call == call
    form.id.setText("other")
    assert form.call == call.model_copy(update={"id": "other"})


def test_draft_of_thousands_of_calls_makes_few_forms_and_loses_none(show_widget: ShowWidget) -> None:
    beside = ComposerBeside(list, (WEATHER,))
    show_widget(beside, 600, 400)
    calls = tuple(ToolCall(id=str(number), name="n", arguments="{") for number in range(5_000))
    beside.put("", calls)
    beside.show_role(Role.ASSISTANT)
    assert len(beside.forms) == MOST_FORMS
    assert beside.calls == calls
    beside.forms[0].remove.click()
    assert beside.calls == calls[1:]
