"""The demo gateway: a real HTTP server on a loopback port that plays a model gateway.

It is written from the specification alone and shares no code with the rest of the application, so that the two
can be tried against each other. No model runs in it: the answers are composed, and they say so. Nothing here may
import another package of the application.
"""

from __future__ import annotations
