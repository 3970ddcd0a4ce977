"""The steps of the connect wizard."""

from __future__ import annotations

from playground.ui.features.gateways.connect_dialog import STEPS, TEST, StepsRow
from playground.ui.widgets.mark_label import MarkLabel
from tests.ui.conftest import ShowWidget


def test_steps_row_marks_done_steps_but_not_a_skipped_one(show_widget: ShowWidget) -> None:
    row = show_widget(StepsRow(STEPS), 400, 40)
    row.show_step(2, (TEST,))
    assert [label.mark for label in row.findChildren(MarkLabel)] == ["check", "", ""]
    row.show_step(2)
    assert [label.mark for label in row.findChildren(MarkLabel)] == ["check", "check", ""]
