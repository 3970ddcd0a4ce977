"""What the end of a request tells of a gateway, and what it does not."""

from __future__ import annotations

from playground.domain.errors import Failure, FailureKind
from playground.engine.gateways.reach import WORDS, Reach, reach_of
from tests.support.each_case import each_case


@each_case(
    ("status", "message", "reach"),
    [
        (400, "There are no healthy deployments for this model.", Reach.OK),
        (400, "No connected db.", Reach.REFUSED),
        (401, "no", Reach.REFUSED),
        (403, "verify first", Reach.OK),
        (404, "Not Found", Reach.OK),
        (407, "", Reach.UNREACHED),
        (429, "slower", Reach.OK),
        (500, "Internal Server Error", Reach.FAILING),
        (503, "busy", Reach.FAILING),
    ],
)
def test_a_gateway_that_refuses_was_reached(status: int, message: str, reach: Reach) -> None:
    assert reach_of(Failure(kind=FailureKind.HTTP, status=status, message=message)) is reach


@each_case("kind", list(FailureKind))
@each_case("answered", [True, False])
def test_every_end_is_told_as_what_it_is(kind: FailureKind, answered: bool) -> None:
    reach = reach_of(
        Failure(kind=kind, message="x", status=503 if kind is FailureKind.HTTP else None), answered=answered
    )
    if answered:
        assert reach is not None
        if kind not in (FailureKind.NAME, FailureKind.REFUSED, FailureKind.TLS, FailureKind.TIMEOUT_CONNECT):
            assert reach is not Reach.UNREACHED, "it answered"
    elif kind in (FailureKind.INPUT, FailureKind.INTERNAL):
        assert reach is None, "it tells nothing of the gateway"
    else:
        assert reach is not None
        assert WORDS[reach]


def test_the_rest() -> None:
    assert reach_of(None) is Reach.OK
    assert reach_of(Failure(kind=FailureKind.NO_KEY, message="x")) is Reach.NO_KEY
    assert reach_of(Failure(kind=FailureKind.CONSENT, message="x")) is Reach.HELD
    assert reach_of(Failure(kind=FailureKind.CONNECTION, message="x")) is Reach.UNREACHED
    assert reach_of(Failure(kind=FailureKind.CONNECTION, message="x"), answered=True) is Reach.OK
    assert reach_of(Failure(kind=FailureKind.TIMEOUT_FIRST, message="x")) is Reach.SILENT
    assert reach_of(Failure(kind=FailureKind.CUT_OFF, message="x")) is Reach.OK
