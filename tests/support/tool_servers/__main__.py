"""``python -m tests.support.tool_servers``: install the packages that tests of tool servers need."""

from __future__ import annotations

from tests.support.tool_servers import install

if __name__ == "__main__":
    install()
