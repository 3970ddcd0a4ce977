"""Keys live in the operating system's keyring, or in memory for this session; we put them in no third place.

A person may have one in a variable of the environment: then its name is kept, and it is read when it is needed.

A keyring may wait for a person to unlock it and has no time-out of its own, so every call runs in one worker thread
and is given up after a time of ours. A key belongs to a profile *and* an origin: asking for it under another origin
finds nothing. This module must not write files, must not log, and must never show a key in a text.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import re
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from pydantic import SecretStr

from playground.engine.gateways.known_secrets import KnownSecrets, values_of
from playground.gateway.redact import SHORTEST, Redactor, is_secret_header

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

T = TypeVar("T")

#: A text whose ``repr`` and ``str`` are stars; ``get_secret_value()`` gives the text.
Secret = SecretStr

SERVICE = "gateway-playground"
KEY_VARIABLE = "PLAYGROUND_API_KEY"
TIMEOUT = 20.0  # seconds for one call, a person typing the keyring's password included
STUCK_FOR_GOOD = 120.0  # seconds after which a call that never came back is left behind with its thread
MOST_INSIDE = 64  # parts of one secret that are known
WINDOWS_LIMIT = 1280  # characters; the Windows credential store takes 2,560 bytes of UTF-16

#: Where the operating systems' own stores are; ``null``, ``fail``, ``keyrings.alt`` and everything else is refused.
REAL_BACKENDS = (
    "keyring.backends.SecretService",
    "keyring.backends.libsecret",
    "keyring.backends.kwallet",
    "keyring.backends.macOS",
    "keyring.backends.Windows",
)


@dataclass(frozen=True, slots=True)
class KeyringState:
    """Whether the system's keyring did what was asked, and that in words for a person."""

    available: bool
    words: str


class CleanedKey(NamedTuple):
    """A key as it will be sent, and what was changed or is odd about it, in words that do not quote it."""

    key: str
    remarks: tuple[str, ...]


class KeyringError(Exception):
    """The keyring is absent, refused or did not answer. The text is for people and holds no secret."""


def clean_key(text: str) -> CleanedKey:
    """Take off what comes along when a key is pasted: spaces, line breaks, quotes, ``Bearer``, a header's name.

    A key with characters that no HTTP header can carry is left as it is and flagged.
    """
    remarks: list[str] = []
    key = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Cc") or c.isspace())
    if len(key) != len(text):
        remarks.append("Invisible characters were removed.")
    if any(c in text for c in "\r\n\u2028\u2029"):
        remarks.append("Line breaks were removed.")
    elif key != key.strip():
        remarks.append("Spaces around the key were removed.")
    key = key.strip()
    before = ""
    while before != key:
        before = key
        for pattern, remark in _WRAPPINGS:
            found = pattern.match(key)
            if found:
                key = found["key"].strip()
                remarks.append(remark)
    inside = "".join(key.split())
    if len(inside) != len(key):
        if "Line breaks were removed." not in remarks:
            remarks.append("Spaces inside the key were removed.")
        key = inside
    odd = next((i for i, c in enumerate(key, 1) if ord(c) > 126), None)
    if odd is not None:
        remarks.append(f"Character {odd} is not plain ASCII, so no HTTP header can carry this key. Copy it again.")
    return CleanedKey(key, tuple(dict.fromkeys(remarks)))


_ANY = re.IGNORECASE | re.DOTALL
_WRAPPINGS = (
    (
        re.compile(r"(?:-H\s*)?[\"']?(?:proxy-)?(?:authorization|x-api-key|api-key)\s*:\s*(?P<key>.+)", _ANY),
        "The header's name was removed.",
    ),
    (
        re.compile(r"(?:export\s+|set\s+)?[A-Z][A-Z0-9_]*(?:KEY|TOKEN)\s*=\s*(?P<key>[^=\s].*)", re.DOTALL),
        "The variable's name was removed.",
    ),
    (re.compile(r"bearer\s+(?P<key>.+)", _ANY), "“Bearer” was removed; it is added when the key is sent."),
    (re.compile(r"[\"'`“”‘’«»](?P<key>.+)", _ANY), "Quotation marks were removed."),
    (re.compile(r"(?P<key>.+)[\"'`“”‘’«»,;]$", _ANY), "Quotation marks were removed."),
)

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_CAPITALS = re.compile(r"(?=.*_|.{1,15}\Z)[A-Z_][A-Z0-9_]*")  # a longer one of one piece is a key more likely
_SECRET_VALUE = re.compile(r"\s*(?:bearer|basic|digest|token)\s+\S|\s*sk-\S", re.IGNORECASE)


