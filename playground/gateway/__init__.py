"""Moves bytes between us and a gateway: addresses, headers, sockets, clocks and the tape.

The only package that imports httpx, and it does so late: importing ``address``, ``connection``, ``tape``,
``redact``, ``limits`` or ``retry`` costs nothing. It knows no experiments and decides no retries.
"""

import sys

# httpx loads a command line with it: click, Pygments and, where somebody has it, rich, 80 modules. Told that there is
# none, as in an installation without what that needs, it goes on.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # the import system's own way to say so
