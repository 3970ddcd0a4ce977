"""A person's own known services, in a file beside that of the gateways, and all of them together.

The file holds no secret: a service is what its documentation would say. Every change is written at once; methods block
for one small write.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from playground.domain.encoding import encode
from playground.domain.reasons import reason_of
from playground.engine.gateways.extras import secret_in
from playground.engine.gateways.known import KnownGateway, blanks, filled, is_page, shipped
from playground.engine.gateways.profiles import ProfileError
from playground.engine.gateways.secrets import looks_secret, variable_problem
from playground.engine.io.list_file import ListFile, ListFileError
from playground.gateway.address import repair

FILE_VERSION = 1


class KnownGateways:
    """Those that come with the application and a person's own, in one list; own ones take the place of their id.

    A damaged file is set aside under another name and said so in ``messages``; what cannot be understood of it is
    kept as it is.
    """

    def __init__(self, path: Path) -> None:
        self._file = ListFile(path, "services", FILE_VERSION)
        self.messages = self._file.messages
        self._own: dict[str, KnownGateway] = {}
        self._unread: list[Any] = []
        for entry in self._file.load().get("services", []):
            try:
                known = KnownGateway.model_validate(entry)
                _look_over(known)
            except ValueError as error:  # pydantic's is one
                why = reason_of(error) if isinstance(error, ValidationError) else str(error).rstrip(".")
                name = entry.get("name") if isinstance(entry, dict) else None
                self._unread.append(entry)
                self.messages.append(
                    f"The service “{name or 'without a name'}” could not be read ({why}); it is kept as is."
                )
            else:
                self._own[known.id] = known.model_copy(update={"own": True})

    @property
    def all(self) -> tuple[KnownGateway, ...]:
        """All of them in the order of their names."""
        others = [known for known in shipped() if known.id not in self._own]
        return tuple(sorted((*self._own.values(), *others), key=lambda one: one.name.casefold()))

    def get(self, service: str) -> KnownGateway | None:
        """The one of that id (``Profile.service``), or None."""
        return next((known for known in self.all if known.id == service), None)

    def keep(self, known: KnownGateway) -> KnownGateway:
        """Add one of a person's own, or replace the one of its id. Raises ProfileError as ``own_problem`` says."""
        if problem := own_problem(known):
            raise ProfileError(problem)
        known = known.model_copy(update={"own": True, "base_url": _plain(known), "name": known.name.strip()})
        self._commit({**self._own, known.id: known})
        return known

    def remove(self, service: str) -> None:
        """Take one of a person's own off the list. Raises ProfileError when it cannot be written."""
        self._commit({name: known for name, known in self._own.items() if name != service})

    def _commit(self, own: dict[str, KnownGateway]) -> None:
        """Write first, then believe."""
        entries = [encode(known, _says_something) for known in own.values()]
        try:
            self._file.save([*entries, *self._unread])
        except ListFileError as error:
            raise ProfileError(str(error)) from error
        self._own = own


def known_beside(gateways: Path) -> KnownGateways:
    """Those that are known to whoever has the file ``gateways``. Blocks for two small files."""
    return KnownGateways(gateways.with_name("known-gateways.json"))


def _says_something(name: str, info: FieldInfo, item: Any) -> bool:
    return name != "own" and item != info.get_default(call_default_factory=True, validated_data={})


def _plain(known: KnownGateway) -> str:
    """The base URL without what is no part of one, such as a query that may hold a key; the names in braces stay."""
    held = {name: f"blank{uuid4().hex}" for name in blanks(known)}
    base = repair(filled(known.base_url, held))[0]
    for name, text in held.items():
        base = base.replace(text, f"{{{name}}}")
    return base


def own_problem(known: KnownGateway) -> str:
    """Why that service cannot be kept, in words for people; empty when it can."""
    if not known.name.strip():
        return "Enter a name."
    try:
        _look_over(known)
    except ValueError as error:
        return str(error)
    if known.keys_url and (problem := _page_problem(known.keys_url)):
        return problem
    for name, value in known.headers.items():
        if looks_secret(name, value) or secret_in({name: value}):
            return f"The header “{name}” looks like a secret, and the list of services is kept in a file."
    return next(filter(None, map(variable_problem, known.key_variables)), "")


def _look_over(known: KnownGateway) -> None:
    """Raises ValueError, in words for people, where its base URL is none."""
    repair(filled(known.base_url, dict.fromkeys(blanks(known), "x")))


def _page_problem(url: str) -> str:
    """Why the page where keys are made cannot be kept."""
    if not is_page(url):
        return "The page where keys are made starts with https://, followed by a host."
    parts = urlsplit(url)
    said = parse_qsl(f"{parts.query}&{parts.fragment}")
    if "@" in parts.netloc or any(looks_secret(name, value) for name, value in said):
        return "The address of the page where keys are made holds a key or a password. Take it out."
    return ""
