"""What goes through the post, and what a gateway's limits let workers do: without a cluster, by a clock of ours."""

from __future__ import annotations

from typing import Any

import pytest

from playground.engine.headless.cluster.leases import FORGOTTEN, Ledger, Report
from playground.engine.headless.cluster.post import MOST_LOST, Post

ONE, OTHER = "tcp://one", "tcp://other"


def errands(*numbers: int) -> list[tuple[int, tuple[str]]]:
    return [(number, (f"e{number}",)) for number in numbers]


async def brought(post: Post, known: int = 0) -> tuple[list[Any], list[Any]]:
    found = await post.gather("r", known)
    assert found is not None
    return found[0], found[1]


@pytest.fixture
def post() -> Post:
    made = Post()
    made.open("r", "client")
    return made


async def test_errands_go_to_whom_has_least_and_what_came_stays_until_it_is_known(post: Post) -> None:
    post.send("r", errands(1, 2))
    assert await post.take("r", ONE) == errands(1, 2)  # nobody else is there yet
    assert await post.take("r", OTHER) == []
    post.send("r", errands(3, 4, 3))
    assert await post.take("r", OTHER) == errands(3, 4)
    assert post.bring("r", ONE, [(2, ("two",))])
    assert post.bring("r", ONE, [(2, ("again",))])  # what comes twice counts once
    first, _ = await brought(post)
    assert first == [(1, 2, ("two",))]
    assert (await brought(post))[0] == first
    post.bring("r", OTHER, [(3, ("three",))])
    assert (await brought(post, 1))[0] == [(2, 3, ("three",))]


async def test_what_a_lost_worker_had_goes_to_others_but_for_what_it_brought(post: Post) -> None:
    post.send("r", errands(1, 2, 3))
    await post.take("r", ONE)
    post.bring("r", ONE, [(1, ("one",))])
    await post.take("r", OTHER)
    post.lose(ONE)
    assert await post.take("r", OTHER) == errands(2, 3)
    results, events = await brought(post)
    assert results == [(1, 1, ("one",))]
    assert events == [(2, "lost", ONE, 2)]
    post.bring("r", ONE, [(2, ("late",))])  # it was only slow
    post.bring("r", OTHER, [(2, ("two",)), (3, ("three",))])
    assert [result for _, _, result in (await brought(post, 2))[0]] == [("late",), ("three",)]


async def test_an_errand_that_workers_are_lost_with_is_given_up(post: Post) -> None:
    post.send("r", errands(1))
    for number in range(MOST_LOST):
        await post.take("r", f"tcp://{number}")
        post.lose(f"tcp://{number}")
    _, events = await brought(post)
    assert [event[1] for event in events] == ["lost"] * (MOST_LOST - 1) + ["given up", "lost"]
    assert await post.take("r", ONE) == []


async def test_a_run_is_over_when_its_command_is_gone(post: Post) -> None:
    post.open("s", "another")
    assert post.gone("client") == ["r"]
    assert await post.take("r", ONE) is None
    assert post.bring("r", ONE, []) is None
    assert await post.gather("r", 0) is None
    assert await post.take("s", ONE) == []


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_what_is_left_of_a_window_is_shared_and_never_given_twice(clock: Clock) -> None:
    ledger = Ledger(clock)
    ledger.lease("g", (OTHER, "r"), Report(0, 0, 16))
    told = (("requests", 9.0, 30.0),)  # and 16 may be under way, of which the gateway did not tell yet
    assert ledger.lease("g", (ONE, "r"), Report(1, 0, 16, told)) == (0, 30.0)
    assert ledger.lease("g", (OTHER, "r"), Report(0, 16, 16))[0] <= 9
    given = 0
    clock.now += 30
    ledger.lease("g", (ONE, "r"), Report(0, 0, 0, (("requests", 10.0, 30.0),)))
    holds = dict.fromkeys((ONE, OTHER), 0)
    sent = dict.fromkeys((ONE, OTHER), 0)
    for _ in range(20):
        for worker in holds:
            may, _ = ledger.lease("g", (worker, "r"), Report(sent[worker], holds[worker], 16))
            given += may - holds[worker]
            sent[worker] += may
            holds[worker] = 0
    assert given == 10
    assert ledger.lease("g", (ONE, "r"), Report(sent[ONE], 0, 16)) == (0, 30.0)
    clock.now += 30
    assert ledger.lease("g", (ONE, "r"), Report(0, 0, 16)) == (16, 0.0)


def test_that_one_was_asked_to_wait_holds_for_all_of_that_gateway(clock: Clock) -> None:
    ledger = Ledger(clock)
    ledger.lease("g", (ONE, "r"), Report(0, 0, 16))
    ledger.lease("g", (OTHER, "r"), Report(0, 0, 16, hold=5.0))
    assert ledger.lease("g", (ONE, "r"), Report(4, 12, 16)) == (0, 5.0)
    assert ledger.lease("another", (ONE, "r"), Report(0, 0, 16)) == (16, 0.0)
    clock.now += 5
    assert ledger.lease("g", (ONE, "r"), Report(4, 0, 16)) == (16, 0.0)


@pytest.mark.parametrize("silent", [False, True])
def test_what_a_lost_worker_held_is_not_counted_as_under_way(clock: Clock, silent: bool) -> None:
    ledger = Ledger(clock)
    ledger.lease("g", (OTHER, "r"), Report(0, 0, 100))
    if silent:
        clock.now += FORGOTTEN + 1
    else:
        ledger.lose(OTHER)
    may, _ = ledger.lease("g", (ONE, "r"), Report(1, 0, 16, (("requests", 10.0, 30.0),)))
    assert may == 5
