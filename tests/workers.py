"""A pytest plugin: many files of tests are shared out to several processes (pytest-xdist), a few run in this one.

Most tests wait for sockets, processes and paint as often as they work, so there are two processes more than cores.
``-n 0`` keeps all in one process, ``-n 4`` takes four. Each begins with its long tests: at the end no process waits
for one. What a process has for itself, home folder and screen, ``tests.support.surroundings`` sees to.
"""

from __future__ import annotations

import os
from itertools import chain, groupby
from pathlib import Path

import pytest

from tests.support import surroundings

FILES = 10  # so many for each process: a process needs seconds to read the tests, and most files take no longer
MOST = 12  # processes: each has a window and a demo gateway in its memory


@pytest.hookimpl(tryfirst=True)  # xdist has one, too
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """How many processes ``-n auto`` takes for what was asked for; 0 is this one."""
    if config.option.keyword or config.option.maxfail == 1:
        return 0  # a search for something: the first result is to be seen first
    chosen = {file for argument in config.args for file in _files(Path(argument.partition("::")[0]))}
    workers = min(len(chosen) // FILES, (os.cpu_count() or 1) + 2, MOST)
    return workers if workers > 1 else 0


def _files(chosen: Path) -> list[Path]:
    return list(chosen.rglob("test_*.py")) if chosen.is_dir() else [chosen]


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: object) -> None:
    """Tell a new process what its own environment does not: what this one's was, before it was settled."""
    node.workerinput["environment"] = surroundings.surroundings_before()  # type: ignore[attr-defined]


def pytest_configure(config: pytest.Config) -> None:
    notices = getattr(config, "workerinput", None)
    if notices is not None:
        surroundings.remember(notices["environment"])


@pytest.hookimpl(trylast=True)  # behind those that leave some out
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deal out the files, those of few tests first: where there are many in a file, they are short ones.

    Each process gets as many tests as the others, those that follow each other in this order, and takes over what is
    left of another's when it has done its own (``--dist=worksteal``).
    """
    notices = getattr(config, "workerinput", None)
    if notices is None:
        return
    files = [list(tests) for _, tests in groupby(items, key=lambda item: item.path)]
    shares: list[list[pytest.Item]] = [[] for _ in range(notices["workercount"])]
    for tests in sorted(files, key=len):
        min(shares, key=len).extend(tests)
    items[:] = chain.from_iterable(shares)
