"""The fixtures of the sessions' tests."""

from tests.engine.session.conftest import connect_to, conversation

__all__ = ["connect_to", "conversation"]
