"""Moves bytes between us and a gateway: addresses, headers, sockets, clocks and the tape.

The only package that imports httpx, and it does so late: importing ``address``, ``connection``, ``tape``,
``redact``, ``limits`` or ``retry`` costs nothing. It knows no experiments and decides no retries.
"""
