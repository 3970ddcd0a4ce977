"""Refused fields: where a message names them, and rules that would send the request without them.

Only fields that were sent, and that panels set, are searched for in the message, and only where the message is worded
as a refusal. The message is foreign text: its beginning alone is read, rules hold only names known here, and the number
of offers is limited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Final

from playground.domain.adaptations import Adaptation, AdaptationKind
from playground.domain.errors import Failure, FailureKind, Sent
from playground.engine.advice.parts import Offer
from playground.jsonkit.values import JSON
from playground.protocols import MESSAGES, PROTOCOLS

#: Headers that carry a key, or that no person sets.
_RESERVED_HEADERS: Final = frozenset(
    {
        "x-api-key", "api-key", "x-goog-api-key", "proxy-authorization", "www-authenticate", "content-type",
        "content-length", "content-encoding", "transfer-encoding", "user-agent", "accept-encoding", "set-cookie",
    }
)  # fmt: skip
_MAX_HEADERS: Final = 3

_HEADER: Final = r"[A-Za-z][A-Za-z0-9]{0,40}(?:-[A-Za-z0-9]{1,40}){1,8}"
#: A name that looks like a header's and not like a word with a hyphen: x-…, Title-Case, quoted, or beside “header”.
_NAME: Final = re.compile(
    r"(?<![\w-])(?:"
    r"(?P<x>[xX](?:-[A-Za-z0-9]{1,40}){1,8})"
    r"|(?P<title>[A-Z][A-Za-z0-9]{0,40}(?:-[A-Z][A-Za-z0-9]{0,40}){1,8})"
    rf"|(?<=[\"'`“‘])(?P<quoted>{_HEADER})(?=[\"'`”’])"
    rf"|(?P<before>{_HEADER})(?=:?\s+(?:request |http )?header\b)"
    rf"|(?<=header )(?P<after>{_HEADER})|(?<=headers )(?P<several>{_HEADER})"
    rf"|(?<=header: )(?P<colon>{_HEADER})|(?<=headers: )(?P<listed>{_HEADER})"
    r")(?![\w-])"
)
_NO_HEADER: Final = re.compile(r"(?:non|cross|same|pre|self|well)-|rate-limit$", re.IGNORECASE)
_NAMES_HEADERS: Final = re.compile(r"\bheaders?\b", re.IGNORECASE)
_SAYS_MISSING: Final = re.compile(
    r"\b(?:requires?|required|missing|needs?|needed|expected|absent|no|provide|include|specify|supply|add|set)\b"
    r"|\bmust (?:be|have|contain|send)\b|\bnot (?:sent|provided|found|present|given|specified)\b",
    re.IGNORECASE,
)
_SAYS_INVALID: Final = re.compile(
    r"\b(?:invalid|malformed|wrong|too (?:long|large|big|many)|not allowed)\b", re.IGNORECASE
)

_FIELD: Final = r"(?P<name>[A-Za-z_][\w.\[\]-]{0,80})"
_OPEN: Final = r"[\"'`(\[]*"
_MARK: Final = r"[\"'`]"
#: The ways in which messages name a field; the first match counts.
_FIELDS: Final = tuple(
    re.compile(words, re.IGNORECASE)
    for words in (
        rf"\bunsupported (?:parameter|value|argument)s?:? {_OPEN}{_FIELD}",
        rf"\bunrecognized request arguments? supplied: {_OPEN}{_FIELD}",
        rf"\b(?:unrecognized|unknown) (?:parameter|argument|field|name|key)s?:? {_OPEN}{_FIELD}",
        rf"\b(?:unexpected|extra) (?:parameter|keyword argument|field|property)s?:? {_OPEN}{_FIELD}",
        rf"\bdoes not support (?:the )?(?:parameter|argument)s?:? {_OPEN}{_FIELD}",
        rf"\bproperty {_MARK}{_FIELD}{_MARK} is (?:unsupported|not)\b",
        rf"\bextra inputs are not permitted, field: {_MARK}{_FIELD}",
        rf"(?:^|[;\s]){_FIELD}: (?:extra inputs are not permitted|input should|field required|value error|range:)",
        rf"\binvalid (?:value|type)(?: for)?:? {_OPEN}{_FIELD}\b",
        rf"\binvalid {_MARK}{_FIELD}{_MARK}",
        rf"(?:^|[\s(]){_MARK}{_FIELD}{_MARK} (?:is (?:not|un)|does not|must|may only|should|has to|cannot|and {_MARK})",
        rf"^{_FIELD} (?:is not (?:supported|allowed|permitted)|is too (?:large|small)|must be|may only be|should be)",
    )
)
_IN_BODY: Final = re.compile(r"^(?:body|request|params?)\.(?=\w)")
_PLAIN: Final = re.compile(rf"^{_FIELD}$")
#: Quoted words in messages that are kinds of values, not fields.
_NO_FIELD: Final = frozenset(
    {"none", "null", "json", "string", "object", "array", "value", "input", "body", "request", "error"}
)

_PLACES: Final = {
    "model": "model",
    MESSAGES: "turns",
    "message": "turns",
    "contents": "turns",
    "system": "turns",
    "tools": "tools",
    "functions": "tools",
    "response_format": "output",
    "output_format": "output",
}


def header_names(message: str) -> tuple[str, ...]:
    """Return the headers that a message says are missing, the likeliest first.

    ``Either x-portkey-config or x-portkey-provider header is required`` gives the provider's first. Headers that carry
    a key are left out, and so are those that were sent with a wrong value.
    """
    if not _NAMES_HEADERS.search(message) or not _SAYS_MISSING.search(message) or _SAYS_INVALID.search(message):
        return ()
    candidates = [match[0] for match in _NAME.finditer(message[:4000]) if not _NO_HEADER.match(match[0])]
    names = {name.lower(): name for name in candidates if name.lower() not in _RESERVED_HEADERS}
    return tuple(reversed(names.values()))[:_MAX_HEADERS]


def parameter_named(failure: Failure) -> str:
    """Return the body field that a refusal is about, such as ``messages[1].content``; empty for none."""
    name = failure.param or ""
    if not _PLAIN.match(name) or name.lower() in _NO_FIELD:
        matches = (pattern.search(failure.message[:4000]) for pattern in _FIELDS)
        name = next((match["name"] for match in matches if match and match["name"].lower() not in _NO_FIELD), "")
    return _IN_BODY.sub("", name).rstrip(".-[]" if "[" not in name else ".-")


def place_of(name: str) -> str:
    """Return the panel where a field of the body is set: "turns", "model", "tools", "output", "parameters" or "raw"."""
    root, *rest = re.split(r"[.\[]", name)
    if root == "output_config" and rest[:1] == ["format"]:
        return "output"
    return _PLACES.get(root) or ("parameters" if root in _parameters() else "raw")


@cache
def _parameters() -> frozenset[str]:
    """Return the top-level names of the parameters of all protocols in a body."""
    from playground.protocols import PROTOCOLS
    from playground.protocols.protocol import get_protocol

    kinds = [get_protocol(name).parameters_type for name in PROTOCOLS]
    return frozenset(path[0] for kind in kinds for path in kind.places().values())


MAX_OFFERS: Final = 3
_MAX_MESSAGE: Final = 2000  # characters
_MAX_NAMES: Final = 8  # fields in a message
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
#: A refusal of a value's size, or of a schema: only a person can correct it.
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
#: Words before the roles that the gateway accepts.
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
#: Words before unquoted accepted values.
_VALUES: Final = re.compile(r"\b(?:values|levels)(?: are)?:", re.IGNORECASE)
_QUOTED: Final = "\"'`“”‘’[]()<>«»"
#: Fields with the names of common words: a mere mention does not count.
_COMMON: Final = frozenset(
    {"n", "stop", "user", "seed", "stream", "store", "tools", "type", "name", "strict", "thinking"}
)

#: Fields in which models differ; other fields depend on the gateway.
_OF_THE_MODEL: Final = frozenset(
    {
        "max_tokens", "max_completion_tokens", "max_output_tokens", "temperature", "top_p", "top_k", "min_p", "stop",
        "stop_sequences", "frequency_penalty", "presence_penalty", "repetition_penalty", "reasoning_effort",
        "reasoning", "thinking", "output_config", "tool_choice", "response_format", "logprobs", "top_logprobs",
        "logit_bias", "verbosity", "seed", "modalities",
    }
)  # fmt: skip
#: Alternative names of the token limit.
_LIMITS: Final = ("max_completion_tokens", "max_tokens", "max_output_tokens")
_EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
#: Fields that carry the level of effort.
_LEVELS: Final = ("reasoning_effort", "output_config.effort")
#: Fields that are useless without another one.
_DEPENDENT: Final = {"stream": ("stream_options",), "logprobs": ("top_logprobs",)}
#: Fields that are never left out: the request would be empty, or another one.
_NEVER: Final = frozenset({"model", "tools", "functions", "system", "type", "name"})


def offers(failure: Failure) -> tuple[Offer, ...]:
    """Return the offers that would have the refused request accepted, the likeliest first."""
    sent = failure.sent
    if sent is None or sent.endpoint not in PROTOCOLS or failure.kind not in _KINDS:
        return ()
    if not (sent.fields or sent.roles) or (failure.status is not None and failure.status not in _STATUSES):
        return ()
    words = failure.message[:_MAX_MESSAGE]
    if _OF_SIZE.search(words) and not re.search(r"not supported|unsupported|only the default", words, re.IGNORECASE):
        return ()
    if not (_REFUSED.search(words) or _REQUIRED.search(words) or (failure.code or "").startswith(("unsup", "unknown"))):
        return ()
    result: list[Offer] = []
    for rules in _rules(failure, sent, words):
        offer = Offer(rules=rules, model=sent.model, narrow=_is_of_the_model(rules[0]))
        if offer not in result:
            result.append(offer)
        if len(result) == MAX_OFFERS:
            break
    return tuple(result)


def _rules(failure: Failure, sent: Sent, words: str) -> Iterator[tuple[Adaptation, ...]]:
    """Yield the rules of each offer."""
    yield from _roles(failure, sent, words)
    if _REQUIRED.search(words) and not _REFUSED.search(words):
        yield from _required(sent, words)
        return
    for field in _about(failure, sent, words):
        yield from _mending(field, sent, words)


def _rule(sent: Sent, kind: AdaptationKind, field: str, to: JSON = None) -> Adaptation:
    return Adaptation(kind=kind, field=field, to=to, protocol=sent.endpoint)


# ---- the fields of a message


def _about(failure: Failure, sent: Sent, words: str) -> list[str]:
    """Return the fields that a message is about, by their names in the request, the likeliest first."""
    named = [_sent_as(_plain(name), sent) for name in (failure.param or "", parameter_named(failure))]
    mentioned = _mentioned(sent, words)
    inner = [name for name in mentioned if not any(field.startswith(f"{name}.") for field in mentioned)]
    # A field in the usual place comes first; of an object and its member, the member.
    first = [name for name in named if name]
    if not first and re.search(r"\bresponse_?format\b|\bjson[_ ]?schema\b", words, re.IGNORECASE):
        first = ["response_format"] if "response_format" in sent.fields else []
    both = re.search(r"\bboth\b|\bonly one of\b|\bmutually exclusive\b|\bat the same time\b", words, re.IGNORECASE)
    if both and len(inner) > 1:
        # Of two incompatible fields, the one that is named last is left out first.
        return sorted(inner, key=lambda name: -_place(name, words))
    order = sorted(inner, key=lambda name: _place(name, words))
    # In "Unsupported parameter x. Use y instead", y is accepted, and so are the fields of a list of known ones.
    if not first:
        accepted = _instead(words)  # "Unknown parameter: 'stop'. Did you mean 'store'?" does not refuse store
        order = [name for name in order if name not in accepted]
        first = order or [name for name in _LEVELS if _refuses_level(sent.fields.get(name), words)]
    elif re.search(r"\[[^\]]{0,300}\]|extra_forbidden|extra inputs", words[:_MAX_MESSAGE], re.IGNORECASE):
        first = [*first, *(name for name in order if name not in first)]
    fields = [name.removesuffix(".type") for name in first]  # the type of an object cannot be left out alone
    return [name for name in dict.fromkeys(fields) if name.split(".")[-1] not in _NEVER]


def _mentioned(sent: Sent, words: str) -> list[str]:
    """Return the fields that a message names, a limited number of them."""
    run_together = _joined(words)
    likely = (name for name in sent.fields if _joined(name) in run_together)
    return list(islice((name for name in likely if _is_named(name, words)), _MAX_NAMES))


def _plain(name: str) -> str:
    """Return a name in the form of paths: ``body.tools[0].function.strict`` is ``tools.function.strict``."""
    name = re.sub(r"\[\d{0,9}\]|\.\d{1,9}(?=\.|$)", "", name[:120])
    name = re.sub(r"^(?:body|request|params?|generation_config|extra_body)\.", "", name)
    return name if re.fullmatch(r"[A-Za-z_][\w.-]{0,100}", name) else ""


def _sent_as(name: str, sent: Sent) -> str:
    """Return the sent field for a name in a message, whatever its letter case and separators; empty for none."""
    if not name:
        return ""
    fields = {_joined(field): field for field in sent.fields}
    while name:
        if result := fields.get(_joined(name)):
            return result
        name = name.rpartition(".")[0]  # "thinking.type.enabled" is about thinking.type
    return ""


def _joined(name: str) -> str:
    return name.replace("_", "").replace(" ", "").lower()


@cache
def _mention(name: str) -> re.Pattern[str]:
    spelled = re.escape(name).replace("_", "[_ ]?")
    return re.compile(rf"(?<!\w){spelled}(?!\w)", re.IGNORECASE)


def _is_named(name: str, words: str) -> bool:
    """Return whether a message names a field; a common word must be quoted or marked."""
    last = name.split(".")[-1]
    if last in _NEVER:
        return False
    matches = list(islice(_mention(name).finditer(words), _MAX_NAMES))
    return bool(matches) and (name not in _COMMON or any(_is_marked(match, words) for match in matches))


def _is_marked(match: re.Match[str], words: str) -> bool:
    """Return whether a common word is marked as a name: in quotation marks, or alone after a colon or arrow."""
    before, after = words[: match.start()][-3:], words[match.end() : match.end() + 1]
    if before[-1:] in tuple(_QUOTED) or after in (":", "="):
        return True
    return before.endswith((": ", "-> ")) and (not after or after in _QUOTED or after in ".,\n")


def _refuses_level(sent: JSON, words: str) -> bool:
    """Return whether a message that names no field refuses the level of effort that was sent."""
    return sent in _EFFORTS and re.search(rf"\blevel [\"'`]{sent}[\"'`]", words, re.IGNORECASE) is not None


def _place(name: str, words: str) -> int:
    match = _mention(name).search(words)
    return match.start() if match else len(words)


# ---- the rules for a field


def _mending(field: str, sent: Sent, words: str) -> Iterator[tuple[Adaptation, ...]]:
    """Yield the alternatives for one field, the best first."""
    root = field.split(".")[0]
    fields = sent.fields
    if root in _LIMITS:
        target = next((name for name in _instead(words) if name in _LIMITS and name != root), "")
        target = target or next(name for name in ("max_tokens", "max_completion_tokens") if name != root)
        if target not in fields and not (root == "max_tokens" and _REQUIRED.search(words)):
            yield (_rule(sent, AdaptationKind.RENAME, root, target),)
    elif root == "tool_choice":
        auto = _auto(fields)
        if auto is not None and not re.search(r"[\"'`]auto[\"'`] (?:tool choice )?(?:requires|is not)", words):
            yield (_rule(sent, AdaptationKind.REPLACE, root, auto),)
    elif root == "response_format" and field != "response_format.json_schema.strict":
        if "response_format.json_schema" in fields and not _says_no_json_object(words):
            yield (_rule(sent, AdaptationKind.REPLACE, root, {"type": "json_object"}),)
    elif root == "thinking" and re.search(r"\badaptive\b", words) and fields.get("thinking.type") != "adaptive":
        yield (_rule(sent, AdaptationKind.REPLACE, root, {"type": "adaptive"}),)
    elif field in _LEVELS and (level := _nearest(fields.get(field), words)):
        yield (_rule(sent, AdaptationKind.REPLACE, field, level),)
    elif "." not in field and (target := _new_name(field, sent, words)):
        yield (_rule(sent, AdaptationKind.RENAME, field, target),)
    omitted = root if root in ("thinking", "response_format") and not field.endswith(".strict") else field
    dependent = (name for name in _DEPENDENT.get(omitted, ()) if name in fields)
    yield tuple(_rule(sent, AdaptationKind.OMIT, name) for name in (omitted, *dependent))


def _new_name(field: str, sent: Sent, words: str) -> str:
    """Return the name that a message recommends if it is a field of the protocol that was not sent; empty for none."""
    names = _protocol_fields(sent.endpoint)
    return next((name for name in _instead(words) if name in names and name != field and name not in sent.fields), "")


def _required(sent: Sent, words: str) -> Iterator[tuple[Adaptation, ...]]:
    """Yield the renaming of the token limit to the required name."""
    for name in _LIMITS:
        if name not in sent.fields and _mention(name).search(words):
            for field in _LIMITS:
                if field in sent.fields:
                    yield (_rule(sent, AdaptationKind.RENAME, field, name),)
                    return


def _roles(failure: Failure, sent: Sent, words: str) -> Iterator[tuple[Adaptation, ...]]:
    """Yield the rules that send instructions in another role."""
    about = (failure.param or "").endswith("role") or _ROLE_WORD.search(words)
    if not about or _ALTERNATE.search(words):
        return
    for role, targets, default in (
        ("developer", ("system", "user"), "system"),
        ("system", ("developer", "user"), "user"),
    ):
        if role in sent.roles and _refuses_role(role, words):
            target = next((name for name in targets if _names_role(name, words)), default)
            yield (_rule(sent, AdaptationKind.ROLE, role, target),)


def _refuses_role(role: str, words: str) -> bool:
    """Return whether a message refuses that role, and does not list it among the accepted ones."""
    listed = _LISTED.search(words)
    head = words[: listed.start()] if listed else words
    got = re.search(rf"\b(?:got|received):? [\"'`]?{role}\b", words, re.IGNORECASE)
    return bool(got or re.search(rf"\b{role}\b", head, re.IGNORECASE)) or (
        listed is not None
        and re.search(r"\brole", words, re.IGNORECASE) is not None
        and not re.search(r"\bsystem\b|\bdeveloper\b", words, re.IGNORECASE)
    )


def _names_role(role: str, words: str) -> bool:
    """Return whether a message recommends that role."""
    return bool(re.search(rf"\b(?:use|one of|expected)\b.{{0,80}}\b{role}\b", words, re.IGNORECASE | re.DOTALL))


def _instead(words: str) -> list[str]:
    return [name.lower() for name in _INSTEAD.findall(words)[:10]]


def _auto(fields: dict[str, JSON]) -> JSON:
    """Return the tool choice "auto" in the shape of the one that was sent; None if that was already sent."""
    if fields.get("tool_choice") == "auto" or fields.get("tool_choice.type") == "auto":
        return None
    plain = "tool_choice.type" not in fields or "tool_choice.function" in fields
    return "auto" if plain else {"type": "auto"}


def _says_no_json_object(words: str) -> bool:
    return bool(re.search(r"[\"'`]json_object[\"'`] (?:is )?(?:not|unsupported)|must be [\"'`]?text", words))


def _nearest(sent: JSON, words: str) -> str:
    """Return the named level of effort nearest to the one that was sent; empty for none."""
    after = _VALUES.search(words)
    bare = words[after.end() :] if after else ""
    listed = [
        name
        for name in _EFFORTS
        if name != sent and (re.search(rf"[\"'`]{name}[\"'`]", words) or re.search(rf"\b{name}\b", bare))
    ]
    if not isinstance(sent, str) or sent not in _EFFORTS:
        return ""
    index = _EFFORTS.index(sent)  # of two equally near ones, "none" is the second choice
    return min(listed, key=lambda name: (abs(_EFFORTS.index(name) - index), name == "none"), default="")


def _is_of_the_model(rule: Adaptation) -> bool:
    return rule.kind is AdaptationKind.ROLE or rule.field.split(".")[0] in _OF_THE_MODEL


@cache
def _protocol_fields(protocol: str) -> frozenset[str]:
    """Return the top-level names of a protocol's parameters in the body."""
    from playground.protocols.protocol import get_protocol

    return frozenset(path[0] for path in get_protocol(protocol).parameters_type.places().values())
