"""Models to choose from."""
