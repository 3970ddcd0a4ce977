"""The report of an evaluation and its exports."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from playground.domain.checks.texts import Contains
from playground.engine.evaluation.export.formats import FORMATS
from playground.engine.evaluation.resolved import ResolvedEvaluation
from playground.engine.gateways.secrets import Secret
from playground.engine.session.plan import Case
from playground.ui.features.evaluate.exports import exported
from playground.ui.features.evaluate.report import ReportView
from tests.engine.evaluation.evaluations import planned, variant
from tests.engine.session.test_session import make_session
from tests.support.eventually import eventually
from tests.ui.features.evaluate.answered import Looked, answers, run_with_evaluation

HOSTILE = "<img src='file:///etc/passwd'><b>bold</b>"


def run_report(qapp: QApplication, path: Path, work: Any) -> None:
    session = planned(
        make_session(),
        cases=tuple(
            Case(id=f"c{index}", name=f"{HOSTILE} {index}", values={"city": f"town {index}"}) for index in range(8)
        ),
        variants=(variant("B", model="other"),),
        checks=(Contains(text="x"),),
    )
    session.change(title=HOSTILE)
    saved = answers(ResolvedEvaluation(session), lambda case, column, _repeat: column == 0 or case == 0)
    run_with_evaluation(qapp, path, session, saved, work)


def test_report_shows_findings_and_opens_as_a_page(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> None:
    opened: list[str] = []

    def open_file(path: Path) -> bool:
        opened.append(path.read_text("utf-8"))
        return True

    async def work(index: Looked) -> None:
        view = ReportView(index.evaluation, open_file)
        view.show()
        await index.wait_for_findings()
        await eventually(lambda: "Answers that failed" in view.text.toPlainText())
        text = view.text.toPlainText()
        assert text.startswith(HOSTILE), "words, not HTML"
        assert "B passes less often than A: 12 % against 100 %, unlikely to be chance." in text
        assert text.index("unlikely to be chance") < text.index("B passes less often than A (p")
        assert "8 cases × 2 variants × 1 repeats · 16 answers" in text
        assert f"{HOSTILE} 1"[:20] in text
        view.open.click()
        await eventually(lambda: bool(opened))
        assert "<svg" in opened[0]
        assert "<script" not in opened[0]
        assert HOSTILE not in opened[0]
        view.close()
        view.deleteLater()

    run_report(qapp, tmp_path, work)


def test_each_format_is_exported_without_keys(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> None:
    key = "sk-canary-51c0-Zq9fGh27"
    texts: dict[str, str] = {}
    session = planned(
        make_session(),
        cases=(Case(id="c", name=key, values={"city": key}, expected=key), Case(id="d", values={"city": "Oslo"})),
        variants=(variant(key, model=f"model-{key}"),),
        checks=(Contains(text=key),),
    )
    session.change(title=key)

    async def work(index: Looked) -> None:
        await index.wait_for_findings()
        index.store.secrets = (Secret(key),)
        for name in FORMATS:
            texts[name] = await exported(index.evaluation, name)

    run_with_evaluation(qapp, tmp_path, session, answers(ResolvedEvaluation(session), lambda *_: False), work)
    for text in texts.values():
        assert key not in text
        assert "51c0-Zq9f" not in text
        assert "••••" in text
    assert len(list(csv.reader(io.StringIO(texts["csv"])))) == 5
    assert [len([json.loads(line) for line in texts[name].splitlines()]) for name in ("jsonl", "inspect")] == [4, 2]
    assert json.loads(texts["json"])
    assert json.loads(texts["promptfoo"])
    assert texts["junit"].startswith("<?xml")
    assert {name for name, text in texts.items() if text.startswith("<!DOCTYPE html>")} == {"html"}
