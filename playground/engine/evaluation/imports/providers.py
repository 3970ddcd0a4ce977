"""Providers of a promptfoo configuration as variants: ``vendor:endpoint:model``, where a model may have colons, too.

``https://www.promptfoo.dev/docs/providers`` lists them. Values of their configuration may be keys: no note quotes one.
"""

from __future__ import annotations

import re
from typing import Final

from playground.domain.reasons import shortened
from playground.engine.session.variants import Variant
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import DEFAULT, PROTOCOLS

_PARAMETERS: Final = frozenset(
    (
        *("temperature", "max_tokens", "max_completion_tokens", "top_p", "frequency_penalty", "presence_penalty"),
        *("stop", "seed", "reasoning_effort", "response_format"),
    )
)
_MEMBERS: Final = frozenset(("id", "label", "config"))
#: Vendors that are no model of a gateway.
_ELSEWHERE: Final = frozenset(
    (
        *("file", "exec", "python", "ruby", "golang", "go", "http", "https", "ws", "wss", "websocket", "webhook"),
        *("browser", "mcp", "echo", "promptfoo", "package", "sequence", "manual-input", "a2a", "slack", "stdio"),
        *("elevenlabs", "voyage"),
    )
)
#: Endpoints between the vendor and the model.
_ENDPOINTS: Final = frozenset(
    (*PROTOCOLS, "chat-completion", "completion", "completions", "responses", "converse", "text-generation")
)
#: Endpoints that answer with something else than text.
_OTHER_ENDPOINTS: Final = frozenset(
    (
        *("embedding", "embeddings", "image", "images", "moderation", "assistant", "agents", "agent", "realtime"),
        "live",
        *("transcription", "speech", "tts", "audio", "voice", "video", "chatkit", "codex", "codex-sdk", "kb"),
        *("knowledge-base", "text-classification", "feature-extraction", "sentence-similarity", "token-classification"),
        *("token-extraction", "claude-agent-sdk", "claude-code", "nova-sonic", "nova-reel", "luma-ray", "rerank"),
    )
)
_SCRIPT: Final = re.compile(r"\S+\.(py|js|mjs|cjs|ts|rb|go|sh)(:\w+)?\Z")


def read_provider(source: JSON) -> tuple[Variant | None, tuple[str, ...]]:
    """Return a provider as a variant, None where it is no model of a gateway; and what was left out, in sentences."""
    options = _options(source)
    written = options.get("id")
    if not isinstance(written, str):
        return None, (f"The provider {shortened(str(written))} was left out: it has no id.",)
    model, reason = _model(written)
    if not model:
        return None, (f"The provider {shortened(written)} was left out: {reason}.",)
    config = options.get("config")
    config = config if isinstance(config, dict) else {}
    parameters = {name: value for name, value in config.items() if name in _PARAMETERS and _is_plain(value)}
    notes = [f"The provider {shortened(written)}: “{name}” was left out." for name in config.keys() - parameters.keys()]
    notes += [_member_note(written, name) for name in options if name not in _MEMBERS]
    if "config" in options and not isinstance(options["config"], dict):
        notes.append(_member_note(written, "config"))
    differences = {"model": model, **({"parameters": {DEFAULT: parameters}} if parameters else {})}
    name = str(options.get("label") or model)
    return Variant.model_validate({"name": name, "differences": differences}), tuple(sorted(notes))


def _options(source: JSON) -> JSONObject:
    """Return the members of a provider, whose id may be in three places."""
    if not isinstance(source, dict):
        return {"id": source}
    if isinstance(inner := source.get("provider"), str) and ":" not in str(source.get("id", "")):
        label = source.get("label") or source.get("id") or ""
        rest = {name: source[name] for name in source if name not in ("id", "provider")}
        return {**rest, "id": inner, "label": label}
    if "id" not in source and len(source) == 1:
        (written, options), *_ = source.items()
        return {"id": written, **options} if isinstance(options, dict) else {"id": written}
    return source


def _model(written: str) -> tuple[str, str]:
    """Return the model of an id; empty with the reason where there is none."""
    vendor, colon, rest = written.strip().partition(":")
    if "{{" in written:
        return "", "its id is a template"
    if vendor.lower() in _ELSEWHERE or rest.startswith("//") or _SCRIPT.match(written):
        return "", "it is no model of a gateway"
    endpoint, deeper, model = rest.partition(":")
    if endpoint in _OTHER_ENDPOINTS:
        return "", "it does not answer with text"
    if deeper and endpoint in _ENDPOINTS:
        rest = model
    if not colon or not rest.strip() or rest in _ENDPOINTS:
        return "", "it names no model of a gateway"
    return rest.strip(), ""


def _is_plain(value: JSON) -> bool:
    """Return whether a value can be sent: it is no reference and no template."""
    return value is not None and not (isinstance(value, str) and ("{{" in value or value.startswith("file://")))


def _member_note(written: str, member: str) -> str:
    words = {
        "prompts": "every model gets every prompt",
        "transform": "answers are not transformed",
        "delay": "pauses are not set here",
    }
    return (
        f"The provider {shortened(written)}: “{member}” was left out: {words.get(member, 'there is nothing like it')}."
    )
