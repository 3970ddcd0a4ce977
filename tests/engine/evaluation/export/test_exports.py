"""Exports of an evaluation, each read by a library of others."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from playground.domain.checks.asked import Judge
from playground.domain.checks.figures import Tokens
from playground.domain.checks.texts import Contains, Matches
from playground.domain.transcript import Role, make_turn
from playground.engine.evaluation.answers import SavedAnswer
from playground.engine.evaluation.export.formats import to_inspect, to_junit, to_promptfoo
from playground.engine.evaluation.export.page import to_page
from playground.engine.evaluation.export.rows import Export, to_csv, to_jsonl
from playground.engine.evaluation.imports.promptfoo import read_configuration
from playground.engine.evaluation.provider import Answer
from playground.engine.evaluation.results import Results
from playground.engine.session.plan import Case
from playground.engine.session.session import Session
from playground.gateway.redact import Redactor
from tests.engine.evaluation.evaluations import Evaluations, planned, variant

NO_SECRETS = Redactor(())
HOSTILE = "=1+1 <script>alert(1)</script> \x00\x1b[31m \u202e\ud800 & ]]>"


@pytest.fixture
async def report(evaluations: Evaluations, session: Session) -> Export:
    """Three cases, one with a hostile name, of a variant that answers and one that does not."""
    session.turns.add_turn(make_turn(Role.SYSTEM, "Be brief."))
    named = (
        Case(id="a", name=HOSTILE, values={"city": "Oslo"}, expected='Oslo, "cold"'),
        Case(id="b", values={"city": "Rome"}),
        Case(id="c", turns=(make_turn(Role.USER, "Bye !fast"),)),
    )
    checks = (Contains(text="{{city}}"), Matches(pattern="^never$"), Tokens(most=100_000))
    planned(session, cases=named, checks=checks, variants=(variant("none", model="no-such-model"),), repeats=2)
    session.change(title="Weather <b>")
    runner = await evaluations.run(session)

    async def fetch(answer: Answer) -> SavedAnswer:
        return await evaluations.store.details(session.id, answer)

    return Export(Results(runner.resolved, runner.answers), fetch, NO_SECRETS)


async def test_rows_are_json_lines_and_csv(report: Export) -> None:
    lines = [json.loads(line) for line in (await to_jsonl(report)).splitlines()]
    assert len(lines) == 12
    first = lines[0]
    assert (first["values"], first["variant"], first["repeat"]) == ({"city": "Oslo"}, "A · as set", 1)
    assert first["case"].startswith("=1+1 <script>")
    assert first["text"]
    assert first["passed"] is False
    assert [item["check"] for item in first["checks"]] == ["Contains", "Regex", "Tokens"]
    assert [bool(item["failure"]) for item in lines] == [False, False, True, True] * 3
    rows = list(csv.DictReader(io.StringIO(await to_csv(report))))
    assert len(rows) == 12
    assert (rows[0]["city"], rows[0]["expected"]) == ("Oslo", 'Oslo, "cold"')
    assert rows[0]["Regex: ^never$"].startswith("failed: ")
    assert (rows[0]["Tokens: ≤ 100,000"], rows[-1]["Contains: “{{city}}”"]) == ("passed", "")
    assert not any(row["case"].startswith("=") for row in rows)


async def test_junit_has_a_suite_for_each_variant(report: Export) -> None:
    document = ElementTree.fromstring(await to_junit(report))
    suites = document.findall("testsuite")
    assert [(item.get("name"), item.get("tests"), item.get("failures"), item.get("errors")) for item in suites] == [
        ("A · as set", "3", "3", "0"),
        ("B · none", "3", "0", "3"),
    ]
    (failure,) = suites[0][0]
    assert failure.get("message") == "2 of 2 failed a check"
    assert "Regex: ^never$ finds nothing" in (failure.text or "")
    (error,) = suites[1][0]
    assert error.tag == "error"


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}


async def test_page_is_static_and_complete(report: Export) -> None:
    page = await to_page(replace(report, seconds=2.0))
    tags = Tags()
    tags.feed(page)
    assert not {"script", "link", "iframe", "img", "b", "form"} & set(tags.tags)
    assert not {item for item in tags.attributes if item.startswith("on") or item in ("src", "href", "style")}
    assert "default-src 'none'" in page
    assert tags.tags.count("svg") >= 2
    assert "<title>Weather &lt;b&gt;</title>" in page
    for words in ("3 cases × 2 variants × 2 repeats", "0 % [", "not judged", "95 % Wilson interval", "finds nothing"):
        assert words in page
    assert "\x1b" not in page
    assert not re.search("[\ud800-\udfff]", page)


async def test_promptfoo_export_is_imported_again(report: Export) -> None:
    imported = json.loads(await to_promptfoo(report))
    config = imported["config"]
    assert "Tokens" in config["description"]
    assert config["defaultTest"]["assert"] == [
        {"type": "contains", "value": "{{city}}"},
        {"type": "regex", "value": "^never$"},
    ]
    assert [item["id"] for item in config["providers"]] == ["openai:chat:demo-chat", "openai:chat:no-such-model"]
    assert imported["results"]["stats"] == {"successes": 0, "failures": 6, "errors": 6}
    assert len(imported["results"]["results"]) == 12
    again = read_configuration(json.dumps(config))
    assert [turn.text for turn in again.turns] == ["Be brief.", "What is {{city}} like? !fast"]
    assert [case.values.get("city") for case in again.cases] == ["Oslo", "Rome", None]
    assert again.checks == report.results.resolved.plan.checks[:2]


async def test_inspect_export_is_a_dataset(report: Export) -> None:
    lines = [json.loads(line) for line in (await to_inspect(report)).splitlines()]
    assert [(item["id"], item["target"]) for item in lines] == [("a", 'Oslo, "cold"'), ("b", ""), ("c", "")]
    assert lines[0]["input"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is Oslo like? !fast"},
    ]
    assert lines[2]["input"][-1]["content"] == "Bye !fast"


async def test_plan_without_answers_is_exported(evaluations: Evaluations, session: Session) -> None:
    runner = await evaluations.load(planned(session, checks=(Judge(rubric="kind", model="m"),)))
    results = Results(runner.resolved, runner.answers)

    async def fetch(_answer: Answer) -> SavedAnswer:
        raise AssertionError("there is none")

    source = Export(results, fetch, NO_SECRETS)
    assert await to_jsonl(source) == ""
    assert (await to_csv(source)).count("\r\n") == 1
    assert ElementTree.fromstring(await to_junit(source))[0].get("skipped") == "3"
    assert "not judged" in await to_page(source)
