"""Differences of lanes and variants in words, lanes as columns of an export, and what a protocol cannot carry."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import NamedTuple

from playground.domain.costs import PriceLookup
from playground.domain.hidden import short_name
from playground.engine.compare.lanes import Lanes
from playground.engine.compare.metrics import best, lane_metrics
from playground.engine.files.export.markdown import Column
from playground.engine.requests.protocol_conversion import Loss, losses
from playground.engine.requests.protocol_info import TITLES
from playground.engine.session.branching import system_text
from playground.engine.session.session import Session
from playground.engine.session.settings import ExperimentSettings
from playground.engine.session.snapshot import lane_snapshot
from playground.engine.session.variants import Variant
from playground.jsonkit.texts import cut
from playground.jsonkit.values import JSON, same
from playground.protocols.protocol import get_protocol

AS_SET = "as set"
_MAX_VALUE = 40  # characters
#: Returns the name of a gateway by its profile id.
GatewayName = Callable[[str], str]


class _Difference(NamedTuple):
    """A different setting: its label and value for a table, and words that combine both."""

    label: str
    value: str
    words: str


def difference_words(lane: Session, gateway: GatewayName) -> list[str]:
    """Return the differences of a lane from the conversation in words, without the model, most important first.

    `AS_SET` alone for the conversation, and where nothing differs.
    """
    base, own = lane.main.settings, lane.settings
    return [*_gateway_words(base, own, gateway), *_other_words(lane, base, own)] or [AS_SET]


def place_words(lane: Session, gateway: GatewayName) -> list[str]:
    """Return the words below a lane's name: its gateway, its protocol, and its other differences."""
    base, own = lane.main.settings, lane.settings
    others = ", ".join(_other_words(lane, base, own))
    is_same = (own.profile_id, own.protocol, own.model) == (base.profile_id, base.protocol, base.model)
    protocol = TITLES[own.protocol]
    settings = "current settings" if lane is lane.main else "same as A" if is_same else "otherwise same as A"
    return [gateway(own.profile_id), protocol, others or settings]


def set_here(lane: Session) -> int:
    """Return how many parameters are set in a lane, besides those of every new experiment."""
    current = lane.settings.current
    return sum(not current.is_ours(name) for name in current.set_fields)


def _gateway_words(base: ExperimentSettings, own: ExperimentSettings, gateway: GatewayName) -> Iterator[str]:
    if own.profile_id != base.profile_id:
        yield gateway(own.profile_id)
    if own.protocol != base.protocol:
        yield TITLES[own.protocol]


def _other_words(lane: Session, base: ExperimentSettings, own: ExperimentSettings) -> list[str]:
    system, main = system_text(lane.transcript), system_text(lane.main.transcript)
    words = (
        "" if system == main else "another system message" if system and main else "a system message" if system else ""
    )
    return [*_result_words(lane), *_setting_words(base, own, words or ("no system message" if system != main else ""))]


def variant_words(
    variant: Variant, base: ExperimentSettings, own: ExperimentSettings, gateway: GatewayName
) -> list[str]:
    """Return the differences of a variant from `base` in words, without its model; `own` are its settings."""
    quoted = f"“{_value(variant.system)}”" if variant.system else "no system message"
    system = "" if variant.system is None else quoted
    return [*_gateway_words(base, own, gateway), *_setting_words(base, own, system)]


def _setting_words(base: ExperimentSettings, own: ExperimentSettings, system: str) -> list[str]:
    """Return words for different settings; `system` are those for the system turn, empty for none."""
    request = [item.words for item in _request_differences(base, own)]
    extra = [item.words for item in _extra_differences(base, own)]
    return [*request, *([system] if system else []), *extra]


