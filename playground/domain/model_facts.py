"""What a gateway's list says of a model. All of it is the gateway's word; None is what it does not tell."""

from __future__ import annotations

from playground.domain.prices import Price
from playground.domain.values import Value


class ModelFacts(Value):
    """``context`` and ``output`` are limits in tokens. ``price`` is for a million tokens, as everywhere.

    ``inputs`` are the kinds that it takes ("text", "image", "audio", "video", "file"), ``outputs`` those it gives.
    ``parameters`` are the names of the body's fields that it is said to support. ``tools``, ``reasoning`` and
    ``schema_kept`` say whether it is said to call tools, to think, and to keep to a JSON schema. ``mode`` is what it is
    for where that is not a conversation, as the list says it ("embedding"); ``owner`` who made it. ``created`` is a
    Unix time in seconds. ``about`` is a description, foreign text.
    """

    context: int | None = None
    output: int | None = None
    price: Price | None = None
    inputs: frozenset[str] | None = None
    outputs: frozenset[str] | None = None
    parameters: frozenset[str] | None = None
    tools: bool | None = None
    reasoning: bool | None = None
    schema_kept: bool | None = None
    mode: str = ""
    owner: str = ""
    created: float | None = None
    about: str = ""

    @property
    def told(self) -> bool:
        """Whether the list says anything of the model besides its name."""
        return self != NOTHING_TOLD

    def takes(self, kind: str) -> bool | None:
        """Whether it takes that kind of input; None where the list does not tell."""
        return None if self.inputs is None else kind in self.inputs


NOTHING_TOLD = ModelFacts()
