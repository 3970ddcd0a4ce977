"""The bottom line: tokens, and a rate limit that counts down."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from playground.domain.usage import Usage
from playground.engine.gateways.reach import Reach
from playground.gateway.limits import RateLimit, RateLimits
from playground.ui.shell.main_window import StatusBar
from playground.ui.widgets.mark_label import MarkLabel


@pytest.fixture
def bar(qtbot: QtBot) -> StatusBar:
    bar = StatusBar()
    qtbot.addWidget(bar)
    bar.resize(1000, 30)
    bar.show()
    return bar


def words(bar: StatusBar) -> str:
    return " | ".join(label.text().strip() for label in bar.findChildren(QLabel) if label.isVisible() and label.text())


def limits(remaining: float = 25, reset_in: float | None = 42.0, age: float = 0.0) -> RateLimits:
    roomy = RateLimit("tokens", 1_000, 900, 60)
    tight = RateLimit("requests", 100, remaining, reset_in, ("100", str(remaining), "42s"))
    return RateLimits((roomy, tight), time.time() - age)


def test_rate_limit_after_its_reset_says_so(bar: StatusBar) -> None:
    bar.show_limits(limits(reset_in=5, age=60))
    assert "limit reset" in words(bar)
    bar.show_limits(limits(reset_in=None))
    assert "resets" not in words(bar)


def test_usage_of_a_run_is_shown_with_its_cost(bar: StatusBar) -> None:
    bar.show_usage(Usage(prompt=1200, completion=30), "0.02 €", "0.5 €")
    assert "1,200 in · 30 out · 0.02 € · 0.5 € in all" in words(bar)
    bar.show_usage(Usage(prompt=1200, completion=30), choices=3)
    assert "all 3 choices: 1,200 in · 30 out" in words(bar)
    bar.show_usage(None)
    assert "out" not in words(bar)
    bar.show_gateway("Demo · on this computer", Reach.OK)
    assert "Demo · on this computer" in words(bar)


def test_names_from_a_gateway_are_plain_text(bar: StatusBar) -> None:
    bar.show_gateway("<b>bold</b> gateway", Reach.OK)
    bar.show_limits(RateLimits((RateLimit("<i>x</i>", 1, 1, 1),), time.time()))
    for label in bar.findChildren(QLabel):
        assert label.textFormat() is Qt.TextFormat.PlainText or not label.text()


def test_long_name_of_a_gateway_is_elided_in_a_narrow_window(bar: StatusBar) -> None:
    bar.resize(400, 30)
    bar.show_gateway("A gateway with a long name · https://gateway.example.com/openai/v1", Reach.OK)
    bar.show_usage(Usage(prompt=1200, completion=30), "0.02 €", "0.5 €")
    bar.show_limits(limits())
    label = next(label for label in bar.findChildren(MarkLabel) if label.text().startswith("A gateway"))
    assert label.cut
    assert "gateway.example.com/openai/v1" in label.toolTip()
