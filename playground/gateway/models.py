"""Reads a model list in any of the shapes gateways send.

The specification names the endpoint and leaves its answer open (sections 2.6 and 4.3). Nothing here opens a socket.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from playground.domain.errors import Failure
from playground.domain.model_facts import NOTHING_TOLD, ModelFacts, agreed, joined
from playground.gateway.model_facts import facts_of
from playground.gateway.tape import Exchange
from playground.jsonkit import foreign
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import get_protocol

_DEEPEST = 3  # objects around a list; more is not a model list but an attempt
_LISTS = ("data", "models", "items", "result", "results")
_IDS = ("id", "model_id", "model", "name", "model_name", "key")
_ENDPOINTS = ("supported_endpoint_types", "supported_endpoints", "endpoints")
_TITLES = ("display_name", "displayName", "name", "title")


@dataclass(frozen=True)
class Model:
    """One entry as sent (``raw``). ``title`` is a name for people, "" where there is none besides the id.

    ``protocols`` are those it is served under, by our names; None where the gateway does not tell. ``facts`` is what
    else the entry says.
    """

    id: str
    title: str = ""
    raw: JSON = None
    protocols: frozenset[str] | None = None
    facts: ModelFacts = NOTHING_TOLD


@dataclass(frozen=True)
class ModelList:
    """What the gateway listed, in its order, each id once; with a failure there may still be some.

    ``cut`` says that it has more pages than were asked for.
    """

    models: tuple[Model, ...] = ()
    failure: Failure | None = None
    exchanges: tuple[Exchange, ...] = ()
    seconds: float = 0.0
    cut: bool = False

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The ids alone; the same tuple each time it is asked for, so that whoever shows it knows it again."""
        return tuple(self._by_id)

    @cached_property
    def _by_id(self) -> dict[str, Model]:
        return {model.id: model for model in self.models}

    def __contains__(self, model_id: str) -> bool:
        return model_id in self._by_id

    def serves(self, model_id: str, protocol: str) -> bool | None:
        """Whether that model is said to be served under a protocol; None where the gateway does not tell."""
        model = self._by_id.get(model_id)
        return None if model is None or model.protocols is None else protocol in model.protocols

    def facts(self, model_id: str) -> ModelFacts:
        """What is said of that model; nothing of one that is not listed."""
        model = self._by_id.get(model_id)
        return model.facts if model is not None else NOTHING_TOLD

    def served(self, protocol: str) -> tuple[str, ...]:
        """The ids that are said to be served under a protocol."""
        return tuple(model.id for model in self.models if model.protocols is not None and protocol in model.protocols)


def read_models(value: JSON, price_tokens: int = 0) -> list[Model] | None:
    """The models in a parsed body; None where it holds no list at all.

    ``price_tokens`` is for how many tokens its prices are where their names do not say it; 0: nobody knows.
    """
    entries = _entries(value)
    if entries is None:
        return None
    found: dict[str, Model] = {}
    for entry in entries:
        model = _model(entry, price_tokens)
        if model is not None:
            found.setdefault(model.id, model)
    return list(found.values())


def read_facts(value: JSON, price_tokens: int = 0) -> dict[str, ModelFacts]:
    """What a page besides the list says of each model that it names; of several with one name, what they agree on."""
    found: dict[str, list[ModelFacts]] = {}
    for entry in _entries(value) or ():
        if isinstance(entry, dict) and (name := _text(entry, _IDS)):
            found.setdefault(name, []).append(facts_of(entry, price_tokens))
    return {name: several[0] if len(several) == 1 else agreed(several) for name, several in found.items()}


def with_facts(listed: ModelList, told: Mapping[str, ModelFacts], exchanges: Iterable[Exchange]) -> ModelList:
    """The list with more said of its models, and what was asked for that. Its models are the same where nothing is."""
    models = tuple(
        replace(model, facts=joined(model.facts, told[model.id])) if model.id in told else model
        for model in listed.models
    )
    if all(one is other for one, other in zip(models, listed.models, strict=True)):
        models = listed.models
    return replace(listed, models=models, exchanges=(*listed.exchanges, *exchanges))


def next_page(value: JSON) -> str | None:
    """The ``after_id`` of the next page, the last entry's where the gateway names none; None on the last page."""
    if not isinstance(value, dict) or value.get("has_more") is not True:
        return None
    last = value.get("last_id")
    if isinstance(last, str) and last:
        return foreign.whole(last)
    found = read_models(value)
    return found[-1].id if found else None


def _entries(value: JSON, depth: int = 0) -> list[JSON] | None:
    if isinstance(value, list):
        return value
    if not isinstance(value, dict) or depth == _DEEPEST:
        return None
    for name in _LISTS:
        inner = value.get(name)
        if isinstance(inner, list):
            return inner
        if isinstance(inner, dict):
            deeper = _entries(inner, depth + 1)
            if deeper is not None:
                return deeper
    if value.get("object") == "list" and value.get("data", 0) is None:
        return []  # a server that has no model yet
    return None


def _model(entry: JSON, price_tokens: int) -> Model | None:
    if isinstance(entry, str):
        entry = foreign.whole(entry)
        return Model(entry, raw=entry) if entry.strip() else None
    if not isinstance(entry, dict):
        return None
    name = _text(entry, _IDS)
    if not name:
        return None
    title = _text(entry, _TITLES)
    shown = title if title != name else ""
    return Model(name, shown, foreign.keepable(entry), _protocols(entry), facts_of(entry, price_tokens))


def _protocols(entry: JSONObject) -> frozenset[str] | None:
    for name in _ENDPOINTS:
        told = entry.get(name)
        if isinstance(told, list) and told and all(isinstance(word, str) for word in told):
            ends = [str(word).casefold().rstrip("/") for word in told]
            return frozenset(key for key in PROTOCOLS if any(end.endswith(get_protocol(key).served_as) for end in ends))
    return None


def _text(entry: JSONObject, names: tuple[str, ...]) -> str:
    for name in names:
        value = entry.get(name)
        if isinstance(value, str) and value.strip():
            return foreign.whole(value)
    return ""
