"""The Responses protocol of the demo gateway: requests, items, events, stored responses.

Written from the protocol's public description alone; it shares no code with the application's own reading of it.
"""

from __future__ import annotations
