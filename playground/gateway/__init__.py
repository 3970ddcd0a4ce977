"""Sends requests to a gateway and records the answers: addresses, headers, connections, time-outs, redaction, the tape.

The only package that uses httpx and httpcore, which are loaded with the first connection. It knows no experiments and
decides no retries.
"""
