"""JSON values and texts of them in every layout, for the tests of what reads and edits JSON text."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from playground.jsonkit.tree import PartialJson

KEYS = st.sampled_from(["a", "b", "type", "é", "with space", "", 'quo"te', "日本", "\ud800", "n\n"])


def values(leaves: int = 12) -> st.SearchStrategy[Any]:
    """Any JSON value, small."""
    scalars = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**20), 10**20),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(alphabet=st.characters(), max_size=6),
    )
    return st.recursive(
        scalars,
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
        max_leaves=leaves,
    )


@st.composite
def texts(draw: st.DrawFn, value: st.SearchStrategy[Any] | None = None) -> tuple[str, Any]:
    """A text and its value. Spacing is drawn at random at every place, or one of the common layouts."""
    value_drawn = draw(value if value is not None else values())
    layout = draw(st.sampled_from(["wild", "one line", "close", 2, 4, "tab", "crlf"]))
    if layout == "wild":
        space = st.sampled_from(["", "", " ", "\n", "\t", "\r\n  ", "  "])
        text = draw(space) + _wild(draw, value_drawn, space) + draw(space)
    elif layout == "one line":
        text = json.dumps(value_drawn)
    elif layout == "close":
        text = json.dumps(value_drawn, separators=(",", ":"))
    elif layout == "tab":
        text = json.dumps(value_drawn, indent="\t")
    elif layout == "crlf":
        text = json.dumps(value_drawn, indent=2).replace("\n", "\r\n")
    else:
        text = json.dumps(value_drawn, indent=2 if layout == 2 else 4)
    return text, value_drawn


def _wild(draw: st.DrawFn, value: Any, space: st.SearchStrategy[str]) -> str:
    if isinstance(value, dict):
        members = [
            draw(space) + json.dumps(key) + draw(space) + ":" + draw(space) + _wild(draw, inner, space) + draw(space)
            for key, inner in value.items()
        ]
        return "{" + (",".join(members) or draw(space)) + "}"
    if isinstance(value, list):
        items = [draw(space) + _wild(draw, inner, space) + draw(space) for inner in value]
        return "[" + (",".join(items) or draw(space)) + "]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()) or _half(value))


def _half(value: Any) -> bool:
    return isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value)


def read_partial(text: str, ended: bool = True) -> PartialJson:
    """A text read in one go."""
    reader = PartialJson()
    reader.read_fragment(text)
    if ended:
        reader.finish()
    return reader
