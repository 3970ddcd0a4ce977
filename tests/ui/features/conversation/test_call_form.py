"""The form of a call written by hand: odd text and very many calls."""

from __future__ import annotations

from playground.domain.parts import ToolCall
from playground.ui.features.conversation.calls.call_form import CallForm
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
