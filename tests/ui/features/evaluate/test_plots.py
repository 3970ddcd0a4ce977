"""Plots of an evaluation: content, selection and saved pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QApplication
from pytestqt.qtbot import QtBot

from playground.domain.checks.texts import Contains
from playground.engine.evaluation.resolved import ResolvedEvaluation
from playground.engine.evaluation.results import Results
from playground.engine.evaluation.variants import ParameterRange, over_parameters
from playground.engine.session.plan import Case
from playground.engine.session.session import Session
from playground.ui.features.evaluate.plots.card import PlotCard
from playground.ui.features.evaluate.plots.kinds import By, PlotData, cell_at, plots
from playground.ui.features.evaluate.plots.picture import to_png, to_svg
from playground.ui.features.evaluate.plots.scene import Plot
from playground.ui.features.evaluate.plots.view import PlotsView
from tests.engine.evaluation.evaluations import planned, variant
from tests.engine.session.test_session import make_session
from tests.support.eventually import eventually
from tests.ui.conftest import ShowWidget
from tests.ui.features.evaluate.answered import Looked, Outcomes, answers, run_with_evaluation


def make_session_of(count: int, **fields: Any) -> Session:
    return planned(
        make_session(),
        cases=tuple(
            Case(id=f"c{index}", name=f"case {index}", values={"city": f"town {index}"}) for index in range(count)
        ),
        **{"variants": (variant("B", model="other"),), "repeats": 2, "checks": (Contains(text="x"),), **fields},
    )


def first_of_b_fails(case: int, column: int, _repeat: int) -> bool | None:
    """Case 0 fails in B, case 1 has no answer there; all else passes."""
    return (None if case == 1 else case != 0) if column else True


def make_known(
    session: Session, created: Outcomes, by: By = By.VARIANT, cell: tuple[int, int] | None = None
) -> PlotData:
    resolved = ResolvedEvaluation(session)
    results = Results(resolved, {answer.key: answer for answer in answers(resolved, created)})
    chosen = (resolved.cases[cell[0]], resolved.columns[cell[1]]) if cell is not None else (None, None)
    return PlotData(results, results.findings(), by, cell_at(results, *chosen))


def made_of(expected: PlotData) -> dict[str, Plot]:
    return {plot.kind: plot for plot in plots(expected)}


def make_sweep(*ranges: ParameterRange) -> Session:
    session = make_session_of(4)
    base = session.settings
    variants = over_parameters(base, ranges)
    assert session.settings.evaluation is not None
    session.change(evaluation=session.settings.evaluation.model_copy(update={"variants": variants}))
    return session


def test_sweep_is_a_line_with_its_interval() -> None:
    session = make_sweep(ParameterRange("temperature", (0, 0.5, 1)))
    sweep = made_of(make_known(session, lambda case, column, repeat: column < 3 or case > 1))["sweep"]
    (line,), (band,) = sweep.scene.lines, sweep.scene.bands
    assert list(line.xs) == [0, 0.5, 1]
    assert list(line.ys) == [1, 1, 0.5]
    assert all(low < y or y == 0 for low, y in zip(band.lows, line.ys, strict=True))
    assert sweep.scene.x.title == "Temperature"
    assert sweep.rows[2].cells[0] == "1"


# ---- on the page -----------------------------------------------------------------------------------------------------


async def wait_for_plots(index: Looked, view: PlotsView, *kinds: str) -> None:
    await eventually(lambda: set(kinds) <= {card.plot.kind for card in view.cards if card.plot is not None})


def test_point_and_row_lead_to_their_answer(show_widget: ShowWidget, qapp: QApplication, tmp_path: Path) -> None:
    session = make_session_of(4)

    async def work(index: Looked) -> None:
        view = show_widget(PlotsView(index.evaluation), 1000, 700)
        await index.wait_for_findings()
        await wait_for_plots(index, view, "rate", "seconds", "tokens", "map")
        assert not view.empty.isVisible()
        seconds = view.card("seconds")
        assert seconds.plot is not None
        number = len(seconds.plot.scene.spots) - 1
        target = seconds.plot.scene.spots[number].target
        assert target is not None
        point = seconds.chart.point_of(number).toPoint()
        QTest.mouseClick(seconds.chart.canvas.viewport(), Qt.MouseButton.LeftButton, pos=point)
        assert (index.evaluation.case, index.evaluation.column, index.evaluation.repeat) == target
        await wait_for_plots(index, view, "came")
        far = QPoint(2, 2)
        QTest.mouseClick(seconds.chart.canvas.viewport(), Qt.MouseButton.LeftButton, pos=far)
        assert (index.evaluation.case, index.evaluation.column, index.evaluation.repeat) == target
        rate = view.card("rate")
        rate.as_table.click()
        assert rate.table is not None
        assert rate.table.editTriggers() == QAbstractItemView.EditTrigger.NoEditTriggers
        assert "66.7 %" in rate.table.text
        rate.table.setCurrentIndex(rate.table.model().index(1, 0))
        QTest.keyClick(rate.table, Qt.Key.Key_Return)
        assert index.evaluation.case is not None
        assert (index.evaluation.case.id, index.evaluation.column) == ("c0", index.evaluation.resolved.columns[1])
        view.hide()

    run_with_evaluation(qapp, tmp_path, session, answers(ResolvedEvaluation(session), first_of_b_fails), work)


def test_plots_are_saved_with_their_text_and_as_points(qtbot: QtBot) -> None:
    result = made_of(make_known(make_session_of(4), first_of_b_fails))
    cards = []
    for kind in ("map", "seconds"):
        card = PlotCard()
        qtbot.addWidget(card)
        card.resize(500, 330)
        card.show_plot(result[kind])
        cards.append(card)
    svg = to_svg(cards, 1)
    for words in (b"case 0", b"variants", b">100<", b"A \xc2\xb7 current setti", b">6 s<"):
        assert words in svg
    assert b"<image" not in svg
    assert QImage.fromData(to_png(cards, 1)).width() > 500


def test_sweep_over_two_parameters_is_a_map() -> None:
    session = make_sweep(ParameterRange("temperature", (0, 1)), ParameterRange("top_p", (0.5, 0.9, 1)))
    sweep = made_of(make_known(session, lambda case, column, repeat: column != 1))["sweep"]
    assert len(sweep.scene.boxes) == 6
    assert {words.text for words in sweep.scene.words} == {"0", "100"}
    assert (sweep.scene.x.title, sweep.scene.y.title) == ("Temperature; in %", "Top p")


def test_checks_have_rates_of_their_own() -> None:
    session = make_session_of(4, checks=(Contains(text="x"), Contains(text="{{no_such}}")))
    rate = made_of(make_known(session, first_of_b_fails, By.CHECK))["rate"]
    assert [row.cells[:3] for row in rate.rows] == [("Contains “x”", "12", "14")]
