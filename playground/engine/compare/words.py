"""What is different in a lane or a variant, in a few words, and what its protocol cannot carry of its next request."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from playground.domain.hidden import short_name
from playground.domain.parameters import Parameters
from playground.engine.requests.protocol_conversion import Loss, losses
from playground.engine.session.branching import system_text
from playground.engine.session.session import Session
from playground.engine.session.settings import ExperimentSettings
from playground.engine.session.variants import Variant
from playground.jsonkit.texts import cut
from playground.jsonkit.values import JSON, same
from playground.protocols.protocol import get_protocol

AS_SET = "as set"
_LONGEST = 40  # characters of a value


def difference_words(lane: Session, gateway: Callable[[str], str]) -> list[str]:
    """What a lane has otherwise than the conversation, but for its model, most telling first.

    ``AS_SET`` alone for the conversation, and where nothing differs. ``gateway`` gives the name of a gateway.
    """
    found = list(_words(lane, lane.main.settings, lane.settings, gateway))
    return found or [AS_SET]


def place_words(lane: Session, gateway: Callable[[str], str]) -> list[str]:
    """What stands below a lane's name: its gateway, its protocol, and what is otherwise in it besides these."""
    base, own = lane.main.settings, lane.settings
    rest = ", ".join(_other_words(lane, base, own))
    same = (own.profile_id, own.protocol, own.model) == (base.profile_id, base.protocol, base.model)
    protocol = get_protocol(own.protocol).title.lower()
    return [gateway(own.profile_id), protocol, rest or (AS_SET if same else f"otherwise {AS_SET}")]


def set_here(lane: Session) -> int:
    """How many parameters are set in a lane, but for what every experiment begins with."""
    current = lane.settings.current
    return sum(not current.is_ours(name) for name in current.set_fields)


def _words(
    lane: Session, base: ExperimentSettings, own: ExperimentSettings, gateway: Callable[[str], str]
) -> Iterator[str]:
    yield from _place_words(base, own, gateway)
    yield from _other_words(lane, base, own)


def _place_words(base: ExperimentSettings, own: ExperimentSettings, gateway: Callable[[str], str]) -> Iterator[str]:
    if own.profile_id != base.profile_id:
        yield gateway(own.profile_id)
    if own.protocol != base.protocol:
        yield get_protocol(own.protocol).title.lower()


def _other_words(lane: Session, base: ExperimentSettings, own: ExperimentSettings) -> Iterator[str]:
    yield from _result_words(lane)
    here, there = system_text(lane.transcript), system_text(lane.main.transcript)
    system = "" if here == there else "another system turn" if here and there else "a system turn" if here else ""
    yield from _set_words(base, own, system or ("no system turn" if here != there else ""))


def variant_words(
    variant: Variant, base: ExperimentSettings, own: ExperimentSettings, gateway: Callable[[str], str]
) -> list[str]:
    """What a variant has otherwise than ``base``, but for its model; ``own`` is all that is set in it."""
    quoted = f"“{_value(variant.system)}”" if variant.system else "no system turn"
    system = "" if variant.system is None else quoted
    return [*_place_words(base, own, gateway), *_set_words(base, own, system)]


def _set_words(base: ExperimentSettings, own: ExperimentSettings, system: str) -> Iterator[str]:
    """``system`` says what its system turn is, where that is another one."""
    yield from _parameter_words(base.switched(own.protocol).current, own.current)
    if own.tools != base.tools:
        count = sum(tool.sendable for tool in own.tools)
        yield f"{count} other tool{'s' * (count != 1)}" if count else "no tools"
    if system:
        yield system
    if own.extra_body != base.extra_body:
        yield "other extra body"
    if own.extra_headers != base.extra_headers:
        yield "other extra headers"
    if own.reasoning_return != base.reasoning_return:
        yield "another rule for reasoning sent back"


def _result_words(lane: Session) -> Iterator[str]:
    """What a call gave here, where the lane parts from the conversation at that."""
    path, theirs = lane.transcript.path, lane.main.transcript.path
    at = next((at for at, turn in enumerate(path) if at >= len(theirs) or theirs[at].id != turn.id), len(path))
    given = [path[at].results if at < len(path) else (), theirs[at].results if at < len(theirs) else ()]
    ours, other = ([(one.call_id, one.text, one.is_error) for one in results] for results in given)
    if ours and ours != other:
        result = given[0][0]
        names = (call.name for turn in reversed(path[:at]) for call in turn.calls if call.id == result.call_id)
        how = "gave the error" if result.is_error else "gave"
        yield f"{short_name(next(names, 'a call'))} {how} {_value(result.text[: 4 * _LONGEST]) or 'nothing'}"


def variant_differences(
    base: ExperimentSettings, system: str, variant: Variant, gateway: Callable[[str], str]
) -> list[tuple[str, str]]:
    """What a variant has otherwise than ``base`` under the ``system`` turn: what, and how it is there; maybe nothing.

    ``gateway`` gives the name of a gateway.
    """
    return list(_differences(base, system, variant, gateway))


def _differences(
    base: ExperimentSettings, system: str, variant: Variant, gateway: Callable[[str], str]
) -> Iterator[tuple[str, str]]:
    own = variant.applied(base)
    if own.profile_id != base.profile_id:
        yield "Gateway", gateway(own.profile_id) or variant.gateway
    if own.protocol != base.protocol:
        yield "Protocol", get_protocol(own.protocol).title
    if own.model != base.model:
        yield "Model", own.model or "none"
    if variant.system is not None and variant.system != system:
        begins = bool(system) and variant.system.startswith(system)
        words = f"+ {variant.system[len(system) :].strip()}" if begins else variant.system
        yield "System", _value(words[: 4 * _LONGEST], 2 * _LONGEST) or "none"
    for label, value in _parameters(base.switched(own.protocol).current, own.current):
        yield label, value or "default"
    if own.tools != base.tools:
        yield "Tools", ", ".join(short_name(tool.name) for tool in own.tools[:3] if tool.sendable) or "none"
    if own.extra_body != base.extra_body:
        yield "Extra body", _value(own.extra_body) if own.extra_body else "none"
    if own.extra_headers != base.extra_headers:
        yield "Extra headers", ", ".join(own.extra_headers) or "none"
    if own.reasoning_return != base.reasoning_return:
        yield "Reasoning sent back", "by another rule"


def _parameter_words(base: Parameters, own: Parameters) -> Iterator[str]:
    for label, value in _parameters(base, own):
        yield f"{label.lower()} {value or 'at default'}"


def _parameters(base: Parameters, own: Parameters) -> Iterator[tuple[str, str]]:
    """Those that differ: what each is called, and its value; empty where it is at its default."""
    hints = dict(type(own).hints())
    then, now = base.set_fields, own.set_fields
    for name in dict.fromkeys((*now, *then)):
        if same(then.get(name), now.get(name)):
            continue
        hint = hints.get(name)
        yield hint.label if hint is not None else name, _value(now[name]) if name in now else ""


def _value(value: JSON, longest: int = _LONGEST) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return cut(" ".join(text.split()), longest)


def not_carried(lane: Session) -> list[Loss]:
    """What of a lane's next request its protocol leaves out or sends otherwise than the conversation's would.

    Empty where both speak the same.
    """
    spoken, base = lane.settings.protocol, lane.main.settings
    if spoken == base.protocol:
        return []
    asked = lane.next_request.build()
    as_there = asked.model_copy(update={"protocol": base.protocol, "parameters": base.current})
    return losses(as_there, spoken)
