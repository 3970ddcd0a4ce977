"""A program that asks the worker process, prints its process id, and ends: ``exit`` or ``kill`` in its middle."""

from __future__ import annotations

import asyncio
import os
import sys

from playground.engine.questions import checking
from playground.engine.questions.kinds import ArgumentsFit
from tests.hostile.shapes import doubled, property_of

if __name__ == "__main__":
    assert asyncio.run(checking.answer(ArgumentsFit('{"a": "y"}', property_of({"pattern": "^(?=y)"})))) == []
    process = checking.checker._process
    assert process is not None
    print(process.pid, flush=True)
    if sys.argv[1] == "kill":
        checking.checker._enter(ArgumentsFit('{"a": 5}', doubled(30)))
        os.kill(os.getpid(), 9)
