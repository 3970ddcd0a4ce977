"""Reads a model list in any of the shapes gateways send.

The specification names the endpoint and leaves its answer open (sections 2.6 and 4.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import parse_qsl, urlencode, urlsplit

from playground.domain.errors import Failure
from playground.domain.model_facts import NOTHING_TOLD, ModelFacts, agreed, joined
from playground.gateway.model_facts import facts_of
from playground.gateway.tape import Exchange
from playground.jsonkit import foreign
from playground.jsonkit.values import JSON, JSONObject, is_number
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import get_protocol

_DEEPEST = 3  # objects around a list
_LISTS = ("data", "models", "items", "result", "results")
_BY_ID = ("data", "models")  # these may hold an object of models by their ids
_SURE_IDS = ("model_id", "model", "model_name")
_IDS = ("id", "model_id", "model", "name", "model_name", "key")
#: Members for the next page, with the parameter that takes them, and objects around them.
_TOKENS = {
    "nextPageToken": "pageToken",
    "next_page_token": "page_token",
    "next_cursor": "cursor",
    "nextCursor": "cursor",
    "continuation_token": "continuation_token",
    "next_page": "page",
}
_LINK_STARTS = ("http:", "https:", "/", "?")
_NEXT_LINKS = ("next", "next_page", "next_url", "nextLink", "next_link", "@odata.nextLink")
_PAGING = ("links", "_links", "pagination", "paging", "meta", "page_info", "result_info")
_NEXT_LINK = re.compile(r'<([^<>]*)>[^<>]*;\s*rel="?next\b', re.IGNORECASE)
_LONGEST_LINK = 4096
_MOST_PARAMETERS = 20
_ENDPOINTS = ("supported_endpoint_types", "supported_endpoints", "endpoints")
_TITLES = ("display_name", "displayName", "name", "title")


@dataclass(frozen=True)
class Model:
    """One entry of a model list, and as sent (``raw``). ``title`` is a name for people, "" if it is only the id.

    ``protocols`` are the names of those that serve it; None if unknown. ``facts`` are the other members of the entry.
    """

    id: str
    title: str = ""
    raw: JSON = None
    protocols: frozenset[str] | None = None
    facts: ModelFacts = NOTHING_TOLD


@dataclass(frozen=True)
class ModelList:
    """The models of a gateway, in its order, each id once; with a failure there may still be some.

    ``cut``: the list has more pages than were fetched.
    """

    models: tuple[Model, ...] = ()
    failure: Failure | None = None
    exchanges: tuple[Exchange, ...] = ()
    seconds: float = 0.0
    cut: bool = False

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The ids; always the same tuple, so that views can compare it by identity."""
        return tuple(self._by_id)

    @cached_property
    def _by_id(self) -> dict[str, Model]:
        return {model.id: model for model in self.models}

    def __contains__(self, model_id: str) -> bool:
        return model_id in self._by_id

    def serves(self, model_id: str, protocol: str) -> bool | None:
        """Return whether a protocol serves a model; None if unknown."""
        model = self._by_id.get(model_id)
        return None if model is None or model.protocols is None else protocol in model.protocols

    def facts(self, model_id: str) -> ModelFacts:
        """Return the facts of a model; none for one that is not listed."""
        model = self._by_id.get(model_id)
        return model.facts if model is not None else NOTHING_TOLD

    def served(self, protocol: str) -> tuple[str, ...]:
        """Return the ids of the models that are known to be served by a protocol."""
        return tuple(model.id for model in self.models if model.protocols is not None and protocol in model.protocols)


def read_models(value: JSON, price_tokens: int = 0) -> list[Model] | None:
    """Return the models in a parsed body; None if it has no list.

    ``price_tokens`` is the number of tokens that a price is for when its name does not say it; 0 if unknown.
    """
    entries = _entries(value)
    if entries is None:
        return None
    models: dict[str, Model] = {}
    for entry in entries:
        model = _model(entry, price_tokens)
        if model is not None:
            models.setdefault(model.id, model)
    return list(models.values())


