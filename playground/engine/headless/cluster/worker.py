"""The values that travel between the command and the workers of a cluster, and the part that runs on a worker.

No key travels: a worker reads it from its own environment. This module does not import Dask.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import tempfile
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from playground import __version__
from playground.domain.costs import AnswerMetrics
from playground.engine.evaluation.answers import answer_of, pack
from playground.engine.evaluation.provider import AnswerResult, LocalAnswerProvider, SerializedAnswer
from playground.engine.evaluation.resolved import Job, ResolvedEvaluation
from playground.engine.files.experiment_file.content import to_json
from playground.engine.gateways.credentials import consent_needed
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.redaction import redactor_of
from playground.engine.gateways.secrets import KEY_VARIABLE, Secret, clean_key, key_from_environment
from playground.engine.headless.command import CommandFailedError, gateway_session
from playground.engine.headless.evaluated_file import EvaluationOptions, evaluated_session
from playground.engine.headless.gateway import Gateway
from playground.engine.requests.request_file import BadInputError
from playground.engine.session.session import Session
from playground.engine.session.snapshot import snapshot
from playground.gateway.redact import Redactor
from playground.jsonkit.texts import cut, listed
from playground.system.named_file import read_named

_MAX_CERTIFICATES: Final = 16 * 1024 * 1024  # bytes
_MAX_PROBLEM: Final = 500  # characters
_OPEN_TIMEOUT: Final = 30.0  # seconds that a task waits for `open_run`, on a worker that has just joined
_ABANDONED: Final = 3600.0  # seconds without a task after which the run of a killed command is closed


class ClusterError(CommandFailedError):
    """The cluster cannot be used. The message is a whole sentence for the user."""


def current_versions() -> str:
    """Return the versions of this process: of this program, and Python's major and minor."""
    return f"playground {__version__} on Python {'.'.join(platform.python_version_tuple()[:2])}"


@dataclass(frozen=True)
class ClusterRun:
    """One evaluation as every worker gets it.

    `versions` are the command's. `content` is the experiment file as JSON with the plan as it is run; `profile` is the
    gateway as JSON. `variable` names the environment variable of the key, empty for a gateway without one;
    `authorities` are certificates to trust (PEM).
    """

    id: str
    versions: str
    content: str
    profile: str
    variable: str
    proxy: str
    authorities: bytes | None
    allow_http: bool

    @classmethod
    def from_session(cls, run_id: str, session: Session, gateway: Gateway, options: EvaluationOptions) -> ClusterRun:
        """Return the run of a session's plan. Raises BadInputError for what workers cannot do or must not get."""
        if gateway.headers:
            raise BadInputError(
                f"the header {listed(sorted(gateway.headers))} is secret, and secrets are not sent to workers. A key "
                "can be in a variable of their environment: name it with --key-variable"
            )
        if "@" in gateway.proxy:
            raise BadInputError(
                "the address of the proxy holds a password, and secrets are not sent to workers. Leave it out: workers "
                "use the proxy of their own environment"
            )
        ca_file = gateway.profile.ca_file
        profile = gateway.profile.model_copy(update={"ca_file": None, "key_origin": "", "favourites": (), "recent": ()})
        run = cls(
            id=run_id,
            versions=current_versions(),
            content=json.dumps(to_json(snapshot(session))),
            profile=profile.model_dump_json(),
            variable=_variable(gateway, options),
            proxy=gateway.proxy,
            authorities=read_named(Path(ca_file), _MAX_CERTIFICATES) if ca_file else None,
            allow_http=options.allow_http,
        )
        redactor = Redactor(secret.get_secret_value() for secret in gateway.secrets)
        if any(redactor.text(text) != text for text in (run.content, run.profile)):
            raise BadInputError("the key is in the file, or in the gateway's settings, and would travel to workers")
        return run

    @property
    def limited_as(self) -> str:
        """The name under which runs share a gateway's concurrency: its origin and the variable of the key."""
        return f"{Profile.model_validate_json(self.profile).origin} {self.variable}"


def _variable(gateway: Gateway, options: EvaluationOptions) -> str:
    """Return the name of the key's variable, empty for none. Raises BadInputError for a key in the keyring."""
    if options.workers_variable or gateway.key is None:
        return options.workers_variable
    variable = options.key_variable if options.key is not None else gateway.profile.key_variable
    if not variable:
        raise BadInputError(
            "the key is in this computer's keyring, which workers cannot read. Put it into a variable of each worker's "
            f"environment, such as {KEY_VARIABLE}, and name that with --key-variable"
        )
    return variable


class Task(NamedTuple):
    """One answer to make. `case` is its number in the plan, from 1; `column` is a variant's letter.

    `saved` is an answer that only needs verdicts; None to ask for a new one.
    """

    case: int
    column: str
    repeat: int
    digest: str
    saved: AnswerResult | None = None


class Result(NamedTuple):
    """The redacted outcome of a task: the answer with its spending, or the problem that occurred."""

    answer: SerializedAnswer | None = None
    spent: tuple[AnswerMetrics, ...] = ()
    problem: str = ""


