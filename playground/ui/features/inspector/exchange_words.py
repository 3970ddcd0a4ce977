"""How one exchange among others is called, where a person chooses between them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange


def asked(exchanges: Sequence[Exchange]) -> list[tuple[int, Exchange]]:
    """Those that asked for an answer, with their number among them, from 1."""
    return list(enumerate((one for one in exchanges if one.method == "POST"), 1))


def exchange_words(number: int, exchange: Exchange) -> str:
    """``#2 · 14:03:11 · chat/completions · 200 · 2.91 s``."""
    when = datetime.fromtimestamp(exchange.started_at).astimezone().strftime("%H:%M:%S")
    path = "/".join(urlsplit(exchange.url).path.rstrip("/").split("/")[-2:])
    status = str(exchange.status) if exchange.status is not None else "no answer"
    took = f" · {exchange.ended:.2f} s" if exchange.ended is not None else " · running"
    return f"#{number} · {when} · {path} · {status}{took}"
