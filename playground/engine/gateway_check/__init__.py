"""Checks of a gateway: a series of small requests over each protocol, judgements of the answers, and the report."""
