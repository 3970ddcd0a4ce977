"""Where an answer departs from the specification and from what was asked: each deviation with its rule and its frame.

What a decoder has to read past it notes itself; the rest are rules on an exchange that has ended, one row each
(``rules``), over the request and the answer (``case``). What is expected instead, the protocol says.
``review`` brings both together.
"""

from __future__ import annotations

from playground.engine.inspect.lint.review import Finding, Review, findings, report

__all__ = ["Finding", "Review", "findings", "report"]
