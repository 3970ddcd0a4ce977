"""The process in which tool servers are spoken with. ``engine.tool_servers`` is at the other end of its pipes."""
