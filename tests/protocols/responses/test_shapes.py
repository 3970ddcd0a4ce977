"""Departures of responses from the public protocol that the shapes of their events show."""

from __future__ import annotations

import json
from typing import Any

from playground.protocols.responses.expected import EXPECTED, ResponsesShapes
from tests.protocols.responses.events import begin, call, end, event, items_of, message, response, stream
from tests.support.each_case import each_case


def defects(body: bytes) -> list[str]:
    """The codes of the defects of a stream."""
    shapes = ResponsesShapes()
    frames = [frame + b"\n\n" for frame in body.split(b"\n\n") if frame]
    return [code for frame in frames for code, _ in shapes.frame(frame)]


GOOD = [*message(), *call(1)]


def test_correct_stream_has_no_defect() -> None:
    assert defects(stream(begin(), GOOD, end(items_of(GOOD)))) == []


def test_identifiers_and_encryption_may_differ_in_the_last_event() -> None:
    final = [{**item, "id": "other"} for item in items_of(GOOD)]
    assert defects(stream(begin(), GOOD, end(final))) == []


BARE: dict[str, Any] = {"id": "resp_1", "object": "response", "model": "m"}


@each_case(
    ("code", "body"),
    [
        ("event_name", stream(begin(), GOOD, end(items_of(GOOD)), named=False)),
        ("sequence_number", stream(begin(), GOOD, end(items_of(GOOD)), numbered=False)),
        ("sequence_number", stream(begin()) + stream(GOOD)),
        ("event_order", stream(GOOD)),
        ("event_order", stream(begin(), GOOD[2:])),
        (
            "item_status",
            stream(begin(), GOOD[:-1], {**GOOD[-1], "item": {**GOOD[-1]["item"], "status": "in_progress"}}),
        ),
        ("output_differs", stream(begin(), GOOD, end(items_of(message())))),
        ("id_missing", stream(event("created", response=response(id="")))),
        ("model_missing", stream(event("created", response=response(model=None)))),
        ("members_missing", stream(event("created", response=BARE))),
    ],
)
def test_defect_is_found(code: str, body: bytes) -> None:
    assert code in defects(body)
    assert code in EXPECTED.rules
    assert code in EXPECTED.shape_codes


def test_whole_response_has_its_members() -> None:
    assert [
        code for code, _ in ResponsesShapes().body(json.dumps({"output": [], "id": "x", "model": "m"}).encode())
    ] == ["members_missing"]
