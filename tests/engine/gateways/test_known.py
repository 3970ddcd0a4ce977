"""The list of services and servers that comes with the application, held to what its readers rely on."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, date, datetime
from urllib.parse import urlsplit

import pytest

from playground.domain.adaptations import Adaptation
from playground.engine.gateways.extras import secret_in
from playground.engine.gateways.known import KnownGateway, known_by_id, shipped
from playground.engine.gateways.secrets import looks_secret
from playground.gateway.address import is_loopback, resolve
from playground.protocols import PROTOCOLS

EVERY = pytest.mark.parametrize("known", shipped(), ids=lambda known: known.id)


def test_there_are_many_and_each_is_found_by_its_id() -> None:
    found = shipped()
    assert len(found) >= 35
    assert [one for one, times in Counter(known.id for known in found).items() if times > 1] == []
    assert all(known_by_id(known.id) is known for known in found)
    assert known_by_id("no such service") is None


@EVERY
def test_its_address_is_one_that_is_called_as_it_stands(known: KnownGateway) -> None:
    base = re.sub(r"\{\w+\}", "some-thing1", known.base_url)
    assert resolve(base).base == base
    assert urlsplit(base).scheme == ("http" if is_loopback(base) else "https")


@EVERY
def test_it_says_where_it_is_from(known: KnownGateway) -> None:
    assert known.source.startswith("https://")
    assert date.fromisoformat(known.date) <= datetime.now(UTC).date()
    assert not known.keys_url or known.keys_url.startswith("https://")
    assert known.name.strip() == known.name
    assert not known.note or known.note.endswith(".")


@EVERY
def test_what_is_sent_is_of_a_protocol_and_holds_no_secret(known: KnownGateway) -> None:
    assert known.protocols
    assert set(known.protocols) <= set(PROTOCOLS)
    assert all(rule.protocol in known.protocols for rule in known.adaptations)
    assert all(rule.why and date.fromisoformat(rule.learnt) for rule in known.adaptations)
    assert not any(first.same_place(second) for first, second in _pairs(known.adaptations))
    assert not any(looks_secret(name, value) for name, value in known.headers.items())
    assert not secret_in(dict(known.headers))
    assert all(re.fullmatch(r"[A-Z][A-Z0-9_]*", name) for name in known.key_variables)
    assert known.key_variables or known.keyless or is_loopback(known.base_url)


def test_no_host_is_claimed_twice() -> None:
    claimed: Counter[str] = Counter()
    for known in shipped():
        hosts = {*known.hosts, urlsplit(known.base_url).hostname or ""}
        claimed.update(host for host in hosts if not is_loopback(f"http://{host}"))
    assert [host for host, times in claimed.items() if times > 1] == []
    assert all(host == host.lower() and "/" not in host and not host.startswith("www.") for host in claimed)


def _pairs(rules: tuple[Adaptation, ...]) -> list[tuple[Adaptation, Adaptation]]:
    return [(first, second) for number, first in enumerate(rules) for second in rules[number + 1 :]]
