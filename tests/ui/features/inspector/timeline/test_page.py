"""The Timeline tab: frames, selection and picture."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from playground.ui.features.inspector.timeline.page import TimelinePage, raw_text
from playground.ui.features.inspector.traces import Trace, Traces
from tests.ui.conftest import ShowWidget
from tests.ui.features.inspector.recordings import weather


@pytest.fixture
def page(show_widget: ShowWidget) -> TimelinePage:
    return show_widget(TimelinePage(), 840, 360)


def show_weather(page: TimelinePage) -> Trace:
    trace = Traces().trace_of(weather())
    page.show_trace(trace)
    page.finish()
    return trace


def test_click_selects_the_frame_of_its_moment(page: TimelinePage) -> None:
    trace = show_weather(page)
    picture = page.picture
    viewport = picture.viewport()
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=QPoint(round(picture.time_scale.x(0.401)), 30))
    (number,) = page.table.chosen
    assert trace.index.time_of(number) == pytest.approx(0.4)
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=QPoint(round(picture.time_scale.x(1.2)), 30))
    assert page.table.chosen == [11]


def test_binary_bytes_are_shown_in_hexadecimal() -> None:
    assert raw_text(b"data: \xff\x00abc").startswith("64 61 74 61 3a 20 ff 00 61 62 63")
    assert raw_text("ä\n".encode()) == "ä\n"
    sizes = [len(raw_text("ä".encode() * count)) for count in (10, 1000, 200_000)]
    assert all(before < after for before, after in pairwise(sizes))
    assert "more" in raw_text(b"a" + "ä".encode() * 200_000)


def test_picture_is_zoomed_and_moved_with_keys(page: TimelinePage) -> None:
    show_weather(page)
    scale = page.picture.time_scale
    for key in (Qt.Key.Key_Plus, Qt.Key.Key_Right):
        QTest.keyClick(page.picture, key)
    assert 0 < scale.start < scale.end <= scale.total
    QTest.keyClick(page.picture, Qt.Key.Key_0)
    assert (scale.start, scale.end) == (0, scale.total)
