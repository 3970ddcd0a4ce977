"""``python -m tests.support.tool_servers``: what tests of tool servers need is there afterwards."""

from __future__ import annotations

from tests.support.tool_servers import install

if __name__ == "__main__":
    install()
