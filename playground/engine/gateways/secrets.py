"""Keys in the operating system's keyring, or in memory for this session; they are stored nowhere else.

A key may be in an environment variable instead: then only the variable's name is saved.

A keyring may wait for a person to unlock it and has no time-out of its own, so every call runs in a thread and is
abandoned after ``TIMEOUT``. A key belongs to a profile *and* an origin: under another origin it is not found. This
module must not write files, must not log, and must never show a key in a text.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from pydantic import SecretStr

from playground.engine.gateways.redaction import KnownSecrets, values_of
from playground.gateway.prepared_request import header_problem
from playground.gateway.redact import SHORTEST, Redactor, is_secret_header
from playground.jsonkit.values import JSON

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

T = TypeVar("T")

#: A text whose ``repr`` and ``str`` are stars; ``get_secret_value()`` gives the text.
Secret = SecretStr

SERVICE = "gateway-playground"
KEY_VARIABLE = "PLAYGROUND_API_KEY"
TIMEOUT = 20.0  # seconds for one call, with the time to type the keyring's password
ABANDON_AFTER = 120.0  # seconds after which a hanging call no longer blocks the next one
MAX_PARTS = 64  # of one secret that are redacted
WINDOWS_LIMIT = 1280  # characters; the Windows credential store takes 2,560 bytes of UTF-16

#: The modules of the operating systems' own stores; ``null``, ``fail``, ``keyrings.alt`` and all others are refused.
REAL_BACKENDS = (
    "keyring.backends.SecretService",
    "keyring.backends.libsecret",
    "keyring.backends.kwallet",
    "keyring.backends.macOS",
    "keyring.backends.Windows",
)


@dataclass(frozen=True, slots=True)
class KeyringState:
    """The result of a call of the system's keyring, and its words for people."""

    available: bool
    words: str


class CleanedKey(NamedTuple):
    """A key in the form in which it is sent, with remarks on corrections and invalid characters."""

    key: str
    remarks: tuple[str, ...]


class KeyringError(Exception):
    """The keyring is absent, refused a call, or did not answer. The text is for people and holds no secret."""


