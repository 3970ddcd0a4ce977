"""Questions about foreign schemas, patterns and paths, answered within a budget, in a process that can be ended."""
