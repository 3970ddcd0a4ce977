"""Advice by the gateway's own words: a table of messages with what helps, searched from the top.

An entry matches a code or type that the body names, or words of its message, and only for certain statuses. The words
are those that gateways, proxies and model servers were seen to use, specific enough for similar messages with another
meaning; ``tests/engine/advice`` has both, message by message.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from playground.domain.errors import Failure, FailureCause, FailureKind, Sent
from playground.engine.advice.by_kind import NO_PATH, key_refused, no_endpoint, no_key_given
from playground.engine.advice.parts import (
    DROP_REASONING,
    GATEWAY,
    MODEL,
    OUTPUT,
    PARAMETERS,
    RAW,
    RETRY,
    SEND_ALL,
    TOOLS,
    TURNS,
    Action,
    Advice,
    add_header,
    ask_over,
    other_protocols,
)
from playground.engine.advice.refused_fields import header_names, parameter_named, place_of
from playground.gateway.retry import reports_no_balance
from playground.protocols import API_NAMES, PROTOCOLS

_REPORTED: Final = frozenset({FailureKind.HTTP, FailureKind.STREAM})
_REFUSALS: Final = frozenset({400, 403, 404, 413, 422, 500, 503})
_OVER_LIMIT: Final = frozenset({413, 429})
_BEHIND: Final = frozenset({500, 502, 503, 504})

#: A model's id as messages write it.
_ID: Final = r"""["'`“«]?[^\s"'`”»]{0,200}["'`”»]?"""
_KEY: Final = (
    r"(?:api[- _]?key|(?:auth(?:entication|orization)?|access|bearer|proxy server|virtual) (?:token|key)|credentials?)"
)


_WRONG: Final = r"(?:invalid|incorrect|wrong|bad|unknown|expired|revoked|disabled)"
_MAX_TOKENS: Final = r"\bmax(?:_completion|_output|_new)?_tokens\b"
_UNSUPPORTED: Final = r"(?:not supported|unsupported)"
_ONLY_SO: Final = r"(?:with|when|if|on|for)"


@dataclass(frozen=True, slots=True)
class KnownMessage:
    """A message of gateways. ``words`` is a regular expression in lower case, searched in any case.

    ``causes`` match a failure by its cause. ``statuses`` defaults to the usual refusals; an error inside a stream has
    no status and fits any. ``_WORDING`` completes the advice of some meanings.
    """

    advice: Advice
    words: str = ""
    codes: frozenset[str] = frozenset()
    statuses: frozenset[int] = _REFUSALS
    kinds: frozenset[FailureKind] = _REPORTED
    causes: frozenset[FailureCause] = frozenset()


def _any(*words: str) -> str:
    return "|".join(words)


#: Specific messages come before general ones.
TABLE: Final[tuple[KnownMessage, ...]] = (
    KnownMessage(
        Advice(
            "state lost",
            "The gateway does not have the earlier conversation",
            "It was not stored, or is deleted by now. Send all of it: then nothing needs to be stored.",
            (SEND_ALL, RETRY),
            command="Take “previous_response_id” out of “parameters” in the file.",
        ),
        r"\bprevious[_ ]response(?:_id)?\b",
        frozenset({"previous_response_not_found"}),
    ),
    KnownMessage(
        Advice(
            "sealed reasoning",
            "The gateway cannot use the earlier reasoning",
            "Encrypted reasoning belongs to the model and the account that wrote it. The messages stay without it.",
            (DROP_REASONING, RETRY),
            command="Take the reasoning out of the file's “messages”.",
        ),
        _any(
            r"\bencrypted content\b[^\n]{0,80}\bcould not be (?:verified|decrypted|parsed)\b",
            r"\bprovided without its required\b|\bitems are not persisted\b",
        ),
        frozenset({"invalid_encrypted_content"}),
    ),
    KnownMessage(
        Advice(
            "other endpoint",
            "The gateway takes this request at another endpoint",
            "The conversation is converted. What changes is listed before it is sent.",
            (PARAMETERS, RETRY),
        ),
        r"\b(?:use|via|through|only supported in|switch to) (?:the )?[`'\"“]?/?v\d+/",
    ),
    KnownMessage(
        Advice(
            "over the limit",
            "One request is larger than the limit allows",
            "Waiting does not help. Delete or shorten earlier messages, lower the limit on completion tokens, or ask "
            "the service for a higher limit.",
            (TURNS, PARAMETERS, MODEL, RETRY),
        ),
        r"\brequest too large\b.{0,200}\b(?:per minute|per day|tpm|tpd|rpm)\b",
        statuses=_OVER_LIMIT,
    ),
    KnownMessage(
        Advice(
            "balance",
            "The account's balance or budget is used up",
            "Add funds or raise the budget in the service's dashboard, then retry.",
        ),
        _any(
            r"\binsufficient (?:account |user )?(?:balance|credits?|funds)\b",
            r"\bcredit balance is too low\b",
            r"\b(?:balance|credits?) (?:is |are |has |have |been )*(?:exhausted|used up|depleted|too low)\b",
            r"\b(?:doesn't|does not) have (?:any|enough) credits\b|\bout of credits\b",
            r"\brequires more credits\b|\bnot enough credits?\b",
            r"\bbudget has been exceeded\b|\bexceeded ?budget\b|\bover budget\b|\bcrossed (?:spend|budget) ?limit\b",
            r"\b(?:spend(?:ing)?|credit|billing hard) limit (?:has been )?(?:reached|exceeded)\b",
            r"\b(?:monthly|account|user|team|plan) (?:quota|(?:usage )?limit) (?:has been |is |was )?"
            r"(?:used up|reached|exceeded|exhausted)\b|\baccount is in arrears\b",
            r"余额不足|额度不足|欠费",
        ),
        frozenset(
            {
                "insufficient_quota",
                "quota",
                "insufficient_balance",
                "insufficient_user_quota",
                "insufficient_credits",
                "budget_exceeded",
                "exceeded_current_quota_error",
                "billing_hard_limit_reached",
                "billing_error",
                "credits_exhausted",
                "arrearage",
            }
        ),
        frozenset({400, 402, 403, 429}),
    ),
    KnownMessage(
        Advice(
            "loading",
            "The model is still being loaded",
            "That takes a while after the gateway, or another model, was started. Retry in a moment.",
        ),
        _any(r"^loading model\b", r"\bmodel\b.{0,120}\b(?:is )?(?:currently |still |being )+load(?:ing|ed)\b"),
    ),
    KnownMessage(
        Advice(
            "most tokens",
            "The limit on completion tokens is higher than the model allows",
            "Set a lower one, or take it out so that the gateway's own holds.",
            (PARAMETERS._replace(value="max_tokens"), RETRY),
        ),
        _any(
            rf"{_MAX_TOKENS}['\"`]?(?: is)? too (?:large|high|big)\b",
            rf"{_MAX_TOKENS}.{{0,120}}\b(?:at most|maximum allowed|maximum value|must be less)\b",
            r"\b(?:supports|allows) at most \d+ (?:completion|output) tokens\b",
        ),
        statuses=frozenset({400, 422}),
    ),
    KnownMessage(
        Advice(
            "context",
            "The conversation is longer than the model takes",
            "Delete or shorten earlier messages, lower the limit on completion tokens, or choose a model with a larger "
            "context window.",
            (TURNS, MODEL, PARAMETERS, RETRY),
        ),
        _any(
            r"\bmaximum (?:context|prompt|input|model) length\b",
            r"\b(?:prompt|input|conversation|request) (?:is )?too long\b",
            r"\bexceed(?:s|ed|ing)?\b[^.\n]{0,60}\bcontext (?:size|length|window|limit)s?\b",
            r"\bcontext (?:size|length|window|limit)\b[^.\n]{0,40}\b(?:exceed(?:s|ed)|overflow)",
            r"\bcontext_length_exceeded\b|\bcontextwindowexceeded|\bcontext the overflows\b",
            r"\binput token count\b[^.\n]{0,60}\bexceeds\b",
            r"\bexceeded model token limit\b",
            r"\b(?:number of input tokens|tokens in the prompt)\b[^.\n]{0,40}\bcannot exceed\b",
            r"\breduce the length of (?:the|your) (?:messages|prompt|input)",
            r"`inputs`(?: tokens)?[^.\n]{0,40} must (?:be <=|have less than) \d+",
            r"\brange of input length should be\b",
            r"\bgreater than the context length\b",
            r"(?:prompt|输入|上下文).{0,8}(?:超长|过长|超过)",
        ),
        frozenset(
            {
                "context_length_exceeded",
                "context_window_exceeded",
                "exceed_context_size_error",
                "model_context_window_exceeded",
                "tokens_limit_reached",
                "model_max_prompt_tokens_exceeded",
                "contextwindowexceedederror",
            }
        ),
        frozenset({400, 413, 422, 500}),
    ),
    KnownMessage(
        Advice(
            "region",
            "The gateway does not serve this place",
            "It refuses requests from this country or network.",
        ),
        r"\b(?:country|region|territory|location)\b[^.\n]{0,40}\b(?:is |are )?not (?:supported|available|allowed)\b",
        frozenset({"unsupported_country_region_territory"}),
        frozenset({400, 403, 451}),
    ),
    KnownMessage(
        Advice(
            "verify",
            "The account has to be verified first",
            "Do that in the service's dashboard, or choose another model.",
            (MODEL, RETRY),
        ),
        _any(
            r"\b(?:organi[sz]ation|account|identity) must be verified\b",
            r"\bverify (?:your |the )?(?:organi[sz]ation|identity|account)\b",
            r"\bidentity verification\b",
        ),
        statuses=frozenset({400, 403, 404}),
    ),
    KnownMessage(
        Advice(
            "content filter",
            "The content filter refused it",
            "Change the messages, or choose another model.",
            (MODEL, RETRY),
        ),
        _any(
            r"\bcontent management policy\b|\bcontent policy violation\b",
            r"\bviolat\w+ (?:our |the )?(?:usage|content) polic",
            r"\binput was flagged\b|\brejected as a result of our safety system\b",
            r"\binput data may contain inappropriate content\b",
        ),
        frozenset(
            {
                "content_filter",
                "content_policy_violation",
                "responsibleaipolicyviolation",
                "moderation_blocked",
                "data_inspection_failed",
                "contentpolicyviolationerror",
            }
        ),
        frozenset({400, 403}),
    ),
    KnownMessage(
        Advice("header", "The gateway requires a header that is not sent", ""),  # worded by its name
        r"\bheaders?\b",
        statuses=frozenset({400, 401, 403, 404, 412, 422, 428, 500}),
    ),
    KnownMessage(
        Advice("key wanted", "", ""),  # worded by whether a key went along
        _any(
            rf"\b(?:no|missing|without(?: an?)?) (?:valid )?{_KEY}\b",
            rf"\b{_KEY} (?:is |was |are )?(?:missing|required|needed)\b",
            rf"\b{_KEY} (?:is |was |are )?not (?:provided|set|found|present|given|passed)\b",
            rf"\b(?:did not|didn't|must|please) provide (?:an? |your |valid )*{_KEY}\b",
            r"\bx-api-key header is required\b|\bmissing subscription key\b|\bunregistered callers\b",
            r"\bauthori[sz]ation header (?:is |was )?(?:missing|required|not )",
            r"\bmissing (?:the )?authori[sz]ation header\b",
        ),
        frozenset({"missing_api_key", "no_api_key"}),
        frozenset({400, 401, 403, 500}),
    ),
    KnownMessage(
        Advice("key refused", "", ""),
        _any(
            rf"\b{_WRONG} (?:x-)?{_KEY}\b(?! (?:format|parameter))",
            rf"\b{_KEY} (?:is |was |has |been |you provided )*(?:not valid|{_WRONG})\b",
            r"^no connected db\b",  # a proxy without a database, of a key it does not know
            r"\bsecurity token included in the request is invalid\b",
        ),
        frozenset(
            {
                "invalid_api_key",
                "invalidapikey",
                "no_db_connection",
                "invalid_authentication_error",
                "key_model_invalid",
            }
        ),
        frozenset({400, 401, 403, 500}),
    ),
    KnownMessage(
        Advice(
            "no loaded model",
            "The gateway has no model loaded",
            "Load one where the gateway runs, then retry.",
        ),
        r"^no models? (?:is |are )?loaded\b",
    ),
    KnownMessage(
        Advice(
            "not for this protocol",
            "This model is not served over this protocol",
            "Choose another model, or speak the protocol that the message names.",
            (MODEL, RETRY),
            command="Name another model in the file, or the other “protocol”.",
        ),
        _any(
            r"\bnot a chat model\b",
            r"\b(?:not|only) supported in (?:the )?/?v1/",
            r"\b(?:chat/completions|chat completions|messages) (?:is|are) not supported (?:by|for|with)\b",
            r"\bdoes not support (?:the )?(?:chat(?: completions?)?|messages) (?:api|endpoint)\b",
        ),
    ),
    KnownMessage(
        Advice(
            "key and model",
            "The key may not use this model",
            "Choose a model that the gateway lists for this key, or use another key.",
            (MODEL, RETRY),
            command="Name another model in the file, or use another key.",
        ),
        r"\b(?:key|team|user|project|organi[sz]ation|tenant)\b[^.\n]{0,60}\bnot "
        r"(?:allowed|authori[sz]ed|permitted) (?:to (?:access|use)|for) (?:this |the )?model",
        frozenset({"key_model_access_denied", "team_model_access_denied", "model_not_allowed"}),
        frozenset({400, 401, 403, 404}),
    ),
    KnownMessage(
        Advice(
            "model",
            "The gateway does not offer this model",
            "Choose one that it lists.",
            (MODEL, RETRY),
            command="Name one that it lists in the file's “model”.",
        ),
        _any(
            rf"\bmodels?\b(?: id| name)?[:/]? ?(?:{_ID} )?(?:was |is |could |do |does )?not (?:be )?(?:found|exist)",
            rf"\bmodel(?: {_ID})? (?:doesn't exist|is unknown)\b",
            rf"\bmodel(?: {_ID})? (?:has been|is|was) (?:deprecated|decommissioned|retired|shut ?down)\b",
            rf"\bmodel(?: {_ID})? is (?:no longer|not) (?:available|supported|served|deployed)\b(?! {_ONLY_SO} )",
            r"\b(?:invalid|unknown|unrecognized|unsupported|no such) model\b"
            r"(?! (?:parameter|response|output|setting|feature))",
            r"\bnot a valid model\b|\bmodel identifier is invalid\b|\bmodel not exist\b|^model: \S{1,200}$",
            r"\bnot found the model\b|\bunable to access model\b|\bno healthy deployments? for this model\b",
            r"\bserver is pinned to\b|\bno endpoints found for (?!.*\bsupport)",
            r"\bno allowed providers are available\b",
            r"\bno available channels?\b[^\n]{0,40}\bmodel\b|无可用渠道|模型不存在",
            r"\bapi deployment for this resource does not exist\b",
        ),
        frozenset(
            {
                "model_not_found",
                "model_not_found_error",
                "modelnotfound",
                "invalid_model",
                "unknown_model",
                "no_such_model",
                "deploymentnotfound",
                "model_decommissioned",
                "model_not_available",
            }
        ),
    ),
    KnownMessage(
        Advice(
            "images",
            "This model does not support images",
            "Choose a model that reads images, or take the images out, then run again.",
            (MODEL, RETRY),
        ),
        _any(
            rf"\b(?:images?|image_url|vision|multimodal)(?: (?:inputs?|content|parts?))? (?:is |are )?{_UNSUPPORTED}\b",
            r"\b(?:does not|doesn't|cannot) (?:support|process|accept|take) (?:any )?(?:images?|vision|multimodal)\b",
            r"\bsupport image input\b|\bnot a multimodal model\b|\bunknown variant `image_url`",
        ),
    ),
    KnownMessage(
        Advice(
            "tools",
            "This model does not support tools at this gateway",
            "Choose a model that takes tools, or switch the tools off, then run again.",
            (MODEL, TOOLS, RETRY),
            command="Name a model that takes tools, or take “tools” out of the file.",
        ),
        _any(
            r"\b(?:does not|doesn't) support (?:tools?|tool (?:use|calls?|calling)|function(?:s| call(?:s|ing)?))\b",
            rf"\b(?:tools?|tool[ _](?:use|choice|calls?|calling)|function calling)[`'\"]? (?:is|are) {_UNSUPPORTED}\b",
            r"\bfound that support tool use\b|\btool choice requires --",
        ),
    ),
    KnownMessage(
        Advice(
            "output format",
            "The gateway does not accept the output format",
            "Change it under Output, or switch it off.",
            (OUTPUT, RETRY),
            command="Change the file's “response_format”.",
        ),
        _any(
            r"\binvalid schema for response_format\b",
            r"\bresponse_format\b[^.\n]{0,60}\b(?:not supported|unsupported|unavailable|not available)\b",
        ),
        statuses=frozenset({400, 404, 422}),
    ),
    KnownMessage(
        Advice(
            "tool schema",
            "The gateway does not accept a tool's definition",
            "The message names the tool: correct its parameters under Tools.",
            (TOOLS, RETRY),
            command="The message names the tool: correct it in the file's “tools”.",
        ),
        r"\binvalid schema for (?:function|tool)\b|\btools\.\d+\.(?:custom\.)?input_schema\b",
        statuses=frozenset({400, 422}),
    ),
    KnownMessage(
        Advice(
            "reasoning",
            "The gateway requires unchanged earlier reasoning",
            "“Send reasoning back” under Parameters says when it goes along. Reasoning that was changed, or is in "
            "a changed conversation, has to be deleted.",
            (PARAMETERS._replace(value="reasoning_return"), RETRY),
            command="Send the reasoning of earlier messages back unchanged, or leave it out.",
        ),
        _any(
            r"\breasoning_content\b[^\n]{0,80}\b(?:missing|required|must be (?:passed|provided|included|returned))",
            r"\bmissing\b[^.\n]{0,30}\breasoning_content\b",
            r"\binvalid `?signature`? in `?thinking\b",
            r"\bthinking` or `redacted_thinking` blocks\b[^\n]{0,80}\bcannot be modified\b",
        ),
        statuses=frozenset({400, 422}),
    ),
    KnownMessage(
        Advice(
            "turns",
            "The gateway does not accept the messages in this form",
            "What it says names the place: edit or delete that message, then run again.",
            command="What it says names the place in the file's “messages”.",
        ),
        _any(
            r"\broles must alternate\b|\bfirst message must\b|\balternate between\b[^.\n]{0,30}\broles?\b",
            r"\btool_call_ids? did not have response messages\b|\bmust be a response to a prece+ding message with\b",
            r"\bunexpected `?tool_use_id|\b`?tool_use`? ids were found without\b",
            r"\bsystem message must be at the beginning\b",
        ),
    ),
    KnownMessage(
        Advice(
            "behind",
            "The gateway did not reach the server behind it",
            "That is for its operators: the model's server is down, or the way to it. Retry in a moment.",
        ),
        _any(
            r"\beconnrefused\b|\bconnection refused\b|\benotfound\b|\bgetaddrinfo\b|\bname resolution\b",
            r"\bfetch failed\b",
            r"\bupstream connect error\b|\bconnection error\.?$|\bno route to host\b",
            r"\ball connection attempts failed\b",
            r"\b(?:cannot|could not|failed to|unable to) (?:connect|reach)\b",
        ),
        statuses=_BEHIND,
        kinds=frozenset({FailureKind.HTTP}),
    ),
    KnownMessage(
        Advice("no endpoint", "", ""),  # worded by what was asked for
        _any(
            r"^\W*(?:error:? ?)?(?:404:? ?)?(?:page |file |path |route |url |endpoint )?(?:was )?not found\W*$",
            r"\bno such (?:endpoint|route|path|url|api)\b|\bthere is no path\b",
            r"\bno route(?:s)? (?:matched|found|for)\b",
            r"\bcannot (?:post|get) /|\binvalid url\b|\bunexpected endpoint\b|\b404 page not found\b",
            r"\bmethod not allowed\b",
            r"\b(?:unknown|unrecognized|invalid) (?:request )?(?:endpoint|route|path|url)\b",
            r"\b(?:route|path|url|endpoint|resource|page)\b[^.\n]{0,80}\b(?:was |could )?not (?:be )?found\b",
        ),
        statuses=NO_PATH,
        kinds=frozenset({FailureKind.HTTP}),
        causes=frozenset({FailureCause.NO_MESSAGE}),
    ),
    KnownMessage(
        Advice("no endpoint", "", ""), r"^unexpected endpoint or method\b", kinds=frozenset({FailureKind.STREAM})
    ),
)