def clean_key(text: str) -> CleanedKey:
    """Remove what is often pasted with a key: spaces, line breaks, quotes, ``Bearer``, a header's name.

    Characters that no HTTP header can carry are not removed, but remarked on.
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
            match = pattern.match(key)
            if match:
                key = match["key"].strip()
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
_CAPITALS = re.compile(r"(?=.*_|.{1,15}\Z)[A-Z_][A-Z0-9_]*")  # a long one without underscores is more likely a key
_SECRET_VALUE = re.compile(r"\s*(?:bearer|basic|digest|token)\s+\S|\s*sk-\S", re.IGNORECASE)


#: Headers whose values are versions, formats and names.
_PLAIN_HEADERS: Final = frozenset(
    {"accept", "accept-encoding", "accept-language", "anthropic-beta", "anthropic-version", "content-type"}
    | {"http-referer", "idempotency-key", "openai-beta", "origin", "referer", "traceparent", "user-agent", "x-title"}
)
_SHORTEST_HEADER: Final = 12  # characters of a value that is taken for a secret by its look


def looks_secret(header: str, value: str = "") -> bool:
    """Return whether a header of this name or value carries a secret, and so may not be written to a file."""
    return is_secret_header(header) or _SECRET_VALUE.match(value) is not None


def hidden_header(name: str, value: str) -> bool:
    """Return whether a header's value is kept out of all output, although neither name nor value says it is a secret.

    It is then still kept with the other headers of the gateway.
    """
    if name.strip().lower() in _PLAIN_HEADERS or len(value) < _SHORTEST_HEADER or any(map(str.isspace, value)):
        return False
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


_KEY_VALUE = re.compile(r"\s*(?:bearer\s+)?sk-\S{8}|\s*bearer\s+\S{16}", re.IGNORECASE)
_WRITTEN_KEY = re.compile(rf'"(?:{_KEY_VALUE.pattern})', re.IGNORECASE)


def extra_header_problem(name: str, value: str) -> str:
    """Return why a header may not be saved with an experiment, which is plain text; empty if it may."""
    name, value = name.strip(), value.strip()
    if not name:
        return "A name is needed."
    if looks_secret(name, value):
        return f"“{name}” looks like a secret. Move it to the gateway's settings, which store it in the keyring."
    return header_problem(name, value)


def secret_in(body: JSON, text: str | None = None) -> str:
    """Return the first name in a body whose value looks like a key, which may not be saved; empty for none.

    If its JSON ``text`` is given, most large bodies need not be searched value by value.
    """
    if text is not None and "\\" not in text and not has_written_key(text):
        return ""
    stack: list[tuple[object, JSON]] = [("", body)]
    while stack:
        name, value = stack.pop()
        if isinstance(value, str) and _KEY_VALUE.match(value):
            return str(name)
        members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        stack += reversed(list(members))
    return ""


def has_written_key(text: str) -> bool:
    """Return whether the text of a body, which may not be complete JSON, holds a string that looks like a key."""
    return _WRITTEN_KEY.search(text) is not None


def key_from_environment(variable: str = KEY_VARIABLE) -> Secret | None:
    """Return the unchanged value of a variable for headless commands (see ``clean_key``); None for a blank one."""
    key = os.environ.get(variable, "")
    return Secret(key) if key.strip() else None


def variable_is_set(name: str) -> bool:
    """Return whether the environment has a variable of that name that is not blank."""
    return bool(_VARIABLE.fullmatch(name) and os.environ.get(name, "").strip())


def variable_problem(name: str) -> str:
    """Return why ``name`` cannot be saved as the name of a variable, without quoting it; empty if it can.

    The name is written to a file, and a key pasted into the wrong field may look like a name. So names with lower case,
    and long ones without underscores, are accepted only if there is such a variable.
    """
    if _VARIABLE.fullmatch(name) and (_CAPITALS.fullmatch(name) or variable_is_set(name)):
        return ""
    return (
        "This does not look like the name of a variable, such as GATEWAY_API_KEY. Enter a key itself in the field "
        "for the key; no file holds it."
    )


# ---- choosing a backend ----------------------------------------------------------------------------------------------


def choose_backend() -> KeyringBackend:
    """Return the operating system's own store. The candidates are listed here, for a frozen app has no entry points.

    A backend that is configured for the keyring library (environment or file) wins if it is a real store. Blocks, so
    call it in a thread. Raises KeyringError with the reason if there is none.
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
    """Return the operating system's store of a configured backend: itself, or the first one of a chain; or None."""
    if type(backend).__module__.startswith(REAL_BACKENDS):
        return backend
    if type(backend).__module__ == "keyring.backends.chainer":
        inner: list[KeyringBackend] = list(getattr(backend, "backends", ()))
        return next(filter(None, map(real_backend, inner)), None)
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


# ---- keys ------------------------------------------------------------------------------------------------------------


