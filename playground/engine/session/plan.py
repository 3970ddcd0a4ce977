"""Plan of an evaluation: cases, variants, checks, repeats and budget.

It is a setting of an experiment, so undo, store, file and schema include it. A case sends the request of the experiment
with its own values of the variables.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from playground.domain.checks import AnyCheck
from playground.domain.hints import setting
from playground.domain.transcript import Role, Turn, new_id
from playground.domain.values import LongText, Value
from playground.engine.session.variants import Variant
from playground.jsonkit.values import JSON
from playground.protocols import DEFAULT, MESSAGES
from playground.protocols.protocol import get_protocol

#: The variable with the expected answer of a case.
EXPECTED: Final = "expected"
MOST_AT_ONCE: Final = 256
MOST_REPEATS: Final = 1_000
MOST_CASES: Final = 20_000


def _as_turns(value: JSON) -> JSON:
    """Return turns from texts of the user or from messages as they are sent."""
    if not isinstance(value, list):
        return value
    if value and all(isinstance(item, dict) and "content" in item and "parts" not in item for item in value):
        return get_protocol(DEFAULT).read_body({MESSAGES: value})[0].turns
    return [_as_turn(item) for item in value]


def _as_turn(value: Any) -> Any:
    if isinstance(value, str):
        value = {"role": Role.USER, "parts": [{"kind": "text", "text": value}]}
    return {"id": new_id(), **value} if isinstance(value, dict) else value


class Case(Value):
    """One input, and the expected answer."""

    id: str = Field(default_factory=new_id, description="Identifies this case in the evaluation.")
    name: str = Field(default="", description="Empty: named by its values, or by its first words.")
    values: dict[str, LongText] = Field(
        default_factory=dict, description="Values of {{name}}; all others are those of the experiment."
    )
    turns: Annotated[tuple[Turn, ...], BeforeValidator(_as_turns)] = Field(
        default=(),
        description="Replaces the conversation of the experiment, below its system turn. The user turns without an "
        "answer are sent one after another. A turn may be written as a text or a message with “content”.",
    )
    whole: bool = Field(
        default=False, description="True: one request with all turns; false: one request per user turn."
    )
    expected: LongText = Field(default="", description="A good answer, or what it contains; {{expected}} in checks.")
    checks: tuple[AnyCheck, ...] = Field(default=(), description="Checks of this case alone.")

    @property
    def all_values(self) -> dict[str, str]:
        """The values for turns and checks."""
        return {**({EXPECTED: self.expected} if self.expected else {}), **self.values}


class Order(StrEnum):
    """Order of the requests."""

    BY_CASE = "by_case"  # each case in all variants, then the next
    BY_VARIANT = "by_variant"
    SHUFFLED = "shuffled"  # by the seed


class Keep(StrEnum):
    """Answers whose frames are kept."""

    FAILED = "failed"  # that did not pass a check, or failed for good
    ALL = "all"
    NONE = "none"


_LIMITS: Final = "Limits"
_OPTIONS: Final = "Run options"
_OUTPUT: Final = "Output"


class Budget(Value):
    """Limits after which an evaluation stops; null: no limit."""

    requests: Annotated[int | None, setting("Requests", help="Includes judge requests.")] = Field(default=None, ge=0)
    tokens: Annotated[int | None, setting("Tokens", help="Input and output tokens.")] = Field(
        default=None, ge=0, description="Input and output tokens."
    )
    money: Annotated[float | None, setting("Cost", help="By the prices of the models, in their currency.")] = Field(
        default=None, ge=0, allow_inf_nan=False, description="By the prices of the models."
    )


class Plan(Value):
    """Cases × variants × repeats, with checks."""

    cases: tuple[Case, ...] = ()
    as_set: bool = Field(default=True, description="True: the current settings are the first variant, A.")
    variants: tuple[Variant, ...] = Field(default=(), description="The other variants, in the order of the columns.")
    checks: tuple[AnyCheck, ...] = Field(default=(), description="Checks of all cases.")
    repeats: Annotated[
        int, setting("Repeats", group=_OPTIONS, soft_high=20, help="Requests of each case to each variant.")
    ] = Field(default=1, ge=1, le=MOST_REPEATS, description="Number of requests of each case to each variant.")
    at_once: Annotated[
        int,
        setting(
            "Parallel requests",
            group=_OPTIONS,
            soft_high=64,
            help="Requests at the same time to each gateway, at most. Rate limits of a gateway are observed as well.",
        ),
    ] = Field(default=4, ge=1, le=MOST_AT_ONCE, description="Requests under way at each gateway, at most.")
    order: Annotated[
        Order,
        setting(
            "Order",
            group=_OPTIONS,
            help="By case: each in all variants, then the next. Shuffled: random, by the seed.",
        ),
    ] = Order.BY_CASE
    seed: Annotated[
        int, setting("Seed", group=_OPTIONS, help="Seed of the shuffled order and of the bootstrap intervals.")
    ] = Field(default=1, description="Seed of the shuffled order and of the bootstrap intervals.")
    budget: Annotated[Budget, setting(_LIMITS, group=_LIMITS)] = Field(default=Budget())
    streamed: Annotated[
        bool | None,
        setting(
            "Streaming",
            group=_OUTPUT,
            choices=((None, "Current settings"), (True, "On"), (False, "Off")),
            help="On measures the time to the first token, and costs several times the CPU time.",
        ),
    ] = Field(
        default=None,
        description="True: streamed, which measures the first token and costs several times the CPU time. "
        "Null: as set for each variant.",
    )
    keep: Annotated[
        Keep,
        setting(
            "Save events",
            group=_OUTPUT,
            choices=((Keep.FAILED.value, "failures only"), (Keep.ALL.value, "all"), (Keep.NONE.value, "none")),
            help="The events of answers, to inspect later. Failures: of failed checks and requests.",
        ),
    ] = Keep.FAILED
    record: Annotated[
        bool,
        setting(
            "Tool servers",
            group=_OUTPUT,
            choices=((False, "call each time"), (True, "recorded")),
            help="Recorded: the result of a call is saved and used again for equal calls. "
            "Each answer shows which of its calls were real.",
        ),
    ] = Field(
        default=False,
        description="True: results of tool servers are saved and used again for equal calls.",
    )
