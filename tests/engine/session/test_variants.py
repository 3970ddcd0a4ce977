"""Variants: only what differs is kept, it is the same again where it is applied, and files have it as it was."""

from __future__ import annotations

import json
from functools import cache, partial
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.domain.request import ReasoningReturn, SendReasoning
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, make_turn
from playground.engine.files.experiment_file import ExperimentFileError, read, write
from playground.engine.files.experiment_file.schema import experiment_schema
from playground.engine.session.branching import under_system
from playground.engine.session.session import Session
from playground.engine.session.settings import ExperimentSettings
from playground.engine.session.snapshot import restore, snapshot
from playground.engine.session.variants import RequestSettings, Variant, letter_of
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import parameters_of
from tests.engine.session.test_session import make_session
from tests.support.editors import no_gateway

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "temperature": st.sampled_from([0, 0.5, 1, 1.0, "hot"]),
    "stream": st.booleans(),
    "top_k": st.sampled_from([1, 40]),  # of one protocol a field, of the other a key that nothing here knows
    "stop": st.sampled_from([("a",), ("a", "b")]),
}
PARAMETERS = st.fixed_dictionaries({}, optional=VALUES)
TOOLS = st.lists(st.builds(ToolDefinition, name=st.sampled_from("fg"), description=st.sampled_from(["", "1\n2"])))
SETTINGS = st.builds(
    ExperimentSettings,
    profile_id=st.sampled_from(["", "p", "q"]),
    protocol=st.sampled_from(["chat", "messages"]),
    model=st.sampled_from(["", "m", "n"]),
    parameters=st.fixed_dictionaries(
        {},
        optional={name: PARAMETERS.map(partial(parameters_of, name)) for name in ("chat", "messages")},
    ),
    tools=TOOLS.map(tuple),
    extra_body=st.sampled_from([{}, {"a": 1}, {"a": {"b": None}}]),
    extra_headers=st.sampled_from([{}, {"X-A": "1"}]),
    reasoning_return=st.sampled_from([None, ReasoningReturn(), ReasoningReturn(when=SendReasoning.ALWAYS)]),
)


def told(settings: RequestSettings) -> dict[str, Any]:
    """What of settings goes into requests. By whom a parameter was set does not."""
    found = dict(settings)
    held = {name: settings.changed(protocol=name).current.held for name in PROTOCOLS}
    return {**{name: found[name] for name in RequestSettings.model_fields}, "parameters": held}


@given(SETTINGS, SETTINGS)
def test_applied_it_is_what_was_wanted_and_without_a_difference_it_is_empty(
    base: ExperimentSettings, wanted: ExperimentSettings
) -> None:
    wanted = wanted.model_copy(update={"parameters": {**base.parameters, **wanted.parameters}})
    variant = Variant().of(base, wanted)
    assert told(variant.applied(base)) == told(wanted)
    assert variant.as_set == (
        told(wanted) == told(variant.applied(base)) == told(base) or variant.of(base, base) == variant
    )
    assert Variant().of(base, base).as_set
    assert variant.of(base, variant.applied(base)) == variant


@cache
def fits_schema() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(experiment_schema())


@given(SETTINGS, SETTINGS)
def test_a_file_has_it_as_it_was_and_fits_the_schema(base: ExperimentSettings, wanted: ExperimentSettings) -> None:
    session = Session(no_gateway, profile_id="p")
    variant = Variant(name="B", system="one\ntwo").of(base, wanted)
    session.history.settings = base.changed(variants=(variant,))
    lane = session.history.lane(variant.id)
    lane.transcript = under_system(lane.transcript, "one\ntwo")
    data = write(snapshot(session))
    fits_schema().validate(json.loads(data))
    again = read(data)
    assert again.variants == (variant,)
    assert again.variants[0].applied(base) == variant.applied(base)