class Keys:
    """The keys of all profiles in the system's keyring, cached for this session.

    ``name`` distinguishes a profile's secrets: empty for the key itself, a header's name for a secret header. A failing
    keyring raises nothing: ``state`` describes the failure, and the keys stay in memory.
    """

    def __init__(self, *, timeout: float = TIMEOUT, backend: Callable[[], KeyringBackend] = choose_backend) -> None:
        self._environment: dict[str, Secret] = {}  # by variable; earlier values stay redacted
        self._parts: dict[str, tuple[Secret, ...]] = {}  # by the secret that holds them
        self._timeout = timeout
        self._choose = backend
        self._backend: KeyringBackend | None = None
        self._busy_since: float | None = None  # the start of the present call
        self._order = threading.Lock()  # one call after the other
        self._memory: dict[str, Secret] = {}
        self._redactor: tuple[tuple[Secret, ...], Redactor] = ((), Redactor(()))
        self._unsaved: set[str] = set()  # in memory only: the keyring did not accept them
        self.learned: Callable[[], None] = lambda: None  # called for a new secret
        self.state = KeyringState(True, "Keys are stored in the system keyring.")

    async def check(self) -> KeyringState:
        """Return whether there is a keyring, without unlocking it."""
        try:
            await self._call(self._open)
        except KeyringError as error:
            return self._failed(str(error), memory=True)
        return self._succeeded("Keys are stored in the system keyring.")

    async def get(self, profile_id: str, origin: str, name: str = "") -> Secret | None:
        """Return the secret of a profile at an origin, or None; ``state.available`` is False if the keyring failed."""
        user = _user(profile_id, origin, name)
        if user in self._memory:
            return self._memory[user]
        try:
            password = await self._call(lambda: self._open().get_password(SERVICE, user))
        except KeyringError as error:
            self._failed(str(error), memory=False)
            return None
        self._succeeded("The key comes from the system keyring." if password else "No key is stored yet.")
        if not password:
            return None
        is_new = Secret(password) not in self._all()
        self._memory[user] = Secret(password)
        if is_new:
            self.learned()
        return self._memory[user]

    async def set(self, profile_id: str, origin: str, secret: Secret, name: str = "") -> KeyringState:
        """Store a secret and read it back; if that fails it stays in memory, and the returned state explains it."""
        user = _user(profile_id, origin, name)
        is_new = secret not in self._all() and len(secret.get_secret_value()) >= SHORTEST
        self._memory[user] = secret
        if is_new:
            self.learned()

        def write() -> None:
            backend = self._open()
            text = secret.get_secret_value()
            if too_long(type(backend).__module__, text):
                size = len(text.encode("utf-16-le")) // 2
                raise KeyringError(
                    f"Windows stores keys of {WINDOWS_LIMIT:,} characters at most; this one has {size:,}."
                )
            backend.set_password(SERVICE, user, text)
            if backend.get_password(SERVICE, user) != text:
                raise KeyringError("The system keyring accepted the key but did not return it.")

        try:
            await self._call(write, secret)
        except KeyringError as error:
            self._unsaved.add(user)
            return self._failed(str(error), memory=True)
        self._unsaved.discard(user)
        return self._succeeded("The key is stored in the system keyring.")

    async def delete(self, profile_id: str, origin: str, name: str = "") -> KeyringState:
        """Delete a secret from memory and keyring; one that was never stored is no error."""
        user = _user(profile_id, origin, name)
        self._memory.pop(user, None)
        self._unsaved.discard(user)

        def remove() -> None:
            from keyring.errors import PasswordDeleteError

            backend = self._open()
            with contextlib.suppress(PasswordDeleteError):
                backend.delete_password(SERVICE, user)
            if backend.get_password(SERVICE, user) is not None:
                raise KeyringError("The system keyring did not delete the key.")

        try:
            await self._call(remove)
        except KeyringError as error:
            return self._failed(f"{error} A key stored earlier may still be there.", memory=False)
        return self._succeeded("Removed from the system keyring.")

    def from_environment(self, variable: str) -> Secret | None:
        """Return the present value of an environment variable, cleaned like a pasted key; None without one.

        The value is redacted from then on, and stored nowhere.
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

    def add_parts(self, profile_id: str, origin: str, parts: Iterable[Secret], name: str = "") -> None:
        """Redact the parts of a compound secret, too, until the process ends; earlier parts stay redacted."""
        user = _user(profile_id, origin, name)
        old = self._parts.get(user, ())
        new = tuple(part for part in parts if part not in old and len(part.get_secret_value()) >= SHORTEST)
        if new:
            self._parts[user] = (*old, *new)[-MAX_PARTS:]
            self.learned()

    def only_in_memory(self, profile_id: str, origin: str) -> bool:
        """Return whether the keyring did not accept the key, so that it is lost when the app closes."""
        return _user(profile_id, origin, "") in self._unsaved

    def known_secrets(self) -> KnownSecrets:
        """Return all secrets in memory, for redaction by value."""
        return KnownSecrets(self._all)

    def _all(self) -> tuple[Secret, ...]:
        parts = (part for values in tuple(self._parts.values()) for part in values)
        return (*self._memory.values(), *self._environment.values(), *parts)

    @property
    def redactor(self) -> Redactor:
        """A redactor of all secrets of this process; a new one after the secrets in memory changed."""
        secrets = self._all()
        if secrets != self._redactor[0]:
            self._redactor = secrets, Redactor(values_of(secrets))
        return self._redactor[1]

    def front(self, text: str, most: int) -> str:
        """Return the first ``most`` characters of ``text`` without secrets."""
        return self.redactor.front(text, most)

    def _open(self) -> KeyringBackend:
        if self._backend is None:
            self._backend = self._choose()
        return self._backend

    def _succeeded(self, words: str) -> KeyringState:
        self.state = KeyringState(True, words)
        return self.state

    def _failed(self, reason: str, *, memory: bool) -> KeyringState:
        more = " The key stays in memory until the app closes." if memory else ""
        self.state = KeyringState(False, reason + more)
        return self.state

    async def _call(self, work: Callable[[], T], secret: Secret | None = None) -> T:
        """Run ``work`` in a thread. Raises KeyringError, with ``secret`` removed from the backend's words."""
        waited = time.monotonic() - self._busy_since if self._busy_since is not None else 0.0
        if waited > ABANDON_AFTER:
            self._order, self._busy_since = threading.Lock(), None
        elif waited > self._timeout:
            raise KeyringError("The system keyring is still waiting, probably to be unlocked.")
        try:
            async with asyncio.timeout(self._timeout):  # wait_for of Python 3.11 can swallow a cancellation
                return await asyncio.wrap_future(self._start(work))
        except KeyringError:
            raise
        except TimeoutError:
            raise KeyringError(
                f"The system keyring did not answer within {self._timeout:g} s. It may be waiting for you to unlock it."
            ) from None
        except Exception as error:  # noqa: BLE001 - backends raise the errors of their systems
            self._backend = None  # the service may return under another address
            if type(error).__name__ in ("KeyringLocked", "LockedException", "PromptDismissedException"):
                raise KeyringError("The system keyring is locked and was not unlocked.") from None
            words = str(error)
            if secret is not None:
                words = words.replace(secret.get_secret_value(), "[key]")
            raise KeyringError(f"The system keyring failed ({_name_of(error)}: {words}).") from None

    def _start(self, work: Callable[[], T]) -> Future[T]:
        """Start ``work`` in a daemon thread, after the calls before it.

        An executor is joined at exit, and a locked keyring would then keep the process alive.
        """
        future: Future[T] = Future()
        order = self._order

        def run() -> None:
            with order:
                if not future.set_running_or_notify_cancel():
                    return  # the wait was given up before its turn
                self._busy_since = time.monotonic()
                try:
                    result = work()
                except BaseException as error:  # noqa: BLE001 - passed to the waiting task
                    self._busy_since = None
                    future.set_exception(error)
                else:
                    self._busy_since = None
                    future.set_result(result)

        threading.Thread(target=run, name="keyring", daemon=True).start()
        return future


def too_long(backend_module: str, text: str) -> bool:
    """Return whether ``text`` is too long for the store of that module; only Windows has a limit, in UTF-16 units."""
    return backend_module.startswith("keyring.backends.Windows") and len(text.encode("utf-16-le")) > 2 * WINDOWS_LIMIT


def _user(profile_id: str, origin: str, name: str) -> str:
    return f"{profile_id}@{origin}" + (f"#{name.strip().lower()}" if name else "")


def _name_of(error: BaseException) -> str:
    return type(error).__name__
