"""Presets: what they take along, one step to use one and one to take it back, and the file they are kept in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from playground.domain.parts import Image
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, make_turn
from playground.engine.files.presets import Preset, PresetError, PresetStore, apply, fits, from_session
from playground.engine.gateways.secrets import Secret
from playground.engine.session.session import Experiment, Session
from playground.engine.session.snapshot import snapshot

TOOL = ToolDefinition(name="look", description="Looks.", parameters={"type": "object"}, group="Eyes")
FORMAT = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
KEY = "gw-canary-4f9c1d7e0a"


def fill(session: Session) -> None:
    session.turns.add_turn(make_turn(Role.SYSTEM, "Be {{mood}}."))
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    session.change(tools=(TOOL,))
    parameters = session.settings.current.with_value("temperature", 0.5).with_value("stop", ("a", "b"))
    session.set_parameters(parameters.with_value("response_format", FORMAT))


def second_session(session: Session) -> Session:
    created = Experiment(session.experiment.connect, profile_id=session.settings.profile_id, model="other").main
    created.turns.add_turn(make_turn(Role.USER, "Something else"))
    return created


def test_the_system_turn_is_replaced_put_in_or_taken_out(session: Session) -> None:
    image = Image(url="https://example.org/a.png")
    session.turns.add_turn(make_turn(Role.DEVELOPER, "Old", image))
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    apply(session, Preset(name="x", system="New"))
    first = session.transcript.path[0]
    assert (first.role, first.text, first.images) == (Role.DEVELOPER, "New", (image,))
    apply(session, Preset(name="x"))
    assert session.transcript.path[0] is first
    apply(session, Preset(name="x", system=""))
    assert [turn.text for turn in session.transcript.path] == ["Hello"]
    apply(session, Preset(name="x", system="Again"))
    assert [(turn.role, turn.text) for turn in session.transcript.path] == [
        (Role.SYSTEM, "Again"),
        (Role.USER, "Hello"),
    ]
    empty = Experiment(session.experiment.connect, profile_id="").main
    apply(empty, Preset(name="x", system="Alone"))
    assert [turn.text for turn in empty.transcript.path] == ["Alone"]
    for _ in range(3):
        session.undo()
    assert [turn.text for turn in session.transcript.path] == ["Old", "Hello"]


def test_protocol_and_model_go_along_where_that_is_wanted(session: Session) -> None:
    fill(session)
    target = second_session(session)
    target.change(protocol="messages")
    apply(target, from_session(session, "parameters alone"))
    assert (target.settings.protocol, target.settings.model) == ("messages", "other")
    wire = target.settings.current.to_wire()
    assert (wire["temperature"], wire["stop_sequences"], wire["stream"]) == (0.5, ["a", "b"], True)
    apply(target, from_session(session, "all", with_model=True))
    assert (target.settings.protocol, target.settings.model) == ("chat", "demo-chat")
    assert target.settings.current == session.settings.current


def test_one_of_a_later_version_is_refused_and_changes_nothing(session: Session) -> None:
    fill(session)
    before = snapshot(session)
    with pytest.raises(PresetError, match="which this version does not know"):
        apply(session, Preset(name="x", system="other", protocol="next", switches=True, parameters={}))
    assert snapshot(session) == before
    with pytest.raises(PresetError, match="needs a name"):
        from_session(session, " \n")


# ---- the file --------------------------------------------------------------------------------------------------------


def test_presets_are_kept(session: Session, tmp_path: Path) -> None:
    fill(session)
    path = tmp_path / "config" / "presets.json"
    store = PresetStore(path)
    assert store.presets == ()
    item = store.put(from_session(session, "one", with_model=True))
    two = store.put(Preset(name=" two "))
    assert store.named("two ") == two
    store.put(item.model_copy(update={"name": "first"}))
    store.move(two.id, 0)
    again = PresetStore(path)
    assert [preset.name for preset in again.presets] == ["two", "first"]
    assert again.presets == store.presets
    target = second_session(session)
    saved = again.get(item.id)
    assert saved is not None
    apply(target, saved)
    assert target.settings.current == session.settings.current
    store.remove(two.id)
    store.remove(two.id)
    assert [preset.name for preset in PresetStore(path).presets] == ["first"]
    with pytest.raises(KeyError):
        store.move(two.id, 0)


def test_unknown_fields_and_what_cannot_be_read_stay(tmp_path: Path) -> None:
    path = tmp_path / "presets.json"
    odd = {"name": 7, "later": True}
    preset = {"id": "a", "name": "one", "later": {"x": [1]}}
    path.write_text(json.dumps({"version": 1, "later": 1, "presets": [preset, odd, {**preset, "name": "twin"}]}))
    store = PresetStore(path)
    assert [preset.name for preset in store.presets] == ["one", "twin"]
    assert store.messages == ["The preset “7” could not be read (“name” must be text); it is left unchanged."]
    store.put(Preset(id="b", name="two"))
    content = json.loads(path.read_text())
    assert content["later"] == 1
    assert content["presets"][0]["later"] == {"x": [1]}
    assert odd in content["presets"]
    assert len({entry.get("id") for entry in content["presets"]}) == 4


def test_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "presets.json"
    path.write_text('{"presets": 3}')
    store = PresetStore(path)
    assert "does not hold a list of presets. It was set aside as" in store.messages[0]
    store.put(Preset(name="new"))
    assert len(list(tmp_path.iterdir())) == 2
    assert PresetStore(path).messages == []


def test_what_cannot_be_written_is_not_there(tmp_path: Path) -> None:
    store = PresetStore(tmp_path / "file" / "presets.json")
    (tmp_path / "file").write_text("")
    with pytest.raises(PresetError, match="The presets could not be saved to"):
        store.put(Preset(name="x"))
    assert store.presets == ()


def test_no_key_reaches_the_file(session: Session, tmp_path: Path) -> None:
    fill(session)
    tool = TOOL.model_copy(update={"description": KEY, "parameters": {"const": KEY}})
    preset = from_session(session, KEY).model_copy(update={"system": f"a {KEY}", "tools": (tool,)})
    store = PresetStore(tmp_path / "presets.json", lambda: [Secret(KEY)])
    store.put(preset.model_copy(update={"parameters": {"user": KEY}}))
    assert "canary" not in store.path.read_text()
    assert "••••" in store.path.read_text()
    assert len(PresetStore(store.path).presets) == 1


def test_what_a_person_set_and_what_is_the_programs_own_stay_apart(session: Session) -> None:
    fill(session)
    assert fits(session, from_session(session, "As it begins"))
    session.set_parameters(session.settings.current.with_value("stream", False).with_value("stream", True))
    preset = from_session(session, "By hand")
    assert fits(session, preset)
    into = second_session(session)
    assert apply(into, preset)
    assert not into.settings.current.is_ours("stream")
    assert into.settings.current.is_ours("include_usage")