# ---- finding the message in the table --------------------------------------------------------------------------------

_MAX_MESSAGE: Final = 1500  # characters of a message that are searched
_UNKNOWN: Final = Sent(endpoint="")


def message_advice(failure: Failure) -> Advice | None:
    """Return the advice for the gateway's message; None for an unknown one."""
    codes = {value.lower() for value in (failure.code, failure.type) if value}
    words = failure.message[:_MAX_MESSAGE].lower()
    for message, pattern in _compiled_table():
        if failure.kind not in message.kinds:
            continue
        if failure.kind is FailureKind.HTTP and failure.status not in message.statuses:
            continue
        if (message.codes & codes) or failure.cause in message.causes or (pattern and pattern.search(words)):
            wording = _WORDING.get(message.advice.meaning)
            if (advice := wording(failure, message.advice) if wording else message.advice) is not None:
                return advice
    return _refused_field_advice(failure)


@cache
def _compiled_table() -> tuple[tuple[KnownMessage, re.Pattern[str] | None], ...]:
    return tuple((message, re.compile(message.words) if message.words else None) for message in TABLE)


def _sent(failure: Failure) -> Sent:
    return failure.sent or _UNKNOWN


def _header(failure: Failure, _advice: Advice) -> Advice | None:
    """Return the advice for a missing header; None where the message only mentions a header."""
    names = header_names(failure.message)
    if not names:
        return None
    return Advice(
        "header",
        f"The gateway requires the header {names[0]}",
        "Headers of every request are in the gateway's settings; those of this experiment alone, under Raw.",
        (add_header(names[0]), RAW._replace(value="headers"), RETRY),
        command=f"Send it with --header '{names[0]}: VALUE'.",
    )