#: Headers whose values are versions, formats and names.
_PLAIN_HEADERS: Final = frozenset(
    {"accept", "accept-encoding", "accept-language", "anthropic-beta", "anthropic-version", "content-type"}
    | {"http-referer", "idempotency-key", "openai-beta", "origin", "referer", "traceparent", "user-agent", "x-title"}
)
_SHORTEST_HEADER: Final = 12  # characters of a value that is taken for a secret by its look


def looks_secret(header: str, value: str = "") -> bool:
    """Whether a header of this name (or with this value) carries a secret, and so may not be written to a file."""
    return is_secret_header(header) or _SECRET_VALUE.match(value) is not None


def hidden_header(name: str, value: str) -> bool:
    """Return whether a header's value is kept out of all output, although neither name nor value says it is a secret.

    It is then still kept with the other headers of the gateway.
    """
    if name.strip().lower() in _PLAIN_HEADERS or len(value) < _SHORTEST_HEADER or any(map(str.isspace, value)):
        return False
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def key_from_environment(variable: str = KEY_VARIABLE) -> Secret | None:
    """The key in that variable as it stands there (see ``clean_key``); for the headless commands only."""
    key = os.environ.get(variable, "")
    return Secret(key) if key.strip() else None


def variable_is_set(name: str) -> bool:
    """Whether this process was started with a variable of that name that is not blank."""
    return bool(_VARIABLE.fullmatch(name) and os.environ.get(name, "").strip())


def variable_problem(name: str) -> str:
    """Why ``name`` cannot be kept as the name of a variable, in words that do not quote it; empty when it can.

    What is kept stands in a file, and a key that is pasted in the wrong place looks much like a name: other letters
    than capitals, and many capitals in one piece, are taken only where such a variable is there.
    """
    if _VARIABLE.fullmatch(name) and (_CAPITALS.fullmatch(name) or variable_is_set(name)):
        return ""
    return (
        "This does not look like the name of a variable, such as GATEWAY_API_KEY. A key itself goes into the field "
        "for the key, where it is kept in no file."
    )


# ---- choosing a backend ----------------------------------------------------------------------------------------------


def choose_backend() -> KeyringBackend:
    """The operating system's own store, named one by one: a frozen app has no entry points to find it by.

    What a person configured for the keyring library (environment or its file) is respected when it is a real store.
    Blocks, so call it in a thread. Raises KeyringError saying why there is none.
    """
    from keyring import core

    try:
        configured = core.load_env() or core.load_config()
    except Exception as error:  # noqa: BLE001 - a backend's import or probe may raise anything
        raise KeyringError(f"The configured keyring backend cannot be used ({_name_of(error)}).") from None
    if configured is not None:
        chosen = real_backend(configured)
        if chosen is None:
            raise KeyringError("The configured keyring backend is not the operating system's own, so it is not used.")
        return chosen
    reasons: list[str] = []
    for backend in _candidates():
        try:
            backend.priority  # noqa: B018 - the library's own probe: raises where the store cannot be reached
            return backend()
        except Exception as error:  # noqa: BLE001 - see above
            reasons.append(str(error) or _name_of(error))
    raise KeyringError(f"No system keyring was found ({reasons[0]}).")


def real_backend(backend: KeyringBackend) -> KeyringBackend | None:
    """The operating system's store in what the library chose: itself, or the first real one in a chain, or None."""
    if type(backend).__module__.startswith(REAL_BACKENDS):
        return backend
    if type(backend).__module__ == "keyring.backends.chainer":
        inner: list[KeyringBackend] = list(getattr(backend, "backends", ()))
        return next((found for one in inner if (found := real_backend(one)) is not None), None)
    return None


def _candidates() -> list[type[KeyringBackend]]:
    # Plain import statements, so that the packager of a frozen app sees them.
    if sys.platform == "win32":
        from keyring.backends import Windows

        return [Windows.WinVaultKeyring]
    if sys.platform == "darwin":
        from keyring.backends import macOS

        return [macOS.Keyring]
    from keyring.backends import SecretService, kwallet, libsecret

    return [SecretService.Keyring, libsecret.Keyring, kwallet.DBusKeyring, kwallet.DBusKeyringKWallet4]


# ---- the worker ------------------------------------------------------------------------------------------------------


