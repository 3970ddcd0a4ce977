"""Opaque texts that the gateway gives out and reads again: encrypted reasoning and compacted conversations.

They are bound to a model. The key is no secret: it keeps the text from being read at a glance and shows changes, which
is what clients can be tried against.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import zlib
from typing import Final

_KEY: Final = b"demo-gateway sealed text"
_PREFIX: Final = "gAAAAA"
_NONCE_BYTES: Final = 12
_MAC_BYTES: Final = 16


def seal(text: str, model_id: str, nonce: str) -> str:
    """Return ``text`` sealed for the model; other nonces give other texts of the same length."""
    start = hashlib.sha256(nonce.encode()).digest()[:_NONCE_BYTES]
    data = zlib.compress(text.encode("utf-8", "surrogatepass"))
    cipher = _xor(data, start, model_id)
    return _PREFIX + base64.urlsafe_b64encode(start + _mac(start + cipher, model_id) + cipher).decode("ascii")


def unseal(sealed: str, model_id: str) -> str:
    """Return the text in ``sealed``. Raises ValueError where it was changed, or was sealed for another model."""
    if not sealed.startswith(_PREFIX):
        raise ValueError("not sealed by this gateway")
    data = base64.urlsafe_b64decode(sealed.removeprefix(_PREFIX))
    start, mac, cipher = data[:_NONCE_BYTES], data[_NONCE_BYTES:][:_MAC_BYTES], data[_NONCE_BYTES + _MAC_BYTES :]
    if not hmac.compare_digest(mac, _mac(start + cipher, model_id)):
        raise ValueError("changed, or sealed for another model")
    return zlib.decompress(_xor(cipher, start, model_id)).decode("utf-8", "surrogatepass")


def _mac(data: bytes, model_id: str) -> bytes:
    return hmac.digest(_KEY + model_id.encode(), data, "sha256")[:_MAC_BYTES]


def _xor(data: bytes, start: bytes, model_id: str) -> bytes:
    stream = hashlib.shake_256(_KEY + start + model_id.encode()).digest(len(data))
    return bytes(a ^ b for a, b in zip(data, stream, strict=True))
