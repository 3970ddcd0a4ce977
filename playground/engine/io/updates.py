"""Whether there is a newer version: one small JSON file, fetched only when a person asked for it, and compared.

``{"version": "1.2.0", "page": "https://…", "notes": "one line"}``; more fields are allowed and not read. Nothing is
ever downloaded besides, and nothing is installed: what comes out is an address a person may open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import metadata
from urllib.parse import urlsplit

from playground.domain.hidden import show_hidden
from playground.gateway.client import FetchError, fetch_file
from playground.jsonkit.reading import parse_json

LARGEST = 64 * 1024  # bytes of the file
LABEL = "Updates"  # of the project's address in the package's metadata
LONGEST = 200  # characters of the notes that are shown

_NUMBERS = re.compile(r"\s*v?(?P<release>\d{1,6}(?:\.\d{1,6}){0,4})(?P<rest>[-+.]?[A-Za-z0-9.+-]{0,40})\s*")


class UpdateError(Exception):
    """It could not be found out; the text says why, for people."""


@dataclass(frozen=True, slots=True)
class Update:
    """What the file says. ``newer``: than the version that runs. ``page`` is an https address."""

    version: str
    page: str
    notes: str
    newer: bool


def default_address() -> str:
    """Where the file is, as the maintainers named it in the package's metadata (a project URL "Updates"); or ""."""
    try:
        urls = metadata.metadata("gateway-playground").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return ""
    named = (line.partition(",") for line in urls)
    return next((url.strip() for label, _, url in named if label.strip() == LABEL), "")


async def look_for_update(address: str, running: str) -> Update:
    """Fetch the file at ``address`` and compare. Raises UpdateError."""
    try:
        data = await fetch_file(address.strip(), most=LARGEST)
    except FetchError as error:
        raise UpdateError(str(error)) from None
    return read_update(data, running)


def read_update(data: bytes, running: str) -> Update:
    """What the file's bytes say. Raises UpdateError."""
    try:
        value = parse_json(data.decode("utf-8-sig"))
    except ValueError:
        value = None
    if not isinstance(value, dict) or not isinstance(value.get("version"), str):
        raise UpdateError("What is at this address does not say which version there is.")
    version, page, notes = (str(value.get(name) or "").strip() for name in ("version", "page", "notes"))
    if _release(version) is None:
        raise UpdateError("The version named at this address cannot be read.")
    if urlsplit(page).scheme != "https" or not urlsplit(page).hostname:
        raise UpdateError("The download page named at this address is not an https address.")
    line = show_hidden(" ".join(notes.split()))[:LONGEST]
    return Update(version, page, line, is_newer(version, running))


def is_newer(version: str, running: str) -> bool:
    """Whether ``version`` is after ``running``; a release is after its own previews ("1.2.0" after "1.2.0rc1")."""
    theirs, ours = _release(version), _release(running)
    return theirs is not None and ours is not None and theirs > ours


def _release(version: str) -> tuple[tuple[int, ...], bool] | None:
    found = _NUMBERS.fullmatch(version)
    if found is None:
        return None
    numbers = [int(number) for number in found["release"].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    rest = found["rest"].split("+")[0].lstrip("-.")
    return tuple(numbers), not rest or rest.startswith("post")
