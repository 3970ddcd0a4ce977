"""Edits, undo and refusals of a session, without a connection."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from playground.domain.accumulator import GrowingChoice
from playground.domain.errors import RunRefusedError
from playground.domain.parts import Part, Reasoning, Text, ToolCall, ToolResult
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn, new_id
from playground.engine.session.changes import Change, PathChanged, SettingsChanged, TitleChanged, TurnChanged
from playground.engine.session.history import UNDO_DEPTH
from playground.engine.session.session import Experiment, Session
from tests.support.each_case import each_case
from tests.support.editors import edit_text, no_gateway


def make_session(*turns: Turn, model: str = "m") -> Session:
    session = Experiment(no_gateway, profile_id="p", model=model).main
    for turn in turns:
        session.turns.add_turn(turn)
    return session


def call(call_id: str, name: str = "get_weather") -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments='{"city":"Oslo"}')


def calling(*calls: ToolCall, outcome: Outcome | None = None) -> Turn:
    return Turn(id=new_id(), role=Role.ASSISTANT, parts=calls, outcome=outcome)


def texts_of(session: Session) -> list[tuple[str, str]]:
    return [(turn.role.value, turn.text) for turn in session.transcript.path]


def assert_sound(transcript: Transcript) -> None:
    """Assert that the head and all parents exist and that every turn leads to the top."""
    assert transcript.head is None or transcript.head in transcript.turns
    for key, turn in transcript.turns.items():
        assert key == turn.id
        seen: set[str] = set()
        ancestor: str | None = turn.id
        while ancestor is not None:
            assert ancestor not in seen, "turns in a circle"
            seen.add(ancestor)
            assert ancestor in transcript.turns, "a parent that is not there"
            ancestor = transcript.turns[ancestor].parent


def test_adding_a_turn_announces_path_request_and_title_until_cancelled() -> None:
    session = make_session()
    changes: list[Change] = []
    cancel = session.subscribe(changes.append)
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    assert changes == [PathChanged(), SettingsChanged(), TitleChanged()]
    cancel()
    cancel()
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    assert len(changes) == 3


HM, CALL = Reasoning(text="hm"), call("c1")


@each_case(
    ("role", "before", "text", "after"),
    [
        (Role.ASSISTANT, (HM, Text(text="one"), CALL, Text(text="two")), "new", (HM, Text(text="new"), CALL)),
        (Role.ASSISTANT, (HM, CALL), "Let me see.", (HM, Text(text="Let me see."), CALL)),
        (Role.USER, (Text(text="Hello"),), "", ()),
        (
            Role.TOOL,
            (ToolResult(call_id="c1", text="old", is_error=True),),
            "new",
            (ToolResult(call_id="c1", text="new", is_error=True),),
        ),
    ],
)
def test_edited_text_leaves_the_other_parts_in_their_order(
    role: Role, before: tuple[Part, ...], text: str, after: tuple[Part, ...]
) -> None:
    session = make_session(Turn(id="a", role=role, parts=before))
    changes: list[Change] = []
    session.subscribe(changes.append)
    edit_text(session, "a", text)
    assert session.transcript.turns["a"].parts == after
    assert changes[0] == TurnChanged("a")


def test_role_is_changed_and_a_tool_turn_answers_the_first_open_call() -> None:
    session = make_session(make_turn(Role.USER, "?"), calling(call("c1"), call("c2")), make_turn(Role.USER, "sunny"))
    _, calls, last = (turn.id for turn in session.transcript.path)
    before = session.transcript
    session.turns.change_role(last, Role.USER)
    assert session.transcript is before
    session.turns.change_role(last, Role.SYSTEM)
    assert texts_of(session)[-1] == ("system", "sunny")
    session.turns.change_role(last, Role.TOOL)
    assert session.transcript.path[-1].results == (ToolResult(call_id="c1", text="sunny"),)
    session.turns.change_role(last, Role.USER)
    assert (texts_of(session)[-1], session.transcript.turns[last].results) == (("user", "sunny"), ())
    session.delete_turn(last)
    session.turns.change_role(calls, Role.TOOL)
    assert session.transcript.path[-1].results == (ToolResult(call_id="", text=""),), "not its own call"


def test_answers_stand_behind_their_calls_in_the_order_of_the_calls() -> None:
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
    with pytest.raises(KeyError):
        session.turns.answer("c9", "text")


def test_undo_takes_back_a_limited_number_of_edits_and_redo_repeats_them() -> None:
    session = make_session()
    states = [session.transcript]
    turn = session.turns.add_turn(make_turn(Role.USER, "one"))
    states.append(session.transcript)
    for number in range(UNDO_DEPTH + 20):
        edit_text(session, turn, str(number))
        states.append(session.transcript)
    for state in reversed(states[-UNDO_DEPTH - 1 : -1]):
        assert session.undo()
        assert session.transcript == state
    assert not session.undo()
    for state in states[-UNDO_DEPTH:]:
        assert session.redo()
        assert session.transcript == state
    assert not session.redo()
    session.undo()
    session.turns.add_turn(make_turn(Role.USER, "other"))
    assert not session.redo(), "an edit ends what could be redone"


def test_title_is_the_first_words_until_one_is_given() -> None:
    session = make_session(make_turn(Role.SYSTEM, "Be terse."), make_turn(Role.USER, "  Is it\n warm?  "))
    assert session.title == "Is it warm?"
    session.change(title=" Weather ")
    assert session.title == "Weather"
    session.change(title="")
    assert session.title == "Is it warm?"
    edit_text(session, session.transcript.path[1].id, "word " * 40)
    assert len(session.title) <= 48
    assert session.title.endswith("…")
    assert make_session().title == "New experiment"


def test_summary_names_model_turns_and_waiting_calls() -> None:
    assert make_session(model="").summary == "no model"
    session = make_session(make_turn(Role.USER, "?"))
    assert session.summary == "m · 1 message"
    session.turns.add_turn(calling(call("c1"), call("c2")))
    assert session.summary == "m · 2 tool calls need results"


def test_settings_are_announced_only_when_they_differ() -> None:
    session = make_session()
    changes: list[Change] = []
    session.subscribe(changes.append)
    session.change(model="m", protocol="chat", tools=())
    session.set_parameters(session.settings.current)
    assert changes == []
    session.change(model=" other ")
    assert session.settings.model == "other"
    assert SettingsChanged() in changes
    with pytest.raises(ValueError, match="unknown protocol"):
        session.change(protocol="telegraph")


def test_new_experiment_asks_for_a_stream_and_each_protocol_keeps_its_parameters() -> None:
    session = make_session(make_turn(Role.USER, "Hello"))
    assert session.next_request.body() == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    session.set_parameters(session.settings.current.with_value("temperature", 1.5))
    session.change(protocol="messages")
    assert "temperature" not in session.next_request.body()
    session.change(protocol="chat")
    assert session.next_request.body()["temperature"] == 1.5


def test_refusals_name_what_is_missing() -> None:
    assert make_session(make_turn(Role.USER, "?"), model="").next_request.refusal() == "Choose a model first (Ctrl+L)."
    assert make_session().next_request.refusal() == "Write a message first."
    assert make_session().next_request.refusal(make_turn(Role.USER, "Hello")) == ""
    session = make_session(make_turn(Role.USER, "?"), calling(*(call(f"c{number}") for number in range(5))))
    names = "get_weather (c0), get_weather (c1), get_weather (c2)"
    assert session.next_request.refusal().endswith(f"Still open: {names} and 2 more.")
    for number in range(4):
        session.turns.answer(f"c{number}", "fine")
    words = "Every tool call needs a result before the next request. Still open: get_weather (c4)."
    assert session.next_request.refusal() == words
    assert session.next_request.refusal(make_turn(Role.TOOL, "", ToolResult(call_id="c4", text="fine"))) == ""
    cut = calling(call("c1"), outcome=Outcome(ending=Ending.COMPLETE, finish_reason="length"))
    words = "The answer broke off at a tool call: get_weather (c1). Regenerate that message, or delete it."
    assert make_session(make_turn(Role.USER, "?"), cut).next_request.refusal() == words


async def test_refused_run_or_regeneration_changes_nothing() -> None:
    session = make_session()
    changes: list[Change] = []
    session.subscribe(changes.append)
    with pytest.raises(RunRefusedError, match="Write a message first"):
        await session.run()
    assert (changes, session.undo()) == ([], False)
    session = make_session(make_turn(Role.USER, "?"), calling(call("c1")), make_turn(Role.ASSISTANT, "early"))
    before = session.transcript
    with pytest.raises(RunRefusedError, match="Every tool call"):
        await session.regenerate(before.path[-1].id)
    assert session.transcript is before


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["add", "edit", "role", "delete", "up", "down", "alternative", "answer", "undo", "redo", "begin", "end"]
        ),
        st.integers(0, 50),
    ),
    max_size=40,
)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
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
    turn_ids = list(session.transcript.turns)
    path = [turn.id for turn in session.transcript.path]
    anyone = turn_ids[number % len(turn_ids)] if turn_ids else ""
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
    elif not turn_ids:
        return
    elif what == "edit":
        edit_text(session, anyone, "other")
    elif what == "role":
        session.turns.change_role(anyone, list(Role)[number % len(Role)])
    elif what == "delete" and anyone not in session.growing:
        session.delete_turn(anyone)
    elif what in ("up", "down") and on_path:
        session.turns.move_turn(on_path, -1 if what == "up" else 1)
    elif what == "alternative":
        session.turns.select_alternative(anyone)
