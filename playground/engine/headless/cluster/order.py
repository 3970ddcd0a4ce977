"""What travels to workers: the experiment, its gateway without what is secret, and errands; and what comes back."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from playground import __version__
from playground.domain.encoding import encode
from playground.domain.transcript import Turn
from playground.engine.evaluation.answers import answer_of, pack
from playground.engine.evaluation.judging import Judgement
from playground.engine.evaluation.metrics import AnswerMetrics
from playground.engine.evaluation.provider import AnswerResult, SerializedAnswer
from playground.engine.files.experiment_file.content import to_json
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import KEY_VARIABLE
from playground.engine.headless.evaluated_file import EvaluationOptions
from playground.engine.headless.gateway import Gateway
from playground.engine.requests.request_file import BadInputError
from playground.engine.session.session import Session
from playground.engine.session.snapshot import snapshot
from playground.gateway.redact import Redactor
from playground.jsonkit.texts import listed

_LARGEST: Final = 16 * 1024 * 1024  # bytes of a file of certificates


class ClusterError(Exception):
    """The cluster cannot be used. The text says why, for people, and is a whole sentence."""


class Versions(NamedTuple):
    """What a process of the cluster runs: this program's version and Python's, the latter without its last part."""

    playground: str
    python: str

    @property
    def words(self) -> str:
        """Both, for people."""
        return f"playground {self.playground} on Python {self.python}"


def versions() -> Versions:
    """Those of this process."""
    return Versions(__version__, ".".join(platform.python_version_tuple()[:2]))


@dataclass(frozen=True)
class Order:
    """One run, as every worker is told of it. ``versions`` are those of the command. ``content`` is the experiment as a
    file holds it, with the plan as it is run and every id; ``profile`` is the gateway. ``variable`` names what a worker
    has the key in, empty for a gateway without one; ``authorities`` are certificates to be trusted (PEM).
    """

    run: str
    versions: Versions
    content: str
    profile: str
    variable: str
    proxy: str
    authorities: bytes | None
    allow_http: bool

    @property
    def limited_as(self) -> str:
        """What limits of a gateway are shared by: its origin, and which key."""
        return f"{Profile.model_validate_json(self.profile).origin} {self.variable}"


def order_of(run: str, session: Session, gateway: Gateway, options: EvaluationOptions) -> Order:
    """The order for a run. Raises BadInputError for what cannot be done by workers, or may not travel to them."""
    if gateway.headers:
        raise BadInputError(
            f"the header {listed(sorted(gateway.headers))} is secret, and secrets are not sent to workers. A key can "
            "be in a variable of their environment: name it with --key-variable"
        )
    if "@" in gateway.proxy:
        raise BadInputError(
            "the address of the proxy holds a password, and secrets are not sent to workers. Leave it out: workers use "
            "the proxy of their own environment"
        )
    authorities = None
    if gateway.profile.ca_file:
        from playground.named_file import read_named

        authorities = read_named(Path(gateway.profile.ca_file), _LARGEST)
    profile = gateway.profile.model_copy(update={"ca_file": None, "key_origin": "", "favourites": (), "recent": ()})
    order = Order(
        run=run,
        versions=versions(),
        content=json.dumps(to_json(snapshot(session))),
        profile=profile.model_dump_json(),
        variable=_variable(gateway, options),
        proxy=gateway.proxy,
        authorities=authorities,
        allow_http=options.allow_http,
    )
    clean = Redactor(secret.get_secret_value() for secret in gateway.secrets)
    if any(clean.text(text) != text for text in (order.content, order.profile)):
        raise BadInputError("the key stands in the file, or in the gateway's settings, and would travel to workers")
    return order


def _variable(gateway: Gateway, options: EvaluationOptions) -> str:
    """The name of the variable with the key; empty for none. Raises BadInputError for a key that is elsewhere."""
    if options.workers_variable:
        return options.workers_variable
    if gateway.key is None:
        return ""
    if options.key is not None:
        return options.key_variable
    if gateway.profile.key_variable:
        return gateway.profile.key_variable
    raise BadInputError(
        "the key is in this computer's keyring, which workers cannot read. Put it into a variable of each worker's "
        f"environment, such as {KEY_VARIABLE}, and name that with --key-variable"
    )


class About(NamedTuple):
    """What a process of the cluster says of itself. ``has_key``: whether the variable is set there."""

    versions: Versions
    has_key: bool


def about(variable: str) -> About:
    """What this process says of itself; the key stays where it is."""
    return About(versions(), not variable or bool(os.environ.get(variable, "").strip()))


# ---- errands and what comes of them ----------------------------------------------------------------------------------


class Errand(NamedTuple):
    """One answer that is wanted of a worker. ``case`` is its number in the plan, from 1; ``column`` is a letter.

    ``kept`` are the row and the turns (JSON) of an answer that is only to be judged; None: it is to be asked for.
    """

    case: int
    column: str
    repeat: int
    digest: str
    kept: tuple[tuple[Any, ...], str] | None = None


class Result(NamedTuple):
    """What came of an errand. ``spent`` are figures in the order in which they were spent; ``problem`` is why nothing
    came: something that nobody thought of went wrong on the worker.
    """

    row: tuple[Any, ...] = ()
    turns: bytes = b""
    judgements: bytes | None = None
    frames: bytes | None = None
    fatal: str = ""
    spent: tuple[tuple[Any, ...], ...] = ()
    problem: str = ""

    @classmethod
    def of(cls, made: SerializedAnswer, spent: Sequence[AnswerMetrics | Judgement]) -> Result:
        """What travels of an answer."""
        return cls(made.row, made.turns, made.judgements, made.frames, made.fatal, tuple(map(_figures, spent)))

    @property
    def packed(self) -> SerializedAnswer:
        """The answer. Raises ValueError for what is none."""
        answer = answer_of(self.row)
        if answer is None:
            raise ValueError("the answer cannot be read")
        return SerializedAnswer(answer, tuple(self.row), self.turns, self.judgements, self.frames, self.fatal)


def _figures(one: AnswerMetrics | Judgement) -> tuple[Any, ...]:
    """What counts against a budget."""
    return tuple(
        AnswerMetrics(
            prompt=one.prompt,
            tokens=one.tokens,
            price=one.price,
            currency=one.currency,
            requests=one.requests,
            listed=one.listed,
        )
    )


def kept_of(found: AnswerResult) -> tuple[tuple[Any, ...], str]:
    """A kept answer as an errand carries it: what was kept has no secret in it."""
    packed = pack(found, Redactor(()))
    return packed.row, json.dumps([encode(turn) for turn in found.turns])


def brought_from(kept: tuple[tuple[Any, ...], str]) -> AnswerResult:
    """A kept answer that came with an errand. Raises ValueError."""
    row, turns = kept
    answer = answer_of(tuple(row))
    if answer is None:
        raise ValueError("the kept answer cannot be read")
    return AnswerResult(answer, tuple(Turn.model_validate(one) for one in json.loads(turns)))
