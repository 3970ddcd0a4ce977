from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import StrictBool, StrictFloat, StrictInt, StrictStr

from playground.domain.parameters import Hint, Parameters


def hint(editor: str = "number", **more: object) -> Hint:
    return Hint(label="L", group="G", editor=editor, help="H.", **more)  # type: ignore[arg-type]  # any mix of fields


class Sample(Parameters):
    heat: Annotated[StrictInt | StrictFloat | None, hint(low=0, high=2)] = None
    switch: Annotated[StrictBool | None, hint("switch", path="outer.on")] = None
    words: Annotated[tuple[StrictStr, ...] | None, hint("list", most=2)] = None
    old: Annotated[StrictInt | None, hint("integer", deprecated="use heat")] = None


def test_field_with_a_path_is_a_member_of_an_object() -> None:
    assert Sample(switch=True).to_wire() == {"outer": {"on": True}}
    assert Sample.from_wire({"outer": {"on": False}}).switch is False
    assert Sample.from_wire({"outer": 5}).to_wire() == {"outer": 5}
    wire = {"outer": {"on": True, "other": 1}}
    assert Sample.from_wire(wire).to_wire() == wire
    assert Sample.from_wire(wire).with_value("switch", None).to_wire() == {"outer": {"other": 1}}


def test_unknown_keys_and_values_of_a_wrong_type_are_kept_and_sent() -> None:
    wire = {"heat": "hot", "old": "x", "future": {"x": 1}}
    parameters = Sample.from_wire(wire)
    assert parameters.to_wire() == wire
    assert "type" in parameters.flag("heat")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("heat", 3, "above the documented maximum of 2"),
        ("heat", -1, "below the documented minimum of 0"),
        ("heat", 2, ""),
        ("heat", None, ""),
        ("switch", 1, "type"),
        ("words", ("a", "b", "c"), "more than the documented 2"),
        ("old", 1, "use heat"),
    ],
)
def test_flags(name: str, value: object, words: str) -> None:
    found = Sample().with_value(name, value).flag(name)
    assert (words in found) if words else found == ""