def _key_wanted(failure: Failure, _advice: Advice) -> Advice | None:
    if _sent(failure).keyed and "x-api-key" in failure.message.lower():
        return Advice(
            "key header",
            "The gateway requires the key in the header x-api-key",
            "How the key is sent is a choice in the gateway's settings.",
            (GATEWAY, RETRY),
            command="Send it so with --key-style x-api-key.",
        )
    return key_refused() if _sent(failure).keyed else no_key_given()


def _key_refused(failure: Failure, _advice: Advice) -> Advice | None:
    return no_key_given() if _sent(failure).keyed is False else key_refused()


def _no_endpoint(failure: Failure, _advice: Advice) -> Advice | None:
    return no_endpoint(_sent(failure).endpoint)


def _other_endpoint(failure: Failure, advice: Advice) -> Advice | None:
    """Return the advice to ask over the protocol whose endpoint a message names; None if it names no other one."""
    from playground.protocols.protocol import protocol_at

    paths = re.findall(r"/?v\d+(/[\w/]+)", failure.message)
    name = next((name for path in paths if (name := protocol_at(path)) not in ("", _sent(failure).endpoint)), "")
    if not name or _sent(failure).endpoint not in PROTOCOLS:
        return None
    title = f"The gateway takes this request over the {API_NAMES[name]}"
    command = f"Set “protocol” to “{name}” in the file."
    return replace(advice, title=title, actions=(ask_over(name), *advice.actions), command=command)


