"""A pytest plugin: a test that is skipped has failed, unless the platform itself lacks the thing.

The reason of a permitted skip begins with ``platform:``. With ``--everything`` (what ``.ci/run`` gives, on a machine
where it has put all that the tests need) only a reason that begins with ``platform: needs Windows`` or
``platform: needs macOS`` is left. The header of a session lists the tools whose absence skips tests.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.support.required_tools import describe_missing

_PERMITTED = ("platform:",)
_PERMITTED_IN_CI = ("platform: needs Windows", "platform: needs macOS")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--everything",
        action="store_true",
        help="fail on every skip but those that need another operating system",
    )


def pytest_report_header() -> list[str]:
    missing = describe_missing()
    if not missing:
        return ["tools: none is missing"]
    return ["tools that are missing, so that the tests that need them are skipped:", *(f"  {line}" for line in missing)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if not hasattr(report, "wasxfail"):  # an expected failure did run
        _judge(report, item.config)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _judge(report, collector.config)
    return report


def _judge(report: pytest.TestReport | pytest.CollectReport, config: pytest.Config) -> None:
    """Turn a skip without a permitted reason into a failure that says so."""
    if report.outcome != "skipped":
        return
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    reason = text.removeprefix("Skipped: ")
    permitted = _PERMITTED_IN_CI if config.getoption("--everything") else _PERMITTED
    if not reason.startswith(permitted):
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} was skipped, which counts as failed: {reason}"
