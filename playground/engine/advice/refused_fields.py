"""What a refusal says the gateway does not take, and the rules that would send the request without it.

Only fields that were sent, and that panels put there, are looked for in the message: a name stands for something to
mend where it is what the message is about, in the words of a refusal. The message is foreign text: it is looked at by
its beginning, nothing of it becomes part of a rule but names that we know, and few offers come of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Final

from playground.domain.adaptations import Adaptation, AdaptationKind
from playground.domain.errors import Failure, FailureKind, Sent
from playground.engine.advice.field_locations import parameter_named
from playground.engine.advice.parts import Offer
from playground.jsonkit.values import JSON
from playground.protocols import PROTOCOLS

MOST: Final = 3  # offers
_LOOKED_AT: Final = 2000  # characters of a message
_MOST_NAMED: Final = 8  # fields in a message
_STATUSES: Final = frozenset({400, 404, 405, 415, 422, 500, 501})
_KINDS: Final = frozenset({FailureKind.HTTP, FailureKind.STREAM})

#: The words of a refusal of something for what it is, not for how large or how long it is.
_REFUSED: Final = re.compile(
    r"\b(?:un|not )(?:supported|recogni[sz]ed|known|expected|permitted|allowed|available|accepted|implemented|valid|yet"
    r"|enabled|found)\b"
    r"|\b(?:unsupported|unrecogni[sz]ed|unknown|unexpected|unavailable|invalid|forbidden|deprecated|extra_forbidden"
    r"|extraneous|additional properties|extra (?:inputs|fields|parameters|arguments|request arguments)|incompatible)\b"
    r"|\b(?:does not|doesn't|do not|don't|cannot|can't|can not|could not|couldn't|isn't|no endpoints found that) "
    r"(?:currently |yet )?"
    r"(?:support|accept|allow|recogni[sz]e|permit|take|find|both|be (?:used|set|specified|combined))"
    r"|\bonly (?:the )?(?:default|supports?|accepts?|allows?|`?auto|`?n ?=|one of|1\b|one |user|assistant|\"|'|system)"
    r"|\bmust (?:be|not be) (?:one of|auto|set to|1\b|\"|'|`|text|json|none|null|empty|absent|omitted|unset|false|true)"
    r"|\bmust only\b|\bmay only be\b|\bshould be (?:one of|'|\"|`|1\b)|\bis not one of\b|\binput should be '"
    r"|\b(?:please )?use\b.{1,60}\binstead\b|\bno (?:such )?(?:field|parameter|argument)\b|\bplease (?:use|remove)\b"
    r"|不支持|无效|未知|不允许",
    re.IGNORECASE,
)
#: It is about how much, or about a schema: that is for the person to change.
_OF_SIZE: Final = re.compile(
    r"\b(?:too (?:large|small|long|high|low|big|many|few)|at most|at least|greater than|less than|between \S{1,12} and"
    r"|maximum|minimum|exceeds?|out of range|invalid schema|must be (?:positive|a (?:positive|valid)|an? (?:integer"
    r"|number|string|boolean|object|array)))\b|[<>]=",
    re.IGNORECASE,
)
_ROLE_WORD: Final = re.compile(
    r"\brole|unknown variant|is not one of|\bdeveloper (?:message|instruction)", re.IGNORECASE
)
_ALTERNATE: Final = re.compile(r"\balternate\b", re.IGNORECASE)
#: Where a message says which roles it would take.
_LISTED: Final = re.compile(
    r"\b(?:expected|(?:supported|valid|allowed) (?:values|roles)|one of|only|must be|use)\b", re.IGNORECASE
)
_REQUIRED: Final = re.compile(
    r"\b(?:field required|(?:is |are )?(?:a )?required|missing|must be (?:provided|set|specified))\b", re.IGNORECASE
)
_INSTEAD: Final = re.compile(
    r"\b(?:use|replaced (?:by|with)|renamed (?:to)?|in favou?r of|did you mean|try)\s{1,3}(?:the )?(?:parameter )?"
    r"[\"'`“‘]{0,2}([a-z][a-z_]{0,40})\b",
    re.IGNORECASE,
)
#: Where a message says which values it would take, without quotation marks.
_VALUES: Final = re.compile(r"\b(?:values|levels)(?: are)?:", re.IGNORECASE)
_QUOTED: Final = "\"'`“”‘’[]()<>«»"
#: Fields that other words are too much like for a mere mention to count.
_COMMON: Final = frozenset(
    {"n", "stop", "user", "seed", "stream", "store", "tools", "type", "name", "strict", "thinking"}
)

#: What models differ in; anything else is a matter of the gateway's.
_OF_THE_MODEL: Final = frozenset(
    {
        "max_tokens", "max_completion_tokens", "max_output_tokens", "temperature", "top_p", "top_k", "min_p", "stop",
        "stop_sequences", "frequency_penalty", "presence_penalty", "repetition_penalty", "reasoning_effort",
        "reasoning", "thinking", "output_config", "tool_choice", "response_format", "logprobs", "top_logprobs",
        "logit_bias", "verbosity", "seed", "modalities",
    }
)  # fmt: skip
#: Names of one thing; where one of them is not taken, another may be.
_LIMITS: Final = ("max_completion_tokens", "max_tokens", "max_output_tokens")
_EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
#: Where the level of effort is sent.
_LEVELS: Final = ("reasoning_effort", "output_config.effort")
#: Fields that are no use without another one.
_ALONG: Final = {"stream": ("stream_options",), "logprobs": ("top_logprobs",)}
#: Never offered: without them there is nothing to ask, or something else is asked.
_NEVER: Final = frozenset({"model", "tools", "functions", "system", "type", "name"})


def offers(failure: Failure) -> tuple[Offer, ...]:
    """What would send the refused request so that it is taken, the likeliest first; none where nothing is known."""
    sent = failure.sent
    if sent is None or sent.endpoint not in PROTOCOLS or failure.kind not in _KINDS:
        return ()
    if not (sent.fields or sent.roles) or (failure.status is not None and failure.status not in _STATUSES):
        return ()
    words = failure.message[:_LOOKED_AT]
    if _OF_SIZE.search(words) and not re.search(r"not supported|unsupported|only the default", words, re.IGNORECASE):
        return ()
    if not (_REFUSED.search(words) or _REQUIRED.search(words) or (failure.code or "").startswith(("unsup", "unknown"))):
        return ()
    found: list[Offer] = []
    for rules in _rules(failure, sent, words):
        offer = Offer(rules=rules, model=sent.model, narrow=_is_of_the_model(rules[0]))
        if offer not in found:
            found.append(offer)
        if len(found) == MOST:
            break
    return tuple(found)


def _rules(failure: Failure, sent: Sent, words: str) -> Iterator[tuple[Adaptation, ...]]:
    """The rules of each offer."""
    yield from _roles(failure, sent, words)
    if _REQUIRED.search(words) and not _REFUSED.search(words):
        yield from _required(sent, words)
        return
    for field in _about(failure, sent, words):
        yield from _mending(field, sent, words)


def _rule(sent: Sent, kind: AdaptationKind, field: str, to: JSON = None) -> Adaptation:
    return Adaptation(kind=kind, field=field, to=to, protocol=sent.endpoint)


# ---- what a message is about


def _about(failure: Failure, sent: Sent, words: str) -> list[str]:
    """The fields that a message is about, as they were sent, the likeliest first."""
    named = [_sent_as(_plain(name), sent) for name in (failure.param or "", parameter_named(failure))]
    said = _said(sent, words)
    inner = [name for name in said if not any(other.startswith(f"{name}.") for other in said)]
    # what is named where fields usually are comes first; of an object and a member of it, the member
    first = [name for name in named if name]
    if not first and re.search(r"\bresponse_?format\b|\bjson[_ ]?schema\b", words, re.IGNORECASE):
        first = ["response_format"] if "response_format" in sent.fields else []
    both = re.search(r"\bboth\b|\bonly one of\b|\bmutually exclusive\b|\bat the same time\b", words, re.IGNORECASE)
    if both and len(inner) > 1:
        # of two that do not go together, the one that is named last is the one to leave out first
        return sorted(inner, key=lambda name: -_place(name, words))
    order = sorted(inner, key=lambda name: _place(name, words))
    # "Unsupported parameter x. Use y instead": y is not what is wrong, and neither is what a list of them says is known
    if not first:
        first = order or [name for name in _LEVELS if _is_said_as_level(sent.fields.get(name), words)]
    elif re.search(r"\[[^\]]{0,300}\]|extra_forbidden|extra inputs", words[:_LOOKED_AT], re.IGNORECASE):
        first = [*first, *(name for name in order if name not in first)]
    whole = [name.removesuffix(".type") for name in first]  # of what kind a thing is cannot be left out alone
    return [name for name in dict.fromkeys(whole) if name.split(".")[-1] not in _NEVER]


def _said(sent: Sent, words: str) -> list[str]:
    """The fields that a message names; of one that lists very many, some."""
    run_together = _joined(words)
    likely = (name for name in sent.fields if _joined(name) in run_together)
    return list(islice((name for name in likely if _is_said(name, words)), _MOST_NAMED))


def _plain(name: str) -> str:
    """A name as paths are written here: ``body.tools[0].function.strict`` is ``tools.function.strict``."""
    name = re.sub(r"\[\d{0,9}\]|\.\d{1,9}(?=\.|$)", "", name[:120])
    name = re.sub(r"^(?:body|request|params?|generation_config|extra_body)\.", "", name)
    return name if re.fullmatch(r"[A-Za-z_][\w.-]{0,100}", name) else ""


def _sent_as(name: str, sent: Sent) -> str:
    """The field that was sent for a name in a message; empty for none. Letters of any case, joined or not, fit."""
    if not name:
        return ""
    fields = {_joined(field): field for field in sent.fields}
    while name:
        if found := fields.get(_joined(name)):
            return found
        name = name.rpartition(".")[0]  # "thinking.type.enabled" is about thinking.type
    return ""


def _joined(name: str) -> str:
    return name.replace("_", "").replace(" ", "").lower()


@cache
def _mention(name: str) -> re.Pattern[str]:
    spelled = re.escape(name).replace("_", "[_ ]?")
    return re.compile(rf"(?<!\w){spelled}(?!\w)", re.IGNORECASE)


def _is_said(name: str, words: str) -> bool:
    """Whether a message names a field, in quotation marks where its name is a word like others."""
    last = name.split(".")[-1]
    if last in _NEVER:
        return False
    found = list(islice(_mention(name).finditer(words), _MOST_NAMED))
    return bool(found) and (name not in _COMMON or any(_stands_out(one, words) for one in found))


def _stands_out(found: re.Match[str], words: str) -> bool:
    """Whether a word like others is a name where it stands: in quotation marks, or alone behind a mark."""
    before, after = words[: found.start()][-3:], words[found.end() : found.end() + 1]
    if before[-1:] in tuple(_QUOTED) or after in (":", "="):
        return True
    return before.endswith((": ", "-> ")) and (not after or after in _QUOTED or after in ".,\n")


def _is_said_as_level(sent: JSON, words: str) -> bool:
    """Whether a message that names no field refuses the level of effort that was sent."""
    return sent in _EFFORTS and re.search(rf"\blevel [\"'`]{sent}[\"'`]", words, re.IGNORECASE) is not None


def _place(name: str, words: str) -> int:
    found = _mention(name).search(words)
    return found.start() if found else len(words)


# ---- what is done about it


def _mending(field: str, sent: Sent, words: str) -> Iterator[tuple[Adaptation, ...]]:
    """What can be done about one field, the best first."""
    root = field.split(".")[0]
    known = sent.fields
    if root in _LIMITS:
        other = next((name for name in _instead(words) if name in _LIMITS and name != root), "")
        other = other or next(name for name in ("max_tokens", "max_completion_tokens") if name != root)
        if other not in known and not (root == "max_tokens" and _REQUIRED.search(words)):
            yield (_rule(sent, AdaptationKind.RENAME, root, other),)
    elif root == "tool_choice":
        auto = _auto(known)
        if auto is not None and not re.search(r"[\"'`]auto[\"'`] (?:tool choice )?(?:requires|is not)", words):
            yield (_rule(sent, AdaptationKind.REPLACE, root, auto),)
    elif root == "response_format" and field != "response_format.json_schema.strict":
        if "response_format.json_schema" in known and not _says_no_json_object(words):
            yield (_rule(sent, AdaptationKind.REPLACE, root, {"type": "json_object"}),)
    elif root == "thinking" and re.search(r"\badaptive\b", words) and known.get("thinking.type") != "adaptive":
        yield (_rule(sent, AdaptationKind.REPLACE, root, {"type": "adaptive"}),)
    elif field in _LEVELS and (level := _nearest(known.get(field), words)):
        yield (_rule(sent, AdaptationKind.REPLACE, field, level),)
    elif "." not in field and (other := _other_name(field, sent, words)):
        yield (_rule(sent, AdaptationKind.RENAME, field, other),)
    gone = root if root in ("thinking", "response_format") and not field.endswith(".strict") else field
    along = (name for name in _ALONG.get(gone, ()) if name in known)
    yield tuple(_rule(sent, AdaptationKind.OMIT, name) for name in (gone, *along))


def _other_name(field: str, sent: Sent, words: str) -> str:
    """The name that a message says to use instead, where the protocol has such a field and it was not sent."""
    known = _others(sent.endpoint)
    return next((name for name in _instead(words) if name in known and name != field and name not in sent.fields), "")


def _required(sent: Sent, words: str) -> Iterator[tuple[Adaptation, ...]]:
    """A name that is missed, where the same was sent under another."""
    for name in _LIMITS:
        if name not in sent.fields and _mention(name).search(words):
            for other in _LIMITS:
                if other in sent.fields:
                    yield (_rule(sent, AdaptationKind.RENAME, other, name),)
                    return


def _roles(failure: Failure, sent: Sent, words: str) -> Iterator[tuple[Adaptation, ...]]:
    """Instructions under another role."""
    about = (failure.param or "").endswith("role") or _ROLE_WORD.search(words)
    if not about or _ALTERNATE.search(words):
        return
    for role, others in (("developer", ("system", "user")), ("system", ("developer", "user"))):
        if role not in sent.roles or not _refuses_role(role, words):
            continue
        known = [other for other in others if _names_role(other, words)]
        for other in [*known, *(others[-1:] if role == "system" else others[:1])][:1]:
            yield (_rule(sent, AdaptationKind.ROLE, role, other),)


def _refuses_role(role: str, words: str) -> bool:
    """Whether that is the role that is not taken, not one of those that a message says are."""
    listed = _LISTED.search(words)
    head = words[: listed.start()] if listed else words
    got = re.search(rf"\b(?:got|received):? [\"'`]?{role}\b", words, re.IGNORECASE)
    return bool(got or re.search(rf"\b{role}\b", head, re.IGNORECASE)) or (
        listed is not None
        and re.search(r"\brole", words, re.IGNORECASE) is not None
        and not re.search(r"\bsystem\b|\bdeveloper\b", words, re.IGNORECASE)
    )


def _names_role(role: str, words: str) -> bool:
    """Whether a message says that this role would do."""
    return bool(re.search(rf"\b(?:use|one of|expected)\b.{{0,80}}\b{role}\b", words, re.IGNORECASE | re.DOTALL))


def _instead(words: str) -> list[str]:
    return [name.lower() for name in _INSTEAD.findall(words)[:10]]


def _auto(known: dict[str, JSON]) -> JSON:
    """The choice that leaves it to the model, in the shape of the one that was sent; None where it is that."""
    if known.get("tool_choice") == "auto" or known.get("tool_choice.type") == "auto":
        return None
    plain = "tool_choice.type" not in known or "tool_choice.function" in known
    return "auto" if plain else {"type": "auto"}


def _says_no_json_object(words: str) -> bool:
    return bool(re.search(r"[\"'`]json_object[\"'`] (?:is )?(?:not|unsupported)|must be [\"'`]?text", words))


def _nearest(sent: JSON, words: str) -> str:
    """The level of effort among those that a message names that is nearest to the one that was sent; empty for none."""
    after = _VALUES.search(words)
    bare = words[after.end() :] if after else ""
    listed = [
        name
        for name in _EFFORTS
        if name != sent and (re.search(rf"[\"'`]{name}[\"'`]", words) or re.search(rf"\b{name}\b", bare))
    ]
    if not isinstance(sent, str) or sent not in _EFFORTS:
        return ""
    at = _EFFORTS.index(sent)  # of two that are as near, the one that thinks
    return min(listed, key=lambda name: (abs(_EFFORTS.index(name) - at), name == "none"), default="")


def _is_of_the_model(rule: Adaptation) -> bool:
    return rule.kind is AdaptationKind.ROLE or rule.field.split(".")[0] in _OF_THE_MODEL


@cache
def _others(protocol: str) -> frozenset[str]:
    """The fields that a protocol knows, by their names in the body."""
    from playground.protocols.protocol import get_protocol

    return frozenset(path[0] for path in get_protocol(protocol).parameters_type.places().values())
