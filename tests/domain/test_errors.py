"""Each failure is in one group."""

from __future__ import annotations

import pytest

from playground.domain.errors import Failure, FailureGroup, FailureKind, failure_group


@pytest.mark.parametrize(
    ("status", "group"),
    [
        (400, FailureGroup.REQUEST),
        (401, FailureGroup.AUTHENTICATION),
        (403, FailureGroup.AUTHENTICATION),
        (429, FailureGroup.LIMIT),
        (500, FailureGroup.GATEWAY),
        (None, FailureGroup.GATEWAY),
    ],
)
def test_failure_group_of_http_status_is_that_of_its_party(status: int | None, group: FailureGroup) -> None:
    assert Failure(kind=FailureKind.HTTP, message="", status=status).group is group


def test_failure_group_of_other_kinds_ignores_the_status() -> None:
    groups = {kind: failure_group(kind) for kind in FailureKind if kind is not FailureKind.HTTP}
    assert groups == {kind: failure_group(kind, 401) for kind in groups}
    assert {kind for kind, group in groups.items() if group is FailureGroup.UNREADABLE} == {
        FailureKind.NOT_HTTP,
        FailureKind.DECODE,
        FailureKind.OTHER_PROTOCOL,
        FailureKind.CUT_OFF,
        FailureKind.NO_BODY,
        FailureKind.TOO_LARGE,
    }
