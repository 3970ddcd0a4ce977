"""Text of our own making freed of every secret in memory, before it is written down or shown to be handed on."""

from __future__ import annotations

from playground.engine.secrets import Keys
from playground.gateway.redact import Redactor


def without_secrets(text: str, keys: Keys) -> str:
    """``text`` with a mask in the place of each key that this session knows, however it is spelled."""
    return Redactor(secret.get_secret_value() for secret in keys.known()).text(text)