class _Worker:
    """One daemon thread that does one thing after the other, so that writes keep their order.

    A daemon and not an executor: an executor is joined at exit, and a locked keyring would then keep the app alive.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._busy_since: float | None = None
        threading.Thread(target=self._run, name="keyring", daemon=True).start()

    def submit(self, work: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        self._jobs.put((future, work))
        return future

    def end(self) -> None:
        """Let the thread end when what was asked for is done."""
        self._jobs.put(None)

    def stuck(self) -> float:
        """Seconds that the present call has been running; 0 when idle."""
        since = self._busy_since
        return time.monotonic() - since if since is not None else 0.0

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, work = job
            if not future.set_running_or_notify_cancel():
                continue  # given up before its turn came
            self._busy_since = time.monotonic()
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001 - handed to the one who waits
                self._busy_since = None
                future.set_exception(error)
            else:
                self._busy_since = None
                future.set_result(result)
            del job, future, work  # no reference to a secret while idle


class Keys:
    """The keys of all profiles: read from and written to the system's keyring, and remembered for this session.

    ``name`` tells a profile's secrets apart: empty for the key itself, a header's name for a secret header.
    Nothing here raises for a keyring that fails: ``state`` says what happened, and memory serves the session.
    """

    def __init__(self, *, timeout: float = TIMEOUT, backend: Callable[[], KeyringBackend] = choose_backend) -> None:
        self._environment: dict[str, Secret] = {}  # by the names of their variables; those that changed stay known
        self._inside: dict[str, tuple[Secret, ...]] = {}  # by the secret that they are parts of
        self._timeout = timeout
        self._choose = backend
        self._backend: KeyringBackend | None = None
        self._worker: _Worker | None = None
        self._memory: dict[str, Secret] = {}
        self._redactor: tuple[tuple[Secret, ...], Redactor] = ((), Redactor(()))
        self._unsaved: set[str] = set()  # those the keyring did not take
        self.learned: Callable[[], None] = lambda: None  # called when there is a secret that was none before
        self.state = KeyringState(True, "Keys are stored in the system keyring.")

    def close(self) -> None:
        """Let the thread that speaks to the keyring end; it is started again when it is needed."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()

    async def check(self) -> KeyringState:
        """Find out whether there is a keyring, without unlocking anything."""
        try:
            await self._call(self._find)
        except KeyringError as error:
            return self._failed(str(error), memory=True)
        return self._succeeded("Keys are stored in the system keyring.")

    async def get(self, profile_id: str, origin: str, name: str = "") -> Secret | None:
        """The secret of that profile at that origin, or None. ``state.available`` is False when nobody could look."""
        user = _user(profile_id, origin, name)
        if user in self._memory:
            return self._memory[user]
        try:
            found = await self._call(lambda: self._find().get_password(SERVICE, user))
        except KeyringError as error:
            self._failed(str(error), memory=False)
            return None
        self._succeeded("The key comes from the system keyring." if found else "No key is stored yet.")
        if not found:
            return None
        is_new = Secret(found) not in self._all()
        self._memory[user] = Secret(found)
        if is_new:
            self.learned()
        return self._memory[user]

    async def set(self, profile_id: str, origin: str, secret: Secret, name: str = "") -> KeyringState:
        """Store a secret and read it back. Where that fails it is kept in memory, and the state returned says so."""
        user = _user(profile_id, origin, name)
        is_new = secret not in self._all() and len(secret.get_secret_value()) >= SHORTEST
        self._memory[user] = secret
        if is_new:
            self.learned()

        def write() -> None:
            backend = self._find()
            text = secret.get_secret_value()
            if too_long(type(backend).__module__, text):
                size = len(text.encode("utf-16-le")) // 2
                raise KeyringError(
                    f"Windows stores keys of {WINDOWS_LIMIT:,} characters at most; this one has {size:,}."
                )
            backend.set_password(SERVICE, user, text)
            if backend.get_password(SERVICE, user) != text:
                raise KeyringError("The system keyring took the key but did not give it back.")

        try:
            await self._call(write, secret)
        except KeyringError as error:
            self._unsaved.add(user)
            return self._failed(str(error), memory=True)
        self._unsaved.discard(user)
        return self._succeeded("The key is stored in the system keyring.")

    async def delete(self, profile_id: str, origin: str, name: str = "") -> KeyringState:
        """Forget a secret, in memory and in the keyring. One that was never stored is no error."""
        user = _user(profile_id, origin, name)
        self._memory.pop(user, None)
        self._unsaved.discard(user)

        def remove() -> None:
            from keyring.errors import PasswordDeleteError

            backend = self._find()
            with contextlib.suppress(PasswordDeleteError):
                backend.delete_password(SERVICE, user)
            if backend.get_password(SERVICE, user) is not None:
                raise KeyringError("The system keyring still holds the key after it was told to delete it.")

        try:
            await self._call(remove)
        except KeyringError as error:
            return self._failed(f"{error} A key stored earlier may still be there.", memory=False)
        return self._succeeded("Removed from the system keyring.")

    def from_environment(self, variable: str) -> Secret | None:
        """The key in that variable of this process, cleaned as a pasted one is; None where there is none.

        It is read anew each time, known for redaction from then on, and kept nowhere else.
        """
        text = clean_key(os.environ.get(variable, "")).key if variable_is_set(variable) else ""
        if not text:
            return None
        secret = Secret(text)
        if secret not in self._environment.values():
            is_new = secret not in self._all() and len(text) >= SHORTEST
            self._environment[f"{variable}#{len(self._environment)}"] = secret
            if is_new:
                self.learned()
        return secret

    def holds(self, profile_id: str, origin: str, parts: Iterable[Secret], name: str = "") -> None:
        """A secret is several in one text: know each of them, too, until the process ends. They are not stored.

        Those that were known before stay known: a renewed one does not make the old one harmless at once.
        """
        user = _user(profile_id, origin, name)
        known = self._inside.get(user, ())
        fresh = tuple(it for it in parts if it not in known and len(it.get_secret_value()) >= SHORTEST)
        if fresh:
            self._inside[user] = (*known, *fresh)[-MOST_INSIDE:]
            self.learned()

    def only_in_memory(self, profile_id: str, origin: str, name: str = "") -> bool:
        """Whether the secret is gone when the app closes, because the keyring did not take it."""
        return _user(profile_id, origin, name) in self._unsaved

    def known(self) -> KnownSecrets:
        """Every secret in memory, for redaction by value."""
        return KnownSecrets(self._all)

    def _all(self) -> tuple[Secret, ...]:
        inside = (part for parts in tuple(self._inside.values()) for part in parts)
        return (*self._memory.values(), *self._environment.values(), *inside)

    @property
    def redactor(self) -> Redactor:
        """What takes every secret of this process out of texts; another one when there are others in memory."""
        known = self._all()
        if known != self._redactor[0]:
            self._redactor = known, Redactor(values_of(known))
        return self._redactor[1]

    def front(self, text: str, most: int) -> str:
        """The first ``most`` characters of ``text``, without any secret in memory."""
        return self.redactor.front(text, most)

    def _find(self) -> KeyringBackend:
        if self._backend is None:
            self._backend = self._choose()
        return self._backend

    def _succeeded(self, words: str) -> KeyringState:
        self.state = KeyringState(True, words)
        return self.state

    def _failed(self, reason: str, *, memory: bool) -> KeyringState:
        more = " The key is kept in memory for this session only and is gone when the app closes." if memory else ""
        self.state = KeyringState(False, reason + more)
        return self.state

    async def _call(self, work: Callable[[], T], secret: Secret | None = None) -> T:
        """Run ``work`` in the worker. Raises KeyringError, with ``secret`` taken out of whatever the backend said."""
        worker = self._worker
        if worker is None or worker.stuck() > STUCK_FOR_GOOD:
            worker = self._worker = _Worker()
        elif worker.stuck() > self._timeout:
            raise KeyringError("The system keyring is still waiting, probably to be unlocked.")
        try:
            return await asyncio.wait_for(asyncio.wrap_future(worker.submit(work)), self._timeout)
        except KeyringError:
            raise
        except TimeoutError:
            raise KeyringError(
                f"The system keyring did not answer within {self._timeout:g} s. It may be waiting for you to unlock it."
            ) from None
        except Exception as error:  # noqa: BLE001 - backends raise what their system raises
            self._backend = None  # look again next time: the service may have come back elsewhere
            if type(error).__name__ in ("KeyringLocked", "LockedException", "PromptDismissedException"):
                raise KeyringError("The system keyring is locked and was not unlocked.") from None
            said = str(error)
            if secret is not None:
                said = said.replace(secret.get_secret_value(), "[key]")
            raise KeyringError(f"The system keyring failed ({_name_of(error)}: {said}).") from None


def too_long(backend_module: str, text: str) -> bool:
    """Whether the store of that module cannot hold ``text``; only Windows has a limit, counted in UTF-16 units."""
    return backend_module.startswith("keyring.backends.Windows") and len(text.encode("utf-16-le")) > 2 * WINDOWS_LIMIT


def _user(profile_id: str, origin: str, name: str) -> str:
    return f"{profile_id}@{origin}" + (f"#{name.strip().lower()}" if name else "")


def _name_of(error: BaseException) -> str:
    return type(error).__name__
