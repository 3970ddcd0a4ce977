"""Every failure has words and, where something can be done, a button."""

from __future__ import annotations

import pytest

from playground.domain.errors import Failure, FailureKind
from playground.engine.advice import GATEWAY, LABELS, MODEL, RETRY, STREAM_ON, TIMEOUT, advise


def failure(kind: FailureKind, status: int | None = None) -> Failure:
    return Failure(kind=kind, message="the gateway's own words", status=status)


@pytest.mark.parametrize("kind", list(FailureKind))
def test_every_kind_has_a_headline_a_remedy_and_known_actions(kind: FailureKind) -> None:
    advice = advise(failure(kind))
    assert advice.title
    assert advice.title[-1] != "."
    assert advice.remedy.endswith((".", "?"))
    assert set(advice.actions) <= set(LABELS)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 408, 413, 418, 429, 500, 502, 503, 504, 529, 599])
def test_every_status_has_words(status: int) -> None:
    advice = advise(failure(FailureKind.HTTP, status))
    assert advice.title
    assert advice.remedy
    assert set(advice.actions) <= set(LABELS)


@pytest.mark.parametrize(
    ("status", "first"),
    [(401, GATEWAY), (402, RETRY), (403, MODEL), (404, MODEL), (429, RETRY), (500, RETRY), (503, RETRY)],
)
def test_the_first_action_is_what_helps_most(status: int, first: str) -> None:
    assert advise(failure(FailureKind.HTTP, status)).actions[0] == first


def test_an_unknown_status_is_named() -> None:
    assert "418" in advise(failure(FailureKind.HTTP, 418)).title


def test_streaming_is_advised_only_where_it_was_off() -> None:
    late = failure(FailureKind.HTTP, 504)
    assert STREAM_ON in advise(late, streamed=False).actions
    assert STREAM_ON not in advise(late, streamed=True).actions


def test_a_first_token_that_is_late_offers_a_longer_time_out() -> None:
    assert advise(failure(FailureKind.TIMEOUT_FIRST)).actions[0] == TIMEOUT


def test_a_status_inside_a_stream_does_not_hide_that_it_was_a_stream() -> None:
    assert advise(failure(FailureKind.STREAM, 503)).title != advise(failure(FailureKind.HTTP, 503)).title
