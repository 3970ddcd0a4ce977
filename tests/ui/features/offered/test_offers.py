"""The description of a resource of a tool server."""

from __future__ import annotations

import base64

from playground.domain.parts import Image
from playground.domain.served import picture_line
from playground.domain.tool_servers import ServerResource
from playground.ui.features.offered.offers import Offer

BYTES = 812_000


def test_size_of_a_resource_equals_that_of_its_image() -> None:
    offered = Offer("a", "files", ServerResource(uri="file:///map.png", mime="image/png", size=BYTES))
    brought = Image(url="data:image/png;base64," + base64.b64encode(bytes(BYTES)).decode())
    assert "812 KB" in offered.about
    assert "812 KB" in picture_line(brought)
