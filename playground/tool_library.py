"""The library of tool servers (mcp) as a process of ours loads it: what it needs of it and no more.

Must run before anything of the library is imported, and in a process that has no other use for it.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec, module_from_spec


def settle() -> None:
    """Leave out what neither our host nor our demo server calls: a third of the start, a quarter of the memory."""
    # It loads whatever tracing these name, and fails where that is not installed.
    for name in ("OTEL_PROPAGATORS", "OTEL_PYTHON_CONTEXT"):
        os.environ.pop(name, None)
    # Each of these imports all that is below it, so that a client loads web servers: they stay empty, and are no more
    # than the folders in which their modules are found.
    for name in ("mcp", "mcp.client", "mcp.server"):
        spec = find_spec(name)
        if spec is None:
            return  # the import that follows says what is missing
        sys.modules[name] = module_from_spec(spec)
    # It has every message in three versions of the protocol; a server speaks one, and few of its messages.
    import pydantic

    pydantic.BaseModel.model_config["defer_build"] = True
