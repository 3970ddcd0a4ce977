"""The collector looks seldom while answers come, and as before when the last of several evaluations has ended."""

from __future__ import annotations

import gc
from contextlib import ExitStack

from playground.engine.headless.collecting import OBJECTS, seldom_collected


def test_it_is_as_before_when_all_have_ended_whichever_ends_first() -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    one, other = ExitStack(), ExitStack()
    try:
        one.enter_context(seldom_collected())
        other.enter_context(seldom_collected())
        one.close()
        assert gc.get_threshold() == (OBJECTS, *before[1:])
        assert gc.get_freeze_count() > frozen
    finally:
        one.close()
        other.close()
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
