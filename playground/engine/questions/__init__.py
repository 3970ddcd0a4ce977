"""Questions about foreign schemas, patterns and paths, answered within a time limit in a killable process."""