def _balance(failure: Failure, advice: Advice) -> Advice | None:
    """Return the advice for an empty account; None for a quota per minute, which passes."""
    return advice if failure.status != 429 or reports_no_balance(failure) else None


def _other_protocol(failure: Failure, advice: Advice) -> Advice | None:
    return replace(advice, actions=(MODEL, *other_protocols(_sent(failure).endpoint), RETRY))


_WORDING: Final[dict[str, Callable[[Failure, Advice], Advice | None]]] = {
    "balance": _balance,
    "header": _header,
    "key wanted": _key_wanted,
    "key refused": _key_refused,
    "no endpoint": _no_endpoint,
    "other endpoint": _other_endpoint,
    "not for this protocol": _other_protocol,
}

#: The action for a refused field, by the place where it is set.
_PLACE_ACTIONS: Final[dict[str, Action]] = {
    "model": MODEL, "tools": TOOLS, "output": OUTPUT, "parameters": PARAMETERS, "raw": RAW,
}  # fmt: skip


def _refused_field_advice(failure: Failure) -> Advice | None:
    """Return the advice for a refusal that names a field of the body; None if it names none."""
    if failure.kind is not FailureKind.HTTP or failure.status not in (400, 422):
        return None
    name = parameter_named(failure)
    if not name:
        return None
    place = place_of(name)
    if place == "turns":
        return next(message.advice for message in TABLE if message.advice.meaning == "turns")
    return Advice(
        "parameter",
        f"The gateway does not accept “{name}”",
        "Change its value, or take it out so that it is not sent, then run again.",
        (_PLACE_ACTIONS[place]._replace(value=name), RETRY),
    )
