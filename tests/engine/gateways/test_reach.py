"""The reach of a gateway, concluded from the end of a request."""

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
def test_status_tells_the_reach_of_a_gateway(status: int, message: str, reach: Reach) -> None:
    assert reach_of(Failure(kind=FailureKind.HTTP, status=status, message=message)) is reach


@each_case("kind", list(FailureKind))
def test_each_kind_of_failure_has_a_reach(kind: FailureKind) -> None:
    failure = Failure(kind=kind, message="x", status=503 if kind is FailureKind.HTTP else None)
    reach, answered = reach_of(failure), reach_of(failure, answered=True)
    assert (reach is None) is (kind in (FailureKind.INPUT, FailureKind.INTERNAL)), "these tell nothing of the gateway"
    assert reach is None or WORDS[reach]
    assert answered is not None
    if kind not in (FailureKind.NAME, FailureKind.REFUSED, FailureKind.TLS, FailureKind.TIMEOUT_CONNECT):
        assert answered is not Reach.UNREACHED
    expected = {
        FailureKind.NO_KEY: Reach.NO_KEY,
        FailureKind.CONSENT: Reach.HELD,
        FailureKind.CONNECTION: Reach.UNREACHED,
        FailureKind.TIMEOUT_FIRST: Reach.SILENT,
        FailureKind.CUT_OFF: Reach.OK,
    }
    assert reach is expected.get(kind, reach)
    assert reach_of(None) is Reach.OK
