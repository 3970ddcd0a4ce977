"""The shipped list of services: valid, searchable, recognised by address, filled in."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, date, datetime
from itertools import combinations
from urllib.parse import urlsplit

from playground.engine.gateways.secrets import looks_secret, secret_in
from playground.engine.gateways.services import KnownGateway, filled, filling_problem, find, recognise, shipped
from playground.gateway.address import is_loopback, resolve
from playground.protocols import PROTOCOLS
from tests.support.each_case import each_case

EVERY = each_case("service", shipped())
AZURE = "https://my-team.openai.azure.com/openai"
CLOUDFLARE = "https://api.cloudflare.com/client/v4/accounts"


def test_services_have_ids_and_hosts_of_their_own() -> None:
    services = shipped()
    assert len(services) >= 35
    hosts = [{*service.hosts, urlsplit(service.base_url).hostname or ""} for service in services]
    remote = [host for each in hosts for host in each if not is_loopback(f"http://{host}")]
    assert all(host == host.lower() and "/" not in host and not host.startswith("www.") for host in remote)
    for names in (remote, [service.id for service in services]):
        assert [name for name, times in Counter(names).items() if times > 1] == []


@EVERY
def test_service_has_a_valid_address_a_source_and_no_secret(service: KnownGateway) -> None:
    base = re.sub(r"\{\w+\}", "some-thing1", service.base_url)
    assert resolve(base).base == base
    assert urlsplit(base).scheme == ("http" if is_loopback(base) else "https")
    assert service.source.startswith("https://")
    assert date.fromisoformat(service.date) <= datetime.now(UTC).date()
    assert not service.keys_url or service.keys_url.startswith("https://")
    assert service.name.strip() == service.name
    assert not service.note or service.note.endswith(".")
    assert set() < set(service.protocols) <= set(PROTOCOLS)
    assert all(rule.protocol in service.protocols for rule in service.adaptations)
    assert all(rule.why and date.fromisoformat(rule.learnt) for rule in service.adaptations)
    assert not [pair for pair in combinations(service.adaptations, 2) if pair[0].place == pair[1].place]
    assert not any(looks_secret(name, value) for name, value in service.headers.items())
    assert not secret_in(dict(service.headers))
    assert all(re.fullmatch(r"[A-Z][A-Z0-9_]*", name) for name in service.key_variables)
    assert service.key_variables or service.keyless or is_loopback(service.base_url)


@EVERY
def test_service_is_found_by_its_name_and_addresses(service: KnownGateway) -> None:
    assert service in find(service.name, shipped())
    assert service in find(service.name[:4].lower(), shipped())
    values = dict.fromkeys(service.placeholders, "mine-1")
    base = filled(service.base_url, values)
    for pasted in (base, f"{base}/", f"{base}/chat/completions", f"{base}/models?x=1#y"):
        result = recognise(pasted, shipped())
        if result is None:  # several servers are usual at that port
            assert is_loopback(base)
            continue
        assert (result.service, result.base_url) == (service, base)
    for host in service.hosts:
        site = host.replace("*", "mine")
        for pasted in (f"https://{site}/docs/quickstart?lang=en", site, f"www.{site}"):
            notices = recognise(pasted, shipped())
            assert notices is not None
            assert notices.service is service


def test_best_match_comes_first() -> None:
    first = {"open": "openai", "openr": "openrouter", "  ROUTER": "openrouter", "kimi": "moonshot", "z.ai": "zai"}
    first |= {"llama": "llama-cpp", "openai.azure": "azure", "together.xyz": "together", "studio lm": "lm-studio"}
    assert {typed: find(typed, shipped())[0].id for typed in first} == first


def test_search_without_a_match_is_empty() -> None:
    typed = ("", "   ", "grok", "no such service", "\x00", "open" * 100_000, "(" * 1_000, "é" * 3_000)
    assert [text[:20] for text in typed if find(text, shipped())] == []


@each_case(
    ("pasted", "service", "base"),
    [
        ("https://openrouter.ai/docs/quickstart", "openrouter", "https://openrouter.ai/api/v1"),
        ("HTTPS://OpenRouter.AI", "openrouter", "https://openrouter.ai/api/v1"),
        ("platform.openai.com/account", "openai", "https://api.openai.com/v1"),
        ("https://api.openai.com", "openai", "https://api.openai.com/v1"),
        ("'https://console.groq.com/keys' ", "groq", "https://api.groq.com/openai/v1"),
        ("https://api.deepseek.com/anthropic/v1/messages", "deepseek", "https://api.deepseek.com/anthropic/v1"),
        ("https://api.z.ai/api/coding/paas/v4", "zai", "https://api.z.ai/api/coding/paas/v4"),
        (f"{AZURE}/deployments/gpt/chat/completions?api-version=1", "azure", f"{AZURE}/v1"),
        ("https://bedrock-mantle.us-east-1.api.aws", "bedrock", "https://bedrock-mantle.us-east-1.api.aws/v1"),
        (f"{CLOUDFLARE}/0a1b/ai/v1/chat/completions", "cloudflare", f"{CLOUDFLARE}/0a1b/ai/v1"),
        ("https://dash.cloudflare.com/0a1b", "cloudflare", f"{CLOUDFLARE}/{{account_id}}/ai/v1"),
        ("localhost:11434", "ollama", "http://127.0.0.1:11434/v1"),
        ("http://127.0.0.1:1234/v1/models", "lm-studio", "http://127.0.0.1:1234/v1"),
    ],
)
def test_pasted_address_of_a_service_gives_its_base_url(pasted: str, service: str, base: str) -> None:
    result = recognise(pasted, shipped())
    assert result is not None
    assert (result.service.id, result.base_url) == (service, base)


@each_case(
    "pasted",
    [
        *("https://gateway.example/v1", "https://api.openai.com:8443/v1", "http://127.0.0.1:8080/v1", "https://["),
        *("https://openrouter.ai.evil.example/api/v1", "https://evil-openrouter.ai/api/v1", "ftp://openrouter.ai"),
        *("https://openrouter.ai@evil.example/api/v1", "https://evil.example/https://openrouter.ai/api/v1"),
        *("", "openrouter", "a" * 100_000),
    ],
)
def test_address_of_no_service_is_not_recognised(pasted: str) -> None:
    assert recognise(pasted, shipped()) is None


def test_value_of_a_placeholder_leads_to_no_other_host() -> None:
    values = ("my-team.1_x~", " my-team ", "", "a/b", "a b", "x#", "a@b", "é")
    assert [value for value in values if not filling_problem("resource", value)] == ["my-team.1_x~", " my-team "]