class Readiness(NamedTuple):
    """The report of a process of the cluster. `problem` is why it cannot take part for a reason of its own."""

    versions: str
    has_key: bool = True
    problem: str = ""


def check_process() -> Readiness:
    """Return the versions of this process."""
    return Readiness(current_versions())


# ---- on a worker -----------------------------------------------------------------------------------------------------


class Worker:
    """Makes the answers of one run in this process: on an event loop in a thread, with one gateway client."""

    def __init__(self, run: ClusterRun) -> None:
        """Start the thread. Raises BadInputError for a run that this process cannot take part in."""
        self.last_used = time.monotonic()
        self._run = run
        self._ready: Future[None] = Future()
        threading.Thread(target=self._work, name="playground", daemon=True).start()
        self._ready.result()

    def _work(self) -> None:
        with tempfile.TemporaryDirectory(prefix="playground-") as folder:
            authorities = None
            if self._run.authorities is not None:
                authorities = Path(folder) / "authorities.pem"
                authorities.write_bytes(self._run.authorities)
            asyncio.run(self._serve(authorities))  # which cancels the answers under way at the end

    async def _serve(self, authorities: Path | None) -> None:
        try:
            gateway = _worker_gateway(self._run, authorities)
            content = json.loads(self._run.content)
            session = evaluated_session(content, gateway_session(gateway), gateway, EvaluationOptions())
            resolved = ResolvedEvaluation(session)
        except Exception as error:  # noqa: BLE001 - raised again by the constructor
            self._ready.set_exception(error)
            return
        self._redactor = redactor_of(gateway.secrets)
        self._provider = LocalAnswerProvider(resolved)
        self._cases = dict(enumerate(resolved.cases, 1))
        self._columns = {column.letter: column for column in resolved.columns}
        self._loop, self._closed = asyncio.get_running_loop(), asyncio.Event()
        self._ready.set_result(None)
        await self._closed.wait()
        await gateway.aclose()

    def close(self) -> None:
        """End the answers under way and the thread."""
        self._loop.call_soon_threadsafe(self._closed.set)

    def make(self, task: Task) -> Result:
        """Make one answer; blocks until it is complete."""
        self.last_used = time.monotonic()
        spent: list[AnswerMetrics] = []
        try:
            answer = asyncio.run_coroutine_threadsafe(self._make(task, spent), self._loop).result()
            packed = pack(answer, self._redactor)
            redacted = answer_of(packed.row)
            if redacted is None:
                raise ValueError("the answer cannot be read")
        except Exception as error:  # noqa: BLE001 - its text is redacted before it leaves this process
            return Result(problem=cut(self._redactor.text(f"{type(error).__name__}: {error}"), _MAX_PROBLEM))
        finally:
            self.last_used = time.monotonic()
        return Result(replace(packed, answer=redacted), tuple(spent))

    async def _make(self, task: Task, spent: list[AnswerMetrics]) -> AnswerResult:
        job = Job(self._cases[task.case], self._columns[task.column], task.repeat, task.digest)
        if task.saved is None:
            return await self._provider.answered(job, spent.append)
        return await self._provider.judged(task.saved, job, spent.append)


def _worker_gateway(run: ClusterRun, authorities: Path | None) -> Gateway:
    """Return the gateway of a run with the key of this environment. Raises BadInputError without consent to send it."""
    value = key_from_environment(run.variable) if run.variable else None
    key = Secret(clean_key(value.get_secret_value()).key) if value is not None else None
    profile = Profile.model_validate_json(run.profile)
    update = {"key_origin": profile.origin if key is not None else "", "key_variable": ""}
    profile = profile.model_copy(update={**update, "ca_file": str(authorities) if authorities is not None else None})
    consent = consent_needed(profile)
    if consent is not None and not run.allow_http:
        raise BadInputError(f"{consent.words} --allow-http says yes to that")
    return Gateway(profile, key, {}, (), run.proxy or profile.proxy)


_workers: dict[str, Worker] = {}  # by the run's id
_opened = threading.Condition()


def open_run(run: ClusterRun) -> Readiness:
    """Prepare this process for a run, and close those of commands that were killed long ago."""
    for run_id, worker in list(_workers.items()):
        if time.monotonic() - worker.last_used > _ABANDONED:
            close_run(run_id)
    has_key = not run.variable or bool(os.environ.get(run.variable, "").strip())
    if current_versions() != run.versions or not has_key:
        return Readiness(current_versions(), has_key)
    try:
        worker = Worker(run)
    except BadInputError as error:
        return Readiness(current_versions(), problem=str(error))
    with _opened:
        _workers[run.id] = worker
        _opened.notify_all()
    return Readiness(current_versions())


def close_run(run_id: str) -> None:
    """End a run in this process, with all that is under way."""
    if (worker := _workers.pop(run_id, None)) is not None:
        worker.close()


def make_answer(run_id: str, task: Task) -> Result:
    """Make one answer of a run; blocks until it is complete."""
    with _opened:
        if not _opened.wait_for(lambda: run_id in _workers, _OPEN_TIMEOUT):
            return Result(problem="it takes no part in this run")
        worker = _workers[run_id]
    return worker.make(task)
