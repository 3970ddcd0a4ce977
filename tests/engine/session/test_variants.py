"""Variants: the saved differences, the lanes that apply them, and their file."""

from __future__ import annotations

import json
from functools import cache, partial
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.domain.request import ReasoningReturn, SendReasoning
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, make_turn
from playground.engine.files.experiment_file import ExperimentFileError, read, write
from playground.engine.files.experiment_file.schema import experiment_schema
from playground.engine.session.branching import with_system_text
from playground.engine.session.session import Experiment
from playground.engine.session.settings import ExperimentSettings
from playground.engine.session.snapshot import restore, snapshot
from playground.engine.session.variants import RequestSettings, Variant
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import parameters_of
from tests.engine.session.test_session import make_session
from tests.support.each_case import each_case
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
        {}, optional={name: PARAMETERS.map(partial(parameters_of, name)) for name in ("chat", "messages")}
    ),
    tools=TOOLS.map(tuple),
    extra_body=st.sampled_from([{}, {"a": 1}, {"a": {"b": None}}]),
    extra_headers=st.sampled_from([{}, {"X-A": "1"}]),
    reasoning_return=st.sampled_from([None, ReasoningReturn(), ReasoningReturn(when=SendReasoning.ALWAYS)]),
)


def sent(settings: RequestSettings) -> dict[str, Any]:
    """Return the settings that go into requests, without who set a parameter."""
    result = dict(settings)
    parameters = {name: settings.changed(protocol=name).current.set_fields for name in PROTOCOLS}
    return {**{name: result[name] for name in RequestSettings.model_fields}, "parameters": parameters}


@settings(max_examples=40)
@given(SETTINGS, SETTINGS)
def test_variant_gives_the_target_settings(base: ExperimentSettings, target: ExperimentSettings) -> None:
    target = target.model_copy(update={"parameters": {**base.parameters, **target.parameters}})
    variant = Variant(name="B", system="one\ntwo").with_settings(base, target)
    assert sent(variant.applied(base)) == sent(target)
    assert Variant().with_settings(base, base).as_set
    assert variant.with_settings(base, variant.applied(base)) == variant
    session = Experiment(no_gateway, profile_id="p").main
    session.history.settings = base.changed(variants=(variant,))
    lane = session.experiment.lane(variant.id)
    lane.history.transcript = with_system_text(lane.transcript, "one\ntwo")
    data = write(snapshot(session))
    fits_schema().validate(json.loads(data))
    again = read(data)
    assert again.variants == (variant,)
    assert again.variants[0].applied(base) == variant.applied(base)


@cache
def fits_schema() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(experiment_schema())


def test_lane_follows_the_experiment_where_it_does_not_differ() -> None:
    session = make_session(make_turn(Role.USER, "?"))
    session.change(variants=(Variant(name="warm"),))
    lane = session.experiment.lanes[1]
    lane.set_parameters(lane.settings.current.with_value("temperature", 1))
    lane.change(extra_body={"seed": 1})
    session.change(model="other")
    session.set_parameters(session.settings.current.with_value("top_p", 0.5))
    assert lane.settings.model == "other"
    assert lane.settings.current.set_fields == {**session.settings.current.set_fields, "temperature": 1}
    assert session.settings.extra_body == {}
    lane.change(extra_body={})
    lane.set_parameters(lane.settings.current.with_value("temperature", None))
    assert session.settings.variants[0].as_set
    assert lane.settings.current == session.settings.current


def test_lane_sets_shared_settings_for_all_and_begins_another_protocol_with_its_defaults() -> None:
    session = make_session(make_turn(Role.USER, "{{a}}"))
    session.change(variants=(Variant(),))
    lane = session.experiment.lanes[1]
    lane.change(variables={"a": "1"}, title="Both")
    assert (session.settings.variables, session.settings.title) == ({"a": "1"}, "Both")
    assert session.settings.variants[0].as_set
    lane.switch_protocol("messages")
    assert (lane.settings.protocol, session.settings.protocol) == ("messages", "chat")
    assert lane.settings.current.is_ours("stream")
    assert "stream" not in session.settings.variants[0].differences.model_dump()["parameters"].get("messages", {})


def test_unknown_members_of_a_variant_stay_and_an_unknown_protocol_is_ignored() -> None:
    session = make_session(make_turn(Role.USER, "?"))
    content = json.loads(write(snapshot(session)))
    content["variants"] = [
        {"id": "v", "differences": {"protocol": "tomorrow", "model": "n", "colour": "red"}, "shape": ["round"]}
    ]
    stored = read(json.dumps(content).encode())
    restore(stored, session)
    lane = session.experiment.lanes[1]
    assert (lane.settings.protocol, lane.settings.model) == ("chat", "n")
    lane.change(model="o")
    again = json.loads(write(snapshot(session)))["variants"][0]
    assert (again["differences"]["colour"], again["shape"]) == ("red", ["round"])


@each_case(
    ("fields", "words"),
    [
        ({"variants": [{"id": "v"}, {"id": "v"}]}, "variant 2 needs a unique id"),
        ({"variants": [{"id": ""}]}, "variant 1 needs a unique id"),
        (
            {"variants": [{"id": "v", "differences": {"extra_headers": {"Authorization": "Bearer x"}}}]},
            "variant 1: extra_headers",
        ),
        ({"variants": [{"id": "v", "differences": {"model": 1}}]}, "“model” must be text"),
        ({"variants": [{"id": "v", "differences": {"parameters": {"chat": 1}}}]}, "parameters"),
        (
            {"variants": [{"id": str(number)} for number in range(6)]},
            "6 variants are too many; 5 fit beside the experiment",
        ),
        ({"variants": [{"id": "v"}], "heads": {"v": "x"}}, "“v” ends at “x”, which is not among the turns"),
    ],
)
def test_invalid_variants_of_a_file_are_refused(fields: dict[str, Any], words: str) -> None:
    content = json.loads(write(snapshot(make_session())))
    with pytest.raises(ExperimentFileError, match=words):
        read(json.dumps({**content, **fields}).encode())


def test_variant_written_by_hand_begins_at_the_end_with_its_system_turn() -> None:
    session = make_session(make_turn(Role.SYSTEM, "Be brief."), make_turn(Role.USER, "Hello"))
    content = json.loads(write(snapshot(session)))
    content["variants"] = [{"id": "b"}, {"id": "c", "system": "Be long."}, {"id": "d", "system": ""}]
    restore(read(json.dumps(content).encode()), session)
    texts = [[turn.text for turn in lane.transcript.path] for lane in session.experiment.lanes]
    assert texts == [["Be brief.", "Hello"], ["Be brief.", "Hello"], ["Be long.", "Hello"], ["Hello"]]
