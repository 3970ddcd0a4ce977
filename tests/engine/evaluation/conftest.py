"""A store of answers for evaluations."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.engine.evaluation.evaluations import Evaluations


@pytest.fixture
async def evaluations(tmp_path: Path) -> AsyncIterator[Evaluations]:
    created = Evaluations(tmp_path)
    yield created
    await created.store.aclose()
