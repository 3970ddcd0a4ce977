"""What an export says about an experiment besides its turns, and which images it can hold."""

from __future__ import annotations

import base64
from datetime import datetime
from typing import TYPE_CHECKING

from playground.engine.files.images import data_of, measure
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.engine.session.snapshot import Snapshot


def facts_of(snapshot: Snapshot) -> list[str]:
    """Model, protocol, gateway and day, as far as they are known."""
    protocol = get_protocol(snapshot.protocol).title if snapshot.protocol in PROTOCOLS else snapshot.protocol
    day = datetime.fromtimestamp(snapshot.created_at).astimezone().strftime("%Y-%m-%d") if snapshot.created_at else ""
    return [fact for fact in (snapshot.model, protocol, snapshot.gateway, day) if fact]


def raster_url(url: str) -> str:
    """A data URL of a PNG, JPEG, GIF or WebP, spelled anew from its bytes; empty for anything else."""
    data = data_of(url)
    found = measure(data) if data else None
    if data is None or found is None:
        return ""
    return f"data:{found.media_type};base64,{base64.b64encode(data).decode('ascii')}"
