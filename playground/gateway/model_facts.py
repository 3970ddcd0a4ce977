"""Reads the facts in an entry of a model list, by tables of the spellings that gateways use.

No vendor is named. Nothing is guessed: a limit, a price or a flag that cannot be read is left out. Never raises,
whatever an entry holds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple

from playground.domain.model_facts import KINDS, NOTHING_TOLD, ModelFacts, agreed, joined
from playground.domain.prices import DOLLARS, MILLION, Price
from playground.jsonkit import foreign
from playground.jsonkit.values import JSON, JSONObject

#: Tokens of the longest plausible context.
MOST_TOKENS: Final = 10**10
#: Dollars for a million tokens of the dearest plausible model; above it, the unit must be another one.
DEAREST: Final = 2_000.0

_MOST_WORDS: Final = 200  # of a list of parameters or kinds
_LONGEST_WORD: Final = 100
_LONGEST_ABOUT: Final = 2_000
_MOST_BEHIND: Final = 50  # offers of one model
_LATEST: Final = 4_102_444_800.0  # Unix seconds of the year 2100

_Path = tuple[str, ...]

#: Objects of an entry that hold facts.
_INSIDE: Final[tuple[_Path, ...]] = ((), ("model_info",), ("top_provider",), ("limits",), ("metadata",))

#: The loaded context comes first, since it may be less than the model's.
_CONTEXT: Final = (
    "loaded_context_length",
    "context_length",
    "context_window",
    "max_context_length",
    "max_model_len",
    "context_size",
    "max_context_window_tokens",
    "max_input_tokens",
    "inputTokenLimit",
    "n_ctx",
)
_CONTEXT_ELSEWHERE: Final[tuple[_Path, ...]] = (
    ("meta", "n_ctx"),
    ("default_generation_settings", "n_ctx"),
    ("meta", "n_ctx_train"),
)
_OUTPUT: Final = (
    "max_completion_tokens",
    "max_output_tokens",
    "max_output_length",
    "outputTokenLimit",
    "max_tokens",  # of the output, where the input has a limit of its own
)
_INPUTS: Final[tuple[_Path, ...]] = (
    ("architecture", "input_modalities"),
    ("input_modalities",),
    ("supported_input_modalities",),
    ("modalities", "input"),
)
_OUTPUTS: Final[tuple[_Path, ...]] = (
    ("architecture", "output_modalities"),
    ("output_modalities",),
    ("supported_output_modalities",),
    ("modalities", "output"),
)
_MODALITY: Final[tuple[_Path, ...]] = (("architecture", "modality"), ("modality",))
_PARAMETERS: Final[tuple[_Path, ...]] = (
    ("supported_parameters",),
    ("model_info", "supported_openai_params"),
    ("supported_openai_params",),
    ("supported_sampling_parameters",),
)
_WORDS: Final[tuple[_Path, ...]] = (("capabilities",), ("tags",), ("metadata", "tags"), ("features",), ("modalities",))
_MODES: Final[tuple[_Path, ...]] = (("mode",), ("model_info", "mode"), ("type",), ("model_type",), ("task",))
_OWNERS: Final[tuple[_Path, ...]] = (
    ("owned_by",),
    ("organization",),
    ("publisher",),
    ("author",),
    ("model_info", "litellm_provider"),
)
_CREATED: Final[tuple[_Path, ...]] = (("created",), ("created_at",), ("released",), ("createdAt",))
_ABOUT: Final[tuple[_Path, ...]] = (("description",), ("summary",), ("metadata", "description"))

#: Kinds of content by all their names.
_KINDS: Final = {
    **{kind: kind for kind in KINDS},
    "images": "image",
    "vision": "image",
    "videos": "video",
    "pdf": "file",
    "files": "file",
    "document": "file",
    "documents": "file",
}

#: Abilities by the words of a list and the members of an object, without ``supports_`` before them.
_ABILITIES: Final = {
    "vision": "image",
    "image": "image",
    "image_in": "image",
    "image_input": "image",
    "images": "image",
    "multimodal": "image",
    "audio_input": "audio",
    "audio_in": "audio",
    "video_input": "video",
    "video_in": "video",
    "pdf_input": "file",
    "file_input": "file",
    "tools": "tools",
    "tool_use": "tools",
    "tool_call": "tools",
    "tool_calls": "tools",
    "tool_calling": "tools",
    "trained_for_tool_use": "tools",
    "function_calling": "tools",
    "thinking": "reasoning",
    "reasoning": "reasoning",
    "structured_output": "schema",
    "structured_outputs": "schema",
    "response_schema": "schema",
    "json_schema": "schema",
    "completion_chat": "conversation",
}

#: Members of an entry that are flags of an ability.
_FLAGS: Final = tuple((f"supports_{name}", meaning) for name, meaning in _ABILITIES.items())

#: Modes of models that are not for conversations.
_APART: Final = re.compile(
    r"embed|rerank|moderat|image|video|audio|speech|transcri|\btts\b|\bstt\b|\bocr\b|realtime|^completion$",
    re.IGNORECASE,
)
_CURRENCY: Final = re.compile(r"[A-Z]{3}\Z")


class _Spelling(NamedTuple):
    """One way to write a price: the object, the names, and the number of tokens it is for; 0 if the names do not say.

    ``nothing``: a price of 0 means an unknown price.
    """

    where: _Path
    input: str
    output: str
    cached: tuple[str, ...]
    tokens: int
    nothing: bool = False


_PRICES: Final = (
    _Spelling(("pricing",), "prompt", "completion", ("input_cache_read",), 1),
    *(
        _Spelling(
            where,
            "input_cost_per_token",
            "output_cost_per_token",
            ("cache_read_input_token_cost",),
            1,
            nothing=True,
        )
        for where in ((), ("model_info",), ("pricing",))
    ),
    *(
        _Spelling(where, f"input_{word}", f"output_{word}", (f"cached_input_{word}", f"cache_read_{word}"), MILLION)
        for word in ("cost_per_million", "price_per_million", "cost_per_million_tokens", "price_per_million_tokens")
        for where in ((), ("model_info",), ("pricing",))
    ),
    _Spelling(("pricing",), "input", "output", ("input_cache_read", "cached_input", "cache_read"), 0),
    _Spelling(("pricing",), "input_tokens", "output_tokens", ("cache_read_tokens",), 0),
    _Spelling(("metadata", "pricing"), "input_tokens", "output_tokens", ("cache_read_tokens",), 0),
    _Spelling((), "input_price", "output_price", ("cached_price",), 0),
)


_NO_MORE: Final[dict[str, object]] = {
    name: value for name, value in NOTHING_TOLD if name not in ("owner", "created", "about")
}

#: Members with facts other than owner, date and description.
_TELLING: Final = frozenset(
    (
        *_CONTEXT,
        *_OUTPUT,
        *(name for name, _ in _FLAGS),
        *(path[0] for path in (*_INSIDE, *_CONTEXT_ELSEWHERE, *_INPUTS, *_OUTPUTS, *_MODALITY) if path),
        *(path[0] for path in (*_PARAMETERS, *_WORDS, *_MODES)),
        *(spelling.where[0] if spelling.where else spelling.input for spelling in _PRICES),
        *(spelling.output for spelling in _PRICES),
        "providers",
    )
)


def facts_of(entry: JSON, price_tokens: int = 0) -> ModelFacts:
    """Return the facts in an entry.

    ``price_tokens`` is the number of tokens that a price is for when its name does not say it; 0 if unknown.
    """
    if not isinstance(entry, dict):
        return NOTHING_TOLD
    if _TELLING.isdisjoint(entry):  # true of most lists, and fast
        return _named(entry)
    abilities = _abilities(entry)
    inputs, refused = _inputs(entry, abilities)
    parameters = _parameters(entry)
    outputs = _kinds(_first(entry, _OUTPUTS)) or _modality(entry, 1)
    tools, reasoning = abilities.get("tools"), abilities.get("reasoning")
    facts = _named(
        entry,
        context=_context(entry),
        output=_limit_in(entry, _OUTPUT),
        price=_price(entry, price_tokens),
        inputs=inputs,
        refused=refused,
        outputs=outputs,
        parameters=parameters,
        tools=tools if tools is not None or parameters is None else "tools" in parameters,
        reasoning=reasoning if reasoning is not None or not _reasons(parameters) else True,
        schema_kept=abilities.get("schema"),
        mode=_mode(entry, outputs, abilities),
    )
    offers = entry.get("providers")
    if isinstance(offers, list):
        behind = [
            facts_of({**offer, "providers": None}, price_tokens)
            for offer in offers[:_MOST_BEHIND]
            if isinstance(offer, dict)
        ]
        facts = joined(agreed(behind), facts)
    return facts


def _named(entry: JSONObject, **more: object) -> ModelFacts:
    """Return ``more`` facts with owner, date and description."""
    owner = _short_text(_first(entry, _OWNERS), _LONGEST_WORD)
    created, about = _time(_first(entry, _CREATED)), _short_text(_first(entry, _ABOUT), _LONGEST_ABOUT)
    more = more or _NO_MORE
    if created is None and not owner and not about and more == _NO_MORE:
        return NOTHING_TOLD
    return ModelFacts.model_validate({**more, "owner": owner, "created": created, "about": about})


# ---- limits ----------------------------------------------------------------------------------------------------------


def _context(entry: JSONObject) -> int | None:
    limit = _limit_in(entry, _CONTEXT)
    if limit is not None:
        return limit
    for path in _CONTEXT_ELSEWHERE:
        if (limit := _limit(_value_at(entry, path))) is not None:
            return limit
    inner = entry.get("model_info")
    if isinstance(inner, dict):  # by the name of the architecture: "llama.context_length"
        for name in inner:
            if name.endswith(".context_length") and (limit := _limit(inner[name])) is not None:
                return limit
    return None


def _limit_in(entry: JSONObject, names: tuple[str, ...]) -> int | None:
    for where in _INSIDE:
        inner = _value_at(entry, where)
        if isinstance(inner, dict):
            for name in names:
                if name in inner and (limit := _limit(inner[name])) is not None:
                    return limit
    return None


def _limit(value: JSON) -> int | None:
    """Return a number of tokens, also from a text; None for anything else."""
    if isinstance(value, str):
        text = value.strip()
        value = int(text) if len(text) <= 12 and text.isascii() and text.isdigit() else None
    tokens = foreign.count_of(value)
    return tokens if tokens is not None and 0 < tokens <= MOST_TOKENS else None


# ---- prices ----------------------------------------------------------------------------------------------------------


def _price(entry: JSONObject, price_tokens: int) -> Price | None:
    for spelling in _PRICES:
        inner = _value_at(entry, spelling.where)
        tokens = spelling.tokens or price_tokens
        if not isinstance(inner, dict) or not (spelling.input in inner or spelling.output in inner):
            continue
        currency = _currency(inner.get("currency", entry.get("currency")))
        if not tokens or not currency:
            continue
        amounts = [_amount(inner.get(name), tokens) for name in (spelling.input, spelling.output)]
        if amounts == [None, None] or (spelling.nothing and not any(amounts)):
            continue
        cached = [_amount(inner.get(name), tokens) for name in spelling.cached]
        return Price(
            input=amounts[0],
            cached=next((amount for amount in cached if amount is not None), None),
            output=amounts[1],
            currency=currency,
            told=True,
        )
    return None


def _amount(value: JSON, tokens: int) -> float | None:
    """Return the price of a million tokens from that of ``tokens``; None for an invalid or implausible one."""
    if isinstance(value, str):
        try:
            value = float(value) if len(value) <= 40 else None
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        amount = value * (MILLION / tokens)
    except OverflowError:  # an int of many digits
        return None
    if not math.isfinite(amount) or not 0 <= amount <= DEAREST:
        return None
    return float(f"{amount:.10g}")  # 0.00000015 a token is 0.15 a million, not 0.15000000000000002


def _currency(value: JSON) -> str:
    """Return the sign of a currency, of dollars if there is none; "" for an invalid one."""
    if value is None or value in ("USD", "usd"):
        return DOLLARS
    return value if isinstance(value, str) and _CURRENCY.match(value) else ""


# ---- abilities -------------------------------------------------------------------------------------------------------


def _abilities(entry: JSONObject) -> dict[str, bool]:
    """Return abilities by meaning, from members named ``supports_…``, objects of flags and lists of words."""
    abilities: dict[str, bool] = {}

    def add(meaning: str, flag: bool | None) -> None:
        if flag is not None:
            abilities[meaning] = abilities.get(meaning, False) or flag

    for inner in (entry, entry.get("model_info")):
        if isinstance(inner, dict):
            for name, meaning in _FLAGS:
                if name in inner:
                    add(meaning, _flag(inner[name]))
    for path in _WORDS:
        words = _value_at(entry, path)
        if isinstance(words, dict):
            for name, meaning in _ABILITIES.items():
                if name in words:
                    add(meaning, _flag(words[name]))
        elif isinstance(words, list):
            names = {word.casefold().replace("-", "_") for word in _texts(words)}
            for name in names & _ABILITIES.keys():
                add(_ABILITIES[name], True)
            if path == ("capabilities",) and "completion" in names:  # a list of this kind names all abilities
                add("tools", False)
                add("image", False)
                add("reasoning", False)
    if entry.get("type") == "vlm":
        abilities["image"] = True
    return abilities


def _flag(value: JSON) -> bool | None:
    """Return a flag, also from a text or from an object with ``supported``; None for anything else."""
    if isinstance(value, dict):
        value = value.get("supported")
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().casefold()) if len(value) < 20 else None
    return value if isinstance(value, bool) else None


def _inputs(entry: JSONObject, abilities: dict[str, bool]) -> tuple[frozenset[str] | None, frozenset[str]]:
    """Return the kinds of input that the model accepts, None if unknown, and those that it refuses."""
    listed = _kinds(_first(entry, _INPUTS)) or _modality(entry, 0)
    if listed is not None:
        return listed, KINDS - listed
    flags = {kind: abilities[kind] for kind in KINDS if kind in abilities}
    if not flags:
        return None, frozenset()
    accepted = frozenset(kind for kind, flag in flags.items() if flag)
    return accepted | {"text"}, frozenset(flags) - accepted


def _kinds(value: JSON) -> frozenset[str] | None:
    if isinstance(value, dict):
        value = [name for name, flag in value.items() if flag is True]
    if not isinstance(value, list):
        return None
    return frozenset(kind for word in _texts(value) if (kind := _KINDS.get(word.casefold()))) or None


def _modality(entry: JSONObject, side: int) -> frozenset[str] | None:
    """Return the kinds before (``side`` 0) or after (1) the arrow of ``text+image->text``; None if there is none."""
    value = _first(entry, _MODALITY)
    if not isinstance(value, str) or len(value) > _LONGEST_WORD or "->" not in value:
        return None
    return _kinds(value.split("->")[side].split("+"))


def _parameters(entry: JSONObject) -> frozenset[str] | None:
    value = _first(entry, _PARAMETERS)
    return frozenset(_texts(value)) or None if isinstance(value, list) else None


def _reasons(parameters: frozenset[str] | None) -> bool:
    return parameters is not None and not parameters.isdisjoint(("reasoning", "include_reasoning", "reasoning_effort"))


def _mode(entry: JSONObject, outputs: frozenset[str] | None, abilities: dict[str, bool]) -> str:
    for path in _MODES:
        value = _value_at(entry, path)
        if isinstance(value, str) and len(value) <= _LONGEST_WORD and _APART.search(value):
            return foreign.whole(value)
    words = entry.get("capabilities")
    if isinstance(words, list) and "embedding" in words[:_MOST_WORDS] and "completion" not in words[:_MOST_WORDS]:
        return "embedding"
    if outputs and "text" not in outputs:
        return min(outputs)
    return "other" if abilities.get("conversation") is False else ""


# ---- texts and times -------------------------------------------------------------------------------------------------


def _value_at(entry: JSON, path: _Path) -> JSON:
    for name in path:
        entry = entry.get(name) if isinstance(entry, dict) else None
    return entry


def _first(entry: JSONObject, paths: tuple[_Path, ...]) -> JSON:
    """Return the first value that is not empty; None if all are."""
    return next((value for path in paths if (value := _value_at(entry, path)) not in (None, "", [])), None)


def _texts(values: list[JSON]) -> Iterator[str]:
    for value in values[:_MOST_WORDS]:
        if isinstance(value, str) and 0 < len(value) <= _LONGEST_WORD:
            yield foreign.whole(value)


def _short_text(value: JSON, longest: int) -> str:
    return foreign.whole(value[:longest].strip()) if isinstance(value, str) else ""


def _time(value: JSON) -> float | None:
    """Return Unix seconds from seconds, milliseconds or a date; None for an invalid or implausible time."""
    if isinstance(value, str):
        try:
            date = datetime.fromisoformat(value[:40])
        except ValueError:
            return None
        value = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _LATEST * 1000:
        return None
    return float(value) if value < _LATEST else value / 1000
