"""Cases of a parametrised test, of which a few are run by default and the others, marked ``slow``, before a release."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import pytest

T = TypeVar("T")


def slow_except(default: Iterable[T], cases: Iterable[T]) -> list[Any]:
    """All cases; those that are not run by default are marked ``slow``."""
    chosen = list(default)
    return [pytest.param(case, marks=() if case in chosen else pytest.mark.slow) for case in cases]
