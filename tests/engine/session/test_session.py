"""What a session does with edits, undo and refusals. Nothing here opens a connection."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from playground.domain.accumulator import GrowingChoice
from playground.domain.errors import RunRefusedError
from playground.domain.parts import Reasoning, Text, ToolCall, ToolResult
from playground.domain.request import Request
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn, new_id
from playground.engine.session.changes import Change, PathChanged, SettingsChanged, TitleChanged, TurnChanged
from playground.engine.session.draft import Draft
from playground.engine.session.history import UNDO_DEPTH
from playground.engine.session.session import Session
from playground.protocols.protocol import get_protocol
from tests.support.editors import no_gateway


@dataclass
class Notes:
    """What a session told."""

    changes: list[Change] = field(default_factory=list)

    def take(self) -> list[Change]:
        told = self.changes.copy()
        self.changes.clear()
        return told


def make_session(*turns: Turn, model: str = "m") -> Session:
    session = Session(no_gateway, profile_id="p", model=model)
    for turn in turns:
        session.turns.add_turn(turn)
    return session


def watched(session: Session) -> Notes:
    notes = Notes()
    session.subscribe(notes.changes.append)
    return notes


def call(call_id: str, name: str = "get_weather") -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments='{"city":"Oslo"}')


def calling(*calls: ToolCall, outcome: Outcome | None = None) -> Turn:
    return Turn(id=new_id(), role=Role.ASSISTANT, parts=calls, outcome=outcome)


def said(session: Session) -> list[tuple[str, str]]:
    return [(turn.role.value, turn.text) for turn in session.transcript.path]


def assert_sound(transcript: Transcript) -> None:
    """The head is there, every parent is there, and every turn leads to the top."""
    assert transcript.head is None or transcript.head in transcript.turns
    for key, turn in transcript.turns.items():
        assert key == turn.id
        seen: set[str] = set()
        at: str | None = turn.id
        while at is not None:
            assert at not in seen, "turns in a circle"
            seen.add(at)
            assert at in transcript.turns, "a parent that is not there"
            at = transcript.turns[at].parent


# Edits and what they tell


def test_adding_a_turn_tells_of_the_path_the_request_and_the_title() -> None:
    session = make_session()
    notes = watched(session)
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    assert notes.take() == [PathChanged(), SettingsChanged(), TitleChanged()]


def test_no_observer_is_told_after_it_has_cancelled() -> None:
    session = make_session()
    notes = Notes()
    cancel = session.subscribe(notes.changes.append)
    cancel()
    cancel()
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    assert notes.changes == []


def test_an_observer_may_cancel_while_it_is_told() -> None:
    session = make_session()
    told: list[str] = []

    def once(_change: Change) -> None:
        told.append("once")
        cancel()

    cancel = session.subscribe(once)
    session.subscribe(lambda _change: told.append("always"))
    session.change(title="A title")
    session.change(title="Another")
    assert told == ["once", "always", "always"]


def test_editing_a_text_leaves_reasoning_calls_and_their_order_alone() -> None:
    parts = (Reasoning(text="hm"), Text(text="one"), call("c1"), Text(text="two"))
    turn = Turn(id="a", role=Role.ASSISTANT, parts=parts)
    session = make_session(turn)
    notes = watched(session)
    session.turns.edit_text("a", "new")
    assert session.transcript.turns["a"].parts == (Reasoning(text="hm"), Text(text="new"), call("c1"))
    assert notes.take()[0] == TurnChanged("a")


def test_a_text_written_into_a_turn_of_calls_stands_before_them() -> None:
    session = make_session(Turn(id="a", role=Role.ASSISTANT, parts=(Reasoning(text="hm"), call("c1"))))
    session.turns.edit_text("a", "Let me see.")
    assert session.transcript.turns["a"].parts == (Reasoning(text="hm"), Text(text="Let me see."), call("c1"))


def test_an_emptied_text_leaves_no_part() -> None:
    session = make_session(make_turn(Role.USER, "Hello"))
    session.turns.edit_text(session.transcript.path[0].id, "")
    assert session.transcript.path[0].parts == ()


def test_editing_a_tool_turn_edits_its_result() -> None:
    session = make_session(make_turn(Role.TOOL, "", ToolResult(call_id="c1", text="old", is_error=True)))
    session.turns.edit_text(session.transcript.path[0].id, "new")
    assert session.transcript.path[0].results == (ToolResult(call_id="c1", text="new", is_error=True),)


def test_editing_arguments_touches_only_that_call() -> None:
    session = make_session(calling(call("c1"), call("c2")))
    session.turns.edit_call(session.transcript.path[0].id, "c2", "{not json")
    assert [c.arguments for c in session.transcript.path[0].calls] == ['{"city":"Oslo"}', "{not json"]


def test_a_role_change_between_written_roles_keeps_the_parts() -> None:
    session = make_session(make_turn(Role.USER, "Be terse."))
    session.turns.change_role(session.transcript.path[0].id, Role.SYSTEM)
    assert said(session) == [("system", "Be terse.")]


def test_a_turn_made_a_tool_turn_answers_the_first_open_call() -> None:
    session = make_session(make_turn(Role.USER, "?"), calling(call("c1"), call("c2")), make_turn(Role.USER, "sunny"))
    session.turns.change_role(session.transcript.path[-1].id, Role.TOOL)
    assert session.transcript.path[-1].results == (ToolResult(call_id="c1", text="sunny"),)
    session.turns.change_role(session.transcript.path[-1].id, Role.USER)
    assert said(session)[-1] == ("user", "sunny")
    assert not session.transcript.turns[session.transcript.path[-1].id].results


def test_a_turn_of_calls_made_a_tool_turn_does_not_answer_itself() -> None:
    turn = calling(call("c1"))
    session = make_session(make_turn(Role.USER, "?"), turn)
    session.turns.change_role(turn.id, Role.TOOL)
    assert session.transcript.path[-1].results == (ToolResult(call_id="", text=""),)


def test_the_same_role_again_is_no_edit() -> None:
    session = make_session(make_turn(Role.USER, "Hello"))
    notes = watched(session)
    session.turns.change_role(session.transcript.path[0].id, Role.USER)
    assert notes.changes == []


def test_deleting_a_turn_keeps_what_follows() -> None:
    session = make_session(*(make_turn(Role.USER, text) for text in "abc"))
    session.delete_turn(session.transcript.path[1].id)
    assert [text for _, text in said(session)] == ["a", "c"]


def test_moving_stops_at_the_ends_and_is_then_no_edit() -> None:
    session = make_session(*(make_turn(Role.USER, text) for text in "abc"))
    last = session.transcript.path[2].id
    session.turns.move_turn(last, -1)
    session.turns.move_turn(last, -1)
    notes = watched(session)
    session.turns.move_turn(last, -1)
    assert [text for _, text in said(session)] == ["c", "a", "b"]
    assert notes.changes == []


# Answers to calls


def test_answers_stand_behind_the_call_in_the_order_of_the_calls_and_before_what_follows() -> None:
    turn = calling(call("c1"), call("c2"))
    session = make_session(make_turn(Role.USER, "?"), turn, make_turn(Role.USER, "And then?"))
    session.turns.answer("c2", "two")
    session.turns.answer("c1", "one", is_error=True)
    path = session.transcript.path
    assert [t.role.value for t in path] == ["user", "assistant", "tool", "tool", "user"]
    assert [(t.results[0].call_id, t.results[0].text, t.results[0].is_error) for t in path[2:4]] == [
        ("c1", "one", True),
        ("c2", "two", False),
    ]
    assert session.transcript.unanswered() == ()


def test_an_answer_to_the_last_turn_becomes_the_head() -> None:
    session = make_session(calling(call("c1")))
    session.turns.answer("c1", "fine")
    assert session.transcript.path[-1].results[0].text == "fine"
    assert session.transcript.head == session.transcript.path[-1].id


def test_an_answer_to_an_unknown_call_is_refused() -> None:
    with pytest.raises(KeyError):
        make_session(make_turn(Role.USER, "?")).turns.answer("c9", "text")


# Undo and redo


def test_undo_takes_back_edit_after_edit_and_redo_does_them_again() -> None:
    session = make_session()
    states = [session.transcript]
    first = session.turns.add_turn(make_turn(Role.USER, "one"))
    states.append(session.transcript)
    session.turns.edit_text(first, "two")
    states.append(session.transcript)
    session.turns.change_role(first, Role.SYSTEM)
    states.append(session.transcript)
    session.delete_turn(first)
    states.append(session.transcript)
    for state in reversed(states[:-1]):
        assert session.undo()
        assert session.transcript == state
    assert not session.undo()
    for state in states[1:]:
        assert session.redo()
        assert session.transcript == state
    assert not session.redo()


def test_an_edit_after_undo_ends_what_could_be_redone() -> None:
    session = make_session(make_turn(Role.USER, "one"))
    session.undo()
    session.turns.add_turn(make_turn(Role.USER, "other"))
    assert not session.redo()
    assert said(session) == [("user", "other")]


def test_undo_goes_back_a_bounded_way() -> None:
    session = make_session(make_turn(Role.USER, "0"))
    turn = session.transcript.path[0].id
    for number in range(UNDO_DEPTH + 20):
        session.turns.edit_text(turn, str(number))
    steps = 0
    while session.undo():
        steps += 1
    assert steps == UNDO_DEPTH


def test_loading_a_file_can_be_undone() -> None:
    session = make_session(make_turn(Role.USER, "mine"))
    request = Request(
        protocol="messages",
        model="other",
        turns=(make_turn(Role.SYSTEM, "Be terse."), make_turn(Role.USER, "Hello")),
        parameters=get_protocol("messages").parameters_type.from_wire({"max_tokens": 5}),
    )
    session.load(request, "From a file")
    assert (session.settings.protocol, session.settings.model, session.title) == ("messages", "other", "From a file")
    assert session.next_request.body()["max_tokens"] == 5
    assert [text for _, text in said(session)] == ["Be terse.", "Hello"]
    session.undo()
    assert said(session) == [("user", "mine")]


# Titles, settings, refusals


def test_the_title_is_the_first_words_until_one_is_given() -> None:
    session = make_session(make_turn(Role.SYSTEM, "Be terse."), make_turn(Role.USER, "  Is it\n warm?  "))
    assert session.title == "Is it warm?"
    session.change(title=" Weather ")
    assert session.title == "Weather"
    session.change(title="")
    assert session.title == "Is it warm?"
    session.turns.edit_text(session.transcript.path[1].id, "word " * 40)
    assert len(session.title) <= 48
    assert session.title.endswith("…")
    assert make_session().title == "New experiment"


def test_the_line_of_state_says_what_stands_out() -> None:
    assert make_session(model="").summary == "no model"
    session = make_session(make_turn(Role.USER, "?"))
    assert session.summary == "m · 1 turn"
    session.turns.add_turn(calling(call("c1"), call("c2")))
    assert session.summary == "m · 2 calls · waiting for you"


def test_settings_are_told_only_when_they_differ() -> None:
    session = make_session()
    notes = watched(session)
    session.change(model="m")
    session.change(protocol="chat")
    session.change(tools=())
    session.set_parameters(session.settings.current)
    assert notes.take() == []
    session.change(model=" other ")
    assert session.settings.model == "other"
    assert SettingsChanged() in notes.take()
    with pytest.raises(ValueError, match="unknown protocol"):
        session.change(protocol="telegraph")


def test_each_protocol_keeps_its_own_parameters() -> None:
    session = make_session()
    session.set_parameters(session.settings.current.with_value("temperature", 1.5))
    session.change(protocol="messages")
    assert "temperature" not in session.next_request.body()
    session.change(protocol="chat")
    assert session.next_request.body()["temperature"] == 1.5


def test_a_new_experiment_asks_for_a_stream_with_usage_and_nothing_else() -> None:
    body = make_session(make_turn(Role.USER, "Hello")).next_request.body()
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_a_draft_is_remembered() -> None:
    session = make_session()
    session.with_draft(Draft(text="half a sen", role=Role.SYSTEM))
    assert session.draft == Draft(text="half a sen", role=Role.SYSTEM)


def test_refusals_say_what_to_do() -> None:
    assert make_session(make_turn(Role.USER, "?"), model="").next_request.refusal() == "Choose a model first (Ctrl+L)."
    assert make_session().next_request.refusal() == "Write a message first."
    assert make_session().next_request.refusal(make_turn(Role.USER, "Hello")) == ""


def test_open_calls_are_named_and_an_answer_on_its_way_counts() -> None:
    session = make_session(make_turn(Role.USER, "?"), calling(call("c1"), call("c2")))
    session.turns.answer("c1", "fine")
    assert (
        session.next_request.refusal()
        == "Every tool call needs a result before the next request. Still open: get_weather (c2)."
    )
    assert session.next_request.refusal(make_turn(Role.TOOL, "", ToolResult(call_id="c2", text="fine"))) == ""


def test_of_many_open_calls_some_are_named_and_the_others_counted() -> None:
    session = make_session(make_turn(Role.USER, "?"), calling(*(call(f"c{number}") for number in range(5))))
    named = "get_weather (c0), get_weather (c1), get_weather (c2)"
    assert session.next_request.refusal().endswith(f"Still open: {named} and 2 more.")
    session.turns.answer("c0", "fine")
    session.turns.answer("c1", "fine")
    assert session.next_request.refusal().endswith("get_weather (c2), get_weather (c3), get_weather (c4).")


def test_a_call_that_broke_off_is_not_to_be_answered() -> None:
    cut = calling(call("c1"), outcome=Outcome(ending=Ending.COMPLETE, finish_reason="length"))
    words = make_session(make_turn(Role.USER, "?"), cut).next_request.refusal()
    assert words == "The answer broke off at a tool call: get_weather (c1). Regenerate that turn, or delete it."


async def test_a_refused_run_changes_nothing() -> None:
    session = make_session()
    notes = watched(session)
    before = session.transcript
    with pytest.raises(RunRefusedError, match="Write a message first"):
        await session.run()
    assert session.transcript is before
    assert notes.changes == []
    assert not session.undo()


async def test_a_refused_regenerate_changes_nothing() -> None:
    session = make_session(make_turn(Role.USER, "?"), calling(call("c1")), make_turn(Role.ASSISTANT, "early"))
    before = session.transcript
    with pytest.raises(RunRefusedError, match="Every tool call"):
        await session.regenerate(before.path[-1].id)
    assert session.transcript is before


# The tree stays sound whatever is done, in whatever order, a turn being received or not

STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["add", "edit", "role", "delete", "up", "down", "alternative", "answer", "undo", "redo", "begin", "end"]
        ),
        st.integers(0, 50),
    ),
    max_size=40,
)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_any_sequence_of_edits_keeps_the_tree_sound(steps: list[tuple[str, int]]) -> None:
    session = make_session()
    finished: set[str] = set()
    for what, number in steps:
        _step(session, what, number, finished)
        assert_sound(session.transcript)
    for _ in range(len(steps)):
        session.undo()
        assert_sound(session.transcript)
        for turn in session.transcript.turns.values():
            assert turn.id not in finished or turn.outcome is not None, "a finished answer was lost"
    for _ in range(len(steps)):
        session.redo()
        assert_sound(session.transcript)


def _step(session: Session, what: str, number: int, finished: set[str]) -> None:
    known = list(session.transcript.turns)
    path = [turn.id for turn in session.transcript.path]
    anyone = known[number % len(known)] if known else ""
    on_path = path[number % len(path)] if path else ""
    growing = list(session.growing)
    if what == "add":
        session.turns.add_turn(make_turn(Role.USER, "text") if number % 3 else calling(call(f"c{number}")))
    elif what == "undo":
        session.undo()
    elif what == "redo":
        session.redo()
    elif what == "begin":
        head = session.transcript.head
        for index in range(1 + number % 3):
            session.turns.begin_turns(head, [GrowingChoice(index)])
    elif what == "end" and growing:
        turn_id = growing[number % len(growing)]
        outcome = Outcome(ending=Ending.COMPLETE)
        session.turns.end_turns([Turn(id=turn_id, role=Role.ASSISTANT, parts=(Text(text="done"),), outcome=outcome)])
        finished.add(turn_id)
    elif what == "answer" and (waiting := session.transcript.unanswered()):
        session.turns.answer(waiting[number % len(waiting)].id, "fine")
    elif not known:
        return
    elif what == "edit":
        session.turns.edit_text(anyone, "other")
    elif what == "role":
        session.turns.change_role(anyone, list(Role)[number % len(Role)])
    elif what == "delete" and anyone not in session.growing:
        session.delete_turn(anyone)
    elif what in ("up", "down") and on_path:
        session.turns.move_turn(on_path, -1 if what == "up" else 1)
    elif what == "alternative":
        session.turns.select_alternative(anyone)
