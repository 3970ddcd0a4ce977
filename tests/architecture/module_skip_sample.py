"""A module that skips itself while it is collected, read by ``test_skips`` in a pytest of its own."""

from __future__ import annotations

import pytest

pytest.importorskip("no_such_module")
