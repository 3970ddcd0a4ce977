"""Experiments in files: what is written is read again and fits its schema, and a file from elsewhere does no harm."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from playground.domain.parts import Image, Text, ToolCall, Unknown
from playground.domain.request import Request
from playground.domain.transcript import Role, Turn
from playground.engine.files.experiment_file import SUFFIX, ExperimentFileError, open_file, read, save, write
from playground.engine.files.experiment_file.schema import experiment_schema
from playground.engine.gateways.secrets import Secret
from playground.engine.io.files import resource_root
from playground.engine.session.snapshot import Snapshot
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import get_protocol, parameters_of
from playground.ui.features.conversation.calls.call_text import unknown_lines
from tests.engine.files.experiment_file.experiments import experiments
from tests.support.each_case import each_case

KEY = 'gw-canary-"4f9c1d7e0a/+'
SCHEMA = json.loads((resource_root() / "schemas" / "experiment.schema.json").read_text(encoding="utf-8"))
WRITTEN_AS = Draft202012Validator(SCHEMA)
MINIMAL: dict[str, Any] = {"experiment": 1, "id": "e"}


def content(snapshot: Snapshot) -> Any:
    return json.loads(write(snapshot))


def in_any_order(snapshot: Snapshot) -> Snapshot:
    return snapshot.model_copy(update={"turns": tuple(sorted(snapshot.turns, key=lambda turn: turn.id))})


def alternatives(snapshot: Snapshot) -> list[tuple[str, ...]]:
    return [snapshot.transcript.children(key) for key in (None, *sorted(snapshot.transcript.turns))]


# ---- the way there and back ------------------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(experiments())
def test_experiment_fits_the_schema_and_is_read_again(snapshot: Snapshot) -> None:
    data = write(snapshot)
    WRITTEN_AS.validate(json.loads(data))
    back = read(data)
    assert in_any_order(back) == in_any_order(snapshot)
    assert back.transcript == snapshot.transcript
    assert alternatives(back) == alternatives(snapshot)
    assert write(back) == data


def test_text_has_one_line_per_line() -> None:
    turn = Turn(id="t1", role=Role.USER, parts=(Text(text="one\ntwo"), Image(url="data:image/png;base64,AAAA")))
    lines = write(Snapshot(id="e1", turns=(turn,), head="t1", extra_body={"n": [1, [2.5, 3]]})).decode().splitlines()
    assert lines[:3] == ["{", '  "experiment": 1,', '  "id": "e1",']
    assert '    "n": [1, [2.5, 3]]' in lines
    assert [line.strip() for line in lines if "one" in line or "two" in line] == ['"one",', '"two"']


def test_unknown_fields_written_by_hand_are_kept() -> None:
    hand_written = {
        **MINIMAL,
        "$schema": "./experiment.schema.json",
        "tomorrow": {"a": ["x", "y"]},
        "turns": [
            {"id": "t", "role": "user", "parts": [{"kind": "text", "text": ["a", "b"], "arguments": ["x"]}], "z": 1}
        ],
        "debugging": {"new": None},
    }
    back = read(json.dumps(hand_written).encode())
    assert back.turns[0].text == "a\nb"
    assert content(back) == hand_written


def test_deep_and_infinite_values_are_read_again() -> None:
    deep: Any = float("inf")
    for level in range(300):
        deep = {"a": deep} if level % 2 else [deep, "Infinity"]
    part = Unknown(value={"deep": deep, "small": float("-inf"), "many": [1e308, float("inf")]})
    snapshot = Snapshot(id="e", turns=(Turn(id="t", role=Role.USER, parts=(part,)),), extra_body={"x": deep})
    data = write(snapshot)
    assert b"Infinity," not in data.replace(b'"Infinity"', b"")
    assert read(data) == snapshot


# ---- no key ----------------------------------------------------------------------------------------------------------


def test_no_key_reaches_the_file() -> None:
    deep: Any = KEY
    for _ in range(100):
        deep = [deep]
    call = ToolCall(id="c", name="f", arguments=json.dumps({"key": KEY}))
    turn = Turn(id="t", role=Role.ASSISTANT, parts=(Text(text=f"a\n{KEY}\nb"), call, Unknown(value={KEY: deep})))
    snapshot = Snapshot(id="e", title=KEY, turns=(turn,), variables={"k": KEY}, extra_body={"k": json.dumps([KEY])})
    data = write(snapshot, [Secret(KEY)])
    back = read(data)
    for text in (data.decode(), back.model_dump_json()):
        assert "canary" not in text
    assert back.turns[0].text == "a\n••••\nb"
    assert json.loads(back.turns[0].calls[0].arguments) == {"key": "••••"}


def test_secret_equal_to_a_word_of_the_format_is_kept() -> None:
    call = ToolCall(id="c", name="f", arguments="{}")
    turn = Turn(id="t", role=Role.ASSISTANT, parts=(call, Text(text="an assistant and its parameters")))
    snapshot = Snapshot(id="e", turns=(turn,), parameters={"chat": parameters_of("chat", {"seed": 12345678})})
    secrets = [Secret(word) for word in ("assistant", "tool_call", "arguments", "parameters", "12345678", "experiment")]
    back = read(write(snapshot, secrets))
    assert back.turns[0].text == "an •••• and its ••••"
    assert back.turns[0].calls == (call,)
    assert back.parameters == snapshot.parameters


# ---- the schema ------------------------------------------------------------------------------------------------------


def test_schema_is_up_to_date() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert experiment_schema() == SCHEMA, "write it again: python -m playground.engine.files.experiment_file.schema"


@each_case(
    "wrong",
    [
        {"experiment": 2},
        {"turns": [{"role": "user"}]},
        {"turns": [{"id": "t", "role": "narrator"}]},
        {"turns": [{"id": "t", "role": "user", "parts": [{"kind": "text", "text": [1]}]}]},
        {"debugging": {"default": {"policy": "never"}}},
        {"created_at": -1},
    ],
)
def test_schema_and_reader_refuse_the_same_files(wrong: dict[str, Any]) -> None:
    content = {**MINIMAL, **wrong}
    assert not WRITTEN_AS.is_valid(content)
    with pytest.raises(ExperimentFileError):
        read(json.dumps(content).encode())


# ---- hostile files ---------------------------------------------------------------------------------------------------


def turns(*pairs: tuple[str, str | None]) -> dict[str, Any]:
    return {"turns": [{"id": key, "role": "user", "parent": parent} for key, parent in pairs]}


def outcome(**fields: Any) -> dict[str, Any]:
    return {"turns": [{"id": "t", "role": "assistant", "outcome": {"ending": "complete", **fields}}]}


@each_case(
    ("wrong", "words"),
    [
        ({"experiment": 2}, "it is of version 2, and this application reads up to version 1; update"),
        ({"experiment": "1"}, "must be the version of the format, a whole number"),
        ({"id": ""}, "the id of the experiment must have 1 to 256 characters"),
        (turns(("", None)), "the id of turn 1 must have"),
        (turns(("a", None), ("a", None)), "turn 2 has the id “a”, which another turn has, too"),
        (turns(("a", "b")), "turn 1 follows “b”, which is not among the turns"),
        (turns(("a", "a")), "follows itself"),
        ({"head": "x"}, "the head is “x”, which is not among the turns"),
        ({"turns": [7]}, "turn 1 must be an object"),
        ({"turns": [{"id": "t", "role": "user", "parts": [{"depth": 3}]}]}, "turn 1: part 1 must name a known kind"),
        ({"extra_headers": {"Authorization": "Bearer abcdefghijklmnop"}}, "extra_headers: “Authorization” looks like"),
        ({"extra_headers": {"X-A": "a\r\nX-B: c"}}, "extra_headers: "),
        (outcome(timing={"started_at": 1e300}), "turn 1"),
        (outcome(timing={"started_at": 1, "end": 1e300}), "turn 1 holds a number that is out of all bounds"),
        ({"tools": [{"name": "f", "parameters": "x"}]}, "tool 1: “parameters” must be an object"),
    ],
)
def test_invalid_file_is_refused_in_words(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ExperimentFileError) as raised:
        read(json.dumps({**MINIMAL, **wrong}).encode())
    assert words in str(raised.value)
    assert str(raised.value).endswith(".")
    assert len(str(raised.value)) < 500


@each_case(
    ("data", "words"),
    [
        (b"\xff\xfe", "This is no experiment: it is not UTF-8 text."),
        (b"", "This is no experiment: it is not JSON"),
        (b'{"experiment": 1, "id": "e", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b'{"experiment": 1, "id": "e", "created_at": NaN}', "NaN is not JSON"),
        (b"[]", "Files of messages are imported."),
        (b'{"playground": 1}', "“experiment”, which names the version of the format, is missing"),
    ],
)
def test_other_file_is_refused_in_words(data: bytes, words: str) -> None:
    with pytest.raises(ExperimentFileError) as raised:
        read(data)
    assert words in str(raised.value)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(experiments(), st.data())
def test_damaged_file_is_read_or_refused(snapshot: Snapshot, data: st.DataObject) -> None:
    written = write(snapshot)
    for _ in range(4):  # making an experiment is what costs: each is damaged in several ways
        damaged = json.loads(written)
        part, key = damaged, data.draw(st.sampled_from(list(damaged)))
        while isinstance(part[key], dict | list) and part[key] and data.draw(st.booleans()):
            part = part[key]
            key = data.draw(st.sampled_from(list(part) if isinstance(part, dict) else range(len(part))))
        part[key] = data.draw(st.sampled_from([None, True, -1, 1e300, "x", [], {}, [[]], {"kind": "text"}, ["a", 1]]))
        try:
            back = read(json.dumps(damaged).encode())
        except ExperimentFileError:
            continue
        assert read(write(back)) == back


# ---- files -----------------------------------------------------------------------------------------------------------


def test_saved_file_replaces_the_old_one(tmp_path: Path) -> None:
    snapshot = Snapshot(id="e", title="one")
    path = tmp_path / f"a{SUFFIX}"
    save(path, snapshot)
    assert open_file(path) == snapshot
    save(path, snapshot.model_copy(update={"title": "two"}))
    assert open_file(path).title == "two"
    assert list(tmp_path.iterdir()) == [path]
    if sys.platform != "win32":
        path.chmod(0o640)
        link = tmp_path / "link.json"
        link.symlink_to(path)
        save(link, snapshot)
        assert link.is_symlink()
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        assert open_file(path).title == "one"


def test_unwritable_file_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / f"a{SUFFIX}"
    save(path, Snapshot(id="e"))
    before = path.read_bytes()
    broken = Snapshot(id="e", extra_body={"x": object()})
    with pytest.raises(ExperimentFileError, match="cannot be written"):
        save(path, broken)
    assert path.read_bytes() == before
    with pytest.raises(ExperimentFileError, match="cannot be written"):
        save(tmp_path / "none" / "a.json", Snapshot(id="e"))
    with pytest.raises(ExperimentFileError, match="cannot be written"):
        save(tmp_path, Snapshot(id="e"))
    assert list(tmp_path.iterdir()) == [path]


def test_part_of_a_newer_version_is_kept_and_not_sent() -> None:
    hologram = {"kind": "hologram", "depth": 3, "text": ["kept", "as it is"]}
    parts = [{"kind": "text", "text": "look"}, hologram]
    snapshot = read(
        json.dumps({**MINIMAL, "turns": [{"id": "t", "role": "user", "parts": parts}], "head": "t"}).encode()
    )
    unknown = snapshot.turns[0].parts[1]
    assert isinstance(unknown, Unknown)
    assert unknown.value == hologram
    assert "newer version" in unknown_lines(unknown)[0]
    again = json.loads(write(snapshot))
    assert again["turns"][0]["parts"] == parts
    assert read(json.dumps(again).encode()) == snapshot
    for name in PROTOCOLS:
        request = Request(
            protocol=name, model="m", turns=snapshot.turns, parameters=get_protocol(name).parameters_type()
        )
        protocol = get_protocol(name)
        assert protocol.entries(protocol.encode(request)) == [{"role": "user", "content": "look"}]
