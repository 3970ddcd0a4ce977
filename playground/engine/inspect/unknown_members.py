"""Members of parts and turns that the protocols do not define, and whether they are sent back, for people.

Whether they do is asked of the protocol they came over, so that the words are those of what is really sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from playground.domain.members import Extra
from playground.domain.parts import Part
from playground.domain.transcript import Role, Turn
from playground.engine.requests.protocol_conversion import TurnEncoder, effective_names, without_members
from playground.jsonkit.texts import cut, listed
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import get_protocol

LONGEST_TEXT: Final = 400  # characters of one text, and
MOST_ITEMS: Final = 50  # items of one list or members of one object, and
MOST_VALUES: Final = 500  # values altogether, that are shown
_NAMES: Final = 120  # characters of all names


@dataclass(frozen=True, slots=True)
class UnknownMembers:
    """Received members that the protocol does not define; ``owner`` is the kind of their part, or "message".

    ``fate`` tells whether they are sent back, in words, ``are_known`` that the protocol documents all of them.
    """

    owner: str
    members: JSONObject
    fate: str
    are_known: bool = False
    kind: Literal["unknown_members"] = "unknown_members"

    @property
    def title(self) -> str:
        """The word before the names; members of the message itself are often documented by the gateway."""
        return "also received" if self.owner == "message" or self.are_known else "unknown"

    @property
    def names(self) -> str:
        """The names of the members, in one line."""
        names = " ".join(", ".join(self.members).split())
        return cut(names, _NAMES)


def unknown_in_part(part: Part) -> list[UnknownMembers]:
    """Return the unknown members of a part, by protocol."""
    extra: Extra = getattr(part, "extra", {})
    out = []
    for over, members in extra.items():
        visible = get_protocol(over).visible_members(members) if over in PROTOCOLS else members
        if visible:
            documented = get_protocol(over).known_members if over in PROTOCOLS else frozenset()
            out.append(UnknownMembers(part.kind, visible, _part_fate(part, over), visible.keys() <= documented))
    return out


def _part_fate(part: Part, over: str) -> str:
    if over not in PROTOCOLS:
        return "not sent back"
    encoder, role = TurnEncoder(over), Role.TOOL if part.kind == "tool_result" else Role.ASSISTANT
    extra: Extra = getattr(part, "extra", {})

    def encode(extra: Extra) -> JSONObject:
        return encoder.encode(Turn(id="", role=role, parts=(part.model_copy(update={"extra": extra}),)))

    everything = encode(extra)
    back = effective_names(extra[over], lambda names: encode(without_members(extra, over, names)) != everything)
    visible = get_protocol(over).visible_members
    names = list(visible({name: extra[over][name] for name in back}))
    return _fate(names, over, all_of_them=len(names) == len(visible(extra[over])))


def unknown_in_turn(turn: Turn) -> list[UnknownMembers]:
    """Return the unknown members of a message itself, by protocol."""
    extras = []
    for over, members in turn.extra.items():
        if members:
            extras.append(UnknownMembers("message", members, _turn_fate(turn, over, members)))
    return extras


def _turn_fate(turn: Turn, over: str, members: JSONObject) -> str:
    if over not in PROTOCOLS:
        return "not sent back"
    protocol = get_protocol(over)
    back = protocol.returned(turn)
    names = [name if back[name] == members.get(name) else f"part of {name}" for name in back]
    fate = _fate(names, over, all_of_them=names == list(members))
    reasoning = list(protocol.returned_with_reasoning(turn))
    if not reasoning:
        return fate
    with_reasoning = f"{listed(reasoning)} sent back with the reasoning over {protocol.title}"
    return f"{fate}; {with_reasoning}" if names else with_reasoning


def _fate(names: list[str], over: str, *, all_of_them: bool) -> str:
    if not names:
        return "not sent back"
    back = f"sent back over {get_protocol(over).title}"
    return back if all_of_them else f"{listed(names)} {back}"


def clipped(value: JSON) -> JSON:
    """A value with only the beginning of what is long, and words on how much more there is."""
    budget = MOST_VALUES

    def cut(value: JSON) -> JSON:
        nonlocal budget
        budget -= 1
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            return f"{value[:LONGEST_TEXT]}… and {len(value) - LONGEST_TEXT:,} more characters"
        if not isinstance(value, list | dict):
            return value
        pairs = list(value.items() if isinstance(value, dict) else enumerate(value))
        visible = []
        for name, item in pairs[:MOST_ITEMS]:
            if budget > 0:
                visible.append((name, cut(item)))
        if more := len(pairs) - len(visible):
            visible.append(("…", f"and {more:,} more"))
        if isinstance(value, dict):
            return dict(visible)
        return [f"{name} {item}" if name == "…" else item for name, item in visible]

    return cut(value)
