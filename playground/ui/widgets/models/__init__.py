"""A gateway's models to choose from: prepared, found, listed, and looked at."""
