"""Checks of gateways over real sockets, and their verdicts by check."""

from __future__ import annotations

from collections.abc import Callable, Collection

from playground.engine.gateway_check.check_run import CheckEvent, CheckRun, keys_of
from playground.engine.gateway_check.report import Verdict
from playground.engine.gateway_check.requests import Target
from playground.engine.gateways.secrets import Secret
from playground.gateway.connection import Connection, Timeouts

KEY = "sk-canary-5f0c2b7e"


def target(url: str, model: str = "demo-reasoner", **fields: object) -> Target:
    """Return a model of a gateway, with short time-outs."""
    connection = Connection(base_url=url, key=Secret(KEY), timeouts=Timeouts(first=5, idle=5, settle=1))
    return Target(gateway="Under test", connection=connection.model_copy(update=fields), model=model)


async def checked(
    whom: Target,
    only: Collection[str] = (),
    protocols: Collection[str] = (),
    tell: Callable[[CheckEvent], None] = lambda _event: None,
) -> CheckRun:
    """All checks of a target, or those of these ids, made."""
    expected = [key for key in keys_of(whom, protocols) if not only or key[0] in only]
    run = CheckRun(whom, expected, tell, protocols)
    await run.perform()
    return run


def verdicts(run: CheckRun, protocol: str = "chat") -> dict[str, Verdict]:
    """Return the verdict of each check of a protocol, and of those of none."""
    return {line.check: line.verdict for line in run.report.lines if line.protocol in ("", protocol)}
