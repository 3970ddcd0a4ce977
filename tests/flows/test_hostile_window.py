"""Every shape of the table is played into the real window, and the window answers all the while."""

from __future__ import annotations

from tests.flows.conftest import Person, Stage
from tests.hostile.gaps import MARGIN
from tests.hostile.in_window import Played, play
from tests.hostile.shapes import WINDOW

SHARE = 6  # parts of the table, each in a window of its own


def pytest_generate_tests(metafunc: object) -> None:
    """One test a part, so that a failure says where and none takes all the time there is."""
    metafunc.parametrize("part", range(SHARE))  # type: ignore[attr-defined]  # as pytest gives it


def test_the_window_answers_whatever_comes(stage: Stage, part: int) -> None:
    played: list[Played] = []

    async def scene(person: Person) -> None:
        for shape in WINDOW[part::SHARE]:
            played.append(await play(person.app, shape))

    stage.play(scene)
    said = [f"{one.shape.name}: {one.gap * 1000:.0f} ms" for one in played if one.gap > one.shape.limit * MARGIN]
    assert not said, ", ".join(said)
    assert all(one.whole for one in played), [one.shape.name for one in played if not one.whole]
