"""A profile's key and secret headers, and the rule where they may be sent.

The key is in the keyring, or in an environment variable that the profile names. A secret belongs to the origin that it
was entered for. If the base URL moves to another host, or leads over plain HTTP to another machine, a person has to
agree first. Nothing here touches a file or a socket.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from playground.engine.gateways.profiles import Profile, ProfileError
from playground.engine.gateways.secrets import KeyringState, Keys, Secret, variable_problem


class ConsentReason(StrEnum):
    """The reason why a person has to agree before the key is sent."""

    MOVED = "moved"  # the base URL has another origin than the secret
    PLAIN_HTTP = "plain_http"  # the connection is not encrypted


@dataclass(frozen=True, slots=True)
class NeedsConsent:
    """Secrets are held back until a person agrees (``agree``). ``words`` is the question."""

    reason: ConsentReason
    words: str
    old_origin: str
    new_origin: str


@dataclass(frozen=True, slots=True)
class Credentials:
    """The secrets for the profile's origin. ``problem`` is the reason why one is missing, for people."""

    key: Secret | None = None
    headers: dict[str, Secret] = field(default_factory=dict)
    problem: str = ""


def consent_needed(profile: Profile) -> NeedsConsent | None:
    """Return the question to answer before the profile's secrets are sent, or None. Reads no keyring."""
    target = profile.origin
    origins = list(filter(None, (profile.key_origin, *profile.secret_headers.values())))
    if not target or not origins or profile.demo:
        return None
    old = next((item for item in origins if item != target), None)
    if old is not None:
        words = (
            f"The key was given for {plain_origin(old)}, but the base URL now leads to {plain_origin(target)}. "
            "Send the key there?"
        )
        return NeedsConsent(ConsentReason.MOVED, words, old, target)
    if profile.sends_unencrypted and profile.plain_http_origin != target:
        words = f"{plain_origin(target)} is not encrypted: anyone on the way can read the key. Send it anyway?"
        return NeedsConsent(ConsentReason.PLAIN_HTTP, words, target, target)
    return None


async def credentials_for(profile: Profile, keys: Keys) -> Credentials | NeedsConsent:
    """Return the profile's secrets, or the question to answer first. The keyring is read only if needed."""
    consent = consent_needed(profile)
    if consent is not None:
        return consent
    target = profile.origin
    if not target or profile.demo:
        return Credentials()
    secrets: dict[str, Secret] = {}
    if profile.key_variable and profile.key_origin:
        key = keys.from_environment(profile.key_variable)
        if key is None:
            return Credentials(problem=missing_variable(profile.key_variable))
        secrets[""] = key
    for name in _names(profile):
        secret = await keys.get(profile.id, target, name)
        if secret is None:
            what = f"The header “{name}”" if name else "The key"
            missing = f"{what} is no longer in the system keyring. Enter it again in the gateway's settings."
            problem = missing if keys.state.available else keys.state.words
            return Credentials(secrets.pop("", None), secrets, problem)
        secrets[name] = secret
    return Credentials(secrets.pop("", None), secrets)


async def agree(profile: Profile, keys: Keys, consent: NeedsConsent) -> Profile:
    """Return the profile to save after a person has agreed to one origin.

    Raises ProfileError if the keyring cannot be read; then nothing has changed.
    """
    if consent.reason is ConsentReason.PLAIN_HTTP:
        return profile.model_copy(update={"plain_http_origin": consent.new_origin})
    moving = [name for name in _names(profile) if _origin_of(profile, name) == consent.old_origin]
    secrets: dict[str, Secret | None] = {}
    for name in moving:
        secrets[name] = await keys.get(profile.id, consent.old_origin, name)
        if secrets[name] is None and not keys.state.available:
            raise ProfileError(keys.state.words)
    for name, secret in secrets.items():
        if secret is not None:
            await keys.set(profile.id, consent.new_origin, secret, name)
            await keys.delete(profile.id, consent.old_origin, name)
        profile = _with_origin(profile, name, consent.new_origin)
    if profile.key_variable and profile.key_origin == consent.old_origin:
        profile = _with_origin(profile, "", consent.new_origin)
    return profile


