"""How a command comes to a cluster and to a gateway: by TLS with certificates of one's own, with keys from where
``docs/clusters.md`` says.
"""

from __future__ import annotations

from pathlib import Path

import dask
import pytest
import trustme

from playground.engine.gateways.profiles import Profile, ProfileStore
from playground.engine.headless.exit_codes import ExitCode
from tests.engine.headless.cluster.clusters import KEY, USUAL_KEY, VARIABLE, Cluster
from tests.engine.headless.cluster.desks import Desk

pytestmark = [pytest.mark.timeout(200), pytest.mark.slow]


def certificates(folder: Path) -> dict[str, str]:
    """Those of an authority of its own, as Dask's configuration names them in the environment."""
    folder.mkdir()
    authority, ca_file = trustme.CA(), folder / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    named = {"DASK_DISTRIBUTED__COMM__TLS__CA_FILE": str(ca_file)}
    for role in ("scheduler", "worker", "client"):
        path = folder / f"{role}.pem"
        authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(path))
        named[f"DASK_DISTRIBUTED__COMM__TLS__{role.upper()}__CERT"] = str(path)
        named[f"DASK_DISTRIBUTED__COMM__TLS__{role.upper()}__KEY"] = str(path)
    return named


async def test_with_certificates_all_of_it_is_encrypted_and_nobody_else_is_let_in(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write(4)
    ours = certificates(tmp_path / "ours")
    encrypted = Cluster(tmp_path / "ours", ours, "tls")
    try:
        encrypted.add("worker")
        with monkeypatch.context() as impatient:
            impatient.setattr("playground.engine.headless.cluster.client.CONNECT", 1.0)
            for tls_settings in ({}, certificates(tmp_path / "others")):
                with dask.config.set(dask.config.merge(dask.config.config, dask.config.collect_env(tls_settings))):
                    ended = await desk.run(encrypted.address)
                assert ended.code == ExitCode.FAILED
                assert f"No scheduler answers at {encrypted.address}" in ended.err
            assert not desk.gateway.requests
        command = ("--base-url", desk.gateway.url, "--dask", encrypted.address, "--key-variable", VARIABLE)
        ended = await desk.command(*command, environment=ours)
    finally:
        encrypted.close()
    assert ended.code == ExitCode.OK, ended.err
    assert len(desk.rows) == 8
    seen = bytes(encrypted.tap.seen)
    assert len(seen) > 10_000
    assert VARIABLE.encode() not in seen  # on a cluster without TLS it can be read
    assert b"Is it warm" not in seen


async def keys_sent(desk: Desk, *arguments: str, environment: dict[str, str]) -> set[str]:
    """Return the keys that workers send; the command must succeed."""
    ended = await desk.command("--fresh", "--dask", desk.cluster.address, *arguments, environment=environment)
    assert ended.code == ExitCode.OK, ended.err
    sent = {request.header("authorization") or "none" for request in desk.gateway.requests}
    desk.gateway.requests.clear()
    return sent


async def test_a_key_is_the_one_of_the_workers_environment_under_the_name_that_the_command_says(desk: Desk) -> None:
    desk.write(1)
    address = ("--base-url", desk.gateway.url)
    assert await keys_sent(desk, *address, "--key-variable", VARIABLE, environment={}) == {f"Bearer {KEY}"}
    own_key = {"PLAYGROUND_API_KEY": "sk-the-commands-own-91"}  # shows which variable was used, and is never sent
    assert await keys_sent(desk, *address, environment=own_key) == {f"Bearer {USUAL_KEY}"}


async def test_key_of_a_saved_gateway_is_the_one_of_its_variable_at_the_workers(desk: Desk, tmp_path: Path) -> None:
    settings = {"XDG_CONFIG_HOME": str(tmp_path / "settings")}
    store = ProfileStore(tmp_path / "settings" / "gateway-playground" / "gateways.json")
    keyed = Profile(name="Keyring", base_url=desk.gateway.url)
    for profile in (keyed, keyed.model_copy(update={"id": "v", "name": "Variable", "key_variable": VARIABLE})):
        store.add_profile(profile.model_copy(update={"key_origin": profile.origin}))
    desk.write(1)
    keyed_environment = {**settings, VARIABLE: "sk-the-commands-own-92"}
    assert await keys_sent(desk, "--gateway", "Variable", environment=keyed_environment) == {f"Bearer {KEY}"}
    ended = await desk.command("--dask", desk.cluster.address, "--gateway", "Keyring", environment=settings)
    assert ended.code == ExitCode.BAD_INPUT
    assert "keyring" in ended.err
    assert "--key-variable" in ended.err
    named = ("--gateway", "Keyring", "--key-variable", VARIABLE)
    assert await keys_sent(desk, *named, environment=settings) == {f"Bearer {KEY}"}, "no keyring is needed then"