def _result_words(lane: Session) -> Iterator[str]:
    """Yield the result of a call at which the lane leaves the conversation."""
    path, main = lane.transcript.path, lane.main.transcript.path
    fork = next((n for n, turn in enumerate(path) if n >= len(main) or main[n].id != turn.id), len(path))
    own, base = (turns[fork].results if fork < len(turns) else () for turns in (path, main))
    if not own or [(item.call_id, item.text, item.is_error) for item in own] == [
        (item.call_id, item.text, item.is_error) for item in base
    ]:
        return
    result = own[0]
    names = (call.name for turn in reversed(path[:fork]) for call in turn.calls if call.id == result.call_id)
    how = "gave the error" if result.is_error else "gave"
    yield f"{short_name(next(names, 'a call'))} {how} {_value(result.text[: 4 * _MAX_VALUE]) or 'nothing'}"


def variant_differences(
    base: ExperimentSettings, system: str, variant: Variant, gateway: GatewayName
) -> list[tuple[str, str]]:
    """Return the differences of a variant from `base` under the `system` turn, as labels and values."""
    own = variant.applied(base)
    rows: list[tuple[str, str]] = []
    if own.profile_id != base.profile_id:
        rows.append(("Gateway", gateway(own.profile_id) or variant.gateway))
    if own.protocol != base.protocol:
        rows.append(("Protocol", get_protocol(own.protocol).title))
    if own.model != base.model:
        rows.append(("Model", own.model or "none"))
    if variant.system is not None and variant.system != system:
        is_longer = bool(system) and variant.system.startswith(system)
        words = f"+ {variant.system[len(system) :].strip()}" if is_longer else variant.system
        rows.append(("System", _value(words[: 4 * _MAX_VALUE], 2 * _MAX_VALUE) or "none"))
    differences = (*_request_differences(base, own), *_extra_differences(base, own))
    return [*rows, *((item.label, item.value) for item in differences)]


def _request_differences(base: ExperimentSettings, own: ExperimentSettings) -> Iterator[_Difference]:
    """Yield different parameters and tools."""
    before, after = base.switched(own.protocol).current, own.current
    hints = dict(type(after).hints())
    then, now = before.set_fields, after.set_fields
    for name in dict.fromkeys((*now, *then)):
        if not same(then.get(name), now.get(name)):
            label = hint.label if (hint := hints.get(name)) is not None else name
            value = _value(now[name]) if name in now else ""
            yield _Difference(label, value or "default", f"{label.lower()} {value or 'at default'}")
    if own.tools != base.tools:
        names = ", ".join(short_name(tool.name) for tool in own.tools[:3] if tool.sendable)
        count = sum(tool.sendable for tool in own.tools)
        yield _Difference("Tools", names or "none", f"{count} other tool{'s' * (count != 1)}" if count else "no tools")


def _extra_differences(base: ExperimentSettings, own: ExperimentSettings) -> Iterator[_Difference]:
    """Yield different extra members, headers and reasoning rules."""
    if own.extra_body != base.extra_body:
        yield _Difference("Extra body", _value(own.extra_body) if own.extra_body else "none", "other extra body")
    if own.extra_headers != base.extra_headers:
        yield _Difference("Extra headers", ", ".join(own.extra_headers) or "none", "other extra headers")
    if own.reasoning_return != base.reasoning_return:
        yield _Difference("Reasoning sent back", "by another rule", "another rule for reasoning sent back")


def _value(value: JSON, longest: int = _MAX_VALUE) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return cut(" ".join(text.split()), longest)


def not_carried(lane: Session) -> list[Loss]:
    """Return what a lane's protocol loses or changes of the next request; empty if it is that of the conversation."""
    protocol, base = lane.settings.protocol, lane.main.settings
    if protocol == base.protocol:
        return []
    request = lane.next_request.build()
    return losses(request.model_copy(update={"protocol": base.protocol, "parameters": base.current}), protocol)


def columns_of(lanes: Lanes, prices: PriceLookup, gateway: GatewayName) -> list[Column]:
    """Return the lanes as columns of an export; `prices` are those entered by a person."""
    metrics = [lane_metrics(lane, prices) for lane in lanes.all]
    return [
        Column(lanes.title(lane), tuple(difference_words(lane, gateway)), (*item.words, *words), lane_snapshot(lane))
        for lane, item, words in zip(lanes.all, metrics, best(metrics), strict=True)
    ]
