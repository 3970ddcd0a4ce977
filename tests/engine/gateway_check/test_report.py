"""Saved reports of gateway checks: private, without secrets, bounded in number, with their exchanges and exports."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

from playground.demo.server import DemoServer
from playground.domain.encoding import encode
from playground.engine.gateway_check.report import (
    FORMATS,
    MAX_REPORTS,
    Departure,
    Line,
    Report,
    ReportError,
    ReportStore,
    Verdict,
    change_words,
    changes,
    previous_report,
)
from playground.engine.gateways.secrets import Secret
from tests.engine.gateway_check.checking import KEY, checked, target
from tests.support.each_case import each_case

HOSTILE = "<script>alert(1)</script> | **x** [a](http://evil) \u202e\nnext\x1b[31m\x9b31m\ud800 " + KEY


def line(verdict: Verdict, check: str = "schema", words: str = "") -> Line:
    return Line(check=check, title="JSON schema", protocol="chat", verdict=verdict, words=words)


def report(begun: float = 1_790_000_000.0, *lines: Line, **fields: object) -> Report:
    created = Report(
        gateway="Team", profile_id="p", base_url="https://g.example/v1", model="m", begun=begun, lines=lines
    )
    return created.model_copy(update=fields)


async def test_report_and_its_exchanges_are_saved_privately(gateway: DemoServer, tmp_path: Path) -> None:
    run = await checked(target(gateway.base_url), ("models", "whole", "stream"))
    report_store = ReportStore(tmp_path / "checks")
    report_store.save(run.report, run.exchanges, (Secret(KEY),))
    (result,) = report_store.load()
    assert encode(result) == encode(run.report)
    assert [exchange.id for exchange in report_store.exchanges(result)] == [exchange.id for exchange in run.exchanges]
    for file in report_store.folder.iterdir():
        assert KEY.encode() not in file.read_bytes()
        if sys.platform != "win32":
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
    report_store.delete(result)
    assert list(report_store.folder.iterdir()) == []


def test_oldest_reports_of_a_model_are_deleted(tmp_path: Path) -> None:
    report_store = ReportStore(tmp_path)
    report_store.save(report(1_700_000_000.0, model="other"), (), ())
    for number in range(MAX_REPORTS + 3):
        report_store.save(report(1_790_000_000.0 + number), (), ())
    result = report_store.load()
    assert len(result) == MAX_REPORTS + 1
    assert result[0].begun == 1_790_000_000.0 + MAX_REPORTS + 2
    assert result[-1].model == "other"
    assert ReportStore(tmp_path / "nowhere").load() == ()
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportError, match="could not be saved"):
        ReportStore(tmp_path / "file" / "checks").save(report(), (), ())
    inner = ReportStore(tmp_path / "inner" / "checks")
    inner.save(report(id="../../outside"), (), ())
    assert len(list(inner.folder.glob("*.json"))) == 1, "an id from a file leads to no other folder"


@each_case(
    "content",
    [
        *("", "[]", "{", '{"version": 99}', "\u0000", "[" * 100_000, '{"lines": 3}'),
        *(f'{{"gateway": "g", "model": "m", "begun": {begun}}}' for begun in ("NaN", "-1e300", "1e300", "Infinity")),
    ],
)
def test_unreadable_report_is_named_and_left(tmp_path: Path, content: str) -> None:
    report_store = ReportStore(tmp_path)
    report_store.save(report(id="only"), (), ())
    (tmp_path / "damaged.json").write_text(content)
    assert len(report_store.load()) == 1
    assert len(report_store.messages) == 1
    assert "damaged.json" in report_store.messages[0]
    assert (tmp_path / "damaged.json").read_text() == content


def test_changed_verdict_is_reported_with_the_day_of_the_earlier_report() -> None:
    old = report(1_789_000_000.0, line(Verdict.WORKS), line(Verdict.UNTOLD, "tool"), line(Verdict.WORKS, "n"))
    new = report(1_790_000_000.0, line(Verdict.REFUSED), line(Verdict.WORKS, "tool"), line(Verdict.WORKS, "n"))
    assert [(change.line.check, change.before) for change in changes(new, old)] == [("schema", Verdict.WORKS)]
    (words,) = change_words(new, old)
    assert words.startswith("JSON schema (Chat completions): works on 2026-")
    assert words.endswith(", refused now")
    assert previous_report(new, (new, old, report(1.0, model="other"))) is old
    assert previous_report(old, (new, old)) is None


@pytest.mark.parametrize("kind", FORMATS)
def test_words_of_a_gateway_are_escaped_in_each_export(kind: str) -> None:
    hostile = line(Verdict.WRONG, words=HOSTILE).model_copy(
        update={"deviations": (Departure(code="x", note=HOSTILE),), "without": (HOSTILE,)}
    )
    result = report(1_790_000_000.0, hostile, gateway=HOSTILE, model=HOSTILE)
    text = FORMATS[kind].write(result, report(1_789_000_000.0, line(Verdict.WORKS)), (Secret(KEY),))
    assert KEY not in text
    key = "pk-Zq7<Kw_2x>V*b_9J&t`Lm"  # of characters that are escaped
    message = line(Verdict.REFUSED, words=f"The key {key} is not known.")
    refused = FORMATS[kind].write(report(1_790_000_000.0, message, model=key), None, (Secret(key),)).replace("\\", "")
    assert not [key[index : index + 6] for index in range(len(key) - 5) if key[index : index + 6] in refused]
    assert "is not known" in refused
    if kind == "json":
        line_of = json.loads(text)["lines"][0]
        assert (line_of["verdict"], line_of["words"][:60]) == ("wrong", HOSTILE[:60])
    assert not [item for item in "\u202e\x1b\x9b\ud800" if item in text], "what a terminal or a reader is led by"
    if kind == "json":
        return
    assert "JSON schema" in text
    if kind == "html":
        assert "<script>" not in text
        assert "default-src 'none'" in text
    else:
        row = next(item for item in text.splitlines() if item.startswith("| JSON schema"))
        assert row.count("|") - row.count("\\|") == 5, "a pipe of the gateway's makes no column"
        assert "](http" not in text.replace("\\]", "")
