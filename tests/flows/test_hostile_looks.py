"""However large what is looked at, the window answers meanwhile; the benchmark ``hostile`` holds it to 50 ms."""

from __future__ import annotations

import pytest

from tests.flows.conftest import Person, Stage
from tests.hostile.gaps import LIMIT, MARGIN, PASSES
from tests.hostile.in_window import warm_up
from tests.hostile.looks import LOOKS, Look, looked_at


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.name)
def test_the_window_answers_meanwhile(stage: Stage, look: Look) -> None:
    async def scene(person: Person) -> None:
        await warm_up(person.app)
        gap = await looked_at(person.app, look, LIMIT * MARGIN, PASSES)
        assert gap <= LIMIT * MARGIN, f"{gap * 1000:.0f} ms"

    stage.play(scene)
