"""The process that communicates with tool servers. ``engine.tool_servers`` is at the other end of its pipes."""
