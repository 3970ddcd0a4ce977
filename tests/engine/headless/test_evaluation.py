"""Evaluations from the command line: what is printed, kept, written, and how they end, killed ones among them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from playground.demo.server import DemoServer
from playground.engine.gateways.secrets import Secret
from playground.engine.headless.evaluated_file import EvaluationOptions
from playground.engine.headless.evaluation import evaluate_file
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.io.file_lock import FileLock
from tests.engine.debugging import begin
from tests.engine.headless.runs import CANARY, Ended
from tests.support.command import run_command, started_command
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer, Step, keep, send, sleep, whole

CITIES = ("Lisbon", "Oslo", "Rome")


def saved(text: str = "Is it warm in {{city}}? !fast", **plan: Any) -> dict[str, Any]:
    evaluation = {
        "streamed": False,
        "cases": [{"name": city, "values": {"city": city}} for city in CITIES],
        "variants": [{"id": "b", "name": "Reasoner", "differences": {"model": "demo-reasoner"}}],
        "checks": [{"kind": "contains", "text": "{{city}}"}],
        **plan,
    }
    turns = [{"id": "t", "role": "user", "parts": [{"kind": "text", "text": text}]}]
    return {"experiment": 1, "id": "e", "model": "demo-chat", "turns": turns, "head": "t", "evaluation": evaluation}


@dataclass
class Desk:
    folder: Path
    base_url: str

    @property
    def file(self) -> Path:
        return self.folder / "weather.playground.json"

    @property
    def answers(self) -> Path:
        return self.folder / "weather.answers.sqlite"

    def write(self, content: object) -> None:
        self.file.write_text(json.dumps(content), encoding="utf-8")

    async def run(self, content: object | None = None, **options: Any) -> Ended:
        if content is not None:
            self.write(content)
        out, err = io.StringIO(), io.StringIO()
        evaluation_options = EvaluationOptions(
            **{"base_url": self.base_url, "key": Secret(CANARY), "retries": 0, **options}
        )
        code = await evaluate_file(self.file, evaluation_options, out, err)
        for path in self.folder.iterdir():
            assert CANARY.encode() not in path.read_bytes(), path
        assert CANARY not in out.getvalue() + err.getvalue()
        return Ended(code, out.getvalue(), err.getvalue())


@pytest.fixture
def desk(tmp_path: Path, demo: DemoServer) -> Desk:
    return Desk(tmp_path, demo.base_url)


async def test_answers_are_shown_kept_and_not_asked_for_again_unless_it_is_said(desk: Desk, demo: DemoServer) -> None:
    ended = await desk.run(saved())
    assert ended.code == ExitCode.OK
    lines = ended.out.splitlines()
    assert lines[0].split() == ["passed", "95", "%", "answers", "failed", "s", "tokens", "price"]
    assert [line.split("  ")[0] for line in lines[1:3]] == ["A · as set", "B · Reasoner"]
    assert "Contains  “{{city}}”" in ended.out
    assert ended.err.splitlines()[-1].startswith("playground: 6 of 6")
    again = await desk.run()
    assert again.code == ExitCode.BAD_INPUT
    assert "has 6 of the 6 answers already" in again.err
    assert (await desk.run(go_on=True)).code == ExitCode.OK
    assert len(demo.requests) == 6
    assert (await desk.run(fresh=True)).code == ExitCode.OK
    assert len(demo.requests) == 12


async def test_a_part_of_it_is_found_in_the_whole(desk: Desk, demo: DemoServer) -> None:
    part = await desk.run(saved(), only=("reasoner",), cases=("*o*",))
    assert part.code == ExitCode.OK
    assert "A · as set" not in part.out
    assert len(demo.requests) == 3
    everything = await desk.run(go_on=True)
    assert everything.code == ExitCode.OK
    assert len(demo.requests) == 6


UNUSABLE: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"cases": []}, {}, "There is no case yet."),
    ({"cases": [{"name": "X"}]}, {}, "X has no value for {{city}}."),
    ({"checks": [{"kind": "judge", "rubric": "kind"}]}, {}, "The judge has no model"),
    ({"checks": [{"kind": "regex", "pattern": "("}]}, {}, "no regular expression"),
    ({"budget": {"requests": 0}}, {}, "A budget of 0 requests"),
    ({}, {"only": ("C",)}, "there is no variant “C”; there is A · as set, B · Reasoner"),
    ({}, {"cases": ("x*",)}, "no case is called “x*”"),
    ({"repeats": "often"}, {}, "repeats"),
]


async def test_evaluation_that_cannot_be_run_is_explained_in_a_line(desk: Desk, demo: DemoServer) -> None:
    (desk.folder / "file").write_text("no folder", encoding="utf-8")
    elsewhere: tuple[dict[str, Any], dict[str, Any], str] = (
        {},
        {"answers": desk.folder / "file" / "answers.sqlite"},
        "",
    )
    for change, options, words in (*UNUSABLE, elsewhere):
        ended = await desk.run(saved(**change), **options)
        assert ended.code == ExitCode.BAD_INPUT
        assert words in ended.err
        assert ended.err.count("\n") == 1
    assert not demo.requests


async def test_a_file_without_an_evaluation_is_refused(desk: Desk) -> None:
    content = saved()
    del content["evaluation"]
    assert "has no evaluation" in (await desk.run(content)).err
    assert "must be a saved experiment" in (await desk.run({"playground": 1})).err


async def test_a_rate_that_is_not_reached_ends_with_1(desk: Desk) -> None:
    checks = [{"kind": "contains", "text": "never said by anybody"}]
    ended = await desk.run(saved(checks=checks), fail_under=0.5)
    assert ended.code == ExitCode.FAILED
    assert "A · as set passed 0.0 %; --fail-under requires 50 %." in ended.err
    assert "Lisbon · A · 1 of 1 · Contains: “never said by anybody” is not in the answer" in ended.out
    assert (await desk.run(go_on=True, fail_under=0.0)).code == ExitCode.OK
    unjudged = await desk.run(saved(checks=[]), go_on=True, fail_under=0.0)
    assert unjudged.code == ExitCode.FAILED
    assert "was not judged" in unjudged.err


async def test_answers_that_failed_are_said_and_a_refused_key_stops_it(desk: Desk, demo: DemoServer) -> None:
    ended = await desk.run(saved(text="{{city}} !500"))
    assert ended.code == ExitCode.INCOMPLETE
    assert "6 of 6 answers failed for good" in ended.err
    refused = await desk.run(saved(text="{{city}} !401", at_once=1))
    assert refused.code == ExitCode.HTTP
    assert "Stopped: A · as set: " in refused.err
    assert len(demo.requests) == 7, "the first refusal stops it"


async def test_a_budget_ends_it_with_what_came(desk: Desk) -> None:
    ended = await desk.run(saved(), requests=4, at_once=1)
    assert ended.code == ExitCode.INCOMPLETE
    assert "The budget of 4 requests is used up." in ended.err
    assert (await desk.run(go_on=True)).code == ExitCode.OK


async def test_all_exports_are_written(desk: Desk) -> None:
    outputs = {
        kind: desk.folder / f"out.{kind}" for kind in ("json", "jsonl", "csv", "junit", "html", "promptfoo", "inspect")
    }
    ended = await desk.run(saved(), outputs=outputs)
    assert ended.code == ExitCode.OK
    contents = {kind: path.read_text(encoding="utf-8") for kind, path in outputs.items()}
    assert len(json.loads(contents["json"])["answers"]) == 6
    assert [item["letter"] for item in json.loads(contents["json"])["variants"]] == ["A", "B"]
    assert len(contents["jsonl"].splitlines()) == 6
    assert len(ElementTree.fromstring(contents["junit"])) == 2
    assert contents["html"].startswith("<!DOCTYPE html>")
    assert json.loads(contents["promptfoo"])["results"]["version"] == 3
    assert len(contents["inspect"].splitlines()) == 3
    wrong = await desk.run(go_on=True, outputs={"json": desk.folder / "nowhere" / "x.json"})
    assert (wrong.code, "there is no folder" in wrong.err) == (ExitCode.BAD_INPUT, True)


async def test_interrupted_it_shows_and_keeps_what_came(desk: Desk) -> None:
    cases = [{"values": {"city": str(number)}} for number in range(60)]
    desk.write(saved(text="{{city}} !tps=400", cases=cases, variants=[]))
    out, err = io.StringIO(), io.StringIO()
    options = EvaluationOptions(base_url=desk.base_url, key=Secret(CANARY))
    task = begin(evaluate_file(desk.file, options, out, err))
    await eventually(lambda: desk.answers.exists() and saved_count(desk.answers) >= 4)
    task.cancel()
    assert await task == ExitCode.INTERRUPTED
    assert "A · as set" in out.getvalue()
    assert "Interrupted. The answers so far are saved" in err.getvalue()
    assert 4 <= saved_count(desk.answers) < 60


def saved_count(path: Path) -> int:
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM answers").fetchone()[0])
    except sqlite3.Error:
        return 0


async def test_the_sample_shows_a_variant_that_is_worse(desk: Desk) -> None:
    sample = Path(__file__).parents[3] / "resources" / "samples" / "evaluation.playground.json"
    ended = await desk.run(json.loads(sample.read_text(encoding="utf-8")))
    assert ended.code == ExitCode.OK
    good, bad = (line.split() for line in ended.out.splitlines()[1:3])
    assert (good[4], good[5]) == ("100", "%")
    assert int(bad[3]) < 60
    assert "B passes less often than A (p < 0.001)" in ended.out or "B passes less often than A (p = 0.0" in ended.out
    assert "Contains: “= " in ended.out.partition("failed a check:")[2]


# ---- killed ----------------------------------------------------------------------------------------------------------


def reply(text: str) -> Step:
    message = {"role": "assistant", "content": text}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    body = json.dumps({"id": "1", "object": "chat.completion", "model": "m", "choices": choices}).encode()
    return send(whole(200, "application/json", body))


@pytest.fixture
def slow() -> Iterator[FaultServer]:
    with FaultServer() as server:
        server.play(sleep(0.02), reply("Hello"), keep())
        yield server


@pytest.mark.skipif(sys.platform == "win32", reason="platform: needs Linux or macOS, for a process that is killed")
def test_killed_evaluation_continues_with_every_answer_once(tmp_path: Path, slow: FaultServer) -> None:
    """Answers reported as done before each kill are saved unchanged; no more is asked again than what was under way."""
    desk = Desk(tmp_path, slow.url)
    count, at_once, kills = 80, 4, int(os.environ.get("KILLS", "2"))
    cases = [{"id": f"c{number}", "values": {"city": str(number)}} for number in range(count)]
    desk.write(saved(cases=cases, variants=[], at_once=at_once))
    command = ("eval", str(desk.file), "--base-url", slow.url, "--continue", "--retries", "0")
    before: dict[str, tuple[Any, ...]] = {}
    killed = 0
    for _ in range(kills):
        start = saved_count(desk.answers)
        with started_command(*command) as child:
            deadline = time.monotonic() + 60
            while saved_count(desk.answers) < start + 4 and child.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            child.kill()
            line_text = child.communicate(timeout=20)[1].decode()
        killed += child.returncode == -signal.SIGKILL
        done_count = max((int(number) for number in re.findall(rf"(\d+) of {count}", line_text)), default=0)
        now = rows(desk.answers)
        assert len(now) >= done_count
        assert {key: now[key] for key in before} == before
        before = now
    assert killed >= 1
    last = run_command(*command)
    assert last.returncode == 0, last.err
    after = rows(desk.answers)
    assert len(after) == count
    assert {key: after[key] for key in before} == before
    assert count <= len(slow.requests) <= count + killed * at_once


def rows(path: Path) -> dict[str, tuple[Any, ...]]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        rows = connection.execute('SELECT "case", digest, repeat, at, gist FROM answers').fetchall()
    assert len({row[0] for row in rows}) == len(rows)
    return {row[0]: row for row in rows}


@pytest.mark.parametrize("options", [{"go_on": True}, {}])
async def test_second_evaluation_on_one_answers_file_is_refused(
    desk: Desk, demo: DemoServer, options: dict[str, Any]
) -> None:
    lock = FileLock(desk.answers.with_name(f"{desk.answers.name}.lock"), temporary=True)
    lock.acquire()
    try:
        ended = await desk.run(saved(), **options)
        assert ended.code == ExitCode.BAD_INPUT
        assert f"another evaluation is writing to {desk.answers}" in ended.err
        assert "--answers" in ended.err
        assert not demo.requests
        second = desk.folder / "other.answers.sqlite"
        assert (await desk.run(answers=second)).code == ExitCode.OK
    finally:
        lock.release()
    assert (await desk.run(**options)).code == ExitCode.OK
    assert not list(desk.folder.glob("*.lock"))
