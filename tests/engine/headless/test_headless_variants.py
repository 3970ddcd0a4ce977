"""A saved experiment run in one of its variants, or in all of them at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from playground.demo.server import DemoServer
from playground.engine.headless.exit_codes import ExitCode
from tests.engine.headless.runs import Desk, experiment

VARIANTS = [
    {"id": "v1", "name": "warm", "differences": {"parameters": {"chat": {"temperature": 1, "stream": None}}}},
    {"id": "v2", "differences": {"model": "demo-reasoner"}, "system": "Be long.", "gateway": "Elsewhere"},
    {"id": "v3", "name": "wrong", "differences": {"model": "no-such-model"}},
]


def saved(**fields: Any) -> dict[str, Any]:
    return {
        "experiment": 1,
        "id": "e",
        "model": "demo-chat",
        "parameters": {"chat": {"stream": True}},
        "draft": {"text": "Hello", "role": "user"},
        "variants": VARIANTS[:2],
        **fields,
    }


@pytest.fixture
def desk(tmp_path: Path, demo: DemoServer) -> Desk:
    return Desk(tmp_path, demo.base_url)


def bodies(demo: DemoServer) -> list[dict[str, Any]]:
    return [json.loads(request.body) for request in demo.requests if request.method == "POST"]


@pytest.mark.parametrize("name", ["warm", "B", " WARM "])
async def test_a_variant_is_run_by_its_name_or_its_letter(desk: Desk, demo: DemoServer, name: str) -> None:
    ended = await desk.run(saved(), variant=name)
    assert (ended.code, ended.err) == (ExitCode.OK, "")
    assert ended.out.strip()
    (body,) = bodies(demo)
    assert (body["model"], body["temperature"], "stream" in body) == ("demo-chat", 1, False)
    assert [message["content"] for message in body["messages"]] == ["Hello"]


async def test_its_own_system_turn_goes_out_and_another_gateway_is_spoken_of(desk: Desk, demo: DemoServer) -> None:
    ended = await desk.run(saved(), variant="C", as_json=True)
    assert ended.code == ExitCode.OK
    assert "C is set for the gateway “Elsewhere”" in ended.err
    (body,) = bodies(demo)
    assert [message["content"] for message in body["messages"]] == ["Be long.", "Hello"]
    assert (ended.json["model"], ended.json["complete"]) == ("demo-reasoner", True)


async def test_all_are_run_and_printed_the_experiment_as_set_first(desk: Desk, demo: DemoServer) -> None:
    ended = await desk.run(saved(), all_variants=True, as_json=True)
    assert ended.code == ExitCode.OK
    found = ended.json["variants"]
    assert [(one["letter"], one["name"], one["model"]) for one in found] == [
        ("A", "", "demo-chat"),
        ("B", "warm", "demo-chat"),
        ("C", "", "demo-reasoner"),
    ]
    assert found[1]["differences"] == {"parameters": {"chat": {"temperature": 1, "stream": None}}}
    assert all(one["complete"] and one["content"] for one in found)
    assert len(bodies(demo)) == 3


async def test_one_that_fails_is_named_and_the_others_are_printed(desk: Desk) -> None:
    ended = await desk.run(saved(variants=VARIANTS), all_variants=True, as_json=True)
    assert ended.code == ExitCode.HTTP
    assert [bool(one["content"]) for one in ended.json["variants"]] == [True, True, True, False]
    assert "playground: D · wrong: " in ended.err
    assert "playground: B" not in ended.err


async def test_what_is_not_there_is_said_with_what_is(desk: Desk, demo: DemoServer) -> None:
    for content in (saved(), experiment()):
        ended = await desk.run(content, variant="cold")
        assert ended.code == ExitCode.BAD_INPUT
        assert "There is no variant “cold”. There is A" in ended.err
    assert bodies(demo) == []


async def test_a_request_is_its_own_only_variant(desk: Desk) -> None:
    ended = await desk.run(experiment(), all_variants=True, as_json=True)
    assert [one["letter"] for one in ended.json["variants"]] == ["A"]
