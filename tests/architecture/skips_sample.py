"""Tests with skips, run by ``test_skips`` in a pytest of their own."""

from __future__ import annotations

import pytest


def test_skipped_without_platform() -> None:
    pytest.skip("no time")


@pytest.mark.skipif(True, reason="platform: needs a keyring")
def test_platform_lacks_a_tool() -> None: ...


@pytest.mark.skipif(True, reason="platform: needs macOS")
def test_other_operating_system() -> None: ...


@pytest.mark.xfail(strict=True)
def test_expected_failure() -> None:
    raise AssertionError
