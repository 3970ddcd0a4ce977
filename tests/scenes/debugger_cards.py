"""Scenes of tool calls: forming, paused, edited, answered, on their way."""

from __future__ import annotations

from playground.domain.debugging import Answer, Policy, ResultDraft, ToolRule
from playground.domain.parts import Text, ToolCall, ToolResult, Unknown
from playground.domain.transcript import Ending, Outcome, Role, Turn, make_turn, new_id
from playground.engine.session.open_edits import OpenEdit, What
from playground.engine.session.run_state import RunState
from playground.engine.session.verdicts import VerdictCode
from playground.ui.features.conversation.members_fold import MembersFold
from tests.hostile.shapes import doubled, tool
from tests.scenes.registry import WIDE, scene
from tests.scenes.stage import Stage


async def _three(stage: Stage, more: str = "", *, wait: bool = True) -> None:
    stage.open_sample()
    await stage.ask(f"Compare the weather in Lisbon, Oslo and Rome. !calls=3 {more}", wait=wait)


@scene(tokens_per_second=14, sizes=WIDE)
async def call_forming(stage: Stage) -> None:
    """Arguments arrive: the tree on the left, the text as it comes on the right."""
    await _three(stage, "!broken", wait=False)
    view = stage.window.pane.view

    def formed() -> bool:
        cards = [card for turn in view.cards.values() for card in turn.calls]
        return len(cards) > 1 and cards[1].tree is not None and len(cards[1].tree.reader.nodes) > 1

    await stage.until(formed, "the second call to form")


@scene()
async def paused_with_error(stage: Stage) -> None:
    """Three calls wait; the second does not fit its schema; the bar says where it stands."""
    await _three(stage, "!broken=2")
    await stage.scroll_to_turn(-1)


@scene()
async def call_edited(stage: Stage) -> None:
    """The broken call was edited: what changed, and a result half typed for it."""
    await _three(stage, "!broken=2")
    (_, _), (turn_id, call), _ = stage.session.debugger.waiting
    stage.session.turns.edit_call(turn_id, call.id, '{"city": "Oslo", "unit": "celsius"}')
    stage.session.debugger.notes.set_draft(turn_id, call.id, ResultDraft(text='{"temp": 9, "sky": "ra'))
    await stage.scroll_to_turn(-1)


@scene(sizes=WIDE)
async def call_not_json(stage: Stage) -> None:
    """Arguments that are not JSON: a tolerant tree with the fault in its place, and the text."""
    await _three(stage, "!badjson=2")
    await stage.scroll_to_turn(-1)


@scene(sizes=WIDE)
async def call_too_costly(stage: Stage) -> None:
    """A schema that nobody can check in time: the card says so, and neither that it fits nor that it does not."""
    stage.session.change(tools=(tool(doubled(40), "look_up"),))
    call = ToolCall(id="call_1", name="look_up", arguments='{"a": 5}')
    outcome = Outcome(ending=Ending.COMPLETE, model="demo", finish_reason="tool_calls")
    stage.session.turns.add_turn(make_turn(Role.USER, "Look it up."))
    stage.session.turns.add_turn(Turn(id=new_id(), role=Role.ASSISTANT, parts=(call,), outcome=outcome))
    await stage.until(
        lambda: stage.session.debugger.verdict(call).code is VerdictCode.TOO_COSTLY, "the check to be given up"
    )


@scene(sizes=WIDE)
async def call_of_free_text(stage: Stage) -> None:
    """A call of a custom tool shows its text and no problem."""
    call = ToolCall(id="call_1", name="code_exec", arguments="for city in cities:\n    print(city)", free_text=True)
    outcome = Outcome(ending=Ending.COMPLETE, model="demo", finish_reason="tool_calls")
    stage.session.turns.add_turn(make_turn(Role.USER, "List the cities."))
    stage.session.turns.add_turn(Turn(id=new_id(), role=Role.ASSISTANT, parts=(call,), outcome=outcome))
    await stage.scroll_to_turn(-1)


