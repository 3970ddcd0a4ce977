"""Check for a newer version: one small JSON file, fetched when a person asks for it.

``{"version": "1.2.0", "page": "https://…", "notes": "one line"}``; other members are ignored. Nothing else is
downloaded and nothing is installed: the result is an address that a person may open.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from typing import Final
from urllib.parse import urlsplit

from packaging.version import InvalidVersion, Version

from playground.domain.hidden import show_hidden
from playground.gateway.client import FetchError, fetch_file
from playground.jsonkit.reading import parse_json

MAX_FILE_SIZE: Final = 64 * 1024  # bytes
URL_LABEL: Final = "Updates"  # of the file's address in the package's metadata
MAX_NOTES: Final = 200  # characters
_MAX_VERSION: Final = 80  # characters


class UpdateError(Exception):
    """The check failed; the text says why, for people."""


@dataclass(frozen=True, slots=True)
class Update:
    """The content of the file. ``newer``: than the running version. ``page`` is an https address."""

    version: str
    page: str
    notes: str
    newer: bool


def default_address() -> str:
    """Return the address of the file in the package's metadata (a project URL "Updates"), or ""."""
    try:
        urls = metadata.metadata("gateway-playground").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return ""
    entries = (line.partition(",") for line in urls)
    return next((url.strip() for label, _, url in entries if label.strip() == URL_LABEL), "")


async def look_for_update(address: str, running: str) -> Update:
    """Fetch the file at ``address`` and compare it with the ``running`` version. Raises UpdateError."""
    try:
        data = await fetch_file(address.strip(), most=MAX_FILE_SIZE)
    except FetchError as error:
        raise UpdateError(str(error)) from None
    return read_update(data, running)


def read_update(data: bytes, running: str) -> Update:
    """Parse the file. Raises UpdateError."""
    try:
        value = parse_json(data.decode("utf-8-sig"))
    except ValueError:
        value = None
    if not isinstance(value, dict) or not isinstance(value.get("version"), str):
        raise UpdateError("What is at this address does not say which version there is.")
    version, page, notes = (str(value.get(name) or "").strip() for name in ("version", "page", "notes"))
    if len(version) > _MAX_VERSION or _parse(version) is None:
        raise UpdateError("The version named at this address cannot be read.")
    if urlsplit(page).scheme != "https" or not urlsplit(page).hostname:
        raise UpdateError("The download page named at this address is not an https address.")
    line = show_hidden(" ".join(notes.split()))[:MAX_NOTES]
    return Update(version, page, line, is_newer(version, running))


def is_newer(version: str, running: str) -> bool:
    """Return whether ``version`` is after ``running`` (PEP 440: "1.2.0" is after "1.2.0rc1")."""
    candidate, current = _parse(version), _parse(running)
    return candidate is not None and current is not None and candidate > current


def _parse(version: str) -> Version | None:
    try:
        return Version(version)
    except InvalidVersion:
        return None
