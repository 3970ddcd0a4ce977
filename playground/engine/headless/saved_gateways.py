"""Gateways that were set up in the window, for commands without one: found by name, listed, and their secrets fetched.

The file of gateways is read and not written here. What a person has to agree to is agreed to in the window: a command
only says what it is. No line that is printed holds a key.
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

_MOST: Final = 20  # names that one sentence holds


def saved_profile(wanted: str, profiles: Sequence[Profile]) -> Profile:
    """The one with that id or name; letters of another case count where no name is spelled so.

    Raises BadInputError where there is none, or several.
    """
    if found := [one for one in profiles if one.id == wanted]:
        return found[0]
    name = wanted.strip()
    found = [one for one in profiles if one.name.strip() == name]
    found = found or [one for one in profiles if one.name.strip().casefold() == name.casefold()]
    if len(found) == 1:
        return found[0]
    if found:
        ids = "; ".join(f"{one.id} ({one.base_url or 'no address'})" for one in found[:_MOST])
        raise BadInputError(f"{len(found)} gateways are called “{_shown(name)}”. Name one by its id: {ids}")
    if not profiles:
        raise BadInputError("no gateway is set up yet. Set one up in the window, or give an address with --base-url")
    names = [f"“{_shown(one.name)}”" for one in profiles]
    more = [f"{len(names) - _MOST} more"] if len(names) > _MOST else []
    raise BadInputError(f"no gateway is called “{_shown(name)}”. There are {listed([*names[:_MOST], *more])}")


async def saved_secrets(profile: Profile, *, allow_http: bool) -> Credentials:
    """What is sent to the profile's gateway besides the request. Raises BadInputError where something is missing."""
    needed = consent_needed(profile)
    if needed is not None and not (allow_http and needed.reason is ConsentReason.PLAIN_HTTP):
        raise BadInputError(_not_agreed(profile, needed))
    if needed is not None:
        profile = profile.model_copy(update={"plain_http_origin": needed.new_origin})
    keys = Keys()
    try:
        found = await credentials_for(profile, keys)
    finally:
        keys.close()
    if isinstance(found, NeedsConsent):
        raise BadInputError(_not_agreed(profile, found))
    if found.problem:
        raise BadInputError(f"{found.problem} A key can also be read from the environment, with --key-variable NAME")
    return found


def _not_agreed(profile: Profile, needed: NeedsConsent) -> str:
    here = " or give --allow-http here" if needed.reason is ConsentReason.PLAIN_HTTP else ""
    return (
        f"{needed.words} Nothing was sent. Open the settings of “{_shown(profile.name)}” in the window and agree "
        f"there{here}"
    )


def list_gateways(out: TextIO, err: TextIO, *, as_json: bool) -> ExitCode:
    """Print the gateways that are set up, a line each, or as JSON. Returns the exit code.

    Raises OutputError where ``out`` fails.
    """
    console = Console(out, err)
    if (own := key_from_environment()) is not None:
        console.hide([own])
    store = ProfileStore()
    for words in store.messages:
        console.say(words)
    if as_json:
        rows: list[JSONObject] = [
            {
                "id": one.id,
                "name": one.name,
                "base_url": one.base_url,
                "default_model": one.default_model,
                "key": "variable" if one.key_variable else "keyring" if one.key_origin else "none",
                "key_variable": one.key_variable,
                "secret_headers": sorted(one.secret_headers),
            }
            for one in store.profiles
        ]
        console.json({"gateways": rows})
    elif not store.profiles:
        console.say("No gateway is set up yet. They are set up in the window.")
    else:
        cells = [(_shown(one.name), one.base_url or "no address", _where_key_is(one)) for one in store.profiles]
        widths = [max(len(row[at]) for row in cells) for at in (0, 1)]
        for name, address, key in cells:
            console.line(f"{name:<{widths[0]}}  {address:<{widths[1]}}  {key}")
    console.end()
    return ExitCode.OK


def _where_key_is(profile: Profile) -> str:
    """In words; no keyring is asked."""
    if profile.key_variable:
        there = "" if os.environ.get(profile.key_variable, "").strip() else ", which is not set"
        return f"key in {profile.key_variable}{there}"
    return "key in the system keyring" if profile.key_origin else "no key"


def _shown(name: str) -> str:
    return show_hidden(short_name(name))
