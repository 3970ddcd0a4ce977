"""Fixtures shared with the tests of sessions."""

from tests.engine.session.conftest import connect_to, conversation

__all__ = ["connect_to", "conversation"]