def read_facts(value: JSON, price_tokens: int = 0) -> dict[str, ModelFacts]:
    """Return the facts of each model on a page other than the list; entries with one name are reduced to agreement."""
    facts: dict[str, list[ModelFacts]] = {}
    for entry in _entries(value) or ():
        if isinstance(entry, dict) and (name := _id_of(entry)):
            facts.setdefault(name, []).append(facts_of(entry, price_tokens))
    return {name: entries[0] if len(entries) == 1 else agreed(entries) for name, entries in facts.items()}


def with_facts(listed: ModelList, facts: Mapping[str, ModelFacts], exchanges: Iterable[Exchange]) -> ModelList:
    """Return the list with more facts of its models, and the exchanges that brought them.

    ``models`` is the same tuple if no model has new facts.
    """
    models = listed.models
    if any(model.id in facts for model in models):
        models = tuple(
            replace(model, facts=joined(model.facts, facts[model.id])) if model.id in facts else model
            for model in models
        )
    return replace(listed, models=models, exchanges=(*listed.exchanges, *exchanges))


def next_page(value: JSON, link: str = "") -> str | None:
    """Return the query of the next page's address, encoded; None on the last page.

    ``link`` is the answer's ``Link`` header. Only the query of a link is used, so that the key goes to no other host.
    """
    members = [value[name] for name in _PAGING if isinstance(value.get(name), dict)] if isinstance(value, dict) else []
    for holder in (value, *members):
        if not isinstance(holder, dict):
            continue
        for name, parameter in _TOKENS.items():
            token = foreign.text_of(holder.get(name))
            if token and not token.startswith(_LINK_STARTS):
                return urlencode({parameter: token})
        for name in _NEXT_LINKS:
            linked = holder.get(name)
            linked = linked.get("href") if isinstance(linked, dict) else linked
            if isinstance(linked, str) and (query := _query_of(linked)):
                return query
    if (named := _NEXT_LINK.search(link[:_LONGEST_LINK])) is not None and (query := _query_of(named[1])):
        return query
    if not isinstance(value, dict) or value.get("has_more") is not True:
        return None
    last = foreign.text_of(value.get("last_id"))
    if not last and (models := read_models(value)):
        last = models[-1].id
    # Lists in the shape of OpenAI take ``after``.
    names = ("after_id", "after") if value.get("object") == "list" else ("after_id",)
    return urlencode(dict.fromkeys(names, last)) if last else None


def _query_of(link: str) -> str:
    try:
        query = urlsplit(link[:_LONGEST_LINK].strip()).query
        return urlencode(parse_qsl(query, keep_blank_values=True, max_num_fields=_MOST_PARAMETERS))
    except ValueError:
        return ""


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
            if deeper is None and name in _BY_ID and inner.keys().isdisjoint(_LISTS):
                by_id: list[JSON] = [{"id": key, **entry} for key, entry in inner.items() if isinstance(entry, dict)]
                deeper = by_id if by_id and len(by_id) == len(inner) else None
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
    name = _id_of(entry)
    if not name:
        return None
    title = _text(entry, _TITLES)
    title = title if title != name else ""
    return Model(name, title, foreign.keepable(entry), _protocols(entry), facts_of(entry, price_tokens))


def _id_of(entry: JSONObject) -> str:
    """Return the id of an entry; one that is a number counts unless another member is named like the model's id."""
    text = _text(entry, _SURE_IDS if is_number(entry.get("id")) else _IDS)
    return text or next((foreign.text_of(entry[name]) for name in _IDS if is_number(entry.get(name))), "")


def _protocols(entry: JSONObject) -> frozenset[str] | None:
    for name in _ENDPOINTS:
        paths = entry.get(name)
        if isinstance(paths, list) and paths and all(isinstance(path, str) for path in paths):
            ends = [str(path).casefold().rstrip("/") for path in paths]
            return frozenset(key for key in PROTOCOLS if any(end.endswith(get_protocol(key).served_as) for end in ends))
    return None


def _text(entry: JSONObject, names: tuple[str, ...]) -> str:
    for name in names:
        value = entry.get(name)
        if isinstance(value, str) and value.strip():
            return foreign.whole(value)
    return ""