@scene(sizes=WIDE)
async def answer_paused(stage: Stage) -> None:
    """An answer that the gateway paused: the bar says so and offers to continue."""
    stage.fresh("demo-messages", protocol="messages")
    search = Unknown(value={"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "tea"}})
    outcome = Outcome(ending=Ending.COMPLETE, model="demo-messages", finish_reason="pause_turn")
    stage.session.turns.add_turn(make_turn(Role.USER, "Which tea grows where?"))
    parts = (Text(text="Let me look that up."), search)
    stage.session.turns.add_turn(Turn(id=new_id(), role=Role.ASSISTANT, parts=parts, outcome=outcome))
    await stage.scroll_to_turn(-1)


@scene(sizes=WIDE)
async def call_answering(stage: Stage) -> None:
    """Answers from a rule are on their way, after a delay."""
    stage.open_sample()
    debugger = stage.session.debugger
    rule = ToolRule(policy=Policy.FIXED, fixed=Answer(text="sunny", delay=30), pause_on_misfit=False)
    stage.session.change(debugging=debugger.debugging.with_default(rule))
    await stage.ask("Compare the weather in Lisbon and Oslo. !calls=2", wait=False)
    await stage.until(lambda: stage.session.state is RunState.ANSWERING, "answers on their way")
    await stage.scroll_to_turn(-1)


@scene()
async def unknown_members(stage: Stage) -> None:
    """What came with a call, a text and a message and is not known here: quiet lines, two of them open."""
    signed = {"chat": {"extra_content": {"google": {"thought_signature": "CrICAdHtim827fQ" * 90}}}}
    cited = {"type": "char_location", "cited_text": "Oslo lies at 59.9° north.", "document_index": 0}
    link = {"type": "url_citation", "url_citation": {"url": "https://weather.example/oslo", "title": "Oslo"}}
    beside = {"annotations": [link], "native_finish_reason": "STOP", "service_tier": "default"}
    done = Outcome(ending=Ending.COMPLETE, model="demo-chat", finish_reason="stop")
    call = ToolCall(id="call_1", name="get_weather", arguments='{"city": "Oslo"}', extra=signed)
    text = Text(text="It is **9 degrees** in Oslo.", extra={"messages": {"citations": [cited]}})
    turns = (
        make_turn(Role.USER, "How warm is it in Oslo?"),
        Turn(id=new_id(), role=Role.ASSISTANT, parts=(call,), outcome=done),
        Turn(id=new_id(), role=Role.TOOL, parts=(ToolResult(call_id="call_1", text="9 degrees", by="you"),)),
        Turn(id=new_id(), role=Role.ASSISTANT, parts=(text,), outcome=done, extra={"chat": beside}),
    )
    for turn in turns:
        stage.session.turns.add_turn(turn)
    await stage.settle()
    folds = [fold for card in stage.window.pane.view.cards.values() for fold in card.findChildren(MembersFold)]
    for fold in (folds[0], folds[-1]):
        fold.unfold()
    stage.window.bottom_dock.hide()
    await stage.scroll_to_turn(1)


@scene()
async def loop_stopped(stage: Stage) -> None:
    """Stopped where it was paused: what that leaves is said, and it can be gone on with."""
    await _three(stage)
    stage.window.pane.stop()
    await stage.settle()


@scene()
async def answer_prepared(stage: Stage) -> None:
    """An answer that was chosen is looked at; one is too long for the field. Nothing is sent yet."""
    await _three(stage)
    (turn_id, first), (_, second), *_ = stage.session.debugger.waiting
    desk = stage.window.pane.calls
    faults = dict(desk.choices(first.name))
    desk.prepare(turn_id, first.id, next(answer for answer in faults.values() if answer.is_error))
    desk.prepare(turn_id, second.id, next(answer for answer in faults.values() if answer.size))
    await stage.settle()


@scene()
async def several_editors(stage: Stage) -> None:
    """The question, the arguments of a call and a whole call are edited at once, all of it part of the draft."""
    await _three(stage)
    turn_id, first = stage.session.debugger.waiting[0]
    second = stage.session.debugger.waiting[1][1]
    session = stage.session
    session.editors.set_editing(
        OpenEdit(turn=session.transcript.path[0].id, text="The weather in Lisbon, Oslo and Rome, please")
    )
    session.editors.set_editing(OpenEdit(turn=turn_id, what=What.ARGUMENTS, call=first.id, text='{"city": "Faro"}'))
    session.editors.set_editing(OpenEdit(turn=turn_id, what=What.CALL, call=second.id))
    await stage.settle()
