"""How much room a request has: what the gateway's list says of the model's limits, beside what is asked of it."""

from __future__ import annotations

from dataclasses import dataclass

from playground.domain.model_facts import BY_LIST, ModelFacts
from playground.domain.parameters import Parameters
from playground.jsonkit import foreign


@dataclass(frozen=True)
class Room:
    """Limits in tokens, as the list tells them (None: it does not), and the most that is ``asked`` to be written."""

    context: int | None = None
    output: int | None = None
    asked: int | None = None

    @property
    def words(self) -> str:
        """The limit of what is read, in a sentence; empty where nobody tells it."""
        return f"The model takes {self.context:,} tokens, {BY_LIST}." if self.context is not None else ""

    def problem(self, prompt: int) -> str:
        """What does not fit, with about ``prompt`` tokens to be read; empty where all does, or nobody knows."""
        if self.context is None:
            return ""
        limit = f"the {self.context:,} that the model takes {BY_LIST}"
        if prompt > self.context:
            return f"About {prompt:,} tokens are more than {limit}."
        if self.asked is not None and prompt + self.asked > self.context:
            return f"About {prompt:,} tokens and up to {self.asked:,} that may be written are more than {limit}."
        return ""


NO_LIMITS = Room()


def room_for(facts: ModelFacts, parameters: Parameters) -> Room:
    """The room of a model that is asked with these parameters."""
    limit = limit_field(parameters)
    asked = foreign.count_of(getattr(parameters, limit, None)) if limit else None
    return Room(facts.context, facts.output, asked if asked is not None and asked > 0 else None)


def limit_field(parameters: Parameters) -> str:
    """The name of the field that says how much is written at most; empty where there is none."""
    shared = parameters.shared().get("limit")
    return shared.name if shared is not None else ""


def limit_words(facts: ModelFacts, parameters: Parameters) -> tuple[str, bool]:
    """What there is to say of the model's limit beside that field, and whether the value that is set is above it."""
    if facts.output is None:
        return "", False
    asked = room_for(facts, parameters).asked
    if asked is not None and asked > facts.output:
        return f"more than the {facts.output:,} that the model writes at most, {BY_LIST}", True
    return f"the model writes {facts.output:,} at most, {BY_LIST}", False