def test_only_what_differs_reaches_a_lane_from_what_is_set_for_all() -> None:
    session = make_session(make_turn(Role.USER, "?"))
    session.change(variants=(Variant(name="warm"),))
    lane = session.lanes[1]
    lane.set_parameters(lane.settings.current.with_value("temperature", 1))
    lane.change(extra_body={"seed": 1})
    session.change(model="other")
    session.set_parameters(session.settings.current.with_value("top_p", 0.5))
    assert lane.settings.model == "other"
    assert lane.settings.current.held == {**session.settings.current.held, "temperature": 1}
    assert session.settings.extra_body == {}
    lane.change(extra_body={})
    lane.set_parameters(lane.settings.current.with_value("temperature", None))
    assert session.settings.variants[0].as_set
    assert lane.settings.current == session.settings.current


def test_what_all_lanes_have_together_is_set_for_all() -> None:
    session = make_session(make_turn(Role.USER, "{{a}}"))
    session.change(variants=(Variant(),))
    lane = session.lanes[1]
    lane.change(variables={"a": "1"}, title="Both")
    assert (session.settings.variables, session.settings.title) == ({"a": "1"}, "Both")
    assert session.settings.variants[0].as_set


def test_a_lane_begun_in_the_other_protocol_has_what_a_new_experiment_has_there() -> None:
    session = make_session(make_turn(Role.USER, "?"))
    session.change(variants=(Variant(),))
    lane = session.lanes[1]
    lane.switch_protocol("messages")
    assert (lane.settings.protocol, session.settings.protocol) == ("messages", "chat")
    assert lane.settings.current.is_ours("stream")
    assert "stream" not in session.settings.variants[0].differences.model_dump()["parameters"].get("messages", {})


def test_what_a_newer_version_wrote_into_a_variant_stays_and_its_protocol_is_left() -> None:
    session = make_session(make_turn(Role.USER, "?"))
    content = json.loads(write(snapshot(session)))
    content["variants"] = [
        {"id": "v", "differences": {"protocol": "tomorrow", "model": "n", "colour": "red"}, "shape": ["round"]}
    ]
    found = read(json.dumps(content).encode())
    restore(found, session)
    lane = session.lanes[1]
    assert (lane.settings.protocol, lane.settings.model) == ("chat", "n")
    lane.change(model="o")
    again = json.loads(write(snapshot(session)))["variants"][0]
    assert (again["differences"]["colour"], again["shape"]) == ("red", ["round"])


@pytest.mark.parametrize(
    ("variants", "words"),
    [
        ([{"id": "v"}, {"id": "v"}], "variant 2 needs an id of its own"),
        ([{"id": ""}], "variant 1 needs an id of its own"),
        ([{"id": "v", "differences": {"extra_headers": {"Authorization": "Bearer x"}}}], "variant 1: extra_headers"),
        ([{"id": "v", "differences": {"model": 1}}], "“model” must be text"),
        ([{"id": "v", "differences": {"parameters": {"chat": 1}}}], "parameters"),
        ([{"id": str(number)} for number in range(6)], "6 variants are too many; 5 fit beside the experiment"),
    ],
)
def test_a_file_that_cannot_be_right_is_refused_in_words(variants: list[Any], words: str) -> None:
    content = json.loads(write(snapshot(make_session())))
    with pytest.raises(ExperimentFileError, match=words):
        read(json.dumps({**content, "variants": variants}).encode())


def test_a_lane_that_ends_at_no_turn_is_refused_in_words() -> None:
    content = json.loads(write(snapshot(make_session())))
    beside = {"variants": [{"id": "v"}], "heads": {"v": "no_gateway"}}
    with pytest.raises(ExperimentFileError, match="“v” ends at “no_gateway”, which is not among the turns"):
        read(json.dumps({**content, **beside}).encode())


def test_a_variant_written_by_hand_begins_where_the_conversation_ends_under_its_own_system_turn() -> None:
    session = make_session(make_turn(Role.SYSTEM, "Be brief."), make_turn(Role.USER, "Hello"))
    content = json.loads(write(snapshot(session)))
    content["variants"] = [{"id": "b"}, {"id": "c", "system": "Be long."}, {"id": "d", "system": ""}]
    restore(read(json.dumps(content).encode()), session)
    texts = [[turn.text for turn in lane.transcript.path] for lane in session.lanes]
    assert texts == [["Be brief.", "Hello"], ["Be brief.", "Hello"], ["Be long.", "Hello"], ["Hello"]]


def test_letters() -> None:
    assert [letter_of(place) for place in range(6)] == list("ABCDEF")