async def store_secret(
    profile: Profile, keys: Keys, secret: Secret | None, header: str = ""
) -> tuple[Profile, KeyringState]:
    """Store the key, or a secret header's value, for the profile's present origin; None deletes it.

    A secret of an earlier origin is deleted. Returns the profile to save, and the result of the keyring. Raises
    ProfileError without a usable base URL.
    """
    target = profile.origin
    old = _origin_of(profile, header)
    state = KeyringState(True, "No key is stored.")
    stored = old != "" and (header != "" or not profile.key_variable)
    if not header:
        profile = profile.model_copy(update={"key_variable": ""})
    if secret is None:
        if stored:
            state = await keys.delete(profile.id, old, header)
        return _with_origin(profile, header, ""), state
    if not target:
        raise ProfileError("Enter a base URL first: a key belongs to the host it is sent to.")
    if stored and old != target:
        await keys.delete(profile.id, old, header)
    state = await keys.set(profile.id, target, secret, header)
    return _with_origin(profile, header, target), state


async def use_variable(profile: Profile, keys: Keys, variable: str) -> tuple[Profile, KeyringState]:
    """Read the key from an environment variable from now on, for the profile's present origin.

    A stored key is deleted. Returns the profile to save, and whether the variable is set. Raises ProfileError without
    a usable base URL, and for an invalid name.
    """
    if problem := variable_problem(variable):
        raise ProfileError(problem)
    if not profile.origin:
        raise ProfileError("Enter a base URL first: a key belongs to the host it is sent to.")
    profile, state = await store_secret(profile, keys, None)
    is_set = keys.from_environment(variable) is not None
    words = f"The key is read from {variable} when it is needed." if is_set else missing_variable(variable)
    update = {"key_variable": variable, "key_origin": profile.origin}
    return profile.model_copy(update=update), KeyringState(state.available and is_set, words)


def missing_variable(variable: str) -> str:
    """Return words for people about a variable that is not set."""
    return (
        f"The key is to come from the variable {variable}, which is not set where this application was started. "
        "Set it and start the application again, or choose another way in the gateway's settings."
    )


async def forget_secrets(profile: Profile, keys: Keys) -> KeyringState:
    """Delete all secrets of a removed profile from the keyring; return the last result."""
    state = KeyringState(True, "No key is stored.")
    for name in _names(profile):
        state = await keys.delete(profile.id, _origin_of(profile, name), name)
    return state


async def stored_secrets(profile: Profile, keys: Keys) -> dict[str, Secret]:
    """Return the secrets of a profile in the keyring by their names, "" for the key."""
    secrets = {name: await keys.get(profile.id, _origin_of(profile, name), name) for name in _names(profile)}
    return {name: secret for name, secret in secrets.items() if secret is not None}


async def restore_secrets(profile: Profile, keys: Keys, secrets: Mapping[str, Secret]) -> str:
    """Put the ``stored_secrets`` of a removed profile back; return the problem in words, empty for none."""
    words = ""
    for name, secret in secrets.items():
        state = await keys.set(profile.id, _origin_of(profile, name), secret, name)
        words = words or ("" if state.available else state.words)
    return words


def plain_origin(url: str) -> str:
    """Return an origin for people, without the default port."""
    for scheme, port in (("https", ":443"), ("http", ":80")):
        if url.startswith(f"{scheme}://"):
            return url.removesuffix(port)
    return url


def _names(profile: Profile) -> tuple[str, ...]:
    """Return the names of the secrets in the keyring; "" is the key."""
    if profile.key_variable:
        return tuple(profile.secret_headers)
    return (*([""] if profile.key_origin else []), *profile.secret_headers)


def _origin_of(profile: Profile, name: str) -> str:
    return profile.secret_headers.get(name, "") if name else profile.key_origin


def _with_origin(profile: Profile, name: str, url: str) -> Profile:
    if not name:
        return profile.model_copy(update={"key_origin": url})
    headers = {header: value for header, value in profile.secret_headers.items() if header.lower() != name.lower()}
    return profile.model_copy(update={"secret_headers": headers | ({name: url} if url else {})})
