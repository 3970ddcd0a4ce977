from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import StrictBool, StrictFloat, StrictInt, StrictStr

from playground.domain.parameters import Hint, Parameters


def hint(editor: str = "number", **more: object) -> Hint:
    return Hint(label="L", group="G", editor=editor, help="H.", **more)  # type: ignore[arg-type]  # any mix of fields


class Sample(Parameters):
    heat: Annotated[StrictInt | StrictFloat | None, hint(low=0, high=2)] = None
    switch: Annotated[StrictBool | None, hint("switch", path="outer.inner.on")] = None
    words: Annotated[tuple[StrictStr, ...] | None, hint("list", most=2)] = None
    old: Annotated[StrictInt | None, hint("integer", deprecated="use heat")] = None


def test_fields_come_in_the_order_of_definition() -> None:
    assert [name for name, _ in Sample.hints()] == ["heat", "switch", "words", "old"]


def test_a_field_without_a_hint_is_our_fault() -> None:
    class Bare(Parameters):
        x: int | None = None

    with pytest.raises(TypeError, match="'x' has no Hint"):
        list(Bare.hints())


def test_paths_make_objects_and_take_them_apart() -> None:
    assert Sample(switch=True).to_wire() == {"outer": {"inner": {"on": True}}}
    assert Sample.from_wire({"outer": {"inner": {"on": False}}}).switch is False
    assert Sample.from_wire({"outer": 5}).to_wire() == {"outer": 5}


def test_the_rest_of_an_object_that_holds_a_field_is_kept() -> None:
    class Flat(Parameters):
        on: Annotated[StrictBool | None, hint("switch", path="outer.on")] = None

    wire = {"outer": {"on": True, "other": 1}}
    assert Flat.from_wire(wire).to_wire() == wire
    assert Flat.from_wire(wire).with_value("on", None).to_wire() == {"outer": {"other": 1}}


def test_unknown_keys_are_kept_and_sent() -> None:
    parameters = Sample.from_wire({"heat": 1, "future": {"x": 1}})
    assert parameters.to_wire() == {"heat": 1, "future": {"x": 1}}


def test_a_value_of_a_wrong_type_is_kept_sent_and_flagged() -> None:
    parameters = Sample.from_wire({"heat": "hot", "old": "x"})
    assert parameters.to_wire() == {"heat": "hot", "old": "x"}
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


def test_values_are_frozen_and_compared_by_content() -> None:
    assert Sample(heat=1) == Sample().with_value("heat", 1)
    with pytest.raises(ValueError, match="frozen"):
        Sample().heat = 1
