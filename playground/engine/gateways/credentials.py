"""A profile's key and secret headers, brought together with the rule where they may be sent.

The key is in the keyring, or in a variable of the environment that the profile names. A secret belongs to the origin it
was given for. After the base URL moved to another host, or when it leads over plain http to another machine, nothing is
handed out until a person agrees. Nothing here touches a file or a socket.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from playground.engine.gateways.profiles import Profile, ProfileError
from playground.engine.gateways.secrets import KeyringState, Keys, Secret, variable_problem


class ConsentReason(StrEnum):
    """Why a person has to agree before the key is sent."""

    MOVED = "moved"  # the base URL names another origin than the one the secret was given for
    PLAIN_HTTP = "plain_http"  # anyone on the way can read it


@dataclass(frozen=True, slots=True)
class NeedsConsent:
    """There are secrets, but they stay here until a person agrees (``agree``). ``words`` is the question."""

    reason: ConsentReason
    words: str
    old_origin: str
    new_origin: str


@dataclass(frozen=True, slots=True)
class Credentials:
    """What may be sent to the profile's origin. ``problem`` says, for people, why something is missing."""

    key: Secret | None = None
    headers: dict[str, Secret] = field(default_factory=dict)
    problem: str = ""


def consent_needed(profile: Profile) -> NeedsConsent | None:
    """What a person has to agree to before this profile's secrets are sent to its base URL. Asks no keyring."""
    target = profile.origin
    origins = [where for where in (profile.key_origin, *profile.secret_headers.values()) if where]
    if not target or not origins or profile.demo:
        return None
    old = next((where for where in origins if where != target), None)
    if old is not None:
        words = (
            f"The key was given for {plain_origin(old)}, but the base URL now leads to {plain_origin(target)}. "
            "Send the key there?"
        )
        return NeedsConsent(ConsentReason.MOVED, words, old, target)
    if profile.sends_unencrypted and profile.plain_http_origin != target:
        words = f"{plain_origin(target)} is not encrypted: anyone on the way can read the key. Send it all the same?"
        return NeedsConsent(ConsentReason.PLAIN_HTTP, words, target, target)
    return None


async def credentials_for(profile: Profile, keys: Keys) -> Credentials | NeedsConsent:
    """The profile's key and secret headers, or what has to be agreed to first. No keyring is asked without need."""
    consent = consent_needed(profile)
    if consent is not None:
        return consent
    target = profile.origin
    if not target or profile.demo:
        return Credentials()
    found: dict[str, Secret] = {}
    if profile.key_variable and profile.key_origin:
        key = keys.from_environment(profile.key_variable)
        if key is None:
            return Credentials(problem=missing_variable(profile.key_variable))
        found[""] = key
    for name in _names(profile):
        secret = await keys.get(profile.id, target, name)
        if secret is None:
            what = f"The header “{name}”" if name else "The key"
            missing = f"{what} is no longer in the system keyring. Enter it again in the gateway's settings."
            problem = missing if keys.state.available else keys.state.words
            return Credentials(found.pop("", None), found, problem)
        found[name] = secret
    return Credentials(found.pop("", None), found)


async def agree(profile: Profile, keys: Keys, consent: NeedsConsent) -> Profile:
    """Act on a person's yes and return the profile to be saved. Agreeing to one origin never covers another.

    Raises ProfileError when the keyring could not be asked; nothing has changed then.
    """
    if consent.reason is ConsentReason.PLAIN_HTTP:
        return profile.model_copy(update={"plain_http_origin": consent.new_origin})
    moving = [name for name in _names(profile) if _origin_of(profile, name) == consent.old_origin]
    found: dict[str, Secret | None] = {}
    for name in moving:
        found[name] = await keys.get(profile.id, consent.old_origin, name)
        if found[name] is None and not keys.state.available:
            raise ProfileError(keys.state.words)
    for name, secret in found.items():
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
    """Keep the key (or a secret header's value) for the profile's present origin; None forgets it.

    What was kept for an earlier origin is deleted. Gives the profile to be saved, and where the secret is now.
    Raises ProfileError without a usable base URL.
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
    """Take the key from that variable of the environment from now on, for the profile's present origin.

    A key that was stored is deleted. Gives the profile to be saved, and where the key is now. Raises ProfileError
    without a usable base URL, and for what is not the name of a variable.
    """
    if problem := variable_problem(variable):
        raise ProfileError(problem)
    if not profile.origin:
        raise ProfileError("Enter a base URL first: a key belongs to the host it is sent to.")
    profile, state = await store_secret(profile, keys, None)
    there = keys.from_environment(variable) is not None
    words = f"The key is read from {variable} when it is needed." if there else missing_variable(variable)
    update = {"key_variable": variable, "key_origin": profile.origin}
    return profile.model_copy(update=update), KeyringState(state.available and there, words)


def missing_variable(variable: str) -> str:
    """Why there is no key in that variable, and what to do, in words for people."""
    return (
        f"The key is to come from the variable {variable}, which is not set where this application was started. "
        "Set it and start the application again, or choose another way in the gateway's settings."
    )


async def forget_secrets(profile: Profile, keys: Keys) -> KeyringState:
    """Delete everything the keyring holds for the profile; called when it is removed. The state is the last one."""
    state = KeyringState(True, "No key is stored.")
    for name in _names(profile):
        state = await keys.delete(profile.id, _origin_of(profile, name), name)
    return state


def plain_origin(where: str) -> str:
    """An origin for people: without the port that goes without saying."""
    for scheme, port in (("https", ":443"), ("http", ":80")):
        if where.startswith(f"{scheme}://"):
            return where.removesuffix(port)
    return where


def _names(profile: Profile) -> tuple[str, ...]:
    """Of the secrets that are in the keyring: empty for the key."""
    if profile.key_variable:
        return tuple(profile.secret_headers)
    return (*([""] if profile.key_origin else []), *profile.secret_headers)


def _origin_of(profile: Profile, name: str) -> str:
    return profile.secret_headers.get(name, "") if name else profile.key_origin


def _with_origin(profile: Profile, name: str, where: str) -> Profile:
    if not name:
        return profile.model_copy(update={"key_origin": where})
    headers = {known: at for known, at in profile.secret_headers.items() if known.lower() != name.lower()}
    return profile.model_copy(update={"secret_headers": headers | ({name: where} if where else {})})
