"""The secrets of this process, as they are handed to everything that writes output."""

from __future__ import annotations

from pathlib import Path

from pydantic import SecretStr

from playground.engine.gateways.redaction import KnownSecrets, redactor_of, remove_fingerprints
from playground.gateway.redact import MASK


def test_secret_that_is_learned_later_is_redacted() -> None:
    secrets = [SecretStr("first-0123456789")]
    known_secrets = KnownSecrets(lambda: secrets)
    assert redactor_of(known_secrets).text("second-0123456789") == "second-0123456789"
    secrets.append(SecretStr("second-0123456789"))
    assert redactor_of(known_secrets).text("second-0123456789") == MASK
    assert len(known_secrets) == 2


def test_fingerprints_of_earlier_versions_are_deleted(tmp_path: Path) -> None:
    (tmp_path / "fingerprints.json").write_text("{}")
    (tmp_path / "gateways.json").write_text("{}")
    for _ in range(2):
        remove_fingerprints(tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["gateways.json"]
