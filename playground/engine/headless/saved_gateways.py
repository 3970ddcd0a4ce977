"""Gateways that were set up in the window, for commands: lookup by name, their secrets, and the list.

The file of gateways is only read. Consent is given in the window; a command says what is missing. No key is printed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TextIO

from playground.domain.hidden import short_name, show_hidden
from playground.engine.gateways.credentials import (
    ConsentReason,
    Credentials,
    NeedsConsent,
    consent_needed,
    credentials_for,
)
from playground.engine.gateways.profiles import Profile, ProfileStore
from playground.engine.gateways.secrets import Keys, key_from_environment
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.headless.show import Console
from playground.engine.requests.request_file import BadInputError
from playground.jsonkit.texts import listed

if TYPE_CHECKING:
    from playground.jsonkit.values import JSONObject

_MAX_NAMES: Final = 20  # names that one sentence holds


def saved_profile(name: str, profiles: Sequence[Profile]) -> Profile:
    """Return the profile with an id or name, whose case counts only between equal names.

    Raises BadInputError where there is none, or several.
    """
    if matches := [profile for profile in profiles if profile.id == name]:
        return matches[0]
    name = name.strip()
    matches = [profile for profile in profiles if profile.name.strip() == name]
    matches = matches or [profile for profile in profiles if profile.name.strip().casefold() == name.casefold()]
    if len(matches) == 1:
        return matches[0]
    if matches:
        ids = "; ".join(f"{match.id} ({match.base_url or 'no address'})" for match in matches[:_MAX_NAMES])
        raise BadInputError(f"{len(matches)} gateways are called “{_visible(name)}”. Name one by its id: {ids}")
    if not profiles:
        raise BadInputError("no gateway is set up yet. Set one up in the window, or give an address with --base-url")
    names = [f"“{_visible(profile.name)}”" for profile in profiles]
    more = [f"{len(names) - _MAX_NAMES} more"] if len(names) > _MAX_NAMES else []
    raise BadInputError(f"no gateway is called “{_visible(name)}”. There are {listed([*names[:_MAX_NAMES], *more])}")


async def saved_secrets(profile: Profile, *, allow_http: bool) -> Credentials:
    """Return the key and secret headers of a profile. Raises BadInputError where one of them or consent is missing."""
    needed = consent_needed(profile)
    if needed is not None and not (allow_http and needed.reason is ConsentReason.PLAIN_HTTP):
        raise BadInputError(_not_agreed(profile, needed))
    if needed is not None:
        profile = profile.model_copy(update={"plain_http_origin": needed.new_origin})
    keys = Keys()
    credentials = await credentials_for(profile, keys)
    if isinstance(credentials, NeedsConsent):
        raise BadInputError(_not_agreed(profile, credentials))
    if credentials.problem:
        raise BadInputError(
            f"{credentials.problem} A key can also be read from the environment, with --key-variable NAME"
        )
    return credentials


def _not_agreed(profile: Profile, needed: NeedsConsent) -> str:
    alternative = " or give --allow-http here" if needed.reason is ConsentReason.PLAIN_HTTP else ""
    return (
        f"{needed.words} Nothing was sent. Open the settings of “{_visible(profile.name)}” in the window and agree "
        f"there{alternative}"
    )


def list_gateways(out: TextIO, err: TextIO, *, as_json: bool) -> ExitCode:
    """Print the saved gateways, one per line or as JSON. Raises OutputError where `out` fails."""
    console = Console(out, err)
    if (own := key_from_environment()) is not None:
        console.hide([own])
    store = ProfileStore()
    for words in store.messages:
        console.say(words)
    if as_json:
        rows: list[JSONObject] = [
            {
                "id": profile.id,
                "name": profile.name,
                "base_url": profile.base_url,
                "default_model": profile.default_model,
                "key": "variable" if profile.key_variable else "keyring" if profile.key_origin else "none",
                "key_variable": profile.key_variable,
                "secret_headers": sorted(profile.secret_headers),
            }
            for profile in store.profiles
        ]
        console.json({"gateways": rows})
    elif not store.profiles:
        console.say("No gateway is set up yet. They are set up in the window.")
    else:
        cells = [
            (_visible(profile.name), profile.base_url or "no address", _where_key_is(profile))
            for profile in store.profiles
        ]
        widths = [max(len(row[index]) for row in cells) for index in (0, 1)]
        for name, address, key in cells:
            console.line(f"{name:<{widths[0]}}  {address:<{widths[1]}}  {key}")
    console.end()
    return ExitCode.OK


def _where_key_is(profile: Profile) -> str:
    """Return the place of the key in words, without asking a keyring."""
    if profile.key_variable:
        suffix = "" if os.environ.get(profile.key_variable, "").strip() else ", which is not set"
        return f"key in {profile.key_variable}{suffix}"
    return "key in the system keyring" if profile.key_origin else "no key"


def _visible(name: str) -> str:
    return show_hidden(short_name(name))
