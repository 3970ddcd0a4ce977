"""Every failure has words and, where something can be done, a button."""

from __future__ import annotations

from itertools import product

import pytest

from playground.domain.errors import Failure, FailureKind, Sent
from playground.engine.advice import advise, headline, own_words
from playground.engine.advice.by_kind import CAUSE_ADVICE
from playground.engine.advice.gateway_messages import TABLE
from playground.engine.advice.parts import KEY, MODEL, PARAMETERS, RETRY, STREAM_ON, Action, Advice, at_a_prompt
from tests.support.each_case import each_case


def failure(kind: FailureKind, status: int | None = None) -> Failure:
    return Failure(kind=kind, message="the gateway's own words", status=status)


#: Places and buttons of the window, which a command line lacks.
OF_THE_WINDOW = (
    *("settings", "button", "under Raw", "under Response", "Parameters", "dashboard's tab", "the window."),
    *("Retry", "retry", "base URL", "switch the tools", "time-out", "Choose another one"),
)


@each_case("advice", [*CAUSE_ADVICE.values(), *(message.advice for message in TABLE)])
def test_remedy_for_the_command_line_names_no_place_of_the_window(advice: Advice) -> None:
    for place in OF_THE_WINDOW:
        assert place not in at_a_prompt(advice)


STATUSES = (None, 400, 401, 402, 403, 404, 405, 408, 413, 418, 429, 500, 502, 503, 504, 520, 599)


@each_case("kind", list(FailureKind))
def test_every_failure_has_a_headline_a_remedy_and_actions(kind: FailureKind) -> None:
    some = (True, False, None)
    for status, keyed, streamed, arrived in product(STATUSES, some, some, (True, False)):
        sent = Sent(endpoint="chat", keyed=keyed, streamed=streamed)
        advice = advise(failure(kind, status).model_copy(update={"sent": sent}), arrived=arrived)
        assert advice.title
        assert advice.title[-1] != "."
        for words in (advice.remedy, advice.command):
            assert words.endswith((".", "?"))
            assert ("kept" in words) <= arrived, "nothing is kept where nothing came"
            assert ("treaming" in words) <= (streamed is False), "no use in advising what was done"
        for place in OF_THE_WINDOW:
            assert place not in advice.command
        assert (STREAM_ON in advice.actions) <= (streamed is False)
        assert len(set(advice.actions)) == len(advice.actions)
        assert advice.actions
        assert all(isinstance(action, Action) for action in advice.actions)


@each_case(
    ("status", "first"),
    [(400, PARAMETERS), (401, KEY), (402, RETRY), (403, MODEL), (404, MODEL), (429, RETRY), (500, RETRY), (503, RETRY)],
)
def test_the_first_action_is_what_helps_most(status: int, first: Action) -> None:
    assert advise(failure(FailureKind.HTTP, status)).actions[0] == first


def test_a_status_is_named_once() -> None:
    teapot = failure(FailureKind.HTTP, 418)
    assert headline(teapot, advise(teapot)) == "The gateway answered with status 418"
    busy = failure(FailureKind.HTTP, 503)
    assert headline(busy, advise(busy)) == "The gateway is overloaded · 503"
    lost = failure(FailureKind.CONNECTION)
    assert headline(lost, advise(lost)) == "The connection failed"


@pytest.mark.parametrize(
    ("kind", "status", "message", "words"),
    [
        (FailureKind.EMPTY, None, "empty response: the body holds nothing", "The body holds nothing"),
        (FailureKind.EMPTY, None, "Empty response", ""),
        (FailureKind.HTTP, 418, "HTTP 418 I'm a Teapot, with an empty body", "I'm a Teapot, with an empty body"),
        (FailureKind.HTTP, 599, "HTTP 599", ""),
        (FailureKind.HTTP, 400, "  Bad  things\n", "Bad  things"),
        (FailureKind.CUT_OFF, None, "the JSON body ends in the middle", "the JSON body ends in the middle"),
    ],
)
def test_the_message_does_not_say_the_title_again(
    kind: FailureKind, status: int | None, message: str, words: str
) -> None:
    notices = failure(kind, status).model_copy(update={"message": message})
    assert own_words(notices, advise(notices)) == words
