"""Scenes of what a person writes: results and the calls they answer, calls of an assistant turn."""

from __future__ import annotations

from playground.domain.parts import ToolCall, ToolResult
from playground.domain.transcript import Role, make_turn
from playground.engine.session.draft import Draft
from playground.ui.features.conversation.calls.call_form import CallForm
from tests.scenes.registry import WIDE, scene
from tests.scenes.stage import Stage

OSLO = '{"city": "Oslo", "unit": "celsius"}'


def _talk(stage: Stage) -> str:
    """A question with two calls that wait. Returns the id of the turn that made them."""
    stage.open_sample()
    session = stage.session
    session.change(model="demo-tools")
    first = ToolCall(id="call_lisbon", name="get_weather", arguments='{"city": "Lisbon", "unit": "celsius"}')
    second = ToolCall(id="call_oslo", name="get_weather", arguments=OSLO)
    return session.turns.add_turn(make_turn(Role.ASSISTANT, "I look both up.", first, second))


@scene()
async def writing_calls(stage: Stage) -> None:
    """An assistant turn being written, with two calls: one fits, one does not."""
    stage.open_sample()
    calls = (
        ToolCall(id="", name="get_weather", arguments=OSLO),
        ToolCall(id="call_2", name="get_weather", arguments='{"town": "Rome"}'),
    )
    stage.session.with_draft(Draft(text="I look both up.", role=Role.ASSISTANT, calls=calls))
    stage.window.pane.composer.set_draft(stage.session.draft)


@scene()
async def writing_a_result(stage: Stage) -> None:
    """A result being written; nothing was chosen, so it goes to the first call that waits."""
    _talk(stage)
    stage.session.with_draft(Draft(text='{"temp": 21}', role=Role.TOOL))
    stage.window.pane.composer.set_draft(stage.session.draft)


@scene()
async def result_without_a_call(stage: Stage) -> None:
    """A tool turn that answers no call: marked, and not sent."""
    stage.open_sample()
    stage.session.change(model="demo-tools")
    stage.session.turns.add_turn(make_turn(Role.TOOL, "", ToolResult(call_id="", text='{"temp": 21, "sky": "clear"}')))
    stage.window.pane.run()


@scene()
async def call_added_to_a_turn(stage: Stage) -> None:
    """One more call for a turn there is."""
    turn_id = _talk(stage)
    card = stage.window.pane.view.card(turn_id)
    if card is not None:
        card.editing.add_call()
    await stage.settle()


@scene(sizes=WIDE)
async def call_changed_as_a_whole(stage: Stage) -> None:
    """The name, the id and the arguments of a call, in its place; an id that another one has is refused."""
    turn_id = _talk(stage)
    card = stage.window.pane.view.card(turn_id)
    if card is not None:
        card.editing.edit_call("call_lisbon")
        (form,) = card.findChildren(CallForm)
        form.id.setText("call_oslo")
        form.id.textEdited.emit("call_oslo")
        form.submitted.emit()
    await stage.settle()


@scene(sizes=WIDE)
async def editing_a_question_with_answers(stage: Stage) -> None:
    """The editor says that the old answers stay; the turn and a result of a call have alternatives."""
    turn_id = _talk(stage)
    session = stage.session
    session.turns.answer("call_lisbon", "21")
    session.turns.answer("call_oslo", "4")
    session.turns.add_turn(make_turn(Role.ASSISTANT, "Lisbon has 21 degrees, Oslo 4."))
    session.turns.edit_text(session.transcript.children(turn_id)[0], "25")
    path = session.transcript.path
    session.turns.edit_text(path[0].id, "And in Lisbon?")
    session.turns.select_alternative(turn_id)
    await stage.settle()
    card = stage.window.pane.view.card(path[0].id)
    if card is not None:
        card.editing.begin()
    await stage.settle()
